"""The tree of files of a session, over any store of them.

Every write adds a version, and no version is ever changed. Every method that touches content is async.
"""

import asyncio
import difflib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from msgspec import Struct

from footnote.documents.images import image_facts
from footnote.protocol import format_time
from footnote.protocol.errors import FileChanged, LimitReached, UsageError
from footnote.protocol.files import Author, FileOrigin, FileRecord, FileVersion
from footnote.protocol.messages import Image
from footnote.workspace.paths import LARGE_RESULTS, UPLOADS, filename_of, key_of, upload_name, writable_key_of

MAX_FILE_BYTES = 20_000_000
_MAX_ATTEMPTS = 20
_MAX_SUGGESTION_CANDIDATES = 200
"""The number of file names compared for a suggestion: each costs a fraction of a millisecond."""


class FileMissing(UsageError):
    type = "file_not_found"


class NotText(UsageError):
    type = "not_text"


class CurrentFile(Struct, frozen=True):
    """A file and its newest version. `unseen`: a user has written a version that the agent has not read."""

    key: str
    record: FileRecord
    version: FileVersion
    unseen: bool = False


class FileWrite(Struct, frozen=True, kw_only=True):
    """A version to be added. `note` is the result of the call that writes it, returned again to a repeated call."""

    content: bytes
    author: Author
    created_at: str
    source: FileOrigin = "generated"
    message_id: str | None = None
    call_id: str | None = None
    note: str = ""


class FileChange(Struct, frozen=True):
    """The new content of a file, and a note for the caller."""

    content: str | bytes
    note: str = ""


