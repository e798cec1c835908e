"""Untrusted zip files: checked without unpacking them, and unpacked with limits."""

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
"""Limit for an Office document, which is a zip file: all parts unpacked."""

MAX_FILES = 1_000
MAX_ARCHIVE_BYTES = 500_000_000
"""Limit for an archive: all files unpacked."""

_MAX_RATIO = 100
_RATIO_MIN_BYTES = 10_000_000
"""The compression ratio is not checked below this size: small files may well shrink a hundredfold."""

_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = 20
_MAX_COMMENT_BYTES = 65_535
_MAX_DIRECTORY_BYTES = 2_000_000
"""Limit for the central directory: far more than five thousand names need, and small enough to be read at once."""

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
"""What the standard library raises for a malformed zip file."""
_SYSTEM_FILES = frozenset((".ds_store", "thumbs.db", "desktop.ini"))


class DamagedArchive(UnprocessableFile):
    """The archive cannot be listed or read."""


class Directory(Struct, frozen=True):
    """The central directory of an archive. Names are in UTF-8 or in the code page of DOS."""

    names: frozenset[str]
    size: int
    is_encrypted: bool


def read_directory(file: IO[bytes], filename: str, max_bytes: int) -> Directory:
    """`DamagedArchive`: it cannot be listed. `UnprocessableFile`: its directory is implausible, or it unpacks to more
    than the limit."""
    with _open_zip(file, filename) as archive:
        entries = archive.infolist()
        _check_entries(entries, filename, max_bytes, archive.start_dir)
        return Directory(
            frozenset(_entry_name(entry) for entry in entries),
            sum(entry.file_size for entry in entries),
            any(entry.flag_bits & _ENCRYPTED for entry in entries),
        )


def read_entry_head(file: IO[bytes], filename: str, name: str, size: int) -> bytes:
    """The first bytes of all entries with that name, in any case of letters; empty if there is none. `DamagedArchive`:
    they cannot be read."""
    with _open_zip(file, filename) as archive:
        head = b""
        for entry in archive.infolist():
            if entry.filename.lower() == name.lower() and len(head) < size:
                with archive.open(entry) as content:
                    head += content.read(size - len(head))
        return head


def scan_for_names(file: IO[bytes], names: Sequence[str]) -> bool:
    """Whether the name of an entry contains one of these, by its local header: the directory may be missing."""
    wanted = [name.lower().encode() for name in names]
    tail = b""
    file.seek(0)
    while piece := file.read(_SCAN_BYTES):
        window = tail + piece
        at = window.find(_LOCAL)
        while at >= 0:
            name = window[at + _LOCAL_HEADER : at + _LOCAL_HEADER + _name_length(window, at)]
            if any(part in name.lower().replace(b"\\", b"/") for part in wanted):
                return True
            at = window.find(_LOCAL, at + 1)
        tail = window[-_MAX_HEADER_BYTES:]
    return False


def _name_length(window: bytes, at: int) -> int:
    return min(_MAX_NAME_BYTES, int.from_bytes(window[at + _LOCAL_HEADER - 4 : at + _LOCAL_HEADER - 2], "little"))


def list_entries(file: IO[bytes], filename: str) -> ArchiveListing:
    """The files of an archive, without folders and without metadata files of operating systems. `WrongKind`: it is not
    an archive. `UnprocessableFile`: it must not, or cannot, be unpacked."""
    if not zipfile.is_zipfile(file):
        raise WrongKind(
            f"{filename} is not a zip file, so it cannot be unpacked.", code="not_an_archive", name=filename
        )
    with _open_zip(file, "The archive") as archive:
        entries = archive.infolist()
        _check_entries(entries, "The archive", MAX_ARCHIVE_BYTES, archive.start_dir)
        files: list[ArchiveEntry] = []
        for place, entry in enumerate(entries):
            name = _entry_name(entry)
            if name.endswith("/") or _is_system_file(name):
                continue
            _check_entry(entry, name)
            files.append(ArchiveEntry(name, entry.file_size, place))
    if len(files) > MAX_FILES:
        raise UnprocessableFile(
            f"The archive holds {len(files):,} files, and at most {MAX_FILES:,} are unpacked: split it.",
            code="archive_too_many_files",
            count=len(files),
            max=MAX_FILES,
        )
    return ArchiveListing(tuple(files))


