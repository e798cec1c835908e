"""What is recognised in each language. Every entry is a piece of a regular expression."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

Talk: TypeAlias = Literal["about", "conversation", "thanks", "farewell", "remark", "greeting"]
TALKS: tuple[Talk, ...] = ("about", "conversation", "thanks", "farewell", "remark", "greeting")
"""What matters most first: `hello, who are you?` asks who it is."""


class Phrases(Struct, frozen=True, kw_only=True):
    talk: Mapping[Talk, tuple[str, ...]]
    """Small talk: a whole clause, in small letters and without diacritics, since many people write without them."""

    lead: tuple[str, ...]
    tail: tuple[str, ...]
    """Words before and after a question that say nothing about it."""

    report: tuple[str, ...]
    """A whole wish for a report, with its `topic`."""
    summary: tuple[str, ...]
    rewrite: tuple[str, ...]
    compose: tuple[str, ...]
    """How a wish begins that quotations cannot fulfil."""
    arithmetic: tuple[str, ...]
    """Words that make a sum of a row of figures."""
    arithmetic_fillers: tuple[str, ...]

    today: tuple[str, ...]
    week: tuple[str, ...]
    month: tuple[str, ...]
    changes_daily: tuple[str, ...]
    """`today` often means `nowadays`; only of these does it mean this very day."""

    question_words: tuple[str, ...]
    follow_ups: tuple[str, ...]
    """How a question begins that goes on from the one before it."""
    pronouns: tuple[str, ...]
    """Pronouns, and what else stands for something that was named before."""
    stop_words: tuple[str, ...]
    """Words that say nothing about a subject."""
