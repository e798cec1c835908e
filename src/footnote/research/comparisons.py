"""What a question compares, by rule: the things, and in which respects."""

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from footnote.protocol.tools import Locale
from footnote.text.languages import detect_locale

MAX_SIDES = 6
MAX_SIDE_LENGTH = 80
MAX_LENGTH = 600
"""A longer message says more than what it compares."""
EDGES = " \t\n.,;:!?。，；：、！？\"“”'‘’「」()（）"
"""Punctuation around words."""


class Comparison(Struct, frozen=True):
    """`context` is what all of it is about, such as `for small teams`."""

    sides: tuple[str, ...]
    aspects: tuple[str, ...] = ()
    context: str = ""

    def topic(self, locale: Locale) -> str:
        sides = _joined(self.sides, locale)
        if locale == "zh" and self.aspects:
            sides = f"{sides}的{_joined(self.aspects, locale)}"
        return _in_context(sides, self.context, locale)

    def questions(self, locale: Locale) -> tuple[str, ...]:
        """First each side, then all sides in each respect."""
        alone = _ALONE[locale] if not self.aspects else _IN_RESPECT[locale]
        respects = _joined(self.aspects, locale)
        sides = (alone.format(side=side, respects=respects) for side in self.sides)
        together = [_TOGETHER[locale].format(sides=_versus(self.sides, locale), aspect=one) for one in self.aspects]
        together = together or [_versus(self.sides, locale)]
        return tuple(_in_context(one, self.context, locale) for one in (*sides, *together))


_ALONE: Mapping[Locale, str] = {
    "en": "Advantages and disadvantages of {side}",
    "vi": "Ưu điểm và nhược điểm của {side}",
    "zh": "{side}的优点和缺点",
}
_IN_RESPECT: Mapping[Locale, str] = {"en": "{side}: {respects}", "vi": "{side}: {respects}", "zh": "{side}的{respects}"}
_TOGETHER: Mapping[Locale, str] = {"en": "{sides}: {aspect}", "vi": "{sides}: {aspect}", "zh": "{sides}：{aspect}"}
_AND: Mapping[Locale, str] = {"en": " and ", "vi": " và ", "zh": "和"}


def _joined(words: Sequence[str], locale: Locale) -> str:
    comma = "、" if locale == "zh" else ", "
    *first, last = words or ("",)
    return f"{comma.join(first)}{_AND[locale]}{last}" if first else last


def _versus(sides: Sequence[str], locale: Locale) -> str:
    return f"{_joined(sides, locale)}对比" if locale == "zh" else " vs ".join(sides)


def _in_context(text: str, context: str, locale: Locale) -> str:
    gap = "" if locale == "zh" else " "
    return f"{text}{gap}{context}" if context else text


# What stands around the names ----------------------------------------------------------------------------------------

