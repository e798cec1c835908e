"""The files of a stored session, and their records."""

import re
import zlib
from collections.abc import AsyncGenerator
from typing import cast
from uuid import uuid4

from footnote.db import files as db
from footnote.db import library, sessions
from footnote.db.blobs import StoredBlob
from footnote.db.engine import Database
from footnote.db.script import Script, Steps, script
from footnote.protocol.files import Author, FileOrigin, FileRecord, FileVersion, IconType
from footnote.text.search_terms import file_terms
from footnote.workspace.blobs import Blobs
from footnote.workspace.files import CurrentFile, FileMissing, FileWrite, NotText, OutdatedVersion, Workspace
from footnote.workspace.paths import LARGE_RESULTS, UPLOADS, filename_of

_SUFFIXES: dict[IconType, str] = {
    "md": "md markdown mdx",
    "pdf": "pdf",
    "code": (
        "py pyi ipynb js mjs cjs jsx ts tsx html htm css scss less java kt kts scala groovy c h cc cpp cxx hpp cs go"
        " rs swift rb php pl lua r jl m sql sh bash zsh fish ps1 bat cmd vue svelte dart ex exs erl hs clj ml fs nim"
        " zig asm yaml yml toml ini cfg conf env xml xsl xsd proto graphql tf diff patch tex bib"
    ),
    "image": "png jpg jpeg gif webp bmp tif tiff ico svg heic heif avif",
    "csv": "csv tsv",
    "xlsx": "xlsx xlsm xls ods numbers",
    "docx": "docx docm doc odt rtf pages",
    "pptx": "pptx pptm ppt odp key",
    "json": "json jsonl ndjson json5 geojson",
    "txt": "txt text log rst adoc org srt vtt",
    "archive": "zip tar gz tgz bz2 xz zst 7z rar jar war",
    "audio": "mp3 wav ogg oga opus flac m4a aac wma aiff mid midi",
    "video": "mp4 m4v mov mkv webm avi wmv mpg mpeg ogv",
}
_BY_SUFFIX: dict[str, IconType] = {suffix: icon for icon, words in _SUFFIXES.items() for suffix in words.split()}
_BY_NAME: dict[str, IconType] = {
    "makefile": "code",
    "dockerfile": "code",
    "license": "txt",
    "readme": "txt",
    "changelog": "txt",
}


def icon_of(filename: str) -> IconType:
    """The icon by the last suffix, or by the whole name where there is none."""
    _, dot, suffix = filename.lower().rpartition(".")
    return (_BY_SUFFIX if dot else _BY_NAME).get(suffix, "file")


GENERATED = "workspace/"
_NOT_IN_A_PATH = re.compile(r"[%?#]")


def url_of(user_id: str, session_id: str | None, key: str) -> str:
    """The URL path of a file. Letters of any script stay as in the key; only characters that would end the path are
    escaped."""
    path = _NOT_IN_A_PATH.sub(lambda found: f"%{ord(found[0]):02X}", key)
    if key.startswith(UPLOADS):
        return path
    return f"{GENERATED}{user_id}{path}" + ("" if session_id is None else f"?session={session_id}")


def record_of(
    user_id: str,
    session_id: str | None,
    key: str,
    *,
    file_id: str,
    source: FileOrigin,
    created_at: str,
    message_id: str | None,
    address: str,
) -> FileRecord:
    """`address`: the storage prefix of an upload's key. `session_id` None: the URL of the file has no session in its
    query."""
    filename = filename_of(key)
    is_upload = key.startswith(UPLOADS)
    return FileRecord(
        id=file_id,
        path=address + key if is_upload else key,
        filename=filename,
        icon_type=icon_of(filename),
        source=source,
        created_at=created_at,
        url=url_of(user_id, session_id, key),
        message_id=message_id,
    )


PENDING = "it is still being read"
"""The reason why an upload has no text yet: it is read in the background."""


