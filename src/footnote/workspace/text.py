"""What can be done to the text of a file, as pure functions: exact edits and numbered slices.

Lines end at LF only. A form feed or U+2028 is a character like any other, so that a line number means the same
in what was read and in what is edited.
"""

from collections.abc import Iterator

from msgspec import Struct

from footnote.protocol.errors import UsageError

BOM = "\ufeff"
MAX_ROW = 2000
MAX_PAGE = 50_000
PIECE = 1 << 20
MAX_HINTED = 2_000_000
"""Characters of a text in which something alike is looked for when an edit finds nothing."""
NOT_FOUND = "old_string was not found. Read the file again and copy the text exactly, without the line numbers."


class EditRefused(UsageError):
    """The edit does not say clearly what to change; the message says how to."""

    type = "invalid_edit"


class EditedText(Struct, frozen=True):
    text: str
    count: int


class NumberedLines(Struct, frozen=True):
    """Some lines of a text, without their line ends: `offset` counts from 0, `total` is of the whole text."""

    lines: tuple[str, ...]
    offset: int
    total: int


class TextPage(Struct, frozen=True):
    """Numbered lines, ready to be read: how many of them stand here, and how much of the last one was cut off."""

    text: str
    line_count: int
    omitted_chars: int = 0


def replace(text: str, old: str, new: str, *, replace_all: bool = False) -> EditedText:
    """`text` with `old` replaced by `new`: the one occurrence, or all of them.

    In a file whose every line ends with CRLF, the line ends of `old` and `new` are read as CRLF: whoever saw the
    numbered lines could not know, and a file must not end up with both.
    """
    if not old:
        raise EditRefused("old_string is empty. Give the exact text to replace; write_file writes a whole file.")
    if old == new:
        raise EditRefused("old_string and new_string are equal, so nothing would change.")
    if _is_crlf(text):
        old, new = _with_crlf(old), _with_crlf(new)
    count = text.count(old)
    if count == 0:
        raise EditRefused(_not_found_message(text, old))
    if count > 1 and not replace_all:
        raise EditRefused(
            f"old_string occurs {count} times (lines {_places(text, old)}). Give more of the text around it so that"
            " it is unique, or set replace_all to change every one."
        )
    return EditedText(text.replace(old, new), count)


def pluralize(number: int, thing: str) -> str:
    """`1 line`, `2,000 lines`."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def count_lines(text: str) -> int:
    """A last line without a line end counts; the nothing after a last line end does not."""
    text = text.removeprefix(BOM)
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def slice_lines(text: str, offset: int, limit: int) -> NumberedLines:
    """At most `limit` lines from the line `offset` on."""
    chosen: list[str] = []
    total = 0
    for piece in line_pieces(text.removeprefix(BOM)):
        lines = piece.count("\n") + 1
        if total + lines > offset and len(chosen) < limit:
            start = max(0, offset - total)
            chosen += piece.split("\n")[start : start + limit - len(chosen)]
        total += lines
    return NumberedLines(tuple(line.removesuffix("\r") for line in chosen), offset, total)


def line_pieces(text: str, size: int = PIECE) -> Iterator[str]:
    """Whole lines of a text, at least `size` characters at a time, without the line end after the last of them. To
    split a text of millions of lines at once would hold up every thread."""
    position = 0
    while position < len(text):
        end = text.find("\n", position + size)
        end = len(text) if end < 0 else end
        piece = text[position:end]
        yield piece.removesuffix("\n") if end == len(text) else piece
        position = end + 1


def number_lines(lines: NumberedLines, column: int = 0) -> TextPage:
    """The lines with their numbers, which count from 1; of the first one, what stands from `column` on.

    A long line goes on in rows 5.1, 5.2, …, and the page ends early rather than pass `MAX_PAGE` characters; a single
    line that is longer than that is cut.
    """
    rows: list[str] = []
    room = MAX_PAGE
    for shown, line in enumerate(lines.lines):
        start = 0 if shown else column
        more = len(line) - start - room
        if rows and more > 0:
            return TextPage("\n".join(rows), shown)
        rows.extend(_rows(lines.offset + shown + 1, line, start, start + room))
        if more > 0:
            return TextPage("\n".join(rows), shown + 1, more)
        room = -more
    return TextPage("\n".join(rows), len(lines.lines))


def _rows(number: int, line: str, start: int, end: int) -> list[str]:
    """Rows end where they would if the line were read from its beginning, so that each has its own label."""
    first = start // MAX_ROW
    last = max(first, (min(end, len(line)) - 1) // MAX_ROW)
    pieces = [(row, line[max(row * MAX_ROW, start) : min((row + 1) * MAX_ROW, end)]) for row in range(first, last + 1)]
    return [f"{f'{number}.{row}' if row else number:>6}  {piece}" for row, piece in pieces]


def _is_crlf(text: str) -> bool:
    return "\r\n" in text and text.count("\n") == text.count("\r\n")


def _with_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _places(text: str, old: str) -> str:
    """The line numbers of the first occurrences."""
    numbers: list[str] = []
    position = text.find(old)
    while position >= 0 and len(numbers) < 10:
        numbers.append(str(text.count("\n", 0, position) + 1))
        position = text.find(old, position + len(old))
    return ", ".join(numbers) + (", …" if position >= 0 else "")


def _not_found_message(text: str, old: str) -> str:
    if (bare := old.rstrip("\r\n")) and bare in text:
        return "old_string was not found: the text is there, but without the line end after it. Leave that out."
    if (bare := old.strip()) and bare in text:
        return "old_string was not found: the text is there, but with other spaces or lines around it."
    if len(text) > MAX_HINTED:
        return NOT_FOUND
    if (bare := "".join(old.split())) and bare in "".join(text.split()):
        return "old_string was not found: the same words are there with other spaces or line breaks between them."
    if old.casefold() in text.casefold():
        return "old_string was not found: the same text is there in other upper and lower case letters."
    return NOT_FOUND
