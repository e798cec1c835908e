"""Zip files of others, looked at without unpacking them, and unpacked without trusting them."""

import os
import struct
import zipfile
import zlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import PurePosixPath
from stat import S_ISLNK
from typing import IO

from msgspec import Struct

from footnote.protocol.errors import UnprocessableFile, WrongKind
from footnote.sandbox.jobs import ArchiveEntry, ArchiveListing, UnpackedFile

MAX_ENTRIES = 5_000
MAX_UNPACKED_BYTES = 200_000_000
"""Of a document that is a zip file inside."""

MAX_FILES = 1_000
MAX_ARCHIVE_BYTES = 500_000_000
"""Of an archive, all files together."""

_MAX_RATIO = 100
_RATIO_MIN_BYTES = 10_000_000
"""Small files may well be a hundred times smaller when packed."""

_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = 20
_MAX_COMMENT_BYTES = 65_535
_MAX_DIRECTORY_BYTES = 2_000_000
"""Bytes of the list of entries: far more than five thousand names need, and little enough to be read whole."""

_LOCAL = b"PK\x03\x04"
_LOCAL_HEADER = 30
_MAX_NAME_BYTES = 1_000
_MAX_HEADER_BYTES = _LOCAL_HEADER + _MAX_NAME_BYTES
_IN_UTF_8, _ENCRYPTED = 0x800, 0x1
_UNIX = 3
_CHUNK_BYTES = 1 << 16
_SCAN_BYTES = 1 << 20
_METHODS = frozenset((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    ValueError,
    struct.error,
    OSError,
    RuntimeError,
)
"""What the standard library raises for a zip file that was made to be wrong."""
_SYSTEM_FILES = frozenset((".ds_store", "thumbs.db", "desktop.ini"))


class DamagedArchive(UnprocessableFile):
    """What it holds cannot be listed or read."""


class Directory(Struct, frozen=True):
    """What an archive says about itself: the names of its files, in UTF-8 or in the letters of DOS."""

    names: frozenset[str]
    size: int
    is_encrypted: bool


def read_directory(file: IO[bytes], filename: str, max_bytes: int) -> Directory:
    """`Damaged`: it cannot be listed. `Unworkable`: it cannot be what it claims, or holds more than `most` bytes."""
    with _open_zip(file, filename) as archive:
        entries = archive.infolist()
        _check_entries(entries, filename, max_bytes, archive.start_dir)
        return Directory(
            frozenset(_entry_name(entry) for entry in entries),
            sum(entry.file_size for entry in entries),
            any(entry.flag_bits & _ENCRYPTED for entry in entries),
        )


def read_entry_head(file: IO[bytes], filename: str, name: str, size: int) -> bytes:
    """The first bytes of an entry, whatever the case of its name, and of all that have it; none, if there is no such
    entry. `Damaged`: they cannot be read."""
    with _open_zip(file, filename) as archive:
        read = b""
        for one in archive.infolist():
            if one.filename.lower() == name.lower() and len(read) < size:
                with archive.open(one) as entry:
                    read += entry.read(size - len(read))
        return read


def scan_for_names(file: IO[bytes], names: Sequence[str]) -> bool:
    """Whether one of these stands in the name of an entry, by what stands before each: the list of them may be gone."""
    wanted = [name.lower().encode() for name in names]
    tail = b""
    file.seek(0)
    while piece := file.read(_SCAN_BYTES):
        seen = tail + piece
        at = seen.find(_LOCAL)
        while at >= 0:
            name = seen[at + _LOCAL_HEADER : at + _LOCAL_HEADER + _name_length(seen, at)]
            if any(one in name.lower().replace(b"\\", b"/") for one in wanted):
                return True
            at = seen.find(_LOCAL, at + 1)
        tail = seen[-_MAX_HEADER_BYTES:]
    return False


def _name_length(seen: bytes, at: int) -> int:
    return min(_MAX_NAME_BYTES, int.from_bytes(seen[at + _LOCAL_HEADER - 4 : at + _LOCAL_HEADER - 2], "little"))


def list_entries(file: IO[bytes], filename: str) -> ArchiveListing:
    """The files that an archive holds, without folders and without what systems leave lying about. `WrongKind`: it is
    none. `Unworkable`: it must not, or cannot, be unpacked."""
    if not zipfile.is_zipfile(file):
        raise WrongKind(f"{filename} is not a zip file, so it cannot be unpacked.")
    with _open_zip(file, "The archive") as archive:
        entries = archive.infolist()
        _check_entries(entries, "The archive", MAX_ARCHIVE_BYTES, archive.start_dir)
        kept: list[ArchiveEntry] = []
        for place, entry in enumerate(entries):
            name = _entry_name(entry)
            if name.endswith("/") or _is_system_file(name):
                continue
            _check_entry(entry, name)
            kept.append(ArchiveEntry(name, entry.file_size, place))
    if len(kept) > MAX_FILES:
        raise UnprocessableFile(
            f"The archive holds {len(kept):,} files, and at most {MAX_FILES:,} are unpacked: split it."
        )
    return ArchiveListing(tuple(kept))


def unpack(file: IO[bytes], entry: ArchiveEntry) -> UnpackedFile:
    """`Unworkable`: it is damaged, or not of the size that was said."""
    content = bytearray()
    with (
        _open_zip(file, "The archive") as archive,
        archive.open(archive.infolist()[entry.place]) as packed,
    ):
        while piece := packed.read(_CHUNK_BYTES):
            content += piece
            if len(content) > entry.size:
                raise UnprocessableFile(f"{entry.name} is larger than the archive says: it is damaged, or a trap.")
    if len(content) < entry.size:
        raise UnprocessableFile(f"{entry.name} is shorter than the archive says: it is damaged.")
    return UnpackedFile(content=bytes(content))


@contextmanager
def _open_zip(file: IO[bytes], filename: str) -> Generator[zipfile.ZipFile]:
    try:
        _check_directory_size(file, filename)
        with zipfile.ZipFile(file) as archive:
            yield archive
    except _ZIP_ERRORS as error:
        raise DamagedArchive(f"{filename} is damaged: what it holds cannot be read. Save or pack it again.") from error


def _check_directory_size(file: IO[bytes], filename: str) -> None:
    """That the list of entries is short enough to be read at all. The standard library would read any."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END.size - _MAX_COMMENT_BYTES - _LOCATOR - _END_64.size))
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or at + _END.size > len(tail):
        raise zipfile.BadZipFile
    _, _, _, _, entries, length, *_ = _END.unpack_from(tail, at)
    # Where the standard library looks for it, which is not where the locator points.
    record = at - _LOCATOR - _END_64.size
    if record >= 0 and tail[record : record + 4] == b"PK\x06\x06":
        *_, entries, length, _ = _END_64.unpack_from(tail, record)
    file.seek(0)
    if entries > MAX_ENTRIES or length > _MAX_DIRECTORY_BYTES:
        raise UnprocessableFile(f"{filename} holds more than {MAX_ENTRIES:,} files inside: make it smaller.")


def _check_entries(entries: list[zipfile.ZipInfo], filename: str, max_bytes: int, directory_offset: int) -> None:
    if len(entries) > MAX_ENTRIES:
        raise UnprocessableFile(f"{filename} holds more than {MAX_ENTRIES:,} files inside: make it smaller.")
    if sum(entry.file_size for entry in entries) > max_bytes:
        raise UnprocessableFile(f"{filename} would unpack to more than {max_bytes // 1_000_000:,} MB: make it smaller.")
    for entry in entries:
        if entry.file_size > _RATIO_MIN_BYTES and entry.file_size > _MAX_RATIO * max(entry.compress_size, 1):
            raise UnprocessableFile(
                f"{filename} holds a file that unpacks to over {_MAX_RATIO} times its size: a trap."
            )
    ordered = sorted(entries, key=lambda entry: entry.header_offset)
    ends = [entry.header_offset + _LOCAL_HEADER + len(entry.orig_filename) + entry.compress_size for entry in ordered]
    following = [*(entry.header_offset for entry in ordered), directory_offset][1:]
    if any(end > begin for end, begin in zip(ends, following, strict=True)):
        raise UnprocessableFile(f"{filename} holds files that lie over each other: it is damaged, or a trap.")


def _check_entry(entry: zipfile.ZipInfo, name: str) -> None:
    if entry.flag_bits & _ENCRYPTED:
        raise UnprocessableFile(f"{name} in the archive is protected by a password: pack it without one.")
    if entry.create_system == _UNIX and S_ISLNK(entry.external_attr >> 16):
        raise UnprocessableFile(f"{name} in the archive is a link to another place: pack the file itself.")
    if entry.compress_type not in _METHODS:
        raise UnprocessableFile(
            f"{name} in the archive is packed in a way that is not known here: pack it as a plain zip file."
        )


def _entry_name(entry: zipfile.ZipInfo) -> str:
    """Most programs write UTF-8 by now, and many of them forget to say so."""
    name = entry.filename
    if not entry.flag_bits & _IN_UTF_8:
        try:
            name = entry.orig_filename.encode("cp437").decode("utf-8")
        except UnicodeError:
            name = entry.filename
    return name.replace("\\", "/").partition("\0")[0]


def _is_system_file(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return "__MACOSX" in parts or not parts or parts[-1].lower() in _SYSTEM_FILES or parts[-1].startswith("._")
