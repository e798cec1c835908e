"""Abbreviations that a page defines itself: `World Meteorological Organization (WMO)`.

A statement with the one form is compared with passages that have the other.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

_DEFINITION = re.compile(r"[(（]([A-Z][A-Za-z0-9&-]{1,9})[)）]")
_MAX_LENGTH = 120
_MAX_DEFINITIONS = 200
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_HAN_NAME = re.compile("[\u4e00-\u9fff]{4,16}$")
_HAN_BREAK = re.compile("[的是由在和与及为了、，]")
_SMALL_WORDS = frozenset(("of", "the", "for", "and", "in", "on", "to", "de", "la", "và", "về", "của"))
_CLAUSE_END: Final = re.compile(r"[.!?;:,，。；：()（）\n]")
_MAX_LOWER = 2
"""So many words in small letters in a row are no part of a name: `Tổ chức Y tế Thế giới`."""


def find_abbreviations(text: str) -> dict[str, str]:
    """The abbreviations that a text defines, with what they stand for."""
    found: dict[str, str] = {}
    for definition in _DEFINITION.finditer(text):
        short = definition[1]
        before = _CLAUSE_END.split(text[max(0, definition.start() - _MAX_LENGTH) : definition.start()])[-1]
        long = _long_form(before.rstrip(), short)
        if long and short not in found and sum(map(str.isupper, short)) > 1:
            found[short] = long
            if len(found) >= _MAX_DEFINITIONS:
                break
    return found


def _long_form(before: str, short: str) -> str | None:
    if han := _HAN_NAME.search(before):
        name = _HAN_BREAK.split(han.group())[-1]
        return name if len(name) > 3 else None
    words = list(_WORD.finditer(before))
    start = _by_initials(words, short)
    if start is None and not before.isascii():
        start = _by_capitals(words)
    return before[start:] if start is not None else None


def _by_initials(words: Sequence[re.Match[str]], short: str) -> int | None:
    """Where the words begin whose first letters are the abbreviation."""
    letters = [letter for letter in short.casefold() if letter.isalpha()]
    for word in reversed(words):
        initial = word.group()[0].casefold()
        if letters and initial == letters[-1]:
            letters.pop()
            if not letters:
                return word.start()
        elif word.group().casefold() not in _SMALL_WORDS:
            return None
    return None


def _by_capitals(words: Sequence[re.Match[str]]) -> int | None:
    start, lower, capitals = None, 0, 0
    for word in reversed(words):
        if word.group()[0].isupper():
            start, lower, capitals = word.start(), 0, capitals + 1
        else:
            lower += 1
            if lower >= _MAX_LOWER:
                break
    return start if capitals > 1 else None


def other_forms(statement: str, abbreviations: Mapping[str, str]) -> Iterator[str]:
    """A statement with the abbreviations of a page spelled out, and with what they stand for abbreviated."""
    short = long = statement
    for abbreviation, name in abbreviations.items():
        short = short.replace(name, abbreviation)
        if abbreviation in long and name not in long:
            long = re.sub(rf"(?<!\w){re.escape(abbreviation)}(?!\w)", lambda _, name=name: name, long)
    yield from (form for form in dict.fromkeys((short, long)) if form != statement)
