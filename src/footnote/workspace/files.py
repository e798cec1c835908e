"""The tree of files itself: the same methods over files in memory and over files of a stored session.

Every method that touches content is async, and none hands out more than it is asked for.
"""

import difflib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Protocol, TypeAlias
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from footnote.protocol.errors import LimitReached, UsageError
from footnote.protocol.files import FileOrigin, FileRecord
from footnote.protocol.times import written
from footnote.workspace.icons import icon_of
from footnote.workspace.paths import filename_of, key_of

MAX_FILE_BYTES = 20_000_000


class FileMissing(UsageError):
    type = "file_not_found"


class NotText(UsageError):
    type = "not_text"


class Stored(Struct, frozen=True):
    """A file. `calls` are those that wrote it for the message of its record, each with what it has to say of it."""

    record: FileRecord
    content: bytes
    calls: Mapping[str, str]


class Change(Struct, frozen=True):
    """What a file is to hold, and a note of whoever changes it."""

    content: str | bytes
    note: str = ""


class Written(Struct, frozen=True):
    record: FileRecord
    note: str


Rewrite: TypeAlias = Callable[[Stored | None], Stored]
"""What a file becomes, from what it is; None: there is none. It may refuse by raising, and nothing has changed then."""


class Files(Protocol):
    """Where the files of one workspace are, by their keys."""

    async def find(self, key: str) -> Stored | None: ...

    async def rewrite(self, key: str, rewrite: Rewrite) -> Stored:
        """Reads, changes and writes at once: nobody else changes the file in between."""
        ...

    async def record(self, key: str) -> FileRecord | None: ...

    async def size(self, key: str) -> int | None: ...

    async def records(self) -> tuple[FileRecord, ...]:
        """All of them, by path."""
        ...


class FilesInMemory:
    """For runs that end with their process."""

    def __init__(self) -> None:
        self._files: dict[str, Stored] = {}

    async def find(self, key: str) -> Stored | None:
        return self._files.get(key)

    async def rewrite(self, key: str, rewrite: Rewrite) -> Stored:
        stored = self._files[key] = rewrite(self._files.get(key))
        return stored

    async def record(self, key: str) -> FileRecord | None:
        stored = self._files.get(key)
        return stored and stored.record

    async def size(self, key: str) -> int | None:
        stored = self._files.get(key)
        return None if stored is None else len(stored.content)

    async def records(self) -> tuple[FileRecord, ...]:
        return tuple(self._files[key].record for key in sorted(self._files))


def _now() -> datetime:
    return datetime.now(UTC)


class Workspace:
    """The files of one session. A path may be written as users and models write it; records hold the key."""

    def __init__(
        self, user_id: str = "local", *, files: Files | None = None, clock: Callable[[], datetime] = _now
    ) -> None:
        self._user_id = user_id
        self._clock = clock
        self._files = FilesInMemory() if files is None else files

    async def write(
        self,
        path: str,
        content: str | bytes,
        *,
        message_id: str | None,
        source: FileOrigin = "generated",
        call_id: str | None = None,
    ) -> FileRecord:
        """Create the file, or replace its content: the same path keeps its id and the time it was created."""
        change = Change(content)
        written = await self.change(path, lambda _: change, message_id=message_id, source=source, call_id=call_id)
        return written.record

    async def change(
        self,
        path: str,
        how: Callable[[bytes | None], Change],
        *,
        message_id: str | None,
        source: FileOrigin = "generated",
        call_id: str | None = None,
    ) -> Written:
        """Make of the content, or of None where there is no such file, another one, in one step.

        A call that has written the file already, before a crash, does not write it again: it is told what it was told
        then. Ids of calls may come again in another branch of a session; together with that of the message they do not.
        """
        key = key_of(path)
        note = ""

        def rewrite(known: Stored | None) -> Stored:
            nonlocal note
            calls: Mapping[str, str] = {}
            if known is not None and known.record.message_id == message_id:
                calls = known.calls
                if call_id is not None and call_id in calls:
                    note = calls[call_id]
                    return known
            change = how(None if known is None else known.content)
            note = change.note
            record = self._record(key, known, message_id, source)
            return Stored(record, _data(key, change.content), calls if call_id is None else {**calls, call_id: note})

        stored = await self._files.rewrite(key, rewrite)
        return Written(stored.record, note)

    async def edit(
        self, path: str, how: Callable[[str], Change], *, message_id: str | None, call_id: str | None = None
    ) -> Written:
        """Change the text of a file that is there, in one step; see `change`."""
        key = key_of(path)
        if await self._files.record(key) is None:
            raise await self._missing(key)

        def change(content: bytes | None) -> Change:
            return how(_text(key, content or b""))

        return await self.change(key, change, message_id=message_id, call_id=call_id)

    async def read(self, path: str) -> bytes:
        return (await self._find(path)).content

    async def read_text(self, path: str) -> str:
        """The text exactly as it was written, with its byte order mark and line ends."""
        stored = await self._find(path)
        return _text(stored.record.path, stored.content)

    async def record(self, path: str) -> FileRecord:
        key = key_of(path)
        record = await self._files.record(key)
        if record is None:
            raise await self._missing(key)
        return record

    async def size(self, path: str) -> int:
        """In bytes."""
        key = key_of(path)
        size = await self._files.size(key)
        if size is None:
            raise await self._missing(key)
        return size

    async def exists(self, path: str) -> bool:
        return await self._files.record(key_of(path)) is not None

    async def list(self) -> tuple[FileRecord, ...]:
        """All files, by path."""
        return await self._files.records()

    def _record(self, key: str, known: Stored | None, message_id: str | None, source: FileOrigin) -> FileRecord:
        if known is not None:
            return replace(known.record, message_id=message_id, source=source)
        filename = filename_of(key)
        return FileRecord(
            id=str(uuid4()),
            path=key,
            filename=filename,
            icon_type=icon_of(filename),
            source=source,
            created_at=written(self._clock().timestamp()),
            url=url_of(self._user_id, key),
            message_id=message_id,
        )

    async def _find(self, path: str) -> Stored:
        key = key_of(path)
        stored = await self._files.find(key)
        if stored is None:
            raise await self._missing(key)
        return stored

    async def _missing(self, key: str) -> FileMissing:
        keys = [record.path for record in await self._files.records()]
        near = difflib.get_close_matches(key, keys, n=3, cutoff=0.6)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        return FileMissing(f"There is no file {key} in the workspace.{hint}")


def url_of(user_id: str, key: str) -> str:
    return f"workspace/{user_id}{key}"


def _data(key: str, content: str | bytes) -> bytes:
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    if len(data) > MAX_FILE_BYTES:
        raise LimitReached(f"{key} would have {len(data):,} bytes; a file may have {MAX_FILE_BYTES:,}.")
    return data


def _text(key: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise NotText(f"{key} is not a text file, so it cannot be read as text.") from None
