"""What a number counts: units, currencies and months, in the words and signs of three languages."""

from typing import Final

_WORDS: Final = {
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
_SIGNS: Final = {"us$": "usd", "$": "usd", "€": "eur", "£": "gbp", "¥": "cny", "￥": "cny", "₫": "vnd"}

_UNITS: Final = {word: unit for unit, words in _WORDS.items() for word in words.split("|")} | _SIGNS
_LONGEST_FIRST = sorted((word for words in _WORDS.values() for word in words.split("|")), key=len, reverse=True)

UNIT_AFTER: Final = "|".join(
    word + (r"\b" if word[-1].isalpha() and word[-1] < "\u3000" else "") for word in _LONGEST_FIRST
)
"""A pattern. Letters must end there, so that the `m` of `5 men` is none; characters need not."""

CURRENCY_BEFORE: Final = r"(?:us\$|[$€£¥￥₫])\s?"

_NAMES = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
MONTHS: Final = (
    {name: at for at, name in enumerate(_NAMES, 1)} | {name[:3]: at for at, name in enumerate(_NAMES, 1)} | {"sept": 9}
)


def unit_of(written: str | None) -> str | None:
    return _UNITS.get(written.casefold().strip()) if written else None
