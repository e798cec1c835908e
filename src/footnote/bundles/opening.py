"""Opens a zip of a stranger: nothing of it is written anywhere, and nothing that its headers say is believed."""

import hashlib
import struct
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from stat import S_ISREG
from typing import IO, Literal, TypeAlias

import msgspec
from msgspec import Struct

from footnote.bundles.form import (
    FORMAT,
    MANIFEST,
    MOST_BYTES,
    MOST_ENTRIES,
    MOST_JSON,
    VERSION,
    BundleDamaged,
    Manifest,
    NotABundle,
    manifest_bytes,
    seal_of,
)

MOST_DIRECTORY = 8_000_000
"""Bytes of the zip's own list of entries, all of which is read at once."""
MOST_MANIFEST = 20_000_000
HIGHEST_RATIO = 200
HARMLESS_BYTES = 200_000_000
"""Up to here a bundle may be packed as tightly as it likes: ten megabytes of one letter are an honest file."""
HIGHEST_RATIO_READ = 100
HARMLESS_BYTES_READ = 20_000_000
"""The same for one entry that is read as a whole: as values it takes many times as much."""
PIECE_BYTES = 256 * 1024
_END = struct.Struct("<4s4H2LH")
_FIRST = b"PK\x03\x04"
_LONGEST_COMMENT = 65_535
_UNREADABLE = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError, ValueError)
"""What zipfile raises over entries that are cut, encrypted, packed in other ways, or whose headers lie."""

Problem: TypeAlias = Literal["changed", "missing", "added", "unreadable", "wrong"]
THE_ZIP = "the zip file itself"
"""Stands in the place of an entry where none is at fault."""


class BundleProblem(Struct, frozen=True):
    """Something that is wrong with a bundle. `changed`, `missing`, `added`, `unreadable`: an entry is not the one that
    was exported. `wrong`: it is, and what it says does not hold."""

    entry: str
    problem: Problem
    message: str


class _Version(Struct):
    format: str
    version: int


class Bundle:
    """An opened bundle. `entries` are the names in it, the manifest left out. `is_alone`: the file has nothing else
    than the zip."""

    def __init__(self, archive: zipfile.ZipFile, *, is_alone: bool) -> None:
        self._archive = archive
        self._is_alone = is_alone
        self._infos = {info.filename: info for info in archive.infolist()}
        self._left = MOST_BYTES
        self.entries = tuple(name for name in self._infos if name != MANIFEST)
        self.manifest = self._manifest()

    def _manifest(self) -> Manifest:
        if MANIFEST not in self._infos:
            raise NotABundle(f"It is a zip file, and no research bundle: it has no {MANIFEST}.")
        try:
            data = self.read(MANIFEST, MOST_MANIFEST)
        except _UNREADABLE:
            raise BundleDamaged(MANIFEST, "it cannot be read") from None
        try:
            about = msgspec.json.decode(data, type=_Version)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            raise BundleDamaged(MANIFEST, "it is not what it should be") from None
        if about.format != FORMAT:
            raise NotABundle(f"It is a zip file, and no research bundle: {MANIFEST} is of another program.")
        if about.version > VERSION:
            raise NotABundle(
                f"The bundle is of version {about.version}, and this Footnote knows {VERSION}: it is too old."
            )
        try:
            manifest = msgspec.json.decode(data, type=Manifest)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            raise BundleDamaged(MANIFEST, "it is not what it should be") from None
        if manifest_bytes(manifest) != data:
            raise BundleDamaged(MANIFEST, "it was changed")
        return manifest

    def read(self, name: str, most: int = MOST_JSON) -> bytes:
        """All of an entry. `Damaged`: it is too large to be read as a whole."""
        most = min(most, max(HARMLESS_BYTES_READ, HIGHEST_RATIO_READ * self._infos[name].compress_size))
        pieces: list[bytes] = []
        size = 0
        for piece in self.pieces(name):
            size += len(piece)
            if size > most:
                raise BundleDamaged(name, f"it is larger than {most:,} bytes")
            pieces.append(piece)
        return b"".join(pieces)

    def pieces(self, name: str) -> Iterator[bytes]:
        with self._archive.open(self._infos[name]) as entry:
            while piece := entry.read(PIECE_BYTES):
                yield piece

    def findings(self) -> Iterator[BundleProblem]:
        """Every entry against the list of them. Here all bytes are unpacked once, and counted."""
        if not self._is_alone:
            yield BundleProblem(THE_ZIP, "added", "something stands before its first entry, or after its end")
        listed = {entry.name: entry for entry in self.manifest.entries}
        if len(listed) < len(self.manifest.entries) or seal_of(self.manifest.entries) != self.manifest.seal:
            yield BundleProblem(MANIFEST, "changed", "its seal is not that of the entries that it lists")
        for name in sorted(listed.keys() - set(self.entries)):
            yield BundleProblem(name, "missing", "it was exported, and is not there")
        for name in self.entries:
            if name not in listed:
                yield BundleProblem(name, "added", "it was not exported")
        for name in self.entries:
            if name in listed:
                yield from self._compared(name, listed[name].size, listed[name].sha256)

    def _compared(self, name: str, size: int, sha256: str) -> Iterator[BundleProblem]:
        digest, count = hashlib.sha256(), 0
        try:
            for piece in self.pieces(name):
                self._left -= len(piece)
                if self._left < 0:
                    raise BundleDamaged(name, f"with it, the bundle has more than {MOST_BYTES:,} bytes")
                digest.update(piece)
                count += len(piece)
        except _UNREADABLE:
            yield BundleProblem(name, "unreadable", "it is damaged and cannot be unpacked")
            return
        if (count, digest.hexdigest()) != (size, sha256):
            yield BundleProblem(name, "changed", "its content is not the one that was exported")


