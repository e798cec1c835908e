"""Numbers, dates and amounts of a text as values, so that `1,200,000`, `1.2 million`, `1,2 triệu` and `120万` are one.

What can be read in more than one way (`1,200` in an unknown language, `04/10/2019`) has more than one reading.
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
"""A pattern. Letters must end there, so that the `m` of `5 men` is none; characters need not."""

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
    """One thing that a value says. `kind`: `n` a number or a year, `m` a month, `d` a day of it, `t` a time of day."""

    kind: str
    number: float
    unit: str | None = None


class Value(Struct, frozen=True, gc=False):
    """A value and where it stands. Each of `readings` is a way to understand it: all its facts together.

    `sure` is False where the word is a number only sometimes. `digits` of the number were written out; the others,
    as in `1.2 million`, may have been rounded away.
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
    """Whether what `wanted` says is said by `values`, in one of its readings."""
    said = [fact for value in values for reading in value.readings for fact in reading]
    return any(all(_is_stated(fact, said, wanted.digits) for fact in reading) for reading in wanted.readings)


def contains_exact_value(values: Iterable[Value], wanted: Value) -> bool:
    """The same, but nothing may have been rounded."""
    return contains_value(values, replace(wanted, digits=0))


def are_comparable(one: Value, other: Value) -> bool:
    """Whether two values say the same kind of thing, so that where one is meant the other would contradict it."""
    mine, theirs = one.readings[0], other.readings[0]
    return [fact.kind for fact in mine] == [fact.kind for fact in theirs] and all(
        _unit_fits(fact, other) and _is_year(fact) == _is_year(other) for fact, other in zip(mine, theirs, strict=True)
    )


def _is_year(fact: Fact) -> bool:
    return fact.kind == "n" and fact.unit is None and 1000 <= fact.number <= 2100 and fact.number.is_integer()


def _unit_fits(fact: Fact, other: Fact) -> bool:
    return fact.unit == other.unit or fact.unit is None or other.unit is None


def _is_stated(fact: Fact, said: Iterable[Fact], digits: int) -> bool:
    return any(
        other.kind == fact.kind
        and _unit_fits(fact, other)
        and (math.isclose(other.number, fact.number, rel_tol=_TOLERANCE) or _rounds_to(other.number, fact, digits))
        for other in said
    )


def _rounds_to(exact: float, fact: Fact, digits: int) -> bool:
    """`1.2 million` for 1,234,567: the digits that are given are right."""
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
"""Behind a number it is a reference or an exponent, and ends the number as a space does."""
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
    """The values of a text in order, none over another."""
    plain = _SUPERSCRIPT.sub(lambda mark: " " * len(mark[0]), text.translate(_WIDE))
    taken = bytearray(len(plain))
    found: list[Value] = []
    for read in _EXTRACTORS:
        for value in read(plain):
            if not any(taken[value.start : value.end]):
                taken[value.start : value.end] = b"\1" * (value.end - value.start)
                found.append(value)
    return tuple(sorted(found, key=lambda value: value.start))


def _dates(text: str) -> Iterator[Value]:
    for at in _ISO.finditer(text):
        yield from _date_value(at, (at[1], at[2], at[3]))
    for at in _DAY_FIRST.finditer(text):
        yield from _date_value(at, (at[3], at[2], at[1]), (at[3], at[1], at[2]))
    for at in _HAN_DATE.finditer(text):
        yield from _date_value(at, (at[1], at[2], at[3]))
    for at in _HAN_DECADE.finditer(text):
        yield Value(at.start(), at.end(), ((Fact("n", (int(at[1]) - 1) * 100.0 + int(at[2])),),))
    for at in _HAN_YEAR.finditer(text):
        yield from _date_value(at, (at[1], None, None))
    for at in _MONTH_FIRST.finditer(text):
        yield from _date_value(at, (at[3], at[1], at[2]))
    for at in _MONTH_AFTER.finditer(text):
        yield from _date_value(at, (at[3], at[2], at[1]))
    for at in _MONTH_YEAR.finditer(text):
        yield from _date_value(at, (at[2], at[1], None))
    for at in _MONTH_ALONE.finditer(text):
        yield from _date_value(at, (None, at[0], None))


def _vietnamese_dates(text: str) -> Iterator[Value]:
    for at in _VIETNAMESE_DATE.finditer(text):
        if "/" not in at[0] or at[3] or "ngày" in at[0].casefold():
            yield from _date_value(at, (at[3], at[2], at[1]), *([(at[3], at[1], at[2])] if "/" in at[0] else []))
    for at in _VIETNAMESE_MONTH.finditer(text):
        yield from _date_value(at, (at[2], at[1], None))
    for at in _CENTURY_AFTER.finditer(text):
        number = int(at[1]) if at[1].isdigit() else _parse_roman(at[1].upper())
        yield Value(at.start(), at.end(), ((Fact("n", float(number), "century"),),))


