"""The filters of a search as models and people write them: a country (the names are in `countries.txt`), and the age of
pages: `last week`, `24h`, `since 2023`, `3 ngày qua`, `最近一周`.

The words for ages are those of English, Vietnamese and Chinese, compared without case and accents.
"""

import re
import unicodedata
from calendar import monthrange
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from typing import TypeAlias

_ALPHA_2_LENGTH, _ALPHA_3_LENGTH = 2, 3
_LOCALE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z]{4})?[-_]([A-Za-z]{2})")
_SEPARATORS = re.compile(r"[,;/|()]")
_MAX_LENGTH = 100


def country_code(text: str) -> str | None:
    """The code of ISO 3166-1 alpha-2 for a code of two or three letters, a locale such as `en-AU`, a name in English,
    Vietnamese or Chinese, or a place such as `Perth, Australia`. None: it is no country."""
    text = text[:_MAX_LENGTH].strip()
    if found := _find(text):
        return found
    if locale := _LOCALE.fullmatch(text):
        return _find(locale[1])
    return next((found for part in reversed(_SEPARATORS.split(text)) if (found := _find(part.strip()))), None)


def _find(name: str) -> str | None:
    codes, names = _tables()
    if name.isascii() and len(name) == _ALPHA_2_LENGTH and name.upper() in codes:
        return name.upper()
    key = _country_key(name)
    if name.isupper() and len(name) == _ALPHA_3_LENGTH:  # NGA is Nigeria; Nga is Russia in Vietnamese
        return codes.get(name) or names.get(key)
    return names.get(key) or names.get(key.removeprefix("the")) or codes.get(key.upper())


@cache
def _tables() -> tuple[dict[str, str], dict[str, str]]:
    """The codes of two letters by the codes of both lengths, and by the names."""
    codes: dict[str, str] = {}
    names: dict[str, str] = {}
    table = files("footnote.web_search").joinpath("countries.txt").read_text("utf-8")
    for line in table.splitlines()[1:]:
        code, alpha_3, listed = line.split(" ", 2)
        codes |= {code: code, alpha_3: code}
        names |= {_country_key(name): code for name in listed.split("|")}
    return codes, names


def _country_key(name: str) -> str:
    """Without case, accents, spaces and punctuation: models write `Viet Nam`, `Việt Nam` and `vietnam`."""
    decomposed = unicodedata.normalize("NFKD", name.casefold().replace("đ", "d"))
    return "".join(character for character in decomposed if character.isalnum())


# The age of pages ----------------------------------------------------------------------------------------


_MAX_DAYS = 40_000
_EARLIEST = date(1970, 1, 1)

_TODAY = ("today", "now", "present", "hom nay", "ngay hom nay", "今天", "今日", "现在", "現在")
_YESTERDAY = ("yesterday", "hom qua", "ngay hom qua", "昨天", "昨日")
_RECENT = (
    *("recent", "recently", "new", "newest", "latest", "current", "gan day", "moi", "moi nhat"),
    *("最近", "近期", "最新"),
)
_CODES = {code: code for code in ("pd", "pw", "pm", "py")} | dict.fromkeys(_TODAY, "pd") | dict.fromkeys(_RECENT, "pm")

_DAYS_OF_UNIT = {
    word: days
    for days, words in (
        (1 / 24, "h hr hrs hour hours hourly gio 小时 小時"),
        (1, "d day days daily ngay 天 日"),
        (7, "w wk wks week weeks weekly tuan 周 週 星期"),
        (30.4, "m mo mos month months monthly thang 月 个月 個月"),
        (365, "y yr yrs year years yearly nam 年"),
    )
    for word in words.split()
}
_NUMBERS = {
    word: number
    for number, words in enumerate(
        ("a an one mot 一", "two couple hai 二 两 兩", "three few ba 三", "four bon 四", "five 五", "six sau 六"), 1
    )
    for word in words.split()
}
_SPAN = re.compile(
    rf"(?:pt?)?(\d{{1,5}}|{'|'.join(_NUMBERS)})? ?({'|'.join(sorted(_DAYS_OF_UNIT, key=len, reverse=True))})(?: ago)?"
)
_FILLERS = re.compile(
    r"-|\b(?:a(?= couple| few)|in|within|during|over|from|since|of|the|past|last|this|previous|recent|current|trong"
    r"|vong|qua|gan day|nay|truoc|vua|roi|ngoai)\b|过去|過去|最近|近|本|上|今|去|以来|以來|内|內|这|這"
)
"""What adds nothing to a span of time that ends now."""

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_MONTH_NUMBERS = {name[:size]: number for number, name in enumerate(_MONTHS, 1) for size in (3, len(name))}
_MONTH_NAME = re.compile(rf"\b({'|'.join(sorted(_MONTH_NUMBERS, key=len, reverse=True))})\b\.?")
_MONTH_FIRST = re.compile(r"(?:thang )?(\d{1,2})[ /-](?:nam )?(\d{4})")
_PERIOD = re.compile(r"(?:in |nam )?(\d{4})(?:[-/.年 ](\d{1,2})(?:[-/.月 ](\d{1,2}))?)?[年月日]?")
_COMPACT_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)")
_CLOCK = re.compile(r"(?<=\d)t\d\d:[\d:.+z]*")
_TO = re.compile(
    r" ?(?:\bto\b|(?<=\d)to(?=\d)|\buntil\b|\bden\b|\.\.|[~\u2013\u2014至到]| - |(?<=\d{4})-(?=\d{4})|(?<=-\d\d)/) ?"
)
_SINCE = re.compile(r"(?:since|after|from|>=?|tu|ke tu|自|从|從) ?(.+?)(?:以来|以來|之后|之後|onwards?)?")
_BEFORE = re.compile(r"(?:before|<|truoc) ?(.+)")

