"""The files of a session: uploads, contents, versions, conversions and archives."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, TypeVar

from msgspec import Meta, Struct

from footnote.documents.media import is_named_text
from footnote.protocol.errors import LimitReached, UnprocessableFile, UsageError, WrongKind
from footnote.protocol.files import (
    ConvertedFile,
    FileCitations,
    FileContent,
    FileConversion,
    FileDiff,
    FileEdit,
    FileList,
    FilePath,
    FileRecord,
    FileRestore,
    FileVersions,
    IconType,
    Unpacking,
)
from footnote.protocol.history import SessionHead
from footnote.protocol.sessions import ImportedSession
from footnote.sandbox.jobs import ReadText
from footnote.sandbox.pool import SandboxPool
from footnote.server.multipart import FORM, MAX_FILES, iter_parts
from footnote.server.responses import FileStream, Reply, json_response, prefetch, struct_response
from footnote.server.route import Route, RouteCall
from footnote.storage.base import content_disposition
from footnote.workspace.export import safe_name, zip_workspace
from footnote.workspace.files import MAX_FILE_BYTES, OpenedFile, Workspace
from footnote.workspace.paths import key_of
from footnote.workspace.text import make_diff
from footnote.workspace.uploads import partial_upload_error

ZIP = "application/zip"
MAX_INLINE_BYTES = 2_000_000
"""A larger text is downloaded, as other files are."""
MAX_EDIT_BYTES = 50_000_000
"""A file may have 20 MB, and JSON escapes make its text longer."""
MAX_BUNDLE_BYTES = 1024**3
_FORM_OVERHEAD_BYTES = 1_000_000
"""For the boundaries and headers of the parts."""
_BINARY_ICON_TYPES: frozenset[IconType] = frozenset(
    {"pdf", "image", "xlsx", "docx", "pptx", "archive", "audio", "video"}
)
_SNIFF_BYTES = 8_192

T = TypeVar("T")
_Number = Annotated[int, Meta(ge=1)]


class FileQuery(Struct, frozen=True, forbid_unknown_fields=True):
    file_path: FilePath


class ContentQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """`version`: left out, the newest."""

    file_path: FilePath
    version: _Number | None = None


class RestoreQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Both may stand in the body instead."""

    file_path: FilePath | None = None
    version: _Number | None = None


class DiffQuery(Struct, frozen=True, forbid_unknown_fields=True, rename={"older": "from", "newer": "to"}):
    """Left out: the newest version, and the one before the other."""

    file_path: FilePath
    older: _Number | None = None
    newer: _Number | None = None


async def _list(call: RouteCall) -> FileList:
    return FileList(await (await workspace_of(call)).list_visible())


async def _upload(call: RouteCall) -> FileList:
    """Each file is stored as soon as it has arrived. A file of a refused kind does not stop the ones after it."""
    session_id = (await _session(call)).id
    max_bytes = call.app.configuration.settings.limits.upload_bytes * MAX_FILES + _FORM_OVERHEAD_BYTES
    stored: list[FileRecord] = []
    refused: list[tuple[str, UsageError | LimitReached]] = []
    async with aclosing(iter_parts(call.headers.get("content-type"), call.incoming.with_limit(max_bytes))) as parts:
        async for part in parts:
            try:
                async with call.app.uploads.spool(part) as file:
                    stored.append(await call.app.uploads.accept(call.user_id, session_id, part.filename, file))
            except (UsageError, LimitReached) as error:
                refused.append((part.filename, error))
                if not isinstance(error, WrongKind | UnprocessableFile):
                    break
    if refused:
        raise partial_upload_error(refused, len(stored))
    if not stored:
        raise UsageError(
            "The form has no file in it: send at least one part that has a file name.", code="form_without_file"
        )
    return FileList(tuple(stored))


async def _content(call: RouteCall) -> Reply:
    query: ContentQuery = call.query
    opened = await (await workspace_of(call)).open(query.file_path, query.version)
    record, version = opened.record, opened.version
    text = await call.incoming.while_connected(_text(opened, call.app.sandbox, call.user_id))
    url = None
    if text is None:
        path = await call.app.downloads.create_url(call.user_id, call.path["session_id"], version.hash, record.filename)
        url = _public_url(call, path)
    return await struct_response(FileContent(text, record.filename, record.path, url), etag=f'"{version.hash}"')


