"""Footnote's own lines in a terminal, such as the status of a tool: spans of text with a tone, measured in cells, of
which a Chinese character takes two and a combining mark none. The painter decides how a tone looks.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from footnote.cli.terminal.clean import clean_line

Tone: TypeAlias = Literal["normal", "dim", "good", "doubtful", "bad"]


class StyledText(NamedTuple):
    text: str
    tone: Tone = "normal"


Line: TypeAlias = tuple[StyledText, ...]


class Symbols(NamedTuple):
    """The symbols in these lines, in Unicode or for a terminal that can only show ASCII."""

    waiting: str
    done: str
    failed: str
    dot: str
    ellipsis: str
    bar: str


UNICODE = Symbols(waiting="⏳", done="✓", failed="✗", dot=" · ", ellipsis="…", bar="│ ")
ASCII = Symbols(waiting="...", done="ok", failed="FAILED", dot=" - ", ellipsis="...", bar="| ")


def symbols_for(encoding: str) -> Symbols:
    try:
        "".join(UNICODE).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


def as_text(line: Line) -> str:
    """A line without colours. It is cleaned here, last, so that no caller can forget to."""
    return clean_line("".join(span.text for span in line))


@lru_cache(maxsize=4096)
def _char_width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def width(text: str) -> int:
    return sum(map(_char_width, text))


def one_line(text: str) -> str:
    """Foreign text as part of a line: clean, and with single spaces."""
    return " ".join(clean_line(text).split())


def truncate(text: str, cells: int, ellipsis: str) -> str:
    """The text, or as much of it as fits with the ellipsis; at the end of a word where one is near."""
    if width(text) <= cells:
        return text
    room = max(cells - width(ellipsis), 0)
    end = used = 0
    for end, character in enumerate(text):  # noqa: B007 - the position is used after the loop
        used += _char_width(character)
        if used > room:
            break
    word = text[:end] if text[end].isspace() else text[:end].rpartition(" ")[0]
    shown = word if width(word) * 3 >= room * 2 else text[:end]
    return shown.rstrip() + ellipsis[:cells]


def pad(text: str, cells: int) -> str:
    return text + " " * (cells - width(text))


def format_clock(seconds: float) -> str:
    """`0:42`, `12:05` or `1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def format_dollars(usd: float) -> str:
    """With fractions of a cent where the amount is small."""
    return f"${usd:.2f}" if usd >= 0.1 or not usd else f"${usd:.4f}"


def format_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: str = "") -> Iterator[str]:
    """Rows as lines with columns as wide as their cells. The cells are clean. `right`: the column of numbers."""
    lines = [head, *rows]
    widths = [max(width(line[column]) for line in lines) for column in range(len(head))]
    for line in lines:
        cells = (
            " " * (cells - width(cell)) + cell if name == right else pad(cell, cells)
            for name, cell, cells in zip(head, line, widths, strict=True)
        )
        yield "  ".join(cells).rstrip()


def wrap(line: Line, columns: int, *, first: int = 0, indent: int = 0) -> list[Line]:
    """The rows of a line: the first indented by `first`, the others by `indent`."""
    spans = [StyledText(clean_line(span.text), span.tone) for span in line]
    text = "".join(span.text for span in spans)
    max_indent = max(columns - 2, 0) // 2  # a character of two cells must still fit
    first, indent = min(first, max_indent), min(indent, max_indent)
    rows: list[Line] = []
    for start, end in _rows(text, columns - first, columns - indent):
        space = StyledText(" " * (indent if rows else first))
        rows.append((*([space] if space.text else []), *_slice_spans(spans, start, end)))
    return rows


def _rows(text: str, first: int, following: int) -> Iterator[tuple[int, int]]:
    """Where each row begins and ends. A word that is longer than a row is broken, any other is not."""
    start, room = 0, first
    while (limit := _row_end(text, start, room)) < len(text):
        end = next((at for at in range(limit, start, -1) if _can_break_before(text, at)), limit)
        yield start, start + len(text[start:end].rstrip())
        start, room = end, following
    yield start, len(text.rstrip())


def _row_end(text: str, start: int, room: int) -> int:
    """The end of a row. It has at least one character, and spaces at its end take no room."""
    used = 0
    for at in range(start, len(text)):
        used += _char_width(text[at])
        if used > room and at > start and not text[at].isspace():
            return at
    return len(text)


def _can_break_before(text: str, at: int) -> bool:
    """After a space, and on both sides of a wide character, except between a bracket or comma and its text."""
    if at == 0 or text[at].isspace():
        return False
    before, after = text[at - 1], text[at]
    if before.isspace():
        return True
    is_beside_wide = 2 in (_char_width(before), _char_width(after)) and _char_width(after) > 0
    opens = unicodedata.category(before) in ("Ps", "Pi")
    closes = unicodedata.category(after) in ("Pe", "Pf", "Po", "Pd")
    return is_beside_wide and not opens and not closes


def _slice_spans(spans: list[StyledText], start: int, end: int) -> Line:
    parts: list[StyledText] = []
    position = 0
    for span in spans:
        piece = span.text[max(start - position, 0) : max(end - position, 0)]
        if piece:
            parts.append(StyledText(piece, span.tone))
        position += len(span.text)
    return tuple(parts)