class FilesOfSession:
    """The stored files of one session: only its user finds them, and nothing is written to a deleted session.
    `max_bytes`: the quota of all files of the user."""

    def __init__(
        self, database: Database, blobs: Blobs, user_id: str, session_id: str, *, max_bytes: int | None
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._user_id = user_id
        self._session_id = session_id
        self._max_bytes = max_bytes

    async def find(self, key: str) -> CurrentFile | None:
        row = await self._database.read(db.file(self._user_id, self._session_id, key))
        return None if row is None else self._to_held(row)

    async def all(self) -> tuple[CurrentFile, ...]:
        rows = await self._database.read(db.files(self._user_id, self._session_id))
        return tuple(self._to_held(row) for row in rows)

    async def any(self) -> bool:
        return await self._database.read(db.has_files(self._user_id, self._session_id))

    async def versions(self, held: CurrentFile) -> tuple[FileVersion, ...]:
        rows = await self._database.read(db.versions(held.record.id))
        if not rows:
            raise _missing_error(held.record.path)
        return tuple(version_of(row) for row in rows)

    def content(self, version: FileVersion, start: int, end: int | None) -> AsyncGenerator[bytes, None]:
        return self._blobs.stream(version.hash, start, end)

    async def call_note(self, key: str, message_id: str | None, call_id: str) -> str | None:
        return await self._database.read(db.call_note(self._user_id, self._session_id, key, message_id, call_id))

    async def changed_file_ids(self, message_id: str) -> frozenset[str]:
        return await self._database.read(db.files_written_by(self._user_id, self._session_id, message_id))

    async def add(self, key: str, writing: FileWrite, basis: FileVersion | None) -> CurrentFile:
        file = db.NewFile(str(uuid4()), writing.source, writing.message_id)
        after = None if basis is None else db.BaseVersion(basis.number, basis.hash)
        terms = "" if key.startswith(LARGE_RESULTS) else await file_terms(writing.content)

        async def add_version(blob: StoredBlob) -> db.ListedFile:
            version = db.NewVersion(
                blob=blob,
                author=writing.author,
                created_at=writing.created_at,
                # A user's change belongs to no turn.
                message_id=writing.message_id if writing.author == "agent" else None,
                call_id=writing.call_id,
                note=writing.note,
            )
            script = db.add_version(
                self._user_id, self._session_id, key, file, version, basis=after, max_bytes=self._max_bytes
            )
            return await self._database.write(_add_and_index(script, self._session_id, key, terms))

        try:
            return self._to_held(await self._blobs.store_for(writing.content, add_version))
        except db.StaleVersion:
            raise OutdatedVersion from None

    async def mark_seen(self, held: CurrentFile) -> None:
        await self._database.write(db.mark_seen(held.record.id, held.version.number))

    async def text(self, held: CurrentFile) -> str | None:
        if not held.key.startswith(UPLOADS):
            return None
        row = await self._database.read(db.text(held.record.id))
        if row is None or row.text is None:
            reason = row.reason if row else "its text was not read"
            if reason == PENDING:
                raise NotText(
                    f"{held.record.filename} is still being read: try again in a moment.",
                    code="text_pending",
                    name=held.record.filename,
                )
            raise NotText(
                f"{held.record.filename} has no text to be read: {reason}.",
                code="text_missing",
                name=held.record.filename,
                reason=reason,
            )
        return decompress_text(row.text)

    async def remove(self, key: str) -> bool:
        removed = await self._database.write(_remove_and_unindex(self._user_id, self._session_id, key), erase=True)
        await self._blobs.sweep()
        return removed

    def _to_held(self, row: db.ListedFile) -> CurrentFile:
        record = stored_record(self._user_id, self._session_id, row, self._blobs.address)
        return CurrentFile(row.path, record, version_of(row.version), row.unseen)


@script
def _add_and_index(adding: Script[db.ListedFile], session_id: str, key: str, terms: str) -> Steps[db.ListedFile]:
    """Adds a version together with the search terms of the session, which are those of the newest version."""
    row = yield from adding
    yield from index_file(session_id, key, terms)
    return row


@script
def index_file(session_id: str, key: str, terms: str) -> Steps[None]:
    part = sessions.file_part(key)
    yield from sessions.index_part(session_id, part, terms) if terms else sessions.unindex_part(session_id, part)


@script
def _remove_and_unindex(user_id: str, session_id: str, key: str) -> Steps[bool]:
    """Removes a file together with its snapshot in the library."""
    urls = yield from db.library_urls(user_id, session_id, key)
    removed = yield from db.remove(user_id, session_id, key)
    if removed:
        yield from sessions.unindex_part(session_id, sessions.file_part(key))
    yield from library.remove_all_from_shelf(urls, user_id)
    return removed


def stored_workspace(
    database: Database, blobs: Blobs, user_id: str, session_id: str, *, max_bytes: int | None = None
) -> Workspace:
    """`max_bytes`: the quota of the files of this user in all sessions together."""
    return Workspace(FilesOfSession(database, blobs, user_id, session_id, max_bytes=max_bytes))


def stored_record(user_id: str, session_id: str, row: db.FileRow, address: str) -> FileRecord:
    return record_of(
        user_id,
        None if row.plain_url else session_id,
        row.path,
        file_id=row.id,
        source=cast("FileOrigin", row.source),
        created_at=row.created_at,
        message_id=row.message_id,
        address=address,
    )


def version_of(row: db.ListedVersion) -> FileVersion:
    author = cast("Author", row.author)
    return FileVersion(row.number, row.hash, row.size, row.created_at, author, row.message_id, row.call_id)


def compress_text(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 6)


def decompress_text(text: bytes) -> str:
    return zlib.decompress(text).decode("utf-8", "surrogatepass")


def _missing_error(path: str) -> FileMissing:
    return FileMissing(f"There is no file {path} in the workspace.", code="file_not_found", path=path)
