"""Files of a session as the page shows them: tables, texts, images, and frames in which nothing harmful can run."""

from contextlib import aclosing
from typing import Annotated

from msgspec import Meta, Struct

from footnote.documents.media import detect_signature
from footnote.protocol.errors import UnprocessableFile, WrongKind
from footnote.protocol.files import FilePath, FileTable, FileText
from footnote.server.requests import is_not_modified
from footnote.server.responses import FileStream, Reply
from footnote.server.route import ANY_MEDIA_TYPE, Route, RouteCall
from footnote.server.routes.downloads import REVALIDATE, download_response, etag_of, file_response
from footnote.server.routes.files import FILES, ContentQuery, FileQuery, workspace_of
from footnote.workspace.files import NotText, OpenedFile

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
"""The formats that may be framed, with their policies: an origin of its own, no network, and no scripts."""
_SCRIPTED_POLICY = f"sandbox allow-scripts; script-src 'unsafe-inline'; {_ISOLATED_POLICY}"
"""For a page whose scripts the user wants to run. No policy of today's browsers keeps a script from WebRTC."""
_FRAME_FORMATS = {**dict.fromkeys(("html", "htm", "xhtml"), "html"), "svg": "svg"}
_SVG_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'"


class TableQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """`sheet`: the name of a sheet of a workbook; left out, the first one."""

    file_path: FilePath
    version: Annotated[int, Meta(ge=1)] | None = None
    sheet: Annotated[str, Meta(max_length=1000)] | None = None
    offset: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_ROWS)] = 200


class FrameQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """`scripts`: those of an HTML file run. Those of an SVG file never do."""

    file_path: FilePath
    version: Annotated[int, Meta(ge=1)] | None = None
    scripts: bool = False


async def _table(call: RouteCall) -> FileTable:
    query: TableQuery = call.query
    opened = await (await workspace_of(call)).open(query.file_path, query.version)
    return await call.incoming.while_connected(
        call.app.tables.rows(opened, sheet=query.sheet, offset=query.offset, limit=query.limit, user_id=call.user_id)
    )


async def _text(call: RouteCall) -> FileText:
    query: FileQuery = call.query
    workspace = await workspace_of(call)
    record = await workspace.record(query.file_path)
    try:
        return FileText(record.path, record.filename, await workspace.extracted_text(query.file_path))
    except NotText as error:
        raise UnprocessableFile(error.message, code=error.code, **error.params) from error


async def _frame(call: RouteCall) -> FileStream:
    """An HTML or SVG file, which is shown in a frame only: opening the URL itself downloads the file."""
    query: FrameQuery = call.query
    opened = await (await workspace_of(call)).open(query.file_path, query.version)
    format_name = _FRAME_FORMATS.get(_suffix(opened))
    if format_name is None:
        raise WrongKind(
            f"{opened.record.filename} is neither HTML nor SVG, so it is not shown in a frame.",
            code="frame_wrong_kind",
            name=opened.record.filename,
        )
    if opened.version.size > MAX_FRAME_BYTES:
        raise UnprocessableFile(
            f"{opened.record.filename} has more than {MAX_FRAME_BYTES:,} bytes: download it.",
            code="frame_too_large",
            name=opened.record.filename,
            max=MAX_FRAME_BYTES,
        )
    if _fetch_destination(call, "iframe") != "iframe":
        return await download_response(opened)
    async with aclosing(opened.read(0, None)) as chunks:
        content = b"".join([chunk async for chunk in chunks])
    media_type, policy = _FRAME_TYPES[format_name]
    if query.scripts and format_name == "html":
        policy = _SCRIPTED_POLICY
    return await file_response(opened, f"{media_type}{_charset(content)}", "inline", policy=policy, content=content)


async def _raw(call: RouteCall) -> Reply | FileStream:
    """Images are shown as part of a page only. Other files, and images whose URL itself is opened, are downloaded."""
    opened = await _open_file(call)
    etag = etag_of(opened)
    if is_not_modified(call.headers, etag):
        return Reply(status=304, etag=etag, cache_control=REVALIDATE)
    if _fetch_destination(call, "image") not in ("image", "empty"):
        return await download_response(opened)
    if _suffix(opened) == "svg":
        return await file_response(opened, SVG, "inline", policy=_SVG_POLICY)
    async with aclosing(opened.read(0, _SNIFF_BYTES)) as chunks:
        signature = detect_signature(b"".join([chunk async for chunk in chunks]))
    if signature is None or signature.media_type not in IMAGES:
        return await download_response(opened)
    return await file_response(opened, signature.media_type, "inline")


async def _open_file(call: RouteCall) -> OpenedFile:
    query: ContentQuery = call.query
    return await (await workspace_of(call)).open(query.file_path, query.version)


def _fetch_destination(call: RouteCall, default: str) -> str:
    """The use that the browser makes of the response. Over plain HTTP there is no `Sec-Fetch-Dest`: a request with a
    cookie is then taken for one of the page."""
    is_from_page = call.current_user.by == "cookie"
    return call.headers.get("sec-fetch-dest") or (default if is_from_page else "nothing")


def _suffix(opened: OpenedFile) -> str:
    return opened.record.filename.lower().rpartition(".")[2]


def _charset(content: bytes) -> str:
    """UTF-8 is declared, because few files declare it themselves; any other encoding is left to the file."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return ""
    return "; charset=utf-8"


ROUTES = (
    Route("GET", f"{FILES}/table", _table, "Some rows of a table", query=TableQuery, response=FileTable),
    Route("GET", f"{FILES}/text", _text, "The text of a document", query=FileQuery, response=FileText),
    Route(
        "GET", f"{FILES}/frame", _frame, "An HTML or SVG file, for a frame", query=FrameQuery, media_type=ANY_MEDIA_TYPE
    ),
    Route(
        "GET",
        f"{FILES}/raw",
        _raw,
        "An image as it is",
        query=ContentQuery,
        media_type=ANY_MEDIA_TYPE,
        other_statuses=(304,),
    ),
)