_Days: TypeAlias = tuple[date, date]


def parse_freshness(text: str, today: date) -> str | None:
    """`pd`, `pw`, `pm`, `py`, or a range of days. None: the text is no span of time, or one in the future."""
    words = _normalize_words(text)
    if words in _CODES:
        return _CODES[words]
    try:
        days = _parse_days(words, today)
    except (ValueError, OverflowError):  # there is no such day
        return None
    if days is None:
        return _parse_span(words, today)
    return _format(*days) if days[0] <= today else None


def _normalize_words(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text[:_MAX_LENGTH].casefold().replace("đ", "d"))
    plain = "".join(character for character in decomposed if not unicodedata.combining(character))
    return " ".join(re.sub(r"[_\"'`]", " ", _CLOCK.sub("", plain)).split())


def _parse_days(words: str, today: date) -> _Days | None:
    if words in _YESTERDAY:
        return today - timedelta(1), today
    if period := _parse_period(words):
        return period
    start, *ends = _TO.split(words)
    if len(ends) == 1 and (first := _parse_period(start.removeprefix("from "))):
        last = (today, today) if ends[0] in _TODAY else _parse_period(ends[0])
        return (min(first[0], last[0]), max(first[1], last[1])) if last else None
    if (since := _SINCE.fullmatch(words)) and (period := _parse_period(since[1])):
        return period[0], max(today, period[0])
    if (before := _BEFORE.fullmatch(words)) and (period := _parse_period(before[1])):
        return _EARLIEST, period[0] - timedelta(1)
    return None


def _parse_period(words: str) -> _Days | None:
    """The days of a year, a month or a day. `ValueError`: there is no such day."""
    if named := _MONTH_NAME.search(words):
        words = _name_to_number(words, named)
    elif first := _MONTH_FIRST.fullmatch(words):
        words = f"{first[2]}-{first[1]}"
    found = _PERIOD.fullmatch(words) or _COMPACT_DAY.fullmatch(words)
    if found is None:
        return None
    year, *rest = (int(part) for part in found.groups() if part)
    match rest:
        case [month, day]:
            return date(year, month, day), date(year, month, day)
        case [month]:
            return date(year, month, 1), date(year, month, monthrange(year, month)[1])
        case _:
            return date(year, 1, 1), date(year, 12, 31)


def _name_to_number(words: str, month: re.Match[str]) -> str:
    """`March 2024` and `5 March 2024`, in any order, with the year first."""
    others = [*words[: month.start()].split(), *words[month.end() :].replace(",", " ").split()]
    year_first = sorted(others, key=len, reverse=True)
    return "-".join([*year_first[:1], str(_MONTH_NUMBERS[month[1]]), *year_first[1:]])


def _parse_span(words: str, today: date) -> str | None:
    found = _SPAN.fullmatch(" ".join(_FILLERS.sub(" ", words).split()))
    if found is None:
        return None
    number, unit = found.groups()
    count = 1 if number is None else _NUMBERS.get(number) or int(number)
    days = count * _DAYS_OF_UNIT[unit]
    if not 0 < days <= _MAX_DAYS:
        return None
    for code, min_days, max_days in (("pd", 0, 1), ("pw", 7, 7), ("pm", 28, 31), ("py", 364, 366)):
        if min_days <= days <= max_days:
            return code
    return _format(max(_EARLIEST, today - timedelta(round(days + 0.49))), today)


def _format(first: date, last: date) -> str:
    return f"{first.isoformat()}to{last.isoformat()}"