async def _text(opened: OpenedFile, sandbox: SandboxPool, user_id: str) -> str | None:
    """The text of a file in any encoding; None if it is not text, or too long."""
    if opened.record.icon_type in _BINARY_ICON_TYPES or opened.version.size > MAX_INLINE_BYTES:
        return None
    async with aclosing(opened.read(0, None)) as chunks:
        content = b"".join([chunk async for chunk in chunks])
    try:
        if b"\0" not in content:
            return content.decode()
    except UnicodeDecodeError:
        pass
    # A file with the name of a text may have another encoding. Without such a name, its bytes are not guessed at.
    if opened.record.icon_type == "file" or not is_named_text(content[:_SNIFF_BYTES]):
        return None
    try:
        job = ReadText(content=content, filename=opened.record.filename, media_type="text/plain")
        return (await sandbox.run(job, user=user_id)).text
    except UnprocessableFile:
        return None


async def _put(call: RouteCall) -> Reply:
    edit: FileEdit = call.body
    workspace = await workspace_of(call)
    record = await workspace.put(edit.file_path, edit.content, base_hash=edit.base_hash)
    call.app.file_citations.judge_later(call.user_id, call.path["session_id"], record.path)
    content_hash = await asyncio.to_thread(_hash, edit.content)
    return json_response(record, 201 if edit.base_hash is None else 200, etag=f'"{content_hash}"')


