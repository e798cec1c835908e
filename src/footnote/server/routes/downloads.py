"""Downloads: files at signed URLs, which expire after an hour, and at the URLs of their records."""

from collections.abc import AsyncGenerator
from functools import partial
from typing import Annotated

from msgspec import Meta, Struct

from footnote.protocol.errors import Unknown, UsageError
from footnote.protocol.events import ErrorBody
from footnote.server.access import cookie_of
from footnote.server.requests import is_not_modified, requested_range
from footnote.server.responses import SANDBOX_POLICY, FileStream, Reply, json_response, prefetch
from footnote.server.route import ANY_MEDIA_TYPE, Route, RouteCall, RouteRefusal
from footnote.storage.base import content_disposition
from footnote.workspace.downloads import EXPIRY_SECONDS, PATH, Download
from footnote.workspace.files import OpenedFile
from footnote.workspace.paths import UPLOADS, key_of

REVALIDATE = "private, no-cache"
_CACHE_CONTROL = f"private, max-age={EXPIRY_SECONDS}"


class FileAddressQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """`session`: that of the file, as its url names it."""

    session: Annotated[str, Meta(max_length=200)] | None = None


# At signed URLs ---------------------------------------------------------------------------------------------


async def _signed_file(call: RouteCall) -> Reply | FileStream:
    user_id = call.principal.user_id if call.principal else None
    download = await call.app.downloads.open(call.path["token"], user_id)
    etag = f'"{download.hash}"'
    if is_not_modified(call.headers, etag):
        return Reply(status=304, etag=etag, cache_control=_CACHE_CONTROL)
    if _can_redirect(call) and (address := await download.signed_url()):
        return Reply(status=307, location=address)
    return await _stream(call, download, etag)


def _can_redirect(call: RouteCall) -> bool:
    """Whether the client may be sent to the storage: a program, or a browser that saves the file. The page is not,
    because its policy allows no other origin; over plain HTTP, where there is no `Sec-Fetch-Dest`, its cookie tells."""
    destination = call.headers.get("sec-fetch-dest") or ("page" if cookie_of(call.headers) else "document")
    return call.method == "GET" and destination == "document"


async def _stream(call: RouteCall, download: Download, etag: str) -> Reply | FileStream:
    part = requested_range(call.headers, etag, download.size)
    if part is not None and part.is_empty:
        message = f"The file has {download.size:,} bytes; ask for a part within them."
        refusal = RouteRefusal(
            ErrorBody("range_not_satisfiable", message, retryable=False, code="range_not_satisfiable")
        )
        return json_response(refusal, 416, content_range=f"bytes */{download.size}")
    response = partial(
        FileStream,
        content_type=download.media_type,
        content_disposition=content_disposition(download.filename),
        accept_ranges="bytes",
        etag=etag,
        cache_control=_CACHE_CONTROL,
    )
    if part is None:
        return response(await prefetch(download.read(0, None)), content_length=str(download.size))
    content_range = f"bytes {part.start}-{part.end - 1}/{download.size}"
    length = str(part.end - part.start)
    chunks = await prefetch(download.read(part.start, part.end))
    return response(chunks, 206, content_length=length, content_range=content_range)


# At the URLs of records -------------------------------------------------------------------------------------


async def _workspace_file(call: RouteCall) -> Reply | FileStream:
    query: FileAddressQuery = call.query
    return await _recorded_file(call, _key(f"/{call.path['path']}"), query.session)


async def _upload(call: RouteCall) -> Reply | FileStream:
    path = call.path
    return await _recorded_file(call, _key(f"{UPLOADS}{path['user_id']}/{path['file_id']}/{path['name']}"), None)


async def _recorded_file(call: RouteCall, key: str, session_id: str | None) -> Reply | FileStream:
    """Always a download, whatever the file holds: here it has the origin of the page."""
    opened = await _open_file(call, key, session_id)
    etag = etag_of(opened)
    if is_not_modified(call.headers, etag):
        return Reply(status=304, etag=etag, cache_control=REVALIDATE)
    return await download_response(opened)


async def _open_file(call: RouteCall, key: str, session_id: str | None) -> OpenedFile:
    """Raises `Unknown` for every reason, so that a response does not reveal the files of other users."""
    if call.path["user_id"] != call.user_id:
        raise _not_found()
    session_id = session_id or await call.app.sessions.session_with_file(call.user_id, key)
    if session_id is None:
        raise _not_found()
    head = await call.app.sessions.head(call.user_id, session_id)
    try:
        return await call.app.sessions.workspace(call.user_id, head.id).open(key)
    except UsageError:
        raise _not_found() from None


def _key(path: str) -> str:
    try:
        return key_of(path)
    except UsageError:
        raise _not_found() from None


def _not_found() -> Unknown:
    return Unknown("There is no such file.", code="file_not_found")


async def download_response(opened: OpenedFile) -> FileStream:
    return await file_response(opened, "application/octet-stream", content_disposition(opened.record.filename))


async def file_response(
    opened: OpenedFile,
    content_type: str,
    disposition: str,
    *,
    policy: str = SANDBOX_POLICY,
    content: bytes | None = None,
) -> FileStream:
    """`content`: that of the file, if it has been read already."""
    return FileStream(
        await prefetch(opened.read(0, None) if content is None else _single_chunk(content)),
        content_type=content_type,
        content_disposition=disposition,
        content_length=str(opened.version.size),
        etag=etag_of(opened),
        cache_control=REVALIDATE,
        content_security_policy=policy,
    )


async def _single_chunk(content: bytes) -> AsyncGenerator[bytes, None]:
    yield content


def etag_of(opened: OpenedFile) -> str:
    return f'"{opened.version.hash}"'


ROUTES = (
    Route(
        "GET",
        f"{PATH}{{token}}/{{filename}}",
        _signed_file,
        "A file, at a signed URL that expires after an hour",
        access="anyone",
        media_type=ANY_MEDIA_TYPE,
        other_statuses=(206, 304, 307),
    ),
    Route(
        "GET",
        "/workspace/{user_id}/{path:path}",
        _workspace_file,
        "A file, at the URL of its record",
        query=FileAddressQuery,
        media_type=ANY_MEDIA_TYPE,
        other_statuses=(304,),
    ),
    Route(
        "GET",
        "/uploads/{user_id}/{file_id}/{name:path}",
        _upload,
        "An upload, at the URL of its record",
        media_type=ANY_MEDIA_TYPE,
        other_statuses=(304,),
    ),
)
