"""What stands in a backup: a head, the rows of every table, the contents of large files, an end. A backup may be a
stranger's, so that every value has a type and a limit."""

import hashlib
import struct
import zlib
from collections.abc import Callable, Iterator
from enum import Enum
from typing import IO, Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta, Struct

from footnote.db.backup import TABLES
from footnote.protocol.errors import FootnoteError, UsageError
from footnote.protocol.files import Hash

VERSION = 1
"""Of the parts and their order. Tables and columns have names, and change without it."""

CHUNK_BYTES = 1024 * 1024
MAX_PART_BYTES = 256 * 1024 * 1024
"""Of one part, unpacked: a row of a table may be large."""

Word: TypeAlias = Annotated[str, Meta(max_length=200)]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**63 - 1)]
State: TypeAlias = Literal["whole", "gone", "lost"]

_TYPES = frozenset({int, float, str, bytes, type(None)})
_MAX_INTEGER = 2**63 - 1

T = TypeVar("T")


class BackupKind(Enum):
    """The kinds of parts. A content is a `CONTENT`, its pieces, and a `CLOSE`."""

    HEAD = b"H"
    ROWS = b"R"
    CONTENT = b"B"
    CHUNK = b"D"
    CLOSE = b"C"
    END = b"E"


class NotABackup(UsageError):
    """It is something else, or made by a version that is newer than this one."""

    type = "not_a_backup"


class BackupDamaged(FootnoteError):
    """It is a backup, and a part of it is not as it was written."""

    type = "backup_damaged"


class Head(Struct, frozen=True, forbid_unknown_fields=True):
    """`tables`: the columns of each, in the order of the values of its rows."""

    footnote: Word
    made_at: Word
    tables: dict[Word, tuple[Word, ...]]


class RowsPart(Struct, frozen=True, array_like=True):
    """A value is an integer, a float, text, bytes, or nothing; `is_sound` tells."""

    table: Word
    rows: list[tuple[Any, ...]]

    def is_valid(self, width: int) -> bool:
        """Whether every row has so many values, and nothing that no column takes."""
        return all(
            len(row) == width
            and _TYPES.issuperset(map(type, row))
            and not any(type(value) is int and value > _MAX_INTEGER for value in row)
            for row in self.rows
        )


class ContentPart(Struct, frozen=True, forbid_unknown_fields=True):
    hash: Hash
    size: Count


class ClosePart(Struct, frozen=True, forbid_unknown_fields=True):
    """How a content came out. `gone`: it was deleted while the backup was made. `lost`: the storage did not have it, or
    had something else. Its pieces count for nothing then."""

    state: State


class BackupEnd(Struct, frozen=True, forbid_unknown_fields=True):
    """What came before it, counted: rows of each table; contents that are whole, and their bytes."""

    rows: dict[Word, Count]
    contents: Count
    bytes: Count
    gone: Count
    lost: Count


def encode(value: Struct) -> bytes:
    return msgspec.msgpack.encode(value)


def decode(data: bytes, kind: type[T]) -> T:
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise BackupDamaged("A part of the backup is not what it should be: somebody else wrote it.") from None


def check_tables(head: Head) -> None:
    """An older Footnote had fewer tables and columns; what this one does not know is a newer one's."""
    known = {table.name: table for table in TABLES}
    for name, columns in head.tables.items():
        table = known.get(name)
        if table is None or not set(columns) <= set(table.columns) or len(set(columns)) < len(columns):
            raise NotABackup(
                f"The backup was made by Footnote {head.footnote} and has a table or a column that this one does not "
                "know. Upgrade Footnote, then restore it."
            )


# The parts of a backup as bytes. Each has a checksum over itself and the one before it: what is cut off, changed, left


FIRST_LINE = b"Footnote backup %d\n"
_NAME = b"Footnote backup "
_MAX_FIRST_LINE_BYTES = 40
_PART = struct.Struct(">cBII32s")
"""Kind, whether it is packed, bytes as they stand here, bytes unpacked, checksum."""
_HASHED_HEADER = struct.Struct(">cBII")
_KINDS = frozenset(kind.value for kind in BackupKind)
_COMPRESSION_LEVEL = 1
"""Level of zlib: another one makes rows a tenth smaller in three times the time."""
_READ_CHUNK_BYTES = 1024 * 1024
_MAX_COMPRESSED_BYTES = MAX_PART_BYTES + MAX_PART_BYTES // 1000 + 1024