def _hash(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()


async def _versions(call: RouteCall) -> FileVersions:
    query: FileQuery = call.query
    workspace = await workspace_of(call)
    record = await workspace.record(query.file_path)
    return FileVersions(record.path, record.filename, await workspace.versions(query.file_path))


async def _citations(call: RouteCall) -> FileCitations:
    query: ContentQuery = call.query
    session_id = (await _session(call)).id
    return await call.app.file_citations.citations(call.user_id, session_id, query.file_path, query.version)


async def _diff(call: RouteCall) -> FileDiff:
    query: DiffQuery = call.query
    workspace = await workspace_of(call)
    newer = await workspace.open(query.file_path, query.newer)
    older_number = query.older or await workspace.previous_number(query.file_path, newer.version.number)
    older = await workspace.open(query.file_path, older_number)
    versions = older.version, newer.version
    if max(version.size for version in versions) > MAX_FILE_BYTES:  # only uploads are so large; they have one version
        return FileDiff(newer.record.path, versions[0].number, versions[1].number, diff=None)
    contents = [(version, await workspace.read(query.file_path, version.number)) for version in versions]
    return await asyncio.to_thread(make_diff, newer.record, contents[0], contents[1])


async def _restore(call: RouteCall) -> FileRecord:
    query: RestoreQuery = call.query
    body: FileRestore = call.body
    paths = [None if path is None else key_of(path) for path in (query.file_path, body.file_path)]
    path = _query_or_body("file_path", *paths)
    version = _query_or_body("version", query.version, body.version)
    record = await (await workspace_of(call)).restore(path, version, base_hash=body.base_hash)
    call.app.file_citations.judge_later(call.user_id, call.path["session_id"], record.path)
    return record


def _query_or_body(name: str, in_query: T | None, in_body: T | None) -> T:
    if in_query is not None and in_body is not None and in_query != in_body:
        raise UsageError(f"The query and the body have different values of `{name}`; give one.")
    given = in_body if in_query is None else in_query
    if given is None:
        raise UsageError(f"`{name}` is missing; give it in the query or in the body.")
    return given


async def _convert(call: RouteCall) -> ConvertedFile:
    conversion: FileConversion = call.body
    session_id = (await _session(call)).id
    rendition = await call.incoming.while_connected(
        call.app.renditions.convert(
            call.user_id, session_id, conversion.file_path, conversion.convert_type, conversion.proof
        )
    )
    path = await call.app.downloads.create_url(call.user_id, session_id, rendition.hash, rendition.filename)
    return ConvertedFile(_public_url(call, path), rendition.filename, rendition.notes)


async def _unpack(call: RouteCall) -> FileList:
    unpacking: Unpacking = call.body
    session_id = (await _session(call)).id
    return FileList(await call.app.uploads.unpack(call.user_id, session_id, unpacking.file_path))


async def _delete(call: RouteCall) -> None:
    query: FileQuery = call.query
    await (await workspace_of(call)).delete(query.file_path)


async def _archive(call: RouteCall) -> FileStream:
    head = await _session(call)
    return await _zip_response(head, zip_workspace(call.app.sessions.workspace(call.user_id, head.id)))


async def _export(call: RouteCall) -> FileStream:
    head = await _session(call)
    return await _zip_response(head, call.app.bundles.export(call.user_id, head.id))


async def _import(call: RouteCall) -> ImportedSession:
    if call.headers.get("content-type", "").partition(";")[0].strip().lower() != ZIP:
        raise WrongKind(f"Send the bundle as it is, with the header `Content-Type: {ZIP}`.")
    chunks = call.incoming.with_limit(MAX_BUNDLE_BYTES)
    async with call.app.spool.receive(chunks, max_bytes=MAX_BUNDLE_BYTES) as file:
        return await call.app.bundles.import_bundle(call.user_id, file.path)


async def workspace_of(call: RouteCall) -> Workspace:
    """`Unknown`: there is no such session, or it belongs to another user."""
    return call.app.sessions.workspace(call.user_id, (await _session(call)).id)


async def _session(call: RouteCall) -> SessionHead:
    return await call.app.sessions.head(call.user_id, call.path["session_id"])


async def _zip_response(head: SessionHead, chunks: AsyncGenerator[bytes, None]) -> FileStream:
    name = f"{safe_name(head.title or head.id)}.zip"
    return FileStream(
        await prefetch(chunks),
        content_type=ZIP,
        content_disposition=content_disposition(name),
        cache_control="no-store",
    )


def _public_url(call: RouteCall, path: str) -> str:
    """The path below `server.publicUrl`; without that setting, relative to the address of the request."""
    return (call.app.configuration.settings.server.public_url or "").rstrip("/") + path


FILES = "/v2/sessions/{session_id}/files"
ROUTES = (
    Route("GET", FILES, _list, "All files of a session", response=FileList),
    Route("POST", FILES, _upload, "Upload files", raw_media_type=FORM, response=FileList, status=201),
    Route("DELETE", FILES, _delete, "Delete a file with all its versions", query=FileQuery, status=204),
    Route("GET", f"{FILES}/content", _content, "The content of a file", query=ContentQuery, response=FileContent),
    Route(
        "PUT",
        f"{FILES}/content",
        _put,
        "Change or create a file",
        body=FileEdit,
        response=FileRecord,
        other_statuses=(201,),
        max_body_bytes=MAX_EDIT_BYTES,
    ),
    Route(
        "GET", f"{FILES}/citations", _citations, "The footnotes of a file", query=ContentQuery, response=FileCitations
    ),
    Route("GET", f"{FILES}/versions", _versions, "The versions of a file", query=FileQuery, response=FileVersions),
    *(
        Route(
            "GET", f"{FILES}/{path}", _diff, "The difference between two versions", query=DiffQuery, response=FileDiff
        )
        for path in ("diff", "versions/diff")
    ),
    *(
        Route(
            "POST",
            f"{FILES}/{path}",
            _restore,
            "Bring an earlier version back",
            query=RestoreQuery,
            body=FileRestore,
            response=FileRecord,
        )
        for path in ("restore", "versions/restore")
    ),
    Route("POST", f"{FILES}/convert", _convert, "Convert a file", body=FileConversion, response=ConvertedFile),
    Route("POST", f"{FILES}/unpack", _unpack, "Unpack a zip file", body=Unpacking, response=FileList, status=201),
    Route("GET", f"{FILES}/archive", _archive, "All files as one zip file", media_type=ZIP),
    Route("GET", "/v2/sessions/{session_id}/export", _export, "Export a session as a research bundle", media_type=ZIP),
    Route(
        "POST",
        "/v2/bundles",
        _import,
        "Import a research bundle as a session",
        raw_media_type=ZIP,
        response=ImportedSession,
        status=201,
    ),
)
