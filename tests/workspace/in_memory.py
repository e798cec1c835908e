"""A workspace in memory for tests that need no database, and uploads stored without the upload machinery."""

import hashlib
from collections.abc import AsyncGenerator
from uuid import uuid4

from msgspec.structs import replace

from footnote.protocol.files import FileRecord, FileVersion
from footnote.workspace.files import CurrentFile, FileWrite, OutdatedVersion, Workspace
from footnote.workspace.paths import upload_key
from footnote.workspace.stored import record_of


class FilesInMemory:
    def __init__(self, user_id: str = "local") -> None:
        self._user_id = user_id
        self._files: dict[str, CurrentFile] = {}
        self._versions: dict[str, list[FileVersion]] = {}
        self._contents: dict[str, bytes] = {}
        self._notes: dict[tuple[str, str | None, str], str] = {}

    async def find(self, key: str) -> CurrentFile | None:
        return self._files.get(key)

    async def all(self) -> tuple[CurrentFile, ...]:
        return tuple(self._files[key] for key in sorted(self._files))

    async def any(self) -> bool:
        return bool(self._files)

    async def versions(self, held: CurrentFile) -> tuple[FileVersion, ...]:
        return tuple(reversed(self._versions[held.record.id]))

    async def content(self, version: FileVersion, start: int, end: int | None) -> AsyncGenerator[bytes, None]:
        yield self._contents[version.hash][start:end]

    async def call_note(self, key: str, message_id: str | None, call_id: str) -> str | None:
        return self._notes.get((key, message_id, call_id))

    async def changed_file_ids(self, message_id: str) -> frozenset[str]:
        versions = self._versions.items()
        return frozenset(file_id for file_id, them in versions if any(one.message_id == message_id for one in them))

    async def add(self, key: str, writing: FileWrite, basis: FileVersion | None) -> CurrentFile:
        known = self._files.get(key)
        if (known and known.version) != basis:
            raise OutdatedVersion
        version = FileVersion(
            number=1 if known is None else known.version.number + 1,
            hash=hashlib.sha256(writing.content).hexdigest(),
            size=len(writing.content),
            created_at=writing.created_at,
            author=writing.author,
            message_id=writing.message_id if writing.author == "agent" else None,
            call_id=writing.call_id,
        )
        record = record_of(
            self._user_id,
            None,
            key,
            file_id=known.record.id if known else str(uuid4()),
            source=known.record.source if known else writing.source,
            created_at=known.record.created_at if known else writing.created_at,
            message_id=known.record.message_id if known else writing.message_id,
            address="local://",
        )
        unseen = writing.author == "user" or (known is not None and known.unseen)
        self._contents[version.hash] = writing.content
        self._versions.setdefault(record.id, []).append(version)
        if writing.call_id is not None:
            self._notes[key, writing.message_id, writing.call_id] = writing.note
        held = self._files[key] = CurrentFile(key, record, version, unseen)
        return held

    async def mark_seen(self, held: CurrentFile) -> None:
        self._files[held.key] = replace(self._files[held.key], unseen=False)

    async def text(self, held: CurrentFile) -> str | None:
        return None

    async def remove(self, key: str) -> bool:
        held = self._files.pop(key, None)
        return held is not None and bool(self._versions.pop(held.record.id))


def in_memory_workspace(user_id: str = "local") -> Workspace:
    return Workspace(FilesInMemory(user_id))


async def add_upload(workspace: Workspace, name: str, content: bytes) -> FileRecord:
    """A file of the user, neither spooled nor inspected."""
    key = upload_key("local", str(uuid4()), name)
    write = FileWrite(content=content, author="user", source="upload", created_at="2024-03-17T10:00:00Z")
    return (await workspace._files.add(key, write, None)).record
