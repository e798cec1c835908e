# ruff: noqa: RUF001 - the punctuation of Chinese is meant
"""How people put things: the tables by which a request is recognised, a module for each language.

Requests are often mixed ("please" before a Vietnamese question), so the tables of all languages are used together.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache

from footnote.models.reader.phrases.chinese import CHINESE
from footnote.models.reader.phrases.english import ENGLISH
from footnote.models.reader.phrases.table import Phrases
from footnote.models.reader.phrases.vietnamese import VIETNAMESE
from footnote.protocol.tools import Locale

PHRASES: Mapping[Locale, Phrases] = {"en": ENGLISH, "vi": VIETNAMESE, "zh": CHINESE}


def _all(entry: Callable[[Phrases], tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(piece for phrases in PHRASES.values() for piece in entry(phrases))


LEAD, TAIL = _all(lambda one: one.lead), _all(lambda one: one.tail)
REPORT, SUMMARY = _all(lambda one: one.report), _all(lambda one: one.summary)
REWRITE, COMPOSE = _all(lambda one: one.rewrite), _all(lambda one: one.compose)
SUMS, AROUND_SUMS = _all(lambda one: one.sums), _all(lambda one: one.around_sums)
TODAY, CHANGES_DAILY = _all(lambda one: one.today), _all(lambda one: one.changes_daily)
WEEK, MONTH = _all(lambda one: one.week), _all(lambda one: one.month)
ASKS, GOES_ON, STANDS_FOR = _all(lambda one: one.asks), _all(lambda one: one.goes_on), _all(lambda one: one.stands_for)

CLAUSE_ENDS = r",.!?;:，。！？；：、…\n"
SENTENCE_ENDS = "?？.!。！ \n"
PAUSES = ",:，： \n"
FULL_STOPS = ".!。！ "
QUESTION_MARKS = ("?", "？")
CLOSING = "\"'”’»)）」』"
OUTSIDE_URL = r"\s<>\"“”‘’，。；！？、（）【】《》「」|"
"""Signs of all languages, as they stand between the brackets of an expression."""

_HAN = "\u3400-\u9fff"


@cache
def anywhere(pieces: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(pieces), re.IGNORECASE)


@cache
def beginning(pieces: tuple[str, ...]) -> re.Pattern[str]:
    """One of the pieces as whole words, with what parts it from the rest; to be matched."""
    return re.compile(rf"(?:{'|'.join(pieces)})(?:(?<=[{_HAN}])|(?!\w))[{PAUSES}]*", re.IGNORECASE)


@cache
def ending(pieces: tuple[str, ...]) -> re.Pattern[str]:
    """One of the pieces as the last words, with what parts it from the rest; to be searched."""
    pause = rf"(?:(?<![{PAUSES}])[{PAUSES}]++)?"
    whole = rf"{pause}(?:(?<!\w)|(?=[{_HAN}]))(?:{'|'.join(pieces)})(?P<end>[{SENTENCE_ENDS}]*+)$"
    return re.compile(whole, re.IGNORECASE)
