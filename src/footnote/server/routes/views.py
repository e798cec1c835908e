"""Files of a session as the page shows them: tables, texts, images, and what could run only where it can do nothing."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

from msgspec import Meta, Struct

from footnote.documents.inspection.signatures import detect_signature
from footnote.protocol.errors import UnprocessableFile, WrongKind
from footnote.protocol.files import FilePath, FileTable, FileText
from footnote.server.downloads import SANDBOX_POLICY, FileStream, is_not_modified, prefetch
from footnote.server.responses import Reply
from footnote.server.route import Route, RouteCall
from footnote.server.routes.files import FILES, ContentQuery, FileQuery, workspace_of
from footnote.storage.disposition import content_disposition
from footnote.workspace.files import NotText, OpenedFile

ANYTHING = "*/*"
MAX_ROWS = 1_000
MAX_FRAME_BYTES = 20_000_000
IMAGES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
SVG = "image/svg+xml"
_SNIFF_BYTES = 64
_ISOLATED_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data: blob:; "
    "connect-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)
_STATIC_POLICY = f"sandbox; script-src 'none'; {_ISOLATED_POLICY}"
_FRAME_TYPES = {"html": ("text/html", _STATIC_POLICY), "svg": (SVG, _STATIC_POLICY)}
"""What may be framed, and under which policy: an origin of its own, nobody to talk to, and nothing that runs."""
_SCRIPTED_POLICY = f"sandbox allow-scripts; script-src 'unsafe-inline'; {_ISOLATED_POLICY}"
"""For a page whose scripts somebody wants to run. No policy of today's browsers keeps a script from WebRTC."""
_FRAME_FORMATS = {**dict.fromkeys(("html", "htm", "xhtml"), "html"), "svg": "svg"}
_SVG_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'"
REVALIDATE = "private, no-cache"


class TableQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """`sheet`: one of a workbook; left out, the first."""

    file_path: FilePath
    version: Annotated[int, Meta(ge=1)] | None = None
    sheet: Annotated[str, Meta(max_length=1000)] | None = None
    offset: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_ROWS)] = 200


class FrameQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """`scripts`: those of an HTML file run. In a drawing nothing ever does."""

    file_path: FilePath
    version: Annotated[int, Meta(ge=1)] | None = None
    scripts: bool = False


async def _table(call: RouteCall) -> FileTable:
    wanted: TableQuery = call.query
    opened = await (await workspace_of(call)).open(wanted.file_path, wanted.version)
    return await call.incoming.while_connected(
        call.app.tables.rows(opened, sheet=wanted.sheet, offset=wanted.offset, limit=wanted.limit, user_id=call.user_id)
    )


async def _text(call: RouteCall) -> FileText:
    wanted: FileQuery = call.query
    workspace = await workspace_of(call)
    record = await workspace.record(wanted.file_path)
    try:
        return FileText(record.path, record.filename, await workspace.extracted_text(wanted.file_path))
    except NotText as error:
        raise UnprocessableFile(error.message) from error


async def _frame(call: RouteCall) -> FileStream:
    """A page or a drawing, in a frame and nowhere else; whoever opens the address itself saves it."""
    wanted: FrameQuery = call.query
    opened = await (await workspace_of(call)).open(wanted.file_path, wanted.version)
    form = _FRAME_FORMATS.get(_suffix(opened))
    if form is None:
        raise WrongKind(f"{opened.record.filename} is neither HTML nor SVG, so it is not shown in a frame.")
    if opened.version.size > MAX_FRAME_BYTES:
        raise UnprocessableFile(f"{opened.record.filename} has more than {MAX_FRAME_BYTES:,} bytes: download it.")
    if _fetch_destination(call, "iframe") != "iframe":
        return await download_response(opened)
    async with aclosing(opened.read(0, None)) as pieces:
        content = b"".join([piece async for piece in pieces])
    media_type, policy = _FRAME_TYPES[form]
    if wanted.scripts and form == "html":
        policy = _SCRIPTED_POLICY
    return await _file_response(opened, f"{media_type}{_charset(content)}", "inline", policy=policy, content=content)


async def _raw(call: RouteCall) -> Reply | FileStream:
    """Images are shown where an image stands; all else, and an image that is opened by itself, is saved."""
    opened = await _open_file(call)
    etag = etag_of(opened)
    if is_not_modified(call.headers, etag):
        return Reply(status=304, etag=etag, cache_control=REVALIDATE)
    if _fetch_destination(call, "image") not in ("image", "empty"):
        return await download_response(opened)
    if _suffix(opened) == "svg":
        return await _file_response(opened, SVG, "inline", policy=_SVG_POLICY)
    async with aclosing(opened.read(0, _SNIFF_BYTES)) as pieces:
        seen = detect_signature(b"".join([piece async for piece in pieces]))
    if seen is None or seen.media_type not in IMAGES:
        return await download_response(opened)
    return await _file_response(opened, seen.media_type, "inline")


async def _open_file(call: RouteCall) -> OpenedFile:
    wanted: ContentQuery = call.query
    return await (await workspace_of(call)).open(wanted.file_path, wanted.version)


def _fetch_destination(call: RouteCall, default: str) -> str:
    """What the browser makes of it. Over plain http it does not say, but still who asks: then it is the page."""
    by_page = call.current_user.by == "cookie"
    return call.headers.get("sec-fetch-dest") or (default if by_page else "nothing")


def _suffix(opened: OpenedFile) -> str:
    return opened.record.filename.lower().rpartition(".")[2]


def _charset(content: bytes) -> str:
    """What is UTF-8 is said to be, as few pages say it of themselves; others are left to say it."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return ""
    return "; charset=utf-8"


async def download_response(opened: OpenedFile) -> FileStream:
    return await _file_response(opened, "application/octet-stream", content_disposition(opened.record.filename))


async def _file_response(
    opened: OpenedFile,
    content_type: str,
    disposition: str,
    *,
    policy: str = SANDBOX_POLICY,
    content: bytes | None = None,
) -> FileStream:
    """`content`: where it was read already."""
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
    Route("GET", f"{FILES}/table", _table, "Some rows of a table", query=TableQuery, response=FileTable),
    Route("GET", f"{FILES}/text", _text, "What a document says", query=FileQuery, response=FileText),
    Route("GET", f"{FILES}/frame", _frame, "A page or a drawing, for a frame", query=FrameQuery, media_type=ANYTHING),
    Route(
        "GET", f"{FILES}/raw", _raw, "An image as it is", query=ContentQuery, media_type=ANYTHING, other_statuses=(304,)
    ),
)
