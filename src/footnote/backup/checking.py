"""A backup looked through from its first byte to its last: every checksum, every row, every content by its hash."""

import hashlib
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from msgspec import Struct

from footnote.backup.form import (
    BackupDamaged,
    ClosePart,
    ContentPart,
    End,
    Head,
    Kind,
    NotABackup,
    RowsPart,
    check_tables,
    decoded,
)
from footnote.backup.frames import Part, parts
from footnote.db.backup import BLOBS
from footnote.db.script import Row

_hash = re.compile(r"[0-9a-f]{64}")


class Checked(Struct, frozen=True):
    """`contents`: the hashes of those that are whole."""

    head: Head
    end: End
    contents: list[str]
    gone: list[str]


@contextmanager
def reading(file: Path) -> Generator[IO[bytes], None, None]:
    try:
        opened = file.open("rb")
    except OSError as error:
        raise NotABackup(f"{file} cannot be read: {error.strerror or type(error).__name__}.") from error
    with opened:
        yield opened


def check(file: Path) -> Checked:
    """`NotABackup`: it is none, or a newer one. `BackupDamaged`: it is not as it was written."""
    with reading(file) as opened:
        walk = _Walk()
        for part in parts(opened):
            walk.take(part)
    return walk.checked()


class _Walk:
    """Takes parts in their order. `_lacking`: contents that rows need and that have not come yet."""

    def __init__(self) -> None:
        self._head: Head | None = None
        self._end: End | None = None
        self._counts: dict[str, int] = {}
        self._lacking: set[bytes] = set()
        self._states: dict[str, list[str]] = {"whole": [], "gone": [], "lost": []}
        self._bytes = 0
        self._open: _Content | None = None

    def take(self, part: Part) -> None:
        if self._head is None:
            self._begin(part)
            return
        match part.kind, self._open:
            case (Kind.ROWS, None):
                self._rows(self._head, decoded(part.payload(), RowsPart))
            case (Kind.CONTENT, None):
                self._open = _Content(decoded(part.payload(), ContentPart))
            case (Kind.PIECE, _Content() as content):
                content.take(part.payload())
            case (Kind.CLOSE, _Content() as content):
                self._close(content, decoded(part.payload(), ClosePart))
            case (Kind.END, None):
                self._end = decoded(part.payload(), End)
            case _:
                raise out_of_order()

    def checked(self) -> Checked:
        if self._head is None or self._end is None:
            raise out_of_order()
        whole, gone, lost = (self._states[state] for state in ("whole", "gone", "lost"))
        counted = End(self._counts, len(whole), self._bytes, len(gone), len(lost))
        if counted != self._end or self._lacking:
            raise BackupDamaged("The backup is damaged: it does not hold what its end says.")
        return Checked(self._head, self._end, whole, gone)

    def _begin(self, part: Part) -> None:
        if part.kind is not Kind.HEAD:
            raise out_of_order()
        self._head = decoded(part.payload(), Head)
        check_tables(self._head)
        self._counts = dict.fromkeys(self._head.tables, 0)

    def _rows(self, head: Head, part: RowsPart) -> None:
        columns = head.tables.get(part.table)
        if columns is None or not part.is_sound(len(columns)):
            raise out_of_order()
        self._counts[part.table] += len(part.rows)
        if part.table == BLOBS:
            self._lacking.update(bytes.fromhex(content_hash) for content_hash in stored_hashes(columns, part.rows))

    def _close(self, content: "_Content", close: ClosePart) -> None:
        self._open = None
        if close.state == "whole":
            content.check()
            self._bytes += content.about.size
        self._states[close.state].append(content.about.hash)
        self._lacking.discard(bytes.fromhex(content.about.hash))


class _Content:
    def __init__(self, about: ContentPart) -> None:
        self.about = about
        self._digest = hashlib.sha256()
        self._size = 0

    def take(self, piece: bytes) -> None:
        self._digest.update(piece)
        self._size += len(piece)

    def check(self) -> None:
        if (self._digest.hexdigest(), self._size) != (self.about.hash, self.about.size):
            raise BackupDamaged("The backup is damaged: the content of a file is not the one that was kept.")


def stored_hashes(columns: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    """Of rows of the table of contents: what lies in the storage."""
    if not {"hash", "place"} <= set(columns):
        raise out_of_order()
    at_hash, at_place = columns.index("hash"), columns.index("place")
    for row in rows:
        if row[at_place] is not None:
            if not isinstance(row[at_hash], str) or not _hash.fullmatch(row[at_hash]):
                raise out_of_order()
            yield row[at_hash]


def out_of_order() -> BackupDamaged:
    return BackupDamaged("The backup is damaged: a part of it does not belong where it stands.")
