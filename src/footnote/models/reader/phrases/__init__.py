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


def _collect(select: Callable[[Phrases], tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(piece for phrases in PHRASES.values() for piece in select(phrases))


LEAD, TAIL = _collect(lambda one: one.lead), _collect(lambda one: one.tail)
REPORT, SUMMARY = _collect(lambda one: one.report), _collect(lambda one: one.summary)
REWRITE, COMPOSE = _collect(lambda one: one.rewrite), _collect(lambda one: one.compose)
ARITHMETIC, ARITHMETIC_FILLERS = _collect(lambda one: one.arithmetic), _collect(lambda one: one.arithmetic_fillers)
TODAY, CHANGES_DAILY = _collect(lambda one: one.today), _collect(lambda one: one.changes_daily)
WEEK, MONTH = _collect(lambda one: one.week), _collect(lambda one: one.month)
QUESTION_WORDS, FOLLOW_UPS, PRONOUNS = (
    _collect(lambda one: one.question_words),
    _collect(lambda one: one.follow_ups),
    _collect(lambda one: one.pronouns),
)

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
def anywhere_pattern(pieces: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(pieces), re.IGNORECASE)


@cache
def prefix_pattern(pieces: tuple[str, ...]) -> re.Pattern[str]:
    """One of the pieces as whole words, with what parts it from the rest; to be matched."""
    return re.compile(rf"(?:{'|'.join(pieces)})(?:(?<=[{_HAN}])|(?!\w))[{PAUSES}]*", re.IGNORECASE)


@cache
def suffix_pattern(pieces: tuple[str, ...]) -> re.Pattern[str]:
    """One of the pieces as the last words, with what parts it from the rest; to be searched."""
    pause = rf"(?:(?<![{PAUSES}])[{PAUSES}]++)?"
    whole = rf"{pause}(?:(?<!\w)|(?=[{_HAN}]))(?:{'|'.join(pieces)})(?P<end>[{SENTENCE_ENDS}]*+)$"
    return re.compile(whole, re.IGNORECASE)