def _date_value(at: re.Match[str], *readings: tuple[str | None, str | None, str | None]) -> Iterator[Value]:
    """Of year, month and day as they were written, those readings that the calendar knows."""
    understood: list[tuple[Fact, ...]] = []
    for year, month, day in readings:
        number = _parse_date_part(month)
        date = (_parse_date_part(day) or 0.0) if day else None
        if (number is None or 1 <= number <= 12) and (date is None or 1 <= date <= 31):
            facts = (("n", _parse_date_part(year)), ("m", number), ("d", date))
            understood.append(tuple(Fact(kind, fact) for kind, fact in facts if fact is not None))
    if understood:
        yield Value(at.start(), at.end(), tuple(understood))


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
    for at in _HAN_FRACTION.finditer(text):
        part, whole = _parse_amount(at[2]), _parse_amount(at[1])
        if part is not None and at[1] == "百":
            yield Value(at.start(), at.end(), ((Fact("n", part, "%"),),))
        elif part is not None and whole:
            yield Value(at.start(), at.end(), ((Fact("n", part / whole),),))
    for pattern in (_PHRASED_FRACTION, _ENGLISH_FRACTION):
        for at in pattern.finditer(text):
            part, whole = _parse_amount(at[1]), _parse_amount(at[2])
            if part and whole:
                yield Value(at.start(), at.end(), ((Fact("n", part / whole),),), is_certain=whole != 2)


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
    for at in _TIME.finditer(text):
        hour, minute = int(at[1]), int(at[2])
        if hour < 25 and minute < 60:
            half = {"a": 0, "p": 12}.get((at[3] or "").casefold())
            hours = (
                [hour, hour + 12]
                if half is None and 0 < hour < 12
                else [hour % 12 + half if half is not None else hour]
            )
            yield Value(at.start(), at.end(), tuple((Fact("t", hour * 60.0 + minute),) for hour in hours))


def _digit_values(text: str) -> Iterator[Value]:
    for at in _DIGITS.finditer(text):
        numbers = _parse_digits(at["number"])
        if not numbers or _is_part_of_name(text, at):
            continue
        scale = _parse_scale(at["scale"])
        sign = -1.0 if at["sign"] else 1.0
        unit = parse_unit(at["unit"]) or parse_unit(at["before"])
        glyph = _GLYPHS.get(at["glyph"] or "", 0.0)
        if (begun := _complete_year(text, at)) is not None:
            numbers = [*numbers, begun]
        readings = tuple((Fact("n", sign * (number + glyph) * scale, unit),) for number in numbers)
        digits = len(re.sub(r"\D", "", at["number"]).strip("0"))
        hedged = _HEDGE.search(text, max(0, at.start() - 20), at.start()) or "多" in at[0] or "余" in at[0]
        if not hedged and (scale < 1e3 or digits < 2):
            digits = 0
        yield Value(at.start(), at.end(), readings, digits=digits)


def _is_part_of_name(text: str, at: re.Match[str]) -> bool:
    """`2A`, `33C`: a letter right after the digits that is no unit."""
    return (
        at.end() == at.end("number")
        and text[at.end() : at.end() + 1].isascii()
        and text[at.end() : at.end() + 1].isalpha()
    )


def _parse_digits(written: str) -> list[float]:
    """Ways to understand digits with points and commas between them, the likeliest first."""
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


def _complete_year(text: str, at: re.Match[str]) -> float | None:
    """The second year of `1998–99`, with the century of the first."""
    before = re.search(r"(?<!\d)(\d{2})\d{2}[-–]$", text[max(0, at.start() - 6) : at.start()])
    return float(before[1] + at["number"]) if before and re.fullmatch(r"\d\d", at["number"]) else None


def _parse_scale(written: str | None) -> float:
    scale = 1.0
    for word in (written or "").casefold().split():
        for part in [word] if word in numerals.SCALES else list(word):
            scale *= numerals.SCALES.get(part, 1.0)
    return scale


def _numeral_values(text: str) -> Iterator[Value]:
    for pattern, read in (
        (numerals.ENGLISH_PATTERN, numerals.parse_english),
        (numerals.VIETNAMESE_PATTERN, numerals.parse_vietnamese),
    ):
        for at in pattern.finditer(text):
            if numeral := read(at[0]):
                yield _value_with_unit(
                    text, at.start(), at.start() + numeral.end, numeral.number, sure=numeral.is_certain
                )
    for at in numerals.CHINESE_PATTERN.finditer(text):
        if text[at.start() - 1 : at.start()] in ("几", "数", "好", "统", "唯"):
            continue
        if numeral := numerals.parse_chinese(at[0]):
            counted = text[at.start() - 1 : at.start()] == "第" or _CLASSIFIER.match(text, at.end())
            sure = numeral.is_certain or (numeral.number > 1 and bool(counted))
            yield _value_with_unit(text, at.start(), at.end(), numeral.number, sure=sure)


def _value_with_unit(text: str, start: int, end: int, number: float, *, sure: bool) -> Value:
    after = _AFTER_NUMERAL.match(text, end)
    unit = parse_unit(after["unit"]) if after else None
    return Value(start, after.end() if after and unit else end, ((Fact("n", number, unit),),), is_certain=sure)


_EXTRACTORS: Final[Sequence[Callable[[str], Iterator[Value]]]] = (
    _dates,
    _vietnamese_dates,
    _fractions,
    _times,
    _digit_values,
    _numeral_values,
)
