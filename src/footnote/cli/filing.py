"""The files of sessions, and sessions as bundles: in the home folder of this machine, or on a server."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.files import ConvertType, FileDiff, FileRecord, FileVersion
from footnote.protocol.sessions import ImportedSession
from footnote.workspace.diffs import make_diff
from footnote.workspace.files import Workspace

if TYPE_CHECKING:
    from footnote.app import App
    from footnote.client.files import FilesApi


class SavedDocument(Struct, frozen=True):
    """A file that was converted. `notes`: what could not be shown as it was written."""

    filename: str
    notes: tuple[str, ...]
    chunks: AsyncGenerator[bytes, None]


class FileBackend(Protocol):
    async def list(self, session_id: str) -> tuple[FileRecord, ...]: ...

    def content(self, session_id: str, path: str, version: int | None) -> AsyncGenerator[bytes, None]: ...

    async def upload(self, session_id: str, file: Path) -> FileRecord: ...

    async def put(self, session_id: str, path: str, text: str, base_hash: str | None) -> FileRecord:
        """A user's edit of the version with this hash; None: there is no such file yet."""
        ...

    async def versions(self, session_id: str, path: str) -> tuple[FileVersion, ...]: ...

    async def diff(self, session_id: str, path: str, older: int | None, newer: int | None) -> FileDiff: ...

    async def restore(self, session_id: str, path: str, number: int) -> FileRecord: ...

    async def delete(self, session_id: str, path: str) -> None: ...

    async def unpack(self, session_id: str, path: str) -> tuple[FileRecord, ...]: ...

    async def convert(self, session_id: str, path: str, target: ConvertType) -> SavedDocument: ...

    def export(self, session_id: str) -> AsyncGenerator[bytes, None]: ...

    async def import_bundle(self, bundle: Path) -> ImportedSession: ...


class LocalFiles:
    """Those of the person at this machine."""

    def __init__(self, app: "App") -> None:
        self._app = app

    async def list(self, session_id: str) -> tuple[FileRecord, ...]:
        return await (await self._workspace(session_id)).list_visible()

    async def content(self, session_id: str, path: str, version: int | None) -> AsyncGenerator[bytes, None]:
        opened = await (await self._workspace(session_id)).open(path, version)
        async with aclosing(opened.read(0, None)) as pieces:
            async for piece in pieces:
                yield piece

    async def upload(self, session_id: str, file: Path) -> FileRecord:
        from footnote.client.files import read_chunks  # noqa: PLC0415 - slow to import, and for this alone

        uploads = self._app.uploads
        async with aclosing(read_chunks(file)) as pieces, uploads.spool(pieces) as spooled:
            return await uploads.accept(LOCAL_USER, session_id, file.name, spooled)

    async def put(self, session_id: str, path: str, text: str, base_hash: str | None) -> FileRecord:
        return await (await self._workspace(session_id)).put(path, text, base_hash=base_hash)

    async def versions(self, session_id: str, path: str) -> tuple[FileVersion, ...]:
        return await (await self._workspace(session_id)).versions(path)

    async def diff(self, session_id: str, path: str, older: int | None, newer: int | None) -> FileDiff:
        workspace = await self._workspace(session_id)
        after = await workspace.open(path, newer)
        before = await workspace.open(path, older or max(1, after.version.number - 1))
        one, other = [(each.version, await workspace.read(path, each.version.number)) for each in (before, after)]
        return await asyncio.to_thread(make_diff, after.record, one, other)

    async def restore(self, session_id: str, path: str, number: int) -> FileRecord:
        return await (await self._workspace(session_id)).restore(path, number)

    async def delete(self, session_id: str, path: str) -> None:
        await (await self._workspace(session_id)).delete(path)

    async def unpack(self, session_id: str, path: str) -> tuple[FileRecord, ...]:
        return await self._app.uploads.unpack(LOCAL_USER, session_id, path)

    async def convert(self, session_id: str, path: str, target: ConvertType) -> SavedDocument:
        await self._workspace(session_id)
        made = await self._app.renditions.convert(LOCAL_USER, session_id, path, target)
        return SavedDocument(made.filename, made.notes, self._app.blobs.stream(made.hash))

    def export(self, session_id: str) -> AsyncGenerator[bytes, None]:
        return self._app.bundles.export(LOCAL_USER, session_id)

    async def import_bundle(self, bundle: Path) -> ImportedSession:
        return await self._app.bundles.take(LOCAL_USER, bundle)

    async def _workspace(self, session_id: str) -> Workspace:
        """`Unknown`: there is no such session."""
        head = await self._app.sessions.head(LOCAL_USER, session_id)
        return self._app.sessions.workspace(LOCAL_USER, head.id)


class RemoteFiles:
    """Those of whoever the token stands for, on a server."""

    def __init__(self, api: "FilesApi") -> None:
        self._api = api

    async def list(self, session_id: str) -> tuple[FileRecord, ...]:
        return await self._api.list(session_id)

    def content(self, session_id: str, path: str, version: int | None) -> AsyncGenerator[bytes, None]:
        return self._api.content(session_id, path, version)

    async def upload(self, session_id: str, file: Path) -> FileRecord:
        return await self._api.upload(session_id, file, file.name)

    async def put(self, session_id: str, path: str, text: str, base_hash: str | None) -> FileRecord:
        return await self._api.put(session_id, path, text, base_hash)

    async def versions(self, session_id: str, path: str) -> tuple[FileVersion, ...]:
        return (await self._api.versions(session_id, path)).versions

    async def diff(self, session_id: str, path: str, older: int | None, newer: int | None) -> FileDiff:
        return await self._api.diff(session_id, path, older, newer)

    async def restore(self, session_id: str, path: str, number: int) -> FileRecord:
        return await self._api.restore(session_id, path, number)

    async def delete(self, session_id: str, path: str) -> None:
        await self._api.delete(session_id, path)

    async def unpack(self, session_id: str, path: str) -> tuple[FileRecord, ...]:
        return await self._api.unpack(session_id, path)

    async def convert(self, session_id: str, path: str, target: ConvertType) -> SavedDocument:
        made = await self._api.convert(session_id, path, target)
        return SavedDocument(made.filename, made.notes, self._api.download(made))

    def export(self, session_id: str) -> AsyncGenerator[bytes, None]:
        return self._api.export(session_id)

    async def import_bundle(self, bundle: Path) -> ImportedSession:
        return await self._api.import_bundle(bundle)