_OPENING = re.compile(
    r"(?:please |now )?(?:an? |the )?(?:compare|comparing|comparison (?:of|between)|pros and cons of|"
    r"(?:what (?:is|are) |what's )?(?:the )?(?:main |key )?differences? between|"
    r"should (?:i|we) (?:use|buy|choose|get|take|rent|learn)(?=.{1,200} or ))\s|"
    r"(?:hãy )?(?:so sánh|đối chiếu|(?:sự |điểm )?khác (?:nhau|biệt) giữa|nên (?:chọn|mua|dùng))\s(?:giữa\s)?|"
    r"(?:比较|对比|比較|對比)(?:一下)?",
    re.IGNORECASE,
)
"""Before the names: `Compare A and B`."""
_QUESTION_OPENING = re.compile(
    r"(?:is|are|how (?:do|does|is|are)|which (?:is|are) (?:better|best)[,:]?)\s",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"\s(?:differ|compare)\b|[:,]\s(?:which|what) (?:one )?(?:is|are) (?:the )?(?P<en>\w{1,20})|"
    r"\skhác (?:nhau|biệt|gì)|\s(?P<vi>tốt|rẻ|nhanh|bền) hơn|"
    r"(?:之间)?(?:的|有(?:什么|何|哪些))(?:主要)?(?:区别|差异|差别|不同|比较|对比)|哪个(?:比较|更)?(?P<zh>\w{1,3})|相比",
    re.IGNORECASE,
)
"""After the names: `How do A and B differ`."""
_CHOICE = re.compile(
    r"(?:which (?:one )?(?:is|are) (?:the )?(?P<aspect>(?:more )?\w{1,20})|"
    r"what (?:is|are) (?:the )?(?P<better>better|best|cheaper|faster|safer|healthier))"
    r"(?P<scope>(?:\s(?:for|in)\s[^,:?]{1,80})?)[,:?]\s",
    re.IGNORECASE,
)
"""`Which is better for a startup: A or B?`"""
_BETWEEN = re.compile(
    r"\s(?:vs\.?|versus|(?P<en>better|cheaper|faster|safer|healthier) than)\s|\s?vs\.?\s?(?=[\u4e00-\u9fff])|"
    r"还是(?=[^，。]{1,20}更(?P<zh>\w{1,3}))",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(
    r",?\s(?:and|or|vs\.?|versus|with|to|against|(?:better|cheaper|faster|safer|healthier) than|"
    r"và|với|hay|hoặc)\s|,\s|(?<=[\u4e00-\u9fff])\s?vs\.?\s?|\s?vs\.?\s?(?=[\u4e00-\u9fff])|以及|还是|[和与跟、，]",
    re.IGNORECASE,
)
_RESPECT: Mapping[Locale, re.Pattern[str]] = {
    "en": re.compile(
        r"\s(?:in terms of|with (?:respect|regard) to|regarding|in respect of|based on|according to|by|on)\s|:\s",
        re.IGNORECASE,
    ),
    "vi": re.compile(r"\s(?:về(?: mặt)?|theo|xét về|trên phương diện)\s|:\s", re.IGNORECASE),
    "zh": re.compile(r"在(?=.{1,40}(?:方面|上)$)|[，,](?:从|就)(?=.{1,40}(?:方面|角度))|的|[：:]"),
}
_SCOPE: Mapping[Locale, re.Pattern[str]] = {
    "en": re.compile(r"\s(?=(?:for|in|at|since|during|as)\s)", re.IGNORECASE),
    "vi": re.compile(r"\s(?=(?:cho|ở|tại|trong|năm)\s)", re.IGNORECASE),
    "zh": re.compile(r"更|哪个"),
}
_COMMON = re.compile(r"(?:the\s)?(\w[^,]{1,60}?\s(?:of|in|của|ở)\s)(?:the\s)?(?=\w)", re.IGNORECASE)
_ENDINGS = (" là gì", " như thế nào", " thế nào", " ra sao", "是什么", "有哪些")
_ANY_RESPECT = ("better", "best", "tốt", "好")
_FILLER = re.compile(r"(?:either|both|between|the following|cả|giữa)[:\s]", re.IGNORECASE)
_ASPECT_END = re.compile(r"(?:这)?(?:几个|两个|三个)?(?:方面|角度|上)(?:的?(?:区别|差异|不同|比较|对比))?$")
_RESPECT_SEPARATOR = re.compile(r",?\s(?:and|và|or|hay)\s|,\s|、|以及|[和与及]", re.IGNORECASE)


def find_comparison(request: str, items: Sequence[str] = ()) -> Comparison | None:
    """What a request compares: two to six things with short names. `items`: the list that follows the request."""
    text = request.strip(EDGES)
    text = next((text[: -len(end)] for end in _ENDINGS if text.endswith(end)), text)
    locale = detect_locale(text)
    if len(text) > MAX_LENGTH or "\n" in text:
        return None
    if items:
        return _of_list(text, items, locale)
    if found := _CHOICE.match(text):
        return _comparison(text[found.end() :], "", found["aspect"] or found["better"], found["scope"], locale)
    opening = _OPENING.match(text) or _QUESTION_OPENING.match(text)
    named = text[opening.end() :] if opening else text
    closing = _CLOSING.search(named)
    between = _BETWEEN.search(named)
    if closing is None and between is None and (opening is None or opening.re is _QUESTION_OPENING):
        return None
    named, rest = (named[: closing.start()], named[closing.end() :]) if closing else (named, "")
    return _comparison(named, rest, _aspect_of(closing) or _aspect_of(between), "", locale)


def _aspect_of(found: re.Match[str] | None) -> str:
    return next(filter(None, found.groupdict().values()), "") if found else ""


def _comparison(named: str, rest: str, aspect: str, scope: str, locale: Locale) -> Comparison | None:
    named, respects = _divided(named.strip(EDGES), _RESPECT[locale])
    if not respects:
        respects = _divided(f" {rest.strip(EDGES)}", _RESPECT[locale])[1]
    sides = [one.strip(EDGES) for one in _SEPARATOR.split(named)]
    sides[0] = _FILLER.sub("", sides[0], count=1)
    # What follows the last name belongs to all: `A and B for small teams`.
    sides[-1], context = _divided(sides[-1], _SCOPE[locale])
    context = "" if locale == "zh" else context or scope or _divided(f" {rest.strip(EDGES)}", _SCOPE[locale])[1]
    sides = _with_common_words(list(dict.fromkeys(side for one in sides if (side := one.strip(EDGES)))))
    if not 2 <= len(sides) <= MAX_SIDES or any(len(side) > MAX_SIDE_LENGTH for side in sides):
        return None
    aspects = _aspects(respects) or ([aspect] if aspect and aspect.casefold() not in _ANY_RESPECT else [])
    return Comparison(tuple(sides), tuple(aspects[:MAX_SIDES]), context.strip(EDGES))


def _with_common_words(sides: Sequence[str]) -> list[str]:
    """`The prices of gold and silver` are those of gold and those of silver. `Bank of America` is a name."""
    found = _COMMON.match(sides[0]) if len(sides) > 1 else None
    if found is None or not found[1][0].islower() or any(_COMMON.match(side) for side in sides[1:]):
        return list(sides)
    return [f"{found[1]}{side}" for side in (sides[0][found.end() :], *sides[1:])]


def _of_list(text: str, items: Sequence[str], locale: Locale) -> Comparison | None:
    sides = tuple(dict.fromkeys(side for item in items if (side := item.strip(EDGES))))
    is_short = all(len(side) <= MAX_SIDE_LENGTH and not side.endswith(("?", "？")) for side in sides)
    if not _OPENING.match(f"{text} ") or not is_short or not 2 <= len(sides) <= MAX_SIDES:
        return None
    named, respects = _divided(text, _RESPECT[locale])
    return Comparison(sides, tuple(_aspects(respects)), _divided(named, _SCOPE[locale])[1].strip(EDGES))


def _aspects(respects: str) -> list[str]:
    bare = _ASPECT_END.sub("", respects.strip(EDGES))
    return [aspect for one in _RESPECT_SEPARATOR.split(bare) if (aspect := one.strip(EDGES))]


def _divided(text: str, pattern: re.Pattern[str]) -> tuple[str, str]:
    """What stands before and after the first match; all of it and nothing, without a match."""
    found = pattern.search(text)
    return (text[: found.start()], text[found.end() :]) if found else (text, "")
