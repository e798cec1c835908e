"""What two versions of a file differ in."""

import difflib

from footnote.protocol.errors import Unworkable
from footnote.protocol.files import FileDiff, FileRecord, FileVersion

MOST_LINES = 50_000
"""Of both texts together: comparing more takes minutes."""


def diff_of(record: FileRecord, older: tuple[FileVersion, bytes], newer: tuple[FileVersion, bytes]) -> FileDiff:
    """A unified diff with lines that end at LF alone. Two versions that are equal differ in nothing."""
    numbers = older[0].number, newer[0].number
    try:
        before, after = (_lines(content) for _, content in (older, newer))
    except UnicodeDecodeError:
        return FileDiff(record.path, *numbers, diff=None)
    if len(before) + len(after) > MOST_LINES:
        raise Unworkable(f"{record.filename} is too long to compare: download both versions and compare them.")
    names = [f"{record.filename} (version {number})" for number in numbers]
    rows = list(difflib.unified_diff(before, after, names[0], names[1]))
    changes = [row for row in rows[2:] if not row.startswith("@@")]
    return FileDiff(
        record.path,
        *numbers,
        diff="".join(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows),
        added=sum(row.startswith("+") for row in changes),
        removed=sum(row.startswith("-") for row in changes),
    )


def _lines(content: bytes) -> list[str]:
    lines = content.decode().split("\n")
    return [f"{line}\n" for line in lines[:-1]] + lines[-1:] * bool(lines[-1])