@contextmanager
def opened(file: Path) -> Generator[Bundle, None, None]:
    """`NotABundle`: it is none. `Damaged`: it is one, and cannot be looked into."""
    with ExitStack() as stack:
        try:
            if not S_ISREG(file.stat().st_mode):  # a pipe would keep us waiting, and a device never ends
                raise NotABundle(f"{file.name} is not a file.")
            source = stack.enter_context(file.open("rb"))
            is_alone = _check_directory(source)
            archive = stack.enter_context(zipfile.ZipFile(source))
        except OSError as error:
            raise NotABundle(f"{file.name} cannot be read: {error.strerror or type(error).__name__}.") from error
        except (zipfile.BadZipFile, ValueError, NotImplementedError):
            raise _no_zip() from None
        _check_entries(archive)
        yield Bundle(archive, is_alone=is_alone)


def _no_zip() -> NotABundle:
    return NotABundle("It is not a zip file, or its end is missing.")


def _check_directory(source: IO[bytes]) -> bool:
    """Before the list of entries is read as a whole: it may be as long as the file.

    Whether the file is the zip and nothing else: it begins with an entry and ends with its end.
    """
    size = source.seek(0, 2)
    source.seek(max(0, size - _END.size - _LONGEST_COMMENT))
    tail = source.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        raise _no_zip()
    *_, count, length, start, _ = _END.unpack_from(tail, at)
    if b"PK\x06\x07" in tail[max(0, at - 20) : at] or count > MOST_ENTRIES + 1 or length > MOST_DIRECTORY:
        raise _too_many()
    source.seek(0)
    begins = source.read(len(_FIRST)) == _FIRST
    source.seek(0)
    return begins and len(tail) - at == _END.size and start + length == size - _END.size


def _check_entries(archive: zipfile.ZipFile) -> None:
    infos = archive.infolist()
    if len(infos) > MOST_ENTRIES + 1:
        raise _too_many()
    seen: set[str] = set()
    for info in infos:
        if info.filename in seen:
            raise BundleDamaged(info.filename, "it is there twice")
        seen.add(info.filename)
    said = sum(info.file_size for info in infos)
    packed = sum(info.compress_size for info in infos)
    if said > MOST_BYTES or (said > HARMLESS_BYTES and said > HIGHEST_RATIO * max(packed, 1)):
        largest = max(infos, key=lambda info: info.file_size)
        raise BundleDamaged(
            largest.filename,
            f"unpacked it would have {largest.file_size:,} bytes, and the whole bundle {said:,}: that is too large, or "
            "made to fill a disk",
        )


def _too_many() -> BundleDamaged:
    return BundleDamaged(MANIFEST, f"the zip lists more entries than a bundle may have ({MOST_ENTRIES:,})")
