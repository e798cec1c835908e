"""What a text denies, and in which direction it points: two texts that share every other word may still disagree."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Generic, TypeVar

from footnote.citations.lexicon import (
    BARELY_DENYING,
    DENYING_CHARACTERS,
    DENYING_WORDS,
    DIRECTIONS,
    NOT_DENYING,
    UNDOING,
)
from footnote.language.sentences import Span

_Meaning = TypeVar("_Meaning")
_WORD = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+(?:['\u2019][a-z]+)?")
_CONTRACTED = re.compile("n['\u2019]t$")


class _Words(Generic[_Meaning]):
    """Finds words of a lexicon in a text, the longest first: `không gian` before `không`."""

    def __init__(self, meanings: Mapping[str, _Meaning]) -> None:
        self._meanings = meanings
        self._longest: dict[str, int] = {}
        """By the first word of them, how many words the longest entry has."""
        for entry in meanings:
            first, *more = entry.split("+")
            self._longest[first] = max(self._longest.get(first, 0), 1 + len(more))
        characters = sorted((word for word in meanings if word > "\u3000"), key=len, reverse=True)
        self._characters = re.compile("|".join(characters))

    def find(self, text: str) -> Iterator[tuple[Span, _Meaning]]:
        words = [(word.group().casefold(), word.start(), word.end()) for word in _WORD.finditer(text)]
        at = 0
        while at < len(words):
            longest = self._longest.get(words[at][0], 0)
            for count in range(min(longest, len(words) - at), 0, -1):
                meaning = self._meanings.get("+".join(word for word, _, _ in words[at : at + count]))
                if meaning is not None:
                    yield Span(words[at][1], words[at + count - 1][2]), meaning
                    at += count - 1
                    break
            at += 1
        for found in self._characters.finditer(text):
            yield Span(found.start(), found.end()), self._meanings[found.group()]


_DENYING = dict.fromkeys(DENYING_WORDS | DENYING_CHARACTERS, True)
_EXCEPT = dict.fromkeys(NOT_DENYING, False)
_STRICTLY = _Words({**_DENYING, **_EXCEPT, **dict.fromkeys(UNDOING, True)})
_COMMONLY = _Words({**_DENYING, **_EXCEPT, **dict.fromkeys(BARELY_DENYING, False)})
_DIRECTIONS = _Words(DIRECTIONS)


@lru_cache(maxsize=2_000)
def denials(text: str, *, strict: bool = False) -> tuple[Span, ...]:
    """The words that deny something. `strict`: also those that do so barely (`not only`) or by what they mean."""
    found = [span for span, denies in (_STRICTLY if strict else _COMMONLY).find(text) if denies]
    contracted = (word for word in _WORD.finditer(text) if _CONTRACTED.search(word.group()))
    return (*found, *(Span(word.start(), word.end()) for word in contracted))


def directions(text: str) -> set[tuple[int, int]]:
    """Axes that the words of a text point along, each with the side: 0 for up, more, first, 1 for the other way."""
    return {direction for _, direction in _DIRECTIONS.find(text)}
