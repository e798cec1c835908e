"""What kind of answer a question wants, by its words, and which texts have something of that kind."""

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from footnote.language.guess import locale_of
from footnote.protocol.tools import Locale

Wanted: TypeAlias = Literal["number", "date", "person"]

_ENGLISH: Mapping[Wanted, str] = {
    "number": r"how (?:many|much|large|big|tall|high|far|long|old|fast|deep|wide|heavy|often|few)"
    r"|(?:what|which) (?:percent\w*|number|amount|share|proportion|population|portion|fraction|age|price|size)"
    r"|bao nhieu",
    "date": r"when|(?:what|which) (?:year|date|day|month|century|decade|era|time|period)|khi nao|nam nao|bao gio",
    "person": r"who|whom|whose"
    r"|(?:what|which) (?:person|man|woman|actor|author|king|queen|leader|president|player|artist|writer)",
}
_VIETNAMESE: Mapping[Wanted, str] = {
    "date": r"khi nào|bao giờ|năm nào|ngày nào|năm bao nhiêu|thời gian nào|thế kỷ nào|lúc nào|tháng nào|thời kỳ nào",
    "number": r"bao nhiêu|bao lâu|bao xa|mấy|phần trăm|tỷ lệ|tỉ lệ|số lượng",
    "person": r"ai|người nào|vị nào|nhân vật nào",
}
_CHINESE: Mapping[Wanted, str] = {
    "date": r"什么时候|何时|哪一?[年天日月]|[几何][年月号日]|哪个(?:世纪|年代|月|时期)|年份|日期|什么时间",
    "number": r"多少|几[个名次位所种天人座条项部]|多[大高长远久深]|百分之|百分比|比例|数量",
    "person": r"谁|哪位|哪一位|哪个人|何人|什么人",
}


def _words(kinds: Mapping[Wanted, str], edge: str) -> Mapping[Wanted, re.Pattern[str]]:
    return {kind: re.compile(f"{edge}(?:{words}){edge}", re.IGNORECASE) for kind, words in kinds.items()}


# In the order in which they are tried: `how long` is no place in time, `năm bao nhiêu` no number.
_ASKED: Mapping[Locale, Mapping[Wanted, re.Pattern[str]]] = {
    "en": _words(_ENGLISH, r"\b"),
    "vi": _words(_VIETNAMESE, r"\b"),
    "zh": _words(_CHINESE, ""),
}
_NUMBER_WORD = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundreds?|thousands?|millions?|billions?|dozens?"
    r"|half|thirds?|quarter|twice|hai|ba|bốn|sáu|bảy|tám|chín|mười|trăm|nghìn|ngàn|triệu|tỷ|nửa)\b"
    r"|[一二两三四五六七八九十百千万亿][个名次年位所种天月人座条项部%分万亿十百千]|百分之"
)
_DATE = re.compile(
    r"(?<!\d)(?:1\d{3}|20\d\d)(?!\d)|\b(?:january|february|march|april|may|june|july|august|september|october|november"
    r"|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|centur(?:y|ies)|tháng \d|ngày \d|thế kỷ)\b"
    r"|世纪|\d\s*[年月日]|年代"
)


def wanted(question: str) -> Wanted | None:
    """The kind of answer that it asks for, if its words say so."""
    asked = _ASKED[locale_of(question)]
    return next((kind for kind, words in asked.items() if words.search(question)), None)


def has_number_word(text: str) -> bool:
    """A number that is written out. `text` in lower case, as for the next."""
    return _NUMBER_WORD.search(text) is not None


def has_date(text: str) -> bool:
    return _DATE.search(text) is not None
