"""The format of a backup: a head, the rows of every table, the contents of large files, an end. A backup is untrusted
input, so that every value has a type and a limit."""

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
"""The version of the parts and their order. Tables and columns are named in the head, and need no new version."""

CHUNK_BYTES = 1024 * 1024
MAX_PART_BYTES = 256 * 1024 * 1024
"""The size of one decompressed part: a row of a table may be large."""

Word: TypeAlias = Annotated[str, Meta(max_length=200)]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**63 - 1)]
State: TypeAlias = Literal["whole", "gone", "lost"]

_TYPES = frozenset({int, float, str, bytes, type(None)})
_MAX_INTEGER = 2**63 - 1

T = TypeVar("T")


class BackupKind(Enum):
    """The kinds of parts. A content is a `CONTENT`, its `CHUNK`s, and a `CLOSE`."""

    HEAD = b"H"
    ROWS = b"R"
    CONTENT = b"B"
    CHUNK = b"D"
    CLOSE = b"C"
    END = b"E"


class NotABackup(UsageError):
    """The file is something else, or a backup of a newer version."""

    type = "not_a_backup"


class BackupDamaged(FootnoteError):
    """The file is a backup of which a part was changed or is missing."""

    type = "backup_damaged"


class Head(Struct, frozen=True, forbid_unknown_fields=True):
    """`tables`: the columns of each table, in the order of the values of its rows."""

    footnote: Word
    made_at: Word
    tables: dict[Word, tuple[Word, ...]]


class RowsPart(Struct, frozen=True, array_like=True):
    """A value is an integer, a float, text, bytes or None, which `is_valid` checks."""

    table: Word
    rows: list[tuple[Any, ...]]

    def is_valid(self, width: int) -> bool:
        """Whether every row has `width` values of types that a column can have."""
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
    """The state of a content. `gone`: it was deleted during the backup. `lost`: the storage did not have it, or had
    other bytes. In both cases its chunks are ignored."""

    state: State


class BackupEnd(Struct, frozen=True, forbid_unknown_fields=True):
    """The number of rows of each table, and the number and bytes of contents that are whole."""

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
    """An older version had fewer tables and columns. Unknown ones are of a newer version, and are refused."""
    known = {table.name: table for table in TABLES}
    for name, columns in head.tables.items():
        table = known.get(name)
        if table is None or not set(columns) <= set(table.backup_columns) or len(set(columns)) < len(columns):
            raise NotABackup(
                f"The backup was made by Footnote {head.footnote} and has a table or a column that this one does not "
                "know. Upgrade Footnote, then restore it."
            )


# Parts as bytes ----------------------------------------------------------------------------------------------

# Each part has a checksum over itself and the checksum before it, so that a part cannot be changed, removed or moved.

FIRST_LINE = b"Footnote backup %d\n"
_NAME = b"Footnote backup "
_MAX_FIRST_LINE_BYTES = 40
_PART = struct.Struct(">cBII32s")
"""Kind, whether it is compressed, size in the file, decompressed size, checksum."""
_HASHED_HEADER = struct.Struct(">cBII")
_KINDS = frozenset(kind.value for kind in BackupKind)
_COMPRESSION_LEVEL = 1
"""The level of zlib; the default makes rows a tenth smaller in three times the time."""
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
    """Passes the bytes of each part to `write`."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self.bytes = 0
        self._write = write
        self._checksum = b""

    def begin(self) -> None:
        self._emit(FIRST_LINE % VERSION)
        self._checksum = hashlib.sha256(FIRST_LINE % VERSION).digest()

    def add(self, kind: BackupKind, payload: bytes, *, pack: bool = True) -> bool:
        """Returns whether compression made the part smaller."""
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
    """All parts up to the end, which must be the end of the file. Raises `NotABackup` or `BackupDamaged`."""
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
    """Reads in chunks, so that a wrong length in a short file allocates no memory."""
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
