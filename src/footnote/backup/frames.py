"""The parts of a backup as bytes. Each has a checksum over itself and the one before it: what is cut off, changed, left
out or put in another order shows at the first part that it touches."""

import hashlib
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import IO

from msgspec import Struct

from footnote.backup.form import MOST_BYTES, VERSION, BackupDamaged, Kind, NotABackup

FIRST_LINE = b"Footnote backup %d\n"
_NAME = b"Footnote backup "
_LONGEST_FIRST_LINE = 40
_PART = struct.Struct(">cBII32s")
"""Kind, whether it is packed, bytes as they stand here, bytes unpacked, checksum."""
_SUMMED = struct.Struct(">cBII")
_KINDS = frozenset(kind.value for kind in Kind)
_PACKING = 1
"""Level of zlib: another one makes rows a tenth smaller in three times the time."""
_AT_ONCE = 1024 * 1024
_MOST_PACKED = MOST_BYTES + MOST_BYTES // 1000 + 1024


class Part(Struct, frozen=True):
    kind: Kind
    body: bytes
    packed: bool
    size: int

    def payload(self) -> bytes:
        if not self.packed:
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
        self._sum = b""

    def begin(self) -> None:
        self._say(FIRST_LINE % VERSION)
        self._sum = hashlib.sha256(FIRST_LINE % VERSION).digest()

    def add(self, kind: Kind, payload: bytes, *, pack: bool = True) -> bool:
        """True: it became smaller."""
        packed = zlib.compress(payload, _PACKING) if pack else payload
        smaller = len(packed) < len(payload)
        body = packed if smaller else payload
        head = _SUMMED.pack(kind.value, smaller, len(body), len(payload))
        digest = hashlib.sha256(self._sum + head)
        digest.update(body)
        self._sum = digest.digest()
        self._say(head + self._sum)
        self._say(body)
        return smaller

    def _say(self, data: bytes) -> None:
        self.bytes += len(data)
        self._write(data)


def parts(file: IO[bytes]) -> Iterator[Part]:
    """All of them, up to the end, and nothing behind it. `NotABackup`, `BackupDamaged`."""
    digest = hashlib.sha256(_first_line(file)).digest()
    part = None
    while part is None or part.kind is not Kind.END:
        part, digest = _next(file, digest)
        yield part
    if file.read(1):
        raise BackupDamaged("Something stands behind the end of the backup.")


def _first_line(file: IO[bytes]) -> bytes:
    line = file.readline(_LONGEST_FIRST_LINE)
    number = line.removeprefix(_NAME).removesuffix(b"\n")
    if not line.startswith(_NAME) or not number.isdigit():
        raise NotABackup("It is not a backup of Footnote, or its beginning is missing.")
    if int(number) > VERSION:
        raise NotABackup(
            f"The backup is of version {int(number)}, and this Footnote knows {VERSION}. Upgrade Footnote, then "
            "restore it."
        )
    return line


def _next(file: IO[bytes], before: bytes) -> tuple[Part, bytes]:
    head = _read(file, _PART.size)
    kind, packed, length, size, digest = _PART.unpack(head)
    if packed > 1 or length > _MOST_PACKED or size > MOST_BYTES or (not packed and length != size):
        raise _changed()
    body = _read(file, length)
    summed = hashlib.sha256(before + head[: _SUMMED.size])
    summed.update(body)
    if summed.digest() != digest:
        raise _changed()
    if kind not in _KINDS:
        raise _changed()
    return Part(Kind(kind), body, bool(packed), size), digest


def _read(file: IO[bytes], count: int) -> bytes:
    """A file that is shorter than it says costs no more memory than it has bytes."""
    pieces: list[bytes] = []
    try:
        while count and (piece := file.read(min(count, _AT_ONCE))):
            pieces.append(piece)
            count -= len(piece)
    except OSError as error:
        raise BackupDamaged(f"The backup cannot be read: {error.strerror}.") from error
    if count:
        raise BackupDamaged("The backup is cut off: its end is missing.")
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _changed() -> BackupDamaged:
    return BackupDamaged("The backup is damaged: a part of it is not as it was written.")