def unpack(file: IO[bytes], entry: ArchiveEntry) -> UnpackedFile:
    """`UnprocessableFile`: the entry is damaged, or its size is not the declared one."""
    content = bytearray()
    with (
        _open_zip(file, "The archive") as archive,
        archive.open(archive.infolist()[entry.place]) as packed,
    ):
        while piece := packed.read(_CHUNK_BYTES):
            content += piece
            if len(content) > entry.size:
                raise UnprocessableFile(
                    f"{entry.name} is larger than the archive says: it is damaged, or a trap.",
                    code="archive_damaged",
                    name=entry.name,
                )
    if len(content) < entry.size:
        raise UnprocessableFile(
            f"{entry.name} is shorter than the archive says: it is damaged.", code="archive_damaged", name=entry.name
        )
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
    """Checks that the central directory is small enough to be read; the standard library has no limit."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END.size - _MAX_COMMENT_BYTES - _LOCATOR - _END_64.size))
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or at + _END.size > len(tail):
        raise zipfile.BadZipFile
    _, _, _, _, entries, length, *_ = _END.unpack_from(tail, at)
    # At the place where the standard library reads it, which is not necessarily where the locator points.
    record = at - _LOCATOR - _END_64.size
    if record >= 0 and tail[record : record + 4] == b"PK\x06\x06":
        *_, entries, length, _ = _END_64.unpack_from(tail, record)
    file.seek(0)
    if entries > MAX_ENTRIES or length > _MAX_DIRECTORY_BYTES:
        raise UnprocessableFile(
            f"{filename} holds more than {MAX_ENTRIES:,} files inside: make it smaller.",
            code="archive_too_many_entries",
            name=filename,
            max=MAX_ENTRIES,
        )


def _check_entries(entries: list[zipfile.ZipInfo], filename: str, max_bytes: int, directory_offset: int) -> None:
    if len(entries) > MAX_ENTRIES:
        raise UnprocessableFile(
            f"{filename} holds more than {MAX_ENTRIES:,} files inside: make it smaller.",
            code="archive_too_many_entries",
            name=filename,
            max=MAX_ENTRIES,
        )
    if sum(entry.file_size for entry in entries) > max_bytes:
        raise UnprocessableFile(
            f"{filename} would unpack to more than {max_bytes // 1_000_000:,} MB: make it smaller.",
            code="archive_unpacks_too_large",
            name=filename,
            max=max_bytes,
        )
    for entry in entries:
        if entry.file_size > _RATIO_MIN_BYTES and entry.file_size > _MAX_RATIO * max(entry.compress_size, 1):
            raise UnprocessableFile(
                f"{filename} holds a file that unpacks to over {_MAX_RATIO} times its size: a trap.",
                code="archive_bomb",
                name=filename,
                max=_MAX_RATIO,
            )
    ordered = sorted(entries, key=lambda entry: entry.header_offset)
    ends = [entry.header_offset + _LOCAL_HEADER + len(entry.orig_filename) + entry.compress_size for entry in ordered]
    following = [*(entry.header_offset for entry in ordered), directory_offset][1:]
    if any(end > begin for end, begin in zip(ends, following, strict=True)):
        raise UnprocessableFile(
            f"{filename} holds files that lie over each other: it is damaged, or a trap.",
            code="archive_damaged",
            name=filename,
        )


def _check_entry(entry: zipfile.ZipInfo, name: str) -> None:
    if entry.flag_bits & _ENCRYPTED:
        raise UnprocessableFile(
            f"{name} in the archive is protected by a password: pack it without one.",
            code="archive_encrypted",
            name=name,
        )
    if entry.create_system == _UNIX and S_ISLNK(entry.external_attr >> 16):
        raise UnprocessableFile(
            f"{name} in the archive is a link to another place: pack the file itself.", code="archive_link", name=name
        )
    if entry.compress_type not in _METHODS:
        raise UnprocessableFile(
            f"{name} in the archive is packed in a way that is not known here: pack it as a plain zip file.",
            code="archive_method",
            name=name,
        )


def _entry_name(entry: zipfile.ZipInfo) -> str:
    """Most programs write UTF-8, and many do not set the flag for it."""
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
