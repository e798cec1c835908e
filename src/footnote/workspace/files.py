"""The tree of files itself.

This one lives in memory, for runs that end with their process. Every method that touches content is async, and
none hands out more than it is asked for, so that a database and a blob store can stand behind the same methods.
"""

import difflib
from collections.abc import Callable
from datetime import UTC, datetime
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from footnote.protocol.errors import LimitReached, UsageError
from footnote.protocol.files import FileOrigin, FileRecord
from footnote.workspace.icons import icon_of
from footnote.workspace.paths import filename_of, key_of

MAX_FILE_BYTES = 20_000_000


class FileMissing(UsageError):
    type = "file_not_found"


class NotText(UsageError):
    type = "not_text"


class _Stored(Struct, frozen=True):
    record: FileRecord
    content: bytes


def _now() -> datetime:
    return datetime.now(UTC)


class Workspace:
    """The files of one session. A path may be written as users and models write it; records hold the key."""

    def __init__(self, user_id: str = "local", *, clock: Callable[[], datetime] = _now) -> None:
        self._user_id = user_id
        self._clock = clock
        self._files: dict[str, _Stored] = {}

    async def write(
        self, path: str, content: str | bytes, *, message_id: str | None, source: FileOrigin = "generated"
    ) -> FileRecord:
        """Create the file, or replace its content: the same path keeps its id and the time it was created."""
        key = key_of(path)
        data = content.encode("utf-8", "replace") if isinstance(content, str) else content
        if len(data) > MAX_FILE_BYTES:
            raise LimitReached(f"{key} would have {len(data):,} bytes; a file may have {MAX_FILE_BYTES:,}.")
        record = self._record(key, message_id, source)
        self._files[key] = _Stored(record, data)
        return record

    async def read(self, path: str) -> bytes:
        return self._find(path).content

    async def read_text(self, path: str) -> str:
        """The text exactly as it was written, with its byte order mark and line ends."""
        stored = self._find(path)
        try:
            return stored.content.decode()
        except UnicodeDecodeError:
            raise NotText(f"{stored.record.path} is not a text file, so it cannot be read as text.") from None

    async def record(self, path: str) -> FileRecord:
        return self._find(path).record

    async def size(self, path: str) -> int:
        """In bytes."""
        return len(self._find(path).content)

    async def exists(self, path: str) -> bool:
        return key_of(path) in self._files

    async def list(self) -> tuple[FileRecord, ...]:
        """All files, by path."""
        return tuple(self._files[key].record for key in sorted(self._files))

    def _record(self, key: str, message_id: str | None, source: FileOrigin) -> FileRecord:
        if known := self._files.get(key):
            return replace(known.record, message_id=message_id, source=source)
        filename = filename_of(key)
        return FileRecord(
            id=str(uuid4()),
            path=key,
            filename=filename,
            icon_type=icon_of(filename),
            source=source,
            created_at=self._clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            url=f"workspace/{self._user_id}{key}",
            message_id=message_id,
        )

    def _find(self, path: str) -> _Stored:
        key = key_of(path)
        if stored := self._files.get(key):
            return stored
        near = difflib.get_close_matches(key, self._files, n=3, cutoff=0.6)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise FileMissing(f"There is no file {key} in the workspace.{hint}")