class BackupPart(Struct, frozen=True):
    kind: BackupKind
    body: bytes
    is_compressed: bool
    size: int

    def payload(self) -> bytes:
        if not self.is_compressed:
            return self.body
        unpacking = zlib.decompressobj()
        try:
            data = unpacking.decompress(self.body, self.size + 1)
        except zlib.error:
            data = b""
        if len(data) != self.size or not unpacking.eof or unpacking.unused_data:
            raise BackupDamaged("A part of the backup cannot be unpacked: somebody else wrote it.")
        return data


class PartWriter:
    """Hands the bytes of each part to `write`, in one piece or two."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self.bytes = 0
        self._write = write
        self._checksum = b""

    def begin(self) -> None:
        self._emit(FIRST_LINE % VERSION)
        self._checksum = hashlib.sha256(FIRST_LINE % VERSION).digest()

    def add(self, kind: BackupKind, payload: bytes, *, pack: bool = True) -> bool:
        """True: it became smaller."""
        packed = zlib.compress(payload, _COMPRESSION_LEVEL) if pack else payload
        smaller = len(packed) < len(payload)
        body = packed if smaller else payload
        head = _HASHED_HEADER.pack(kind.value, smaller, len(body), len(payload))
        digest = hashlib.sha256(self._checksum + head)
        digest.update(body)
        self._checksum = digest.digest()
        self._emit(head + self._checksum)
        self._emit(body)
        return smaller

    def _emit(self, data: bytes) -> None:
        self.bytes += len(data)
        self._write(data)


def read_parts(file: IO[bytes]) -> Iterator[BackupPart]:
    """All of them, up to the end, and nothing behind it. `NotABackup`, `BackupDamaged`."""
    digest = hashlib.sha256(_first_line(file)).digest()
    part = None
    while part is None or part.kind is not BackupKind.END:
        part, digest = _read_part(file, digest)
        yield part
    if file.read(1):
        raise BackupDamaged("Something stands behind the end of the backup.")


def _first_line(file: IO[bytes]) -> bytes:
    line = file.readline(_MAX_FIRST_LINE_BYTES)
    number = line.removeprefix(_NAME).removesuffix(b"\n")
    if not line.startswith(_NAME) or not number.isdigit():
        raise NotABackup("It is not a backup of Footnote, or its beginning is missing.")
    if int(number) > VERSION:
        raise NotABackup(
            f"The backup is of version {int(number)}, and this Footnote knows {VERSION}. Upgrade Footnote, then "
            "restore it."
        )
    return line


def _read_part(file: IO[bytes], before: bytes) -> tuple[BackupPart, bytes]:
    head = _read(file, _PART.size)
    kind, packed, length, size, digest = _PART.unpack(head)
    if packed > 1 or length > _MAX_COMPRESSED_BYTES or size > MAX_PART_BYTES or (not packed and length != size):
        raise _damaged_error()
    body = _read(file, length)
    summed = hashlib.sha256(before + head[: _HASHED_HEADER.size])
    summed.update(body)
    if summed.digest() != digest:
        raise _damaged_error()
    if kind not in _KINDS:
        raise _damaged_error()
    return BackupPart(BackupKind(kind), body, bool(packed), size), digest


def _read(file: IO[bytes], count: int) -> bytes:
    """A file that is shorter than it says costs no more memory than it has bytes."""
    pieces: list[bytes] = []
    try:
        while count and (piece := file.read(min(count, _READ_CHUNK_BYTES))):
            pieces.append(piece)
            count -= len(piece)
    except OSError as error:
        raise BackupDamaged(f"The backup cannot be read: {error.strerror}.") from error
    if count:
        raise BackupDamaged("The backup is cut off: its end is missing.")
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _damaged_error() -> BackupDamaged:
    return BackupDamaged("The backup is damaged: a part of it is not as it was written.")
