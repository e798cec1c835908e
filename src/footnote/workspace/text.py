"""The text of files, as pure functions: exact edits, numbered slices, and the difference between two versions.

Lines end at LF only. A form feed or U+2028 is a character like any other, so that a line number means the same
in what was read and in what is edited.
"""

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile

from msgspec import Struct

from footnote.protocol.errors import UnprocessableFile, UsageError
from footnote.protocol.files import FileDiff, FileRecord, FileVersion

BOM = "\ufeff"
MAX_ROW = 2000
MAX_PAGE = 50_000
PIECE = 1 << 20
MAX_HINTED = 2_000_000
"""The maximum length of a text in which a similar passage is looked for when an edit matches nothing."""
NOT_FOUND = "old_string was not found. Read the file again and copy the text exactly, without the line numbers."


class EditRefused(UsageError):
    """The edit is ambiguous or matches nothing; the message says how to correct it."""

    type = "invalid_edit"


class EditedText(Struct, frozen=True):
    text: str
    count: int


class NumberedLines(Struct, frozen=True):
    """Some lines of a text, without their line ends: `offset` counts from 0, `total` counts the whole text."""

    lines: tuple[str, ...]
    offset: int
    total: int


class TextPage(Struct, frozen=True):
    """Numbered lines as text: how many lines it holds, and how much of the last one was cut off."""

    text: str
    line_count: int
    omitted_chars: int = 0


def replace(text: str, old: str, new: str, *, replace_all: bool = False) -> EditedText:
    """`text` with `old` replaced by `new`: the one occurrence, or all of them.

    In a file whose every line ends with CRLF, the line ends of `old` and `new` are read as CRLF: the
    numbered lines do not show them, and a file must not end up with both.
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
    """The number of lines; a last line without a line end counts, the empty rest after a last line end does not."""
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
    """Whole lines of a text, at least `size` characters at a time, without the last line end. Splitting a text of
    millions of lines at once would block every thread."""
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
    """The rows of a long line. They are cut at fixed offsets from its beginning, so that each row always has the same
    label."""
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


MAX_LINES = 50_000
"""The number of lines of both texts together."""
MAX_PAIRS = 3_000_000
"""Pairs of equal lines, each line of one text with each of the other: comparing so many takes a second or two."""
_CONTEXT = 3


def make_diff(record: FileRecord, older: tuple[FileVersion, bytes], newer: tuple[FileVersion, bytes]) -> FileDiff:
    """A unified diff of lines that end at LF alone; empty for equal versions."""
    numbers = older[0].number, newer[0].number
    try:
        texts = [content.decode() for _, content in (older, newer)]
    except UnicodeDecodeError:
        return FileDiff(record.path, *numbers, diff=None)
    if sum(text.count("\n") for text in texts) > MAX_LINES:
        raise UnprocessableFile(
            f"{record.filename} is too long to compare: download both versions and compare them.",
            code="diff_too_large",
            name=record.filename,
        )
    before, after = map(_lines, texts)
    names = [f"{record.filename} (version {number})" for number in numbers]
    compared = _block_diff if _count_pairs(before, after) > MAX_PAIRS else difflib.unified_diff
    rows = list(compared(before, after, names[0], names[1]))
    changes = [row for row in rows[2:] if not row.startswith("@@")]
    return FileDiff(
        record.path,
        *numbers,
        diff="".join(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows),
        added=sum(row.startswith("+") for row in changes),
        removed=sum(row.startswith("-") for row in changes),
    )


def _count_pairs(before: Sequence[str], after: Sequence[str]) -> int:
    """The cost of a comparison. difflib ignores lines that make up more than a hundredth of a text."""
    mine, theirs = Counter(before), Counter(after)
    popular = len(after) // 100 + 1 if len(after) >= 200 else len(after)
    return sum(count * theirs[line] for line, count in mine.items() if theirs[line] <= popular)


def _block_diff(before: Sequence[str], after: Sequence[str], older: str, newer: str) -> Iterator[str]:
    """One hunk from the first line that differs to the last: correct, but not minimal."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
    rest = min(len(before), len(after)) - same
    backwards = zip(reversed(before), reversed(after), strict=False)
    ending = min(rest, sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], backwards)))
    old, new = before[same : len(before) - ending], after[same : len(after) - ending]
    ahead = before[max(0, same - _CONTEXT) : same]
    behind = before[len(before) - ending : len(before) - ending + _CONTEXT]
    if not old and not new:
        return
    start, around = same - len(ahead) + 1, len(ahead) + len(behind)
    yield f"--- {older}\n"
    yield f"+++ {newer}\n"
    yield f"@@ -{start},{len(old) + around} +{start},{len(new) + around} @@\n"
    yield from (f" {line}" for line in ahead)
    yield from (f"-{line}" for line in old)
    yield from (f"+{line}" for line in new)
    yield from (f" {line}" for line in behind)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + lines[-1:] * bool(lines[-1])
