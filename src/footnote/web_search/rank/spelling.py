"""Words of a query that no page has, as the pages spell them: somebody mistyped a name, or writes it differently."""

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from footnote.language.terms import MARKS
from footnote.web_search.rank.query import Query, key_of
from footnote.web_search.rank.skim import Page

MIN_LETTERS = 5
"""Shorter words have too many others beside them."""
MANY_LETTERS = 9
"""From here on a second error is forgiven."""
MAX_CANDIDATES = 4_000
"""Different words of the pages that are compared with one of the query."""

_LETTERS = re.compile(rf"(?:[^\W\d_]|[{MARKS}])++")
"""With the marks that are vowels in Hindi and Arabic."""


def respelled(query: Query, pages: Sequence[Page], missing: Iterable[str]) -> Query | None:
    """The query with the spellings of the pages for its `missing` words; None if there are no such."""
    others: dict[str, int] = {}
    for key in missing:
        if len(key) >= MIN_LETTERS and _LETTERS.fullmatch(key):
            others |= dict.fromkeys(_spellings(key, pages), query.words[key])
    return replace(query, words={**others, **query.words}) if others else None


def _spellings(key: str, pages: Sequence[Page]) -> Iterable[str]:
    """Nobody mistypes the first letter, or hardly anybody: only words that begin with it are looked at."""
    errors = 2 if len(key) >= MANY_LETTERS else 1
    counts = f"{len(key) - errors - 1},{len(key) + errors + 2}"
    like = re.compile(rf"(?<![\w{MARKS}]){key[0]}[\w{MARKS}]{{{counts}}}(?![\w{MARKS}])")
    candidates: set[str] = set()
    for page in pages:
        candidates.update(like.findall(page.plain))
        if len(candidates) > MAX_CANDIDATES:
            break
    keys = {key_of(word) for word in candidates}
    return [other for other in keys if abs(len(other) - len(key)) <= errors and _errors(key, other, errors) <= errors]


def _errors(one: str, other: str, most: int) -> int:
    """How many letters are wrong, missing, too many or swapped with their neighbour; above `most` it only says more."""
    before_last: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        current = [row]
        for column, against in enumerate(other, 1):
            cost = min(last[column] + 1, current[-1] + 1, last[column - 1] + (letter != against))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == against:
                cost = min(cost, before_last[column - 2] + 1)
            current.append(cost)
        if min(current) > most:
            return most + 1
        before_last, last = last, current
    return last[-1]
