"""What kind of answer a question wants, by its words, and which texts have something of that kind."""

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from footnote.protocol.tools import Locale
from footnote.text.languages import detect_locale

AnswerType: TypeAlias = Literal["number", "date", "person"]

_ENGLISH: Mapping[AnswerType, str] = {
    "number": r"how (?:many|much|large|big|tall|high|far|long|old|fast|deep|wide|heavy|often|few)"
    r"|(?:what|which) (?:percent\w*|number|amount|share|proportion|population|portion|fraction|age|price|size)"
    r"|bao nhieu",
    "date": r"when|(?:what|which) (?:year|date|day|month|century|decade|era|time|period)|khi nao|nam nao|bao gio",
    "person": r"who|whom|whose"
    r"|(?:what|which) (?:person|man|woman|actor|author|king|queen|leader|president|player|artist|writer)",
}
_VIETNAMESE: Mapping[AnswerType, str] = {
    "date": r"khi nào|bao giờ|năm nào|ngày nào|năm bao nhiêu|thời gian nào|thế kỷ nào|lúc nào|tháng nào|thời kỳ nào",
    "number": r"bao nhiêu|bao lâu|bao xa|mấy|phần trăm|tỷ lệ|tỉ lệ|số lượng",
    "person": r"ai|người nào|vị nào|nhân vật nào",
}
_CHINESE: Mapping[AnswerType, str] = {
    "date": r"什么时候|何时|哪一?[年天日月]|[几何][年月号日]|哪个(?:世纪|年代|月|时期)|年份|日期|什么时间",
    "number": r"多少|几[个名次位所种天人座条项部]|多[大高长远久深]|百分之|百分比|比例|数量",
    "person": r"谁|哪位|哪一位|哪个人|何人|什么人",
}


_RUSSIAN: Mapping[AnswerType, str] = {
    "date": r"когда|в каком году|в каких годах|какого числа|в каком (?:веке|месяце)|в какой день|какого года",
    "number": r"сколько|скольких|скольким|как(?:ой|ая|ое|ова|ов) (?:процент|доля|число|численность|количество|площадь"
    r"|высота|длина|население|возраст|размер)|насколько",
    "person": r"кто|кого|кому|кем|о ком|чей|чья|чьё|чье|чьи",
}
_ARABIC: Mapping[AnswerType, str] = {
    "date": r"متى|(?:في )?[أا]ي (?:عام|سنة|يوم|شهر|قرن|تاريخ|عقد)|ما (?:هو )?(?:تاريخ|العام)",
    "number": r"كم|ما (?:هي |هو )?(?:عدد|نسبة|مساحة|طول|ارتفاع)",
    "person": r"^\W*من|من (?:هو|هي|هم|الذي|كان)|لمن",
}
_HINDI: Mapping[AnswerType, str] = {
    "date": r"कब|किस (?:वर्ष|साल|दिन|महीने|शताब्दी|तारीख|तिथि|सन|दशक)|कौन से (?:वर्ष|साल)",
    "number": r"कितन[ेाी]|कितनों|कितने|प्रतिशत",
    "person": r"कौन|किसने|किसे|किसका|किसके|किसकी|किनके|किन्होंने",
}
_THAI: Mapping[AnswerType, str] = {
    "date": r"เมื่อไหร่|เมื่อไร|เมื่อใด|ปีใด|ปีไหน|ปีอะไร|วันที่เท่า|วันใด|ศตวรรษใด|ตอนไหน",
    "number": r"เท่าไหร่|เท่าไร|เท่าใด|กี่|จำนวนเท่า|ร้อยละ|เปอร์เซ็นต์",
    "person": r"ใคร|ผู้ใด|คนไหน",
}


def _compile_patterns(kinds: Mapping[AnswerType, str], edge: str) -> Mapping[AnswerType, re.Pattern[str]]:
    return {kind: re.compile(f"{edge}(?:{words}){edge}", re.IGNORECASE) for kind, words in kinds.items()}


