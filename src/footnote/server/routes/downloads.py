"""Files at addresses that are signed for an hour."""

from functools import partial

from footnote.protocol.events import ErrorBody
from footnote.server.access import cookie_of
from footnote.server.downloads import FileStream, is_not_modified, prefetch, requested_range
from footnote.server.responses import Reply, json_response
from footnote.server.route import Route, RouteCall, RouteRefusal
from footnote.storage.disposition import content_disposition
from footnote.workspace.downloads import EXPIRY_SECONDS, PATH, Download

ANYTHING = "*/*"
_CACHE_CONTROL = f"private, max-age={EXPIRY_SECONDS}"


async def _download(call: RouteCall) -> Reply | FileStream:
    asker = call.principal.user_id if call.principal else None
    download = await call.app.downloads.open(call.path["token"], asker)
    etag = f'"{download.hash}"'
    if is_not_modified(call.headers, etag):
        return Reply(status=304, etag=etag, cache_control=_CACHE_CONTROL)
    if _can_redirect(call) and (address := await download.signed_url()):
        return Reply(status=307, location=address)
    return await _stream(call, download, etag)


def _can_redirect(call: RouteCall) -> bool:
    """A browser that saves, or a program, goes where the bytes are; the page may only ask this server. Over plain http
    browsers do not say what they want, but still who they are."""
    wanted = call.headers.get("sec-fetch-dest") or ("page" if cookie_of(call.headers) else "document")
    return call.method == "GET" and wanted == "document"


async def _stream(call: RouteCall, download: Download, etag: str) -> Reply | FileStream:
    span = requested_range(call.headers, etag, download.size)
    if span is not None and span.is_empty:
        message = f"The file has {download.size:,} bytes; ask for a part within them."
        refusal = RouteRefusal(ErrorBody("range_not_satisfiable", message, retryable=False))
        return json_response(refusal, 416, content_range=f"bytes */{download.size}")
    answer = partial(
        FileStream,
        content_type=download.media_type,
        content_disposition=content_disposition(download.filename),
        accept_ranges="bytes",
        etag=etag,
        cache_control=_CACHE_CONTROL,
    )
    if span is None:
        return answer(await prefetch(download.read(0, None)), content_length=str(download.size))
    content_range = f"bytes {span.start}-{span.end - 1}/{download.size}"
    length = str(span.end - span.start)
    pieces = await prefetch(download.read(span.start, span.end))
    return answer(pieces, 206, content_length=length, content_range=content_range)


ROUTES = (
    Route(
        "GET",
        f"{PATH}{{token}}/{{filename}}",
        _download,
        "A file, at an address that is good for an hour",
        access="anyone",
        media_type=ANYTHING,
        other_statuses=(206, 304, 307),
    ),
)
