"""What two versions of a file differ in."""

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile

from footnote.protocol.errors import UnprocessableFile
from footnote.protocol.files import FileDiff, FileRecord, FileVersion

MAX_LINES = 50_000
"""Of both texts together."""
MAX_PAIRS = 3_000_000
"""Lines of the one that are equal to lines of the other, each with each: comparing them all takes a second or two."""
_CONTEXT = 3


def make_diff(record: FileRecord, older: tuple[FileVersion, bytes], newer: tuple[FileVersion, bytes]) -> FileDiff:
    """A unified diff with lines that end at LF alone. Two versions that are equal differ in nothing."""
    numbers = older[0].number, newer[0].number
    try:
        texts = [content.decode() for _, content in (older, newer)]
    except UnicodeDecodeError:
        return FileDiff(record.path, *numbers, diff=None)
    if sum(text.count("\n") for text in texts) > MAX_LINES:
        raise UnprocessableFile(f"{record.filename} is too long to compare: download both versions and compare them.")
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
    """What comparing costs. Lines that are everywhere are passed over by it: those of more than a hundredth."""
    mine, theirs = Counter(before), Counter(after)
    popular = len(after) // 100 + 1 if len(after) >= 200 else len(after)
    return sum(count * theirs[line] for line, count in mine.items() if theirs[line] <= popular)


def _block_diff(before: Sequence[str], after: Sequence[str], older: str, newer: str) -> Iterator[str]:
    """All from the first line that differs to the last, as one change: right, but not the shortest."""
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