# In the order in which they are tried: `how long` is no place in time, `năm bao nhiêu` no number.
_PATTERNS: Mapping[Locale, Mapping[AnswerType, re.Pattern[str]]] = {
    "en": _compile_patterns(_ENGLISH, r"\b"),
    "vi": _compile_patterns(_VIETNAMESE, r"\b"),
    "zh": _compile_patterns(_CHINESE, ""),
}
_OTHER_SCRIPT_PATTERNS = (
    (re.compile(r"[\u0400-\u04ff]"), _compile_patterns(_RUSSIAN, r"\b")),
    (re.compile(r"[\u0620-\u064a]"), _compile_patterns(_ARABIC, r"\b")),
    # A vowel at the end of a Hindi word is no letter to a regular expression: what follows the word is not looked at.
    (re.compile(r"[\u0904-\u0939]"), _compile_patterns(_HINDI, "")),
    (re.compile(r"[\u0e01-\u0e2e]"), _compile_patterns(_THAI, "")),
)
_NUMBER_WORD = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundreds?|thousands?|millions?|billions?|dozens?"
    r"|half|thirds?|quarter|twice|hai|ba|bốn|sáu|bảy|tám|chín|mười|trăm|nghìn|ngàn|triệu|tỷ|nửa)\b"
    r"|[一二两三四五六七八九十百千万亿][个名次年位所种天月人座条项部%分万亿十百千]|百分之"
    r"|\b(?:два|две|двух|три|трех|четыре|четырех|пять|пяти|шесть|семь|восемь|девять|десять|десятк\w+|сто|сотн\w+"
    r"|тысяч\w*|миллион\w*|миллиард\w*|половин\w+|трет\w+|четверт\w+|дважды)\b"
    r"|\b(?:اثنان|اثنين|ثلاث\w*|اربع\w*|خمس\w*|سبع\w*|ثمان\w*|تسع\w*|عشر\w*|مئ\w+|مائ\w+|الف|الاف|مليون\w*|مليار\w*|نصف|ثلث|ربع)\b"
    r"|(?:दो|तीन|चार|पाँच|पांच|छह|सात|आठ|नौ|दस|सौ|हज़ार|हजार|लाख|करोड़|मिलियन|बिलियन|आधे|आधा)\s"
    r"|(?:สอง|สาม|สี่|ห้า|หก|เจ็ด|แปด|เก้า|สิบ|ร้อย|พัน|หมื่น|แสน|ล้าน|ครึ่ง)"
)
_DATE = re.compile(
    r"(?<!\d)(?:1\d{3}|20\d\d)(?!\d)|\b(?:january|february|march|april|may|june|july|august|september|october|november"
    r"|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|centur(?:y|ies)|tháng \d|ngày \d|thế kỷ)\b"
    r"|世纪|\d\s*[年月日]|年代"
    r"|\b(?:января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря|век[ае]?|годах)\b"
    r"|يناير|فبراير|مارس|ابريل|مايو|يونيو|يوليو|اغسطس|سبتمبر|اكتوبر|نوفمبر|ديسمبر|القرن"
    r"|जनवरी|फरवरी|मार्च|अप्रैल|जून|जुलाई|अगस्त|सितंबर|अक्टूबर|नवंबर|दिसंबर|शताब्दी|सदी"
    r"|มกราคม|กุมภาพันธ์|มีนาคม|เมษายน|พฤษภาคม|มิถุนายน|กรกฎาคม|สิงหาคม|กันยายน|ตุลาคม|พฤศจิกายน|ธันวาคม|ศตวรรษ"
)


def answer_type(question: str) -> AnswerType | None:
    """The kind of answer that it asks for, if its words say so."""
    asked = next((words for letters, words in _OTHER_SCRIPT_PATTERNS if letters.search(question)), None)
    asked = asked or _PATTERNS[detect_locale(question)]
    return next((kind for kind, words in asked.items() if words.search(question)), None)


def has_number_word(text: str) -> bool:
    """A number that is written out. `text` in lower case, as for the next."""
    return _NUMBER_WORD.search(text) is not None


def has_date(text: str) -> bool:
    return _DATE.search(text) is not None
