"""Verifies a backup from its first byte to its last: every checksum, every row, every content by its hash."""

import hashlib
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from msgspec import Struct

from footnote.backup.format import (
    BackupDamaged,
    BackupEnd,
    BackupKind,
    BackupPart,
    ClosePart,
    ContentPart,
    Head,
    NotABackup,
    RowsPart,
    check_tables,
    decode,
    read_parts,
)
from footnote.db.backup import BLOBS
from footnote.db.script import Row

_hash = re.compile(r"[0-9a-f]{64}")


class BackupReport(Struct, frozen=True):
    """`contents`: the hashes of those that are whole."""

    head: Head
    end: BackupEnd
    contents: list[str]
    gone: list[str]


@contextmanager
def open_backup(file: Path) -> Generator[IO[bytes], None, None]:
    try:
        opened = file.open("rb")
    except OSError as error:
        raise NotABackup(f"{file} cannot be read: {error.strerror or type(error).__name__}.") from error
    with opened:
        yield opened


def verify_backup(file: Path) -> BackupReport:
    """Raises `NotABackup` if the file is none or of a newer version, and `BackupDamaged` if it was changed."""
    with open_backup(file) as opened:
        walk = _Verifier()
        for part in read_parts(opened):
            walk.handle_part(part)
    return walk.report()


class _Verifier:
    """Checks the parts in their order. `_missing_contents`: contents that rows refer to and that have not come yet."""

    def __init__(self) -> None:
        self._head: Head | None = None
        self._end: BackupEnd | None = None
        self._counts: dict[str, int] = {}
        self._missing_contents: set[bytes] = set()
        self._hashes_by_state: dict[str, list[str]] = {"whole": [], "gone": [], "lost": []}
        self._bytes = 0
        self._open: _Content | None = None

    def handle_part(self, part: BackupPart) -> None:
        if self._head is None:
            self._begin(part)
            return
        match part.kind, self._open:
            case (BackupKind.ROWS, None):
                self._rows(self._head, decode(part.payload(), RowsPart))
            case (BackupKind.CONTENT, None):
                self._open = _Content(decode(part.payload(), ContentPart))
            case (BackupKind.CHUNK, _Content() as content):
                content.update(part.payload())
            case (BackupKind.CLOSE, _Content() as content):
                self._close(content, decode(part.payload(), ClosePart))
            case (BackupKind.END, None):
                self._end = decode(part.payload(), BackupEnd)
            case _:
                raise misplaced_part_error()

    def report(self) -> BackupReport:
        if self._head is None or self._end is None:
            raise misplaced_part_error()
        whole, gone, lost = (self._hashes_by_state[state] for state in ("whole", "gone", "lost"))
        counted = BackupEnd(self._counts, len(whole), self._bytes, len(gone), len(lost))
        if counted != self._end or self._missing_contents:
            raise BackupDamaged("The backup is damaged: it does not hold what its end says.")
        return BackupReport(self._head, self._end, whole, gone)

    def _begin(self, part: BackupPart) -> None:
        if part.kind is not BackupKind.HEAD:
            raise misplaced_part_error()
        self._head = decode(part.payload(), Head)
        check_tables(self._head)
        self._counts = dict.fromkeys(self._head.tables, 0)

    def _rows(self, head: Head, part: RowsPart) -> None:
        columns = head.tables.get(part.table)
        if columns is None or not part.is_valid(len(columns)):
            raise misplaced_part_error()
        self._counts[part.table] += len(part.rows)
        if part.table == BLOBS:
            self._missing_contents.update(
                bytes.fromhex(content_hash) for content_hash in stored_hashes(columns, part.rows)
            )

    def _close(self, content: "_Content", close: ClosePart) -> None:
        self._open = None
        if close.state == "whole":
            content.verify()
            self._bytes += content.header.size
        self._hashes_by_state[close.state].append(content.header.hash)
        self._missing_contents.discard(bytes.fromhex(content.header.hash))


class _Content:
    def __init__(self, about: ContentPart) -> None:
        self.header = about
        self._digest = hashlib.sha256()
        self._size = 0

    def update(self, piece: bytes) -> None:
        self._digest.update(piece)
        self._size += len(piece)

    def verify(self) -> None:
        if (self._digest.hexdigest(), self._size) != (self.header.hash, self.header.size):
            raise BackupDamaged("The backup is damaged: the content of a file is not the one that was kept.")


def stored_hashes(columns: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    """The hashes of those rows of the table `blob` whose content is in the storage."""
    if not {"hash", "place"} <= set(columns):
        raise misplaced_part_error()
    at_hash, at_place = columns.index("hash"), columns.index("place")
    for row in rows:
        if row[at_place] is not None:
            if not isinstance(row[at_hash], str) or not _hash.fullmatch(row[at_hash]):
                raise misplaced_part_error()
            yield row[at_hash]


def misplaced_part_error() -> BackupDamaged:
    return BackupDamaged("The backup is damaged: a part of it does not belong where it stands.")
