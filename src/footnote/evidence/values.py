"""Numbers, dates and amounts as values, so that `1,200,000`, `1.2 million`, `1,2 triệu` and `120万` are equal.

A value that can be read in more than one way (`1,200` in an unknown language, `04/10/2019`) has more than one reading.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from footnote.evidence import numerals
from footnote.text.terms import SUPERSCRIPTS

_UNIT_WORDS: Final = {
    "%": "%|percent|per cent|pct|phần trăm",
    "usd": "usd|dollars|dollar|đô la|đô-la|美元|美金",
    "eur": "€|eur|euros|euro|欧元",
    "gbp": "gbp|pounds sterling|bảng anh|英镑",
    "cny": "cny|rmb|yuan|nhân dân tệ|人民币|元",
    "jpy": "jpy|yen|yên|日元",
    "vnd": "₫|vnd|đồng|越南盾",
    "km2": "square kilometres|square kilometers|sq km|km2|km²|km vuông|平方公里|平方千米",
    "mi2": "square miles|sq mi|dặm vuông|平方英里",
    "m2": "square metres|square meters|m2|m²|mét vuông|平方米",
    "km": "kilometres|kilometers|kilometre|kilometer|km|ki-lô-mét|cây số|公里|千米",
    "mi": "miles|mile|mi|dặm|英里",
    "m": "metres|meters|metre|meter|m|mét|米",
    "cm": "centimetres|centimeters|cm|厘米|公分",
    "mm": "millimetres|millimeters|mm|毫米",
    "ft": "feet|foot|ft|英尺",
    "ha": "hectares|hectare|ha|hecta|héc-ta|公顷",
    "kg": "kilograms|kilogram|kg|公斤|千克",
    "t": "tonnes|tonne|tons|ton|tấn|吨",
    "c": "°c|degrees celsius|độ c|摄氏度",
    "f": "°f|degrees fahrenheit|độ f|华氏度",
    "second": "seconds|giây|秒",
    "minute": "minutes|minute|phút|分钟",
    "hour": "hours|hour|giờ|小时",
    "day": "days|day|ngày|天",
    "week": "weeks|week|tuần|周|星期",
    "month": "months|month|tháng|个月",
    "year": "years|year|năm|年",
    "decade": "decades|decade|thập kỷ|thập niên",
    "century": "centuries|century|thế kỷ|世纪",
}
_CURRENCY_SIGNS: Final = {"us$": "usd", "$": "usd", "€": "eur", "£": "gbp", "¥": "cny", "￥": "cny", "₫": "vnd"}

_UNITS: Final = {word: unit for unit, words in _UNIT_WORDS.items() for word in words.split("|")} | _CURRENCY_SIGNS
_LONGEST_FIRST = sorted((word for words in _UNIT_WORDS.values() for word in words.split("|")), key=len, reverse=True)

UNIT_PATTERN: Final = "|".join(
    word + (r"\b" if word[-1].isalpha() and word[-1] < "\u3000" else "") for word in _LONGEST_FIRST
)
"""The source of a pattern. A unit in letters ends at the end of a word, so that the `m` of `5 men` is not one."""

CURRENCY_PATTERN: Final = r"(?:us\$|[$€£¥￥₫])\s?"

_MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
MONTHS: Final = (
    {name: at for at, name in enumerate(_MONTH_NAMES, 1)}
    | {name[:3]: at for at, name in enumerate(_MONTH_NAMES, 1)}
    | {"sept": 9}
)


def parse_unit(text: str | None) -> str | None:
    return _UNITS.get(text.casefold().strip()) if text else None


_TOLERANCE = 1e-9


class Fact(Struct, frozen=True, gc=False):
    """One part of a value. `kind`: `n` a number or a year, `m` a month, `d` a day of it, `t` a time of day."""

    kind: str
    number: float
    unit: str | None = None


class Value(Struct, frozen=True, gc=False):
    """A value by its offsets. Each of `readings` is one way to read it: all its facts together.

    `is_certain` is False for a word that is a number only sometimes. `digits` of the number were written out; the
    others, as in `1.2 million`, may have been rounded away.
    """

    start: int
    end: int
    readings: tuple[tuple[Fact, ...], ...]
    is_certain: bool = True
    digits: int = 0

    @property
    def key(self) -> str:
        return "#" + "+".join(f"{fact.kind}{fact.number:.12g}" for fact in self.readings[0])


def contains_value(values: Iterable[Value], wanted: Value) -> bool:
    """Whether `values` have all facts of one reading of `wanted`."""
    facts = [fact for value in values for reading in value.readings for fact in reading]
    return any(all(_is_stated(fact, facts, wanted.digits) for fact in reading) for reading in wanted.readings)


def contains_exact_value(values: Iterable[Value], wanted: Value) -> bool:
    """The same, without rounding."""
    return contains_value(values, replace(wanted, digits=0))


def are_comparable(one: Value, other: Value) -> bool:
    """Whether two values are of the same kind, so that one in the place of the other is a contradiction."""
    facts, other_facts = one.readings[0], other.readings[0]
    return [fact.kind for fact in facts] == [fact.kind for fact in other_facts] and all(
        _unit_fits(fact, other_fact) and is_year(fact) == is_year(other_fact)
        for fact, other_fact in zip(facts, other_facts, strict=True)
    )


def is_same_kind(one: Value, other: Value) -> bool:
    """Whether two values have the same kinds of facts, in the same units."""
    facts, other_facts = one.readings[0], other.readings[0]
    return [(fact.kind, fact.unit) for fact in facts] == [(fact.kind, fact.unit) for fact in other_facts]


def is_year(fact: Fact) -> bool:
    return fact.kind == "n" and fact.unit is None and 1000 <= fact.number <= 2100 and fact.number.is_integer()


def _unit_fits(fact: Fact, other: Fact) -> bool:
    return fact.unit == other.unit or fact.unit is None or other.unit is None


def _is_stated(fact: Fact, stated: Iterable[Fact], digits: int) -> bool:
    return any(
        other.kind == fact.kind
        and _unit_fits(fact, other)
        and (math.isclose(other.number, fact.number, rel_tol=_TOLERANCE) or _rounds_to(other.number, fact, digits))
        for other in stated
    )


def _rounds_to(exact: float, fact: Fact, digits: int) -> bool:
    """Whether a number is another one rounded to its digits: `1.2 million` for 1,234,567."""
    if not digits or fact.kind != "n" or not exact or not fact.number:
        return False
    return math.isclose(float(f"{exact:.{digits - 1}e}"), fact.number, rel_tol=_TOLERANCE)


_WIDE = str.maketrans("０１２３４５６７８９．％：／－", "0123456789.%:/-")
_MONTH = "|".join(spelled for name in sorted(MONTHS, key=len, reverse=True) for spelled in (name.title(), name.upper()))
_HAN_DIGITS = "〇零一二三四五六七八九"
_HAN_SMALL = "[一二三四五六七八九十]{1,3}"

_ISO = re.compile(r"(?<![\d.])(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?![\d.]\d|\d)")
_DAY_FIRST = re.compile(r"(?<![\d.])(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?!\d)")
_HAN_DATE = re.compile(
    rf"(?:(?<!\d)(\d{{4}}|[{_HAN_DIGITS}]{{4}})\s*年\s*)?(?<![\d])(\d{{1,2}}|{_HAN_SMALL})\s*月(?:\s*(\d{{1,2}}|{_HAN_SMALL})\s*[日号])?"
)
_HAN_YEAR = re.compile(rf"(?<!\d)(\d{{3,4}}|[{_HAN_DIGITS}]{{4}})\s*年(?!代)")
_HAN_DECADE = re.compile(r"(\d{1,2})\s*世纪\s*(\d{2})\s*年代")
_MONTH_FIRST = re.compile(rf"\b({_MONTH})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(\d{{4}})\b)?(?!,\d)")
_MONTH_AFTER = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})\b\.?(?:,?\s+(\d{{4}})\b)?")
_MONTH_YEAR = re.compile(rf"\b({_MONTH})\.?,?\s+(?:of\s+)?(\d{{4}})\b")
_MONTH_ALONE = re.compile(rf"(?<=\w )(?:{'|'.join(name.title() for name in MONTHS if len(name) > 3)})\b")
_VIETNAMESE_DATE = re.compile(
    r"\b(?:(?:ngày|mùng|mồng)\s+)?(\d{1,2})\s*(?:tháng|/)\s*(\d{1,2})(?:\s*+(?:(?:năm|,|/)\s*+)?(\d{4}))?\b(?!/)",
    re.IGNORECASE,
)
_VIETNAMESE_MONTH = re.compile(r"\btháng\s+(\d{1,2})(?:\s*(?:năm|,|/|-)\s*(\d{4}))?\b", re.IGNORECASE)
_CENTURY_AFTER = re.compile(r"\bthế kỷ\s+(?:thứ\s+)?(\d{1,2}|[XVI]+)\b", re.IGNORECASE)
_HAN_FRACTION = re.compile(
    r"(?<![百\d一二三四五六七八九十])([百\d一二三四五六七八九十]++)分之([\d.一二三四五六七八九十百]+)"
)
_PHRASED_FRACTION = re.compile(
    r"\b(một|hai|ba|bốn|năm|sáu|bảy|\d+)\s+phần\s+(hai|ba|tư|năm|sáu|tám|mười|\d+)\b", re.IGNORECASE
)
_ENGLISH_FRACTION = re.compile(
    r"\b(one|two|three|four|five|a)[\s-](half|third|quarter|fourth|fifth|sixth|eighth|tenth)s?\b", re.IGNORECASE
)
_TIME = re.compile(r"(?<![\d:.])(\d{1,2}):(\d{2})(?::\d{2})?(?![\d:])(?:\s*([ap])\.?m\b\.?)?", re.IGNORECASE)
_DIGITS = re.compile(
    rf"(?P<before>{CURRENCY_PATTERN})?(?<!\d)(?<!\d[.,])(?<![A-Za-z_\u00c0-\u024f\u1e00-\u1eff])"
    r"(?P<sign>(?<![\w)\]])[-−](?=\d))?"
    r"(?P<number>\d+(?:[.,\u00a0\u202f’]\d+)*)(?P<glyph>[½¼¾⅓⅔])?"
    r"(?P<ordinal>st\b|nd\b|rd\b|th\b|s\b)?"
    rf"(?:[\s-]?[多余]?(?P<scale>{numerals.SCALE_PATTERN}))?"
    rf"(?:[\s-]?(?P<unit>{UNIT_PATTERN}))?",
    re.IGNORECASE,
)
_SUPERSCRIPT = re.compile(rf"(?<=\d)[{SUPERSCRIPTS}]+")
"""After a number, a reference mark or an exponent, which ends the number as a space does."""
_HEDGE = re.compile(
    r"(?:\b(?:about|around|approximately|roughly|some|nearly|almost|over|more than|khoảng|gần|hơn|trên|xấp xỉ) "
    r"|[约近逾]|超过)$",
    re.IGNORECASE,
)
_GLYPHS = {"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3}
_ROMAN = {"I": 1, "V": 5, "X": 10}
_PARTS = {"half": 2, "quarter": 4, "a": 1, "tư": 4, "mười": 10}
_AFTER_NUMERAL = re.compile(rf"[\s-]?(?P<unit>{UNIT_PATTERN})", re.IGNORECASE)
_CLASSIFIER = re.compile(
    r"[个個位名人次年天岁种座条家款届集部场支只所项类倍层代世期秒级票颗部头队间本件张台辆艘名段组点章枚幅]|(?<!十)分(?!之)|月"
)


def extract_values(text: str) -> tuple[Value, ...]:
    """The values of a text in order, without overlap."""
    plain = _SUPERSCRIPT.sub(lambda mark: " " * len(mark[0]), text.translate(_WIDE))
    covered = bytearray(len(plain))
    found: list[Value] = []
    for extract in _EXTRACTORS:
        for value in extract(plain):
            if not any(covered[value.start : value.end]):
                covered[value.start : value.end] = b"\1" * (value.end - value.start)
                found.append(value)
    return tuple(sorted(found, key=lambda value: value.start))


def _dates(text: str) -> Iterator[Value]:
    for match in _ISO.finditer(text):
        yield from _date_value(match, (match[1], match[2], match[3]))
    for match in _DAY_FIRST.finditer(text):
        yield from _date_value(match, (match[3], match[2], match[1]), (match[3], match[1], match[2]))
    for match in _HAN_DATE.finditer(text):
        yield from _date_value(match, (match[1], match[2], match[3]))
    for match in _HAN_DECADE.finditer(text):
        yield Value(match.start(), match.end(), ((Fact("n", (int(match[1]) - 1) * 100.0 + int(match[2])),),))
    for match in _HAN_YEAR.finditer(text):
        yield from _date_value(match, (match[1], None, None))
    for match in _MONTH_FIRST.finditer(text):
        yield from _date_value(match, (match[3], match[1], match[2]))
    for match in _MONTH_AFTER.finditer(text):
        yield from _date_value(match, (match[3], match[2], match[1]))
    for match in _MONTH_YEAR.finditer(text):
        yield from _date_value(match, (match[2], match[1], None))
    for match in _MONTH_ALONE.finditer(text):
        yield from _date_value(match, (None, match[0], None))


def _vietnamese_dates(text: str) -> Iterator[Value]:
    for match in _VIETNAMESE_DATE.finditer(text):
        if "/" not in match[0] or match[3] or "ngày" in match[0].casefold():
            yield from _date_value(
                match, (match[3], match[2], match[1]), *([(match[3], match[1], match[2])] if "/" in match[0] else [])
            )
    for match in _VIETNAMESE_MONTH.finditer(text):
        yield from _date_value(match, (match[2], match[1], None))
    for match in _CENTURY_AFTER.finditer(text):
        number = int(match[1]) if match[1].isdigit() else _parse_roman(match[1].upper())
        yield Value(match.start(), match.end(), ((Fact("n", float(number), "century"),),))


def _date_value(match: re.Match[str], *readings: tuple[str | None, str | None, str | None]) -> Iterator[Value]:
    """A value of year, month and day, with those readings that are possible dates."""
    possible: list[tuple[Fact, ...]] = []
    for year, month, day in readings:
        month_number = _parse_date_part(month)
        day_number = (_parse_date_part(day) or 0.0) if day else None
        if (month_number is None or 1 <= month_number <= 12) and (day_number is None or 1 <= day_number <= 31):
            facts = (("n", _parse_date_part(year)), ("m", month_number), ("d", day_number))
            possible.append(tuple(Fact(kind, fact) for kind, fact in facts if fact is not None))
    if possible:
        yield Value(match.start(), match.end(), tuple(possible))


def _parse_date_part(written: str | None) -> float | None:
    """A year, month or day, in digits, as a name or in Chinese."""
    if not written:
        return None
    if written.isdigit():
        return float(written)
    if month := MONTHS.get(written.casefold().rstrip(".")):
        return float(month)
    numeral = numerals.parse_chinese(written)
    return numeral.number if numeral else None


def _parse_roman(written: str) -> int:
    numbers = [_ROMAN[letter] for letter in written]
    return sum(-one if one < following else one for one, following in zip(numbers, [*numbers[1:], 0], strict=True))


def _fractions(text: str) -> Iterator[Value]:
    for match in _HAN_FRACTION.finditer(text):
        part, whole = _parse_amount(match[2]), _parse_amount(match[1])
        if part is not None and match[1] == "百":
            yield Value(match.start(), match.end(), ((Fact("n", part, "%"),),))
        elif part is not None and whole:
            yield Value(match.start(), match.end(), ((Fact("n", part / whole),),))
    for pattern in (_PHRASED_FRACTION, _ENGLISH_FRACTION):
        for match in pattern.finditer(text):
            part, whole = _parse_amount(match[1]), _parse_amount(match[2])
            if part and whole:
                yield Value(match.start(), match.end(), ((Fact("n", part / whole),),), is_certain=whole != 2)


def _parse_amount(written: str) -> float | None:
    """A part of a fraction, however it is written."""
    word = written.casefold()
    for table in (_PARTS, numerals.ONES, numerals.ORDINALS, numerals.SYLLABLES):
        if word in table:
            return float(table[word])
    if re.fullmatch(r"\d+(?:\.\d+)?", word):
        return float(word)
    numeral = numerals.parse_chinese(word) if numerals.CHINESE_PATTERN.fullmatch(word) else None
    return numeral.number if numeral else None


def _times(text: str) -> Iterator[Value]:
    for match in _TIME.finditer(text):
        hour, minute = int(match[1]), int(match[2])
        if hour < 25 and minute < 60:
            half = {"a": 0, "p": 12}.get((match[3] or "").casefold())
            hours = (
                [hour, hour + 12]
                if half is None and 0 < hour < 12
                else [hour % 12 + half if half is not None else hour]
            )
            yield Value(match.start(), match.end(), tuple((Fact("t", hour * 60.0 + minute),) for hour in hours))


def _digit_values(text: str) -> Iterator[Value]:
    for match in _DIGITS.finditer(text):
        numbers = _parse_digits(match["number"])
        if not numbers or _is_part_of_name(text, match):
            continue
        scale = _parse_scale(match["scale"])
        sign = -1.0 if match["sign"] else 1.0
        unit = parse_unit(match["unit"]) or parse_unit(match["before"])
        glyph = _GLYPHS.get(match["glyph"] or "", 0.0)
        if (year := _complete_year(text, match)) is not None:
            numbers = [*numbers, year]
        readings = tuple((Fact("n", sign * (number + glyph) * scale, unit),) for number in numbers)
        digits = len(re.sub(r"\D", "", match["number"]).strip("0"))
        hedged = _HEDGE.search(text, max(0, match.start() - 20), match.start()) or "多" in match[0] or "余" in match[0]
        if not hedged and (scale < 1e3 or digits < 2):
            digits = 0
        yield Value(match.start(), match.end(), readings, digits=digits)


def _is_part_of_name(text: str, match: re.Match[str]) -> bool:
    """Whether a letter that is no unit follows the digits: `2A`, `33C`."""
    return (
        match.end() == match.end("number")
        and text[match.end() : match.end() + 1].isascii()
        and text[match.end() : match.end() + 1].isalpha()
    )


def _parse_digits(written: str) -> list[float]:
    """The readings of digits with points and commas between them, the likeliest first."""
    written = re.sub("[\u00a0\u202f’]", "", written)
    marks = [mark for mark in written if mark in ".,"]
    if not marks:
        return [float(written[:40])]
    groups = re.split("[.,]", written)
    grouped = all(len(group) == 3 for group in groups[1:]) and 1 <= len(groups[0]) <= 3 and groups[0] != "0"
    whole = float("".join(groups)[:40])
    if len(set(marks)) == 2 and marks[-1] not in marks[:-1]:
        return [float(f"{''.join(groups[:-1])}.{groups[-1]}")]
    if len(marks) > 1:
        return [whole] if grouped else []
    decimal = float(f"{groups[0][:40]}.{groups[1][:40]}")
    return [whole, decimal] if grouped else [decimal]


def _complete_year(text: str, match: re.Match[str]) -> float | None:
    """The second year of `1998–99`, with the century of the first."""
    before = re.search(r"(?<!\d)(\d{2})\d{2}[-–]$", text[max(0, match.start() - 6) : match.start()])
    return float(before[1] + match["number"]) if before and re.fullmatch(r"\d\d", match["number"]) else None


def _parse_scale(written: str | None) -> float:
    scale = 1.0
    for word in (written or "").casefold().split():
        for part in [word] if word in numerals.SCALES else list(word):
            scale *= numerals.SCALES.get(part, 1.0)
    return scale


def _numeral_values(text: str) -> Iterator[Value]:
    for pattern, parse in (
        (numerals.ENGLISH_PATTERN, numerals.parse_english),
        (numerals.VIETNAMESE_PATTERN, numerals.parse_vietnamese),
    ):
        for match in pattern.finditer(text):
            if numeral := parse(match[0]):
                yield _value_with_unit(
                    text, match.start(), match.start() + numeral.end, numeral.number, is_certain=numeral.is_certain
                )
    for match in numerals.CHINESE_PATTERN.finditer(text):
        if text[match.start() - 1 : match.start()] in ("几", "数", "好", "统", "唯"):
            continue
        if numeral := numerals.parse_chinese(match[0]):
            is_counter = text[match.start() - 1 : match.start()] == "第" or bool(_CLASSIFIER.match(text, match.end()))
            is_certain = numeral.is_certain or (numeral.number > 1 and is_counter)
            yield _value_with_unit(text, match.start(), match.end(), numeral.number, is_certain=is_certain)


def _value_with_unit(text: str, start: int, end: int, number: float, *, is_certain: bool) -> Value:
    after = _AFTER_NUMERAL.match(text, end)
    unit = parse_unit(after["unit"]) if after else None
    return Value(start, after.end() if after and unit else end, ((Fact("n", number, unit),),), is_certain=is_certain)


_EXTRACTORS: Final[Sequence[Callable[[str], Iterator[Value]]]] = (
    _dates,
    _vietnamese_dates,
    _fractions,
    _times,
    _digit_values,
    _numeral_values,
)