class WrittenFile(Struct, frozen=True):
    record: FileRecord
    note: str


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A version of a file, and its bytes from one offset to before another."""

    record: FileRecord
    version: FileVersion
    read: Callable[[int, int | None], AsyncGenerator[bytes, None]]


class OutdatedVersion(Exception):
    """The newest version is not the one on which the writer based the change."""


class Files(Protocol):
    """The store of the files of one workspace, by their keys."""

    async def find(self, key: str) -> CurrentFile | None: ...

    async def all(self) -> tuple[CurrentFile, ...]:
        """All files, by path."""
        ...

    async def any(self) -> bool: ...

    async def versions(self, held: CurrentFile) -> tuple[FileVersion, ...]:
        """The newest first."""
        ...

    def content(self, version: FileVersion, start: int, end: int | None) -> AsyncGenerator[bytes, None]: ...

    async def call_note(self, key: str, message_id: str | None, call_id: str) -> str | None:
        """The note of a call that has already written the file; None: it has not."""
        ...

    async def changed_file_ids(self, message_id: str) -> frozenset[str]:
        """The ids of the files of which a message wrote a version."""
        ...

    async def add(self, key: str, writing: FileWrite, basis: FileVersion | None) -> CurrentFile:
        """`OutdatedVersion`: the newest version is not `basis` or, where that is None, the file exists."""
        ...

    async def mark_seen(self, held: CurrentFile) -> None:
        """Marks the newest version as read by the agent."""
        ...

    async def text(self, held: CurrentFile) -> str | None:
        """The extracted text of an upload; `NotText` says why there is none. None: the file is no upload."""
        ...

    async def remove(self, key: str) -> bool: ...


def _now() -> datetime:
    return datetime.now(UTC)


class Workspace:
    """The files of one session. A path may be in any form that users and models write; records hold the key and, for an
    upload, its address."""

    def __init__(self, files: Files, *, clock: Callable[[], datetime] = _now) -> None:
        self._files = files
        self._clock = clock

    # The agent writes ----------------------------------------------------------------------------------------

    async def write(
        self, path: str, content: str | bytes, *, message_id: str | None, call_id: str | None = None
    ) -> FileRecord:
        """Creates the file or replaces its content: the same path keeps its id, its creation time and the message that
        created it."""
        change = FileChange(content)
        done = await self.change(path, lambda _: change, message_id=message_id, call_id=call_id)
        return done.record

    async def change(
        self,
        path: str,
        transform: Callable[[bytes | None], FileChange],
        *,
        message_id: str | None,
        call_id: str | None = None,
        allow_unseen: bool = True,
    ) -> WrittenFile:
        """Transforms the content, or None where the file does not exist, in one step.

        A call that had already written the file before a crash does not write it again: its note is returned once more.
        Call ids may recur in another branch of a session, but not together with the same message id. Without
        `allow_unseen`: `FileChanged` if a user has written a version that the agent has not read.
        """
        key = key_of(path)
        for _ in range(_MAX_ATTEMPTS):
            held = await self._files.find(key)
            note = await self._previous_note(held, message_id, call_id)
            if held is not None and note is not None:
                return WrittenFile(held.record, note)
            if held is not None and held.unseen and not allow_unseen:
                raise FileChanged(
                    f"The user has changed {key} since you last read it. Read it with read_file, so that their changes"
                    " are not lost, and write it then."
                )
            content = None if held is None else await self._bytes(held.version)
            change = await asyncio.to_thread(transform, content)
            writing = FileWrite(
                content=_data(key, change.content),
                author="agent",
                created_at=self._moment(),
                message_id=message_id,
                call_id=call_id,
                note=change.note,
            )
            try:
                added = await self._files.add(key, writing, held and held.version)
            except OutdatedVersion:
                continue
            return WrittenFile(added.record, change.note)
        raise _busy(key)

    async def edit(
        self, path: str, transform: Callable[[str], FileChange], *, message_id: str | None, call_id: str | None = None
    ) -> WrittenFile:
        """Changes the text of an existing file in one step; see `change`."""
        key = key_of(path)
        if await self._files.find(key) is None:
            raise await self._missing(key)

        def change(content: bytes | None) -> FileChange:
            return transform(_text(key, content or b""))

        return await self.change(key, change, message_id=message_id, call_id=call_id)

    async def mark_seen(self, path: str) -> None:
        """Marks the file as read by the agent in its current version."""
        held = await self._find(path)
        if held.unseen:
            await self._files.mark_seen(held)

    # A user writes -------------------------------------------------------------------------------------------

    async def put(self, path: str, content: str | bytes, *, base_hash: str | None) -> FileRecord:
        """Writes a user's content, based on the version with this hash or, with None, on no file. `FileChanged`: the
        file has changed meanwhile. Content that equals the newest version is not written again."""
        key = writable_key_of(path)
        data = _data(key, content)
        held = await self._files.find(key)
        _check_base_hash(key, held, base_hash)
        return (await self._write_by_user(key, data, held)).record

    async def restore(self, path: str, number: int, *, base_hash: str | None = None) -> FileRecord:
        """Adds an earlier version again as the newest one. `base_hash`: as in `put`."""
        held = await self._find(path)
        writable_key_of(held.key)
        if base_hash is not None:
            _check_base_hash(held.key, held, base_hash)
        version = await self._version(held, number)
        return (await self._write_by_user(held.key, await self._bytes(version), held)).record

    async def delete(self, path: str) -> None:
        """Deletes the file with all versions."""
        held = await self._find(path)
        if not await self._files.remove(held.key):
            raise await self._missing(held.key)

    async def _write_by_user(self, key: str, data: bytes, held: CurrentFile | None) -> CurrentFile:
        if held is not None and await self._bytes(held.version) == data:
            return held
        writing = FileWrite(content=data, author="user", created_at=self._moment())
        try:
            return await self._files.add(key, writing, held and held.version)
        except OutdatedVersion:
            raise _conflict_error(key) from None

    # Reading -------------------------------------------------------------------------------------------------

    async def read(self, path: str, version: int | None = None) -> bytes:
        return await self._bytes((await self.open(path, version)).version)

    async def read_text(self, path: str, version: int | None = None) -> str:
        """The text exactly as it was written, with its byte order mark and line ends."""
        opened = await self.open(path, version)
        return await asyncio.to_thread(_text, opened.record.path, await self._bytes(opened.version))

    async def extracted_text(self, path: str) -> str:
        """The text of a file, or the extracted text of an upload. `NotText` says why there is none."""
        held = await self._find(path)
        text = await self._files.text(held)
        if text is not None:
            return text
        return await asyncio.to_thread(_text, held.record.path, await self._bytes(held.version))

    async def open(self, path: str, version: int | None = None) -> OpenedFile:
        """Opens the newest version, or the one with this number."""
        held = await self._find(path)
        chosen = held.version if version is None else await self._version(held, version)
        return OpenedFile(held.record, chosen, lambda start, end: self._files.content(chosen, start, end))

    async def record(self, path: str) -> FileRecord:
        return (await self._find(path)).record

    async def size(self, path: str) -> int:
        """The size in bytes."""
        return (await self._find(path)).version.size

    async def exists(self, path: str) -> bool:
        return await self._files.find(key_of(path)) is not None

    async def versions(self, path: str) -> tuple[FileVersion, ...]:
        """The newest first: that is what the file holds."""
        return await self._files.versions(await self._find(path))

    async def previous_number(self, path: str, number: int) -> int:
        """The number of the version before this one; of the first, its own. Numbers have gaps where versions were
        written in other branches of the session."""
        numbers = [version.number for version in await self.versions(path)]
        return next((earlier for earlier in numbers if earlier < number), number)

    async def has_files(self) -> bool:
        return await self._files.any()

    async def list(self) -> tuple[FileRecord, ...]:
        """All files, by path."""
        return tuple(held.record for held in await self._files.all())

    async def list_visible(self) -> tuple[FileRecord, ...]:
        """The files that users see, by path: all but tool results that were too large for a model."""
        return tuple(record for record in await self.list() if not record.path.startswith(LARGE_RESULTS))

    async def changed_files(self, message_id: str) -> tuple[FileRecord, ...]:
        """The files that a message created or changed, by path."""
        ids = await self._files.changed_file_ids(message_id)
        return tuple(record for record in await self.list() if record.id in ids)

    async def sizes(self) -> tuple[tuple[FileRecord, int], ...]:
        """All files, by path, with their sizes in bytes."""
        return tuple((held.record, held.version.size) for held in await self._files.all())

    async def _bytes(self, version: FileVersion) -> bytes:
        return b"".join([piece async for piece in self._files.content(version, 0, None)])

    async def _previous_note(self, held: CurrentFile | None, message_id: str | None, call_id: str | None) -> str | None:
        if held is None or call_id is None:
            return None
        return await self._files.call_note(held.key, message_id, call_id)

    async def _version(self, held: CurrentFile, number: int) -> FileVersion:
        versions = await self._files.versions(held)
        for version in versions:
            if version.number == number:
                return version
        raise FileMissing(
            f"{held.record.path} has no version {number}; the newest is {versions[0].number}.",
            code="version_not_found",
            path=held.record.path,
            version=number,
            newest=versions[0].number,
        )

    async def _find(self, path: str) -> CurrentFile:
        """Finds a file by its path; an upload also by its name, with or without its folders, if the name is unique."""
        key = key_of(path)
        held = await self._files.find(key)
        if held is not None:
            return held
        name = key.removeprefix("/")
        uploads = [one for one in await self._files.all() if one.key.startswith(UPLOADS)]
        named = [one for one in uploads if upload_name(one.key) == name] or [
            one for one in uploads if one.record.filename == name
        ]
        if len(named) > 1:
            paths = " or ".join(one.record.path for one in named[:3])
            raise FileMissing(f"{len(named)} uploads are named {name}. Give the whole path of one: {paths}")
        if not named:
            raise await self._missing(key)
        return named[0]

    async def _missing(self, key: str) -> FileMissing:
        some = (await self._files.all())[:_MAX_SUGGESTION_CANDIDATES]
        paths = {filename_of(held.key): held.record.path for held in some}
        names = difflib.get_close_matches(filename_of(key), paths, n=3, cutoff=0.6)
        hint = f" Did you mean {' or '.join(paths[name] for name in names)}?" if names else ""
        return FileMissing(f"There is no file {key} in the workspace.{hint}", code="file_not_found", path=key)

    def _moment(self) -> str:
        return format_time(self._clock().timestamp())


def _check_base_hash(key: str, held: CurrentFile | None, base_hash: str | None) -> None:
    if held is None and base_hash is not None:
        raise FileChanged(
            f"{key} is no longer there. Save it as a new file, or leave it deleted.", code="file_gone", path=key
        )
    if held is not None and base_hash is None:
        raise FileChanged(
            f"{key} is there already. Give the hash of the version that you change, or another path.",
            code="file_exists",
            path=key,
        )
    if held is not None and held.version.hash != base_hash:
        raise _conflict_error(key)


def _conflict_error(key: str) -> FileChanged:
    return FileChanged(
        f"{key} was changed meanwhile. Look at the newest version, and make your change to that one.",
        code="file_changed",
        path=key,
    )


def _busy(key: str) -> FileChanged:
    return FileChanged(
        f"{key} is being changed again and again by others. Try again in a moment.", code="file_contended", path=key
    )


def _data(key: str, content: str | bytes) -> bytes:
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    if len(data) > MAX_FILE_BYTES:
        raise LimitReached(
            f"{key} would have {len(data):,} bytes; a file may have {MAX_FILE_BYTES:,}.",
            code="file_too_large",
            path=key,
            size=len(data),
            max=MAX_FILE_BYTES,
        )
    return data


def _text(path: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise NotText(f"{path} is not a text file, so it cannot be read as text.", code="not_text", path=path) from None


# Images as models accept them ----------------------------------------------------------------------------


MAX_IMAGE_BYTES = 3_750_000
"""Encoded as base64, this is the maximum that providers accept for one image."""
MAX_IMAGE_SIDE = 8_000
"""A provider refuses the whole request for one larger image."""
_IMAGE_TYPES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))


def is_image(record: FileRecord) -> bool:
    """Whether the file may be an image; an SVG drawing is a text."""
    return record.icon_type == "image" and not record.filename.lower().endswith(".svg")


async def load_image(workspace: Workspace, record: FileRecord) -> Image:
    """`NotText` says why no model can read the image."""
    if (size := await workspace.size(record.path)) > MAX_IMAGE_BYTES:
        raise NotText(f"{record.filename} has {size:,} bytes, and models look at images of up to {MAX_IMAGE_BYTES:,}.")
    data = await workspace.read(record.path)
    # Only the header is parsed, by a few lines of Python in constant time: this needs no sandbox.
    facts = image_facts(data)
    if facts.media_type not in _IMAGE_TYPES:
        raise NotText(f"{record.filename} is not an image that models can look at; PNG, JPEG, GIF and WebP are.")
    if not (facts.width and facts.height and facts.is_whole):
        raise NotText(f"{record.filename} is damaged: a part of the image is missing, so no model can look at it.")
    if max(facts.width, facts.height) > MAX_IMAGE_SIDE:
        size = f"{facts.width:,} by {facts.height:,} pixels"
        raise NotText(f"{record.filename} has {size}, and models look at images of up to {MAX_IMAGE_SIDE:,} on a side.")
    return Image(facts.media_type, data)
