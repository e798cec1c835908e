"""Text in the cells of a terminal, of which a Chinese character takes two and a combining mark none.

Everything here cleans first: what would steer the terminal has no width, and no place in a line of ours.
"""

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from footnote.cli.terminal.clean import clean_line
from footnote.cli.terminal.lines import Line, StyledText


@lru_cache(maxsize=4096)
def _char_width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def width(text: str) -> int:
    return sum(map(_char_width, text))


def one_line(text: str) -> str:
    """Somebody's text as part of a line: clean, and with single spaces."""
    return " ".join(clean_line(text).split())


def truncate(text: str, cells: int, ellipsis: str) -> str:
    """The text, or as much of it as fits with the ellipsis; at the end of a word where one is near."""
    if width(text) <= cells:
        return text
    room = max(cells - width(ellipsis), 0)
    end = used = 0
    for end, character in enumerate(text):  # noqa: B007 - where it stopped is what is wanted
        used += _char_width(character)
        if used > room:
            break
    word = text[:end] if text[end].isspace() else text[:end].rpartition(" ")[0]
    kept = word if width(word) * 3 >= room * 2 else text[:end]
    return kept.rstrip() + ellipsis[:cells]


def pad(text: str, cells: int) -> str:
    return text + " " * (cells - width(text))


def wrap(line: Line, columns: int, *, first: int = 0, indent: int = 0) -> list[Line]:
    """A line of ours on as many rows as it takes: the first indented by `first`, the others by `indent`."""
    spans = [StyledText(clean_line(span.text), span.tone) for span in line]
    text = "".join(span.text for span in spans)
    deepest = max(columns - 2, 0) // 2  # a character of two cells must still fit
    first, indent = min(first, deepest), min(indent, deepest)
    rows: list[Line] = []
    for start, end in _rows(text, columns - first, columns - indent):
        space = StyledText(" " * (indent if rows else first))
        rows.append((*([space] if space.text else []), *_slice_spans(spans, start, end)))
    return rows


def _rows(text: str, first: int, following: int) -> Iterator[tuple[int, int]]:
    """Where each row begins and ends. A word that is longer than a row is broken, any other is not."""
    start, room = 0, first
    while (most := _row_end(text, start, room)) < len(text):
        end = next((at for at in range(most, start, -1) if _can_break_before(text, at)), most)
        yield start, start + len(text[start:end].rstrip())
        start, room = end, following
    yield start, len(text.rstrip())


def _row_end(text: str, start: int, room: int) -> int:
    """How far a row reaches; at least one character is in it, and spaces at its end take no room."""
    used = 0
    for at in range(start, len(text)):
        used += _char_width(text[at])
        if used > room and at > start and not text[at].isspace():
            return at
    return len(text)


def _can_break_before(text: str, at: int) -> bool:
    """After a space, and on both sides of a wide character; but a bracket or a comma stays with what it belongs to."""
    if at == 0 or text[at].isspace():
        return False
    before, after = text[at - 1], text[at]
    if before.isspace():
        return True
    is_beside_a_wide_one = 2 in (_char_width(before), _char_width(after)) and _char_width(after) > 0
    opens = unicodedata.category(before) in ("Ps", "Pi")
    closes = unicodedata.category(after) in ("Pe", "Pf", "Po", "Pd")
    return is_beside_a_wide_one and not opens and not closes


def _slice_spans(spans: list[StyledText], start: int, end: int) -> Line:
    parts: list[StyledText] = []
    position = 0
    for span in spans:
        piece = span.text[max(start - position, 0) : max(end - position, 0)]
        if piece:
            parts.append(StyledText(piece, span.tone))
        position += len(span.text)
    return tuple(parts)
