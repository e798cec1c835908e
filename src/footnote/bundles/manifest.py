"""The manifest of a bundle, and the reader of its zip file. The zip is untrusted: nothing is extracted to a path, and
no size in its headers is believed."""

import hashlib
import struct
import zipfile
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from stat import S_ISREG
from typing import IO, Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from footnote.bundles.schema import BundleDamaged, Count, EntryName, Line, NotABundle, Timestamp, encode_json
from footnote.protocol.files import Hash
from footnote.protocol.history import SessionHead

FORMAT = "footnote-bundle"
VERSION = 2
"""The history in bundles of version 1 has no times and no turn ids, and its search results have markers around web
text; their files do not say in which branch a version was written."""
MANIFEST = "bundle.json"

MAX_ENTRIES = 20_000
MAX_BYTES = 2_000_000_000
"""Of all entries together, uncompressed."""
MAX_JSON_BYTES = 100_000_000
"""Of one entry that is read into memory."""
MAX_DIRECTORY_BYTES = 8_000_000
"""The central directory of the zip, which `zipfile` reads at once."""
MAX_MANIFEST_BYTES = 20_000_000
MAX_RATIO = 200
RATIO_FREE_BYTES = 200_000_000
"""The compression ratio is not limited up to this size: ten megabytes of one letter are an honest file."""
MAX_JSON_RATIO = 100
RATIO_FREE_JSON_BYTES = 20_000_000
"""The same for one entry that is read into memory: decoded, it takes a multiple of its size."""
CHUNK_BYTES = 256 * 1024
ZIP_FILE = "the zip file itself"
"""The `entry` of a problem that belongs to no entry."""

_END_RECORD = struct.Struct("<4s4H2LH")
_LOCAL_HEADER = b"PK\x03\x04"
_MAX_COMMENT_BYTES = 65_535
_READ_ERRORS = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError, ValueError)
"""What zipfile raises for entries that are truncated, encrypted, compressed by an unknown method, or have false
headers."""

ProblemKind: TypeAlias = Literal["changed", "missing", "added", "unreadable", "wrong"]


class BundleProblem(Struct, frozen=True):
    """Something that is wrong with a bundle. `changed`, `missing`, `added`, `unreadable`: the entry differs from the
    manifest. `wrong`: the entry matches the manifest, and its content is invalid or false."""

    entry: str
    problem: ProblemKind
    message: str


class ManifestEntry(Struct, frozen=True, forbid_unknown_fields=True):
    name: EntryName
    size: Count
    sha256: Hash


class Manifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`seal` is the hash over the hashes and names of all other entries. `checksum` is the hash of the manifest itself,
    with an empty checksum."""

    format: Literal["footnote-bundle"] = FORMAT
    version: int = VERSION
    footnote: Line
    exported_at: Timestamp
    session: SessionHead
    seal: Hash
    entries: Annotated[tuple[ManifestEntry, ...], Meta(max_length=MAX_ENTRIES)]
    checksum: str = ""


class _ManifestVersion(Struct):
    format: str
    version: int


def seal_of(entries: Iterable[ManifestEntry]) -> str:
    """The hash over sorted lines in the format of `sha256sum`, so that common tools can compute it too."""
    lines = sorted(f"{entry.sha256}  {entry.name}\n" for entry in entries)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def encode_manifest(manifest: Manifest) -> bytes:
    """The manifest as JSON, with its checksum."""
    bare = replace(manifest, checksum="")
    return encode_json(replace(bare, checksum=hashlib.sha256(encode_json(bare)).hexdigest()))


def _decode_manifest(data: bytes) -> Manifest:
    try:
        about = msgspec.json.decode(data, type=_ManifestVersion)
        if about.format != FORMAT:
            raise NotABundle(f"It is a zip file, but not a research bundle: {MANIFEST} is of another program.")
        if about.version > VERSION:
            raise NotABundle(
                f"The bundle has format version {about.version}, and this Footnote reads {VERSION}: it is too old."
            )
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise BundleDamaged(MANIFEST, "its content is invalid") from None
    if encode_manifest(manifest) != data:
        raise BundleDamaged(MANIFEST, "it was changed")
    return manifest


class Bundle:
    """An open bundle. `entries` are the names in the zip without the manifest. `has_extra_bytes`: the file has bytes
    before or after the zip."""

    def __init__(self, archive: zipfile.ZipFile, *, has_extra_bytes: bool) -> None:
        self._archive = archive
        self._has_extra_bytes = has_extra_bytes
        self._infos = {info.filename: info for info in archive.infolist()}
        self.entries = tuple(name for name in self._infos if name != MANIFEST)
        if MANIFEST not in self._infos:
            raise NotABundle(f"It is a zip file, but not a research bundle: it has no {MANIFEST}.")
        try:
            data = self.read(MANIFEST, MAX_MANIFEST_BYTES)
        except _READ_ERRORS:
            raise BundleDamaged(MANIFEST, "it cannot be read") from None
        self.manifest = _decode_manifest(data)

    def read(self, name: str, max_bytes: int = MAX_JSON_BYTES) -> bytes:
        """All of an entry. Raises `BundleDamaged` if the entry is too large to be read into memory."""
        max_bytes = min(max_bytes, max(RATIO_FREE_JSON_BYTES, MAX_JSON_RATIO * self._infos[name].compress_size))
        chunks: list[bytes] = []
        size = 0
        for chunk in self.chunks(name):
            size += len(chunk)
            if size > max_bytes:
                raise BundleDamaged(name, f"it is larger than {max_bytes:,} bytes")
            chunks.append(chunk)
        return b"".join(chunks)

    def chunks(self, name: str) -> Iterator[bytes]:
        with self._archive.open(self._infos[name]) as entry:
            while chunk := entry.read(CHUNK_BYTES):
                yield chunk

    def problems(self) -> Iterator[BundleProblem]:
        """Compares every entry with the manifest. All entries are decompressed once, and their bytes counted."""
        if self._has_extra_bytes:
            yield BundleProblem(ZIP_FILE, "added", "there are bytes before its first entry or after its end")
        listed = {entry.name: entry for entry in self.manifest.entries}
        if len(listed) < len(self.manifest.entries) or seal_of(self.manifest.entries) != self.manifest.seal:
            yield BundleProblem(MANIFEST, "changed", "its seal does not match the entries that it lists")
        for name in sorted(listed.keys() - set(self.entries)):
            yield BundleProblem(name, "missing", "it was exported, and is not in the bundle")
        for name in self.entries:
            if name not in listed:
                yield BundleProblem(name, "added", "it was not exported")
        max_bytes = MAX_BYTES
        for name in self.entries:
            if (entry := listed.get(name)) is not None:
                size, problem = self._compare(entry, max_bytes)
                max_bytes -= size
                if problem is not None:
                    yield problem

    def _compare(self, entry: ManifestEntry, max_bytes: int) -> tuple[int, BundleProblem | None]:
        digest, size = hashlib.sha256(), 0
        try:
            for chunk in self.chunks(entry.name):
                size += len(chunk)
                if size > max_bytes:
                    raise BundleDamaged(entry.name, f"with it, the bundle has more than {MAX_BYTES:,} bytes")
                digest.update(chunk)
        except _READ_ERRORS:
            return size, BundleProblem(entry.name, "unreadable", "it is damaged and cannot be decompressed")
        if (size, digest.hexdigest()) != (entry.size, entry.sha256):
            return size, BundleProblem(entry.name, "changed", "its content differs from the exported one")
        return size, None


@contextmanager
def open_bundle(file: Path) -> Generator[Bundle, None, None]:
    """Raises `NotABundle` for any other file, and `BundleDamaged` for a bundle whose manifest cannot be read."""
    with ExitStack() as stack:
        try:
            if not S_ISREG(file.stat().st_mode):  # opening a pipe would block, and a device never ends
                raise NotABundle(f"{file.name} is not a file.")
            source = stack.enter_context(file.open("rb"))
            has_extra_bytes = _check_directory(source)
            archive = stack.enter_context(zipfile.ZipFile(source))
        except OSError as error:
            raise NotABundle(f"{file.name} cannot be read: {error.strerror or type(error).__name__}.") from error
        except (zipfile.BadZipFile, ValueError, NotImplementedError):
            raise _not_a_zip() from None
        _check_entries(archive)
        yield Bundle(archive, has_extra_bytes=has_extra_bytes)


def _not_a_zip() -> NotABundle:
    return NotABundle("It is not a zip file, or its end is missing.")


def _check_directory(source: IO[bytes]) -> bool:
    """Checks the size of the central directory before `zipfile` reads it at once: it may be as long as the file.

    Returns whether the file has bytes before the first entry or after the end of the zip.
    """
    size = source.seek(0, 2)
    source.seek(max(0, size - _END_RECORD.size - _MAX_COMMENT_BYTES))
    tail = source.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END_RECORD.size:
        raise _not_a_zip()
    *_, count, length, start, _ = _END_RECORD.unpack_from(tail, at)
    if b"PK\x06\x07" in tail[max(0, at - 20) : at] or count > MAX_ENTRIES + 1 or length > MAX_DIRECTORY_BYTES:
        raise _too_many_entries()
    source.seek(0)
    begins = source.read(len(_LOCAL_HEADER)) == _LOCAL_HEADER
    source.seek(0)
    ends = len(tail) - at == _END_RECORD.size and start + length == size - _END_RECORD.size
    return not (begins and ends)


def _check_entries(archive: zipfile.ZipFile) -> None:
    infos = archive.infolist()
    if len(infos) > MAX_ENTRIES + 1:
        raise _too_many_entries()
    names: set[str] = set()
    for info in infos:
        if info.filename in names:
            raise BundleDamaged(info.filename, "the zip has it twice")
        names.add(info.filename)
    size = sum(info.file_size for info in infos)
    compressed = sum(info.compress_size for info in infos)
    if size > MAX_BYTES or (size > RATIO_FREE_BYTES and size > MAX_RATIO * max(compressed, 1)):
        largest = max(infos, key=lambda info: info.file_size)
        raise BundleDamaged(
            largest.filename,
            f"decompressed it would have {largest.file_size:,} bytes, and the whole bundle {size:,}: that is too "
            "large, or made to fill a disk",
        )


def _too_many_entries() -> BundleDamaged:
    return BundleDamaged(MANIFEST, f"the zip lists more entries than a bundle may have ({MAX_ENTRIES:,})")
