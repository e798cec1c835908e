"""The analysis of a question that texts at hand are compared with: its words, which of them are neighbours, its names,
and the type of answer that it wants.

Two other places read a question for another purpose: `library/relevance` makes criteria for the full-text index, and
`models/reader/question` decides what the author of a message wants to be done.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

from msgspec import Struct

from footnote.protocol.tools import Locale
from footnote.text.languages import detect_locale
from footnote.text.stems import stem
from footnote.text.stop_words import is_stop_word
from footnote.text.terms import ALPHABETIC_UNSPACED, COMBINING_MARKS, SUPERSCRIPTS, UNSPACED, fold, normalize

AnswerType: TypeAlias = Literal["number", "date", "person"]

MAX_WORDS = 48
"""The first words of a long prompt are used; the later ones seldom say what it is about."""
MAX_NGRAMS = 200
NGRAM_LENGTH = 3
"""Letters in a row that replace a word in scripts that do not show where a word ends."""
MIN_PREFIX_LENGTH = 4
PREFIX_SHARE = 0.6
"""A word that begins with this share of another word is related to it: `pharmacist`, `pharmacy`."""

_LETTERS = rf"[^\W\d_{UNSPACED}{SUPERSCRIPTS}](?:[^\W\d_{UNSPACED}{SUPERSCRIPTS}]|[{COMBINING_MARKS}])*+"
_WORD = re.compile(rf"[{ALPHABETIC_UNSPACED}]++|[{UNSPACED}]|\d+(?:[.,:/]\d+)*+|{_LETTERS}(?:['’]{_LETTERS})?+")
_ALPHABETIC_UNSPACED = re.compile(f"[{ALPHABETIC_UNSPACED}]")
_OTHER_ALPHABETS = re.compile(r"[\u0370-\u0dff]")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_BEYOND_ASCII = re.compile(rf"[^\W\d_\x00-\x7f{UNSPACED}]")


def tokenize(text: str) -> list[str]:
    """The words of a text in order: characters in Chinese, three letters in a row in Thai and similar scripts."""
    found = _WORD.findall(text)
    if not _ALPHABETIC_UNSPACED.search(text):
        return found
    return [part for word in found for part in _word_ngrams(word)]


def _word_ngrams(word: str) -> Sequence[str]:
    if len(word) <= NGRAM_LENGTH or not _ALPHABETIC_UNSPACED.match(word):
        return (word,)
    return [word[at : at + NGRAM_LENGTH] for at in range(len(word) - NGRAM_LENGTH + 1)]


class QuestionToken(Struct, frozen=True, gc=False):
    """A word of a text, with the bits of the words of the question that it is (`word_bit`, `stop_word_bit`) or is
    related to. `key` is the same for all forms of a word. `is_pairable`: it forms pairs with its neighbours.
    """

    key: str
    word_bit: int = 0
    stop_word_bit: int = 0
    related_bit: int = 0
    is_pairable: bool = True


class AnalyzedQuestion(Struct, frozen=True):
    """Words and pairs by their keys, each with a bit of its own, so that a set of them is an integer.

    `ngrams`: every three letters in a row, which match other forms of a word. `names`: the bits of the words that are
    names or numbers. `prefixes`: the beginnings of long words, by their first letters. `keep_diacritics`: words that
    differ in diacritics are different words.
    """

    word_bits: dict[str, int]
    stop_words: dict[str, int]
    pairs: dict[tuple[str, str], int]
    ngrams: dict[str, int]
    names: int
    prefixes: dict[str, list[tuple[str, int]]]
    answer_type: AnswerType | None
    keep_diacritics: bool

    def match(self, word: str) -> QuestionToken:
        """`word` comes from a normalized text."""
        key = key_of(word)
        bit = self.word_bits.get(key, 0)
        related = 0
        if not bit and len(key) >= MIN_PREFIX_LENGTH:
            for prefix, prefix_bit in self.prefixes.get(key[:MIN_PREFIX_LENGTH], ()):
                if key.startswith(prefix):
                    related |= prefix_bit
        return QuestionToken(key, bit, self.stop_words.get(key, 0), related, _is_pairable(word))


def analyze_question(query: str, prompt: str) -> AnalyzedQuestion:
    """`prompt` is the question; `query` is what a search engine was asked for it, often the same."""
    text = prompt if query in prompt else f"{prompt}\n{query}"
    # A question that is typed without any diacritics still means the words that have them.
    keep_diacritics = _BEYOND_ASCII.search(text) is not None
    max_words = MAX_NGRAMS if _ALPHABETIC_UNSPACED.search(text) else MAX_WORDS
    written = tokenize(text)[: 2 * max_words]
    plain = [normalize(word, keep_diacritics=keep_diacritics) for word in written]
    content = [word for word in plain if not is_stop_word(word)] or plain
    word_bits = {key: 1 << at for at, key in enumerate(dict.fromkeys(map(key_of, content[:max_words])))}
    stop_words = dict.fromkeys(key for word in plain if (key := key_of(word)) not in word_bits)
    names = {
        key_of(low) for at, (word, low) in enumerate(zip(written, plain, strict=True)) if _is_name(word, first=not at)
    }
    pairs = dict.fromkeys(
        (key_of(first), key_of(second))
        for first, second in pairwise([word for word in plain if _is_pairable(word)])
        if not (is_stop_word(first) and is_stop_word(second))
    )
    return AnalyzedQuestion(
        word_bits=word_bits,
        stop_words={key: 1 << at for at, key in enumerate(stop_words)},
        pairs={pair: 1 << at for at, pair in enumerate(pairs)},
        ngrams=_letter_ngrams(plain[:MAX_WORDS]) if _is_inflected(text) else {},
        names=sum(bit for key, bit in word_bits.items() if key in names),
        prefixes=_word_prefixes(word_bits),
        answer_type=detect_answer_type(prompt) or detect_answer_type(query),
        keep_diacritics=keep_diacritics,
    )


def _is_inflected(text: str) -> bool:
    """Whether words have different forms. Vietnamese has none; of Chinese and Thai only parts of words are known."""
    return not _UNSPACED.search(text) and detect_locale(text) != "vi"


def _letter_ngrams(plain: Sequence[str]) -> dict[str, int]:
    text = f" {' '.join(plain)} "
    found = dict.fromkeys(text[at : at + NGRAM_LENGTH] for at in range(len(text) - NGRAM_LENGTH + 1))
    return {gram: 1 << at for at, gram in enumerate(found)}


def key_of(word: str) -> str:
    """What all forms of a word have in common; `word` comes from a normalized text."""
    return stem(word if word.isascii() else fold(word))


def _is_name(word: str, *, first: bool) -> bool:
    """Whether a word has a digit or a capital letter. The capital of the first word says nothing."""
    return any(letter.isupper() for letter in (word[1:] if first else word)) or word[0].isdigit()


def _is_pairable(word: str) -> bool:
    """Pairs skip stop words between two words, but not in Chinese, where a character is only a part of a word."""
    return _UNSPACED.match(word) is not None or not is_stop_word(word)


def _word_prefixes(keys: dict[str, int]) -> dict[str, list[tuple[str, int]]]:
    found: dict[str, list[tuple[str, int]]] = {}
    for key, bit in keys.items():
        if len(key) > MIN_PREFIX_LENGTH and ((key.isascii() and key.isalpha()) or _OTHER_ALPHABETS.match(key)):
            prefix = key[: max(MIN_PREFIX_LENGTH, round(len(key) * PREFIX_SHARE))]
            found.setdefault(prefix[:MIN_PREFIX_LENGTH], []).append((prefix, bit))
    return found


# The type of the answer ----------------------------------------------------------------------------------------------

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


# In the order in which they are tried: `how long` asks for no date, `năm bao nhiêu` for no number.
_PATTERNS: Mapping[Locale, Mapping[AnswerType, re.Pattern[str]]] = {
    "en": _compile_patterns(_ENGLISH, r"\b"),
    "vi": _compile_patterns(_VIETNAMESE, r"\b"),
    "zh": _compile_patterns(_CHINESE, ""),
}
_OTHER_SCRIPT_PATTERNS = (
    (re.compile(r"[\u0400-\u04ff]"), _compile_patterns(_RUSSIAN, r"\b")),
    (re.compile(r"[\u0620-\u064a]"), _compile_patterns(_ARABIC, r"\b")),
    # `\b` does not work after a Hindi word, because a regular expression does not take its last vowel for a letter.
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


def detect_answer_type(question: str) -> AnswerType | None:
    """The type of answer that a question asks for, if its words say so."""
    patterns = next((words for letters, words in _OTHER_SCRIPT_PATTERNS if letters.search(question)), None)
    patterns = patterns or _PATTERNS[detect_locale(question)]
    return next((kind for kind, words in patterns.items() if words.search(question)), None)


def has_number_word(text: str) -> bool:
    """Whether a text in lower case has a number in words."""
    return _NUMBER_WORD.search(text) is not None


def has_date(text: str) -> bool:
    """Whether a text in lower case has a year, a month or another word of a date."""
    return _DATE.search(text) is not None
