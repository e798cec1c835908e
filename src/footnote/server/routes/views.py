"""Files of a session as the page shows them: tables, texts, images, and what could run only where it can do nothing."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

from msgspec import Meta, Struct

from footnote.documents.inspection.signatures import seen_in
from footnote.protocol.errors import Unworkable, WrongKind
from footnote.protocol.files import FilePath, FileTable, FileText
from footnote.server.downloads import FORBIDDEN, FileStream, begun, is_known
from footnote.server.replies import Reply
from footnote.server.routes.files import FILES, ContentQuery, FileQuery, workspace_of
from footnote.server.table import Call, Route
from footnote.storage.disposition import attachment
from footnote.workspace.files import NotText, Opened

ANYTHING = "*/*"
MOST_ROWS = 1_000
MOST_FRAME_BYTES = 20_000_000
IMAGES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
SVG = "image/svg+xml"
_HEAD = 64
_ALONE = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data: blob:; "
    "connect-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)
_STILL = f"sandbox; script-src 'none'; {_ALONE}"
_FRAMES = {"html": ("text/html", _STILL), "svg": (SVG, _STILL)}
"""What may be framed, and under which policy: an origin of its own, nobody to talk to, and nothing that runs."""
_RUNNING = f"sandbox allow-scripts; script-src 'unsafe-inline'; {_ALONE}"
"""For a page whose scripts somebody wants to run. No policy of today's browsers keeps a script from WebRTC."""
_FRAMED_AS = {**dict.fromkeys(("html", "htm", "xhtml"), "html"), "svg": "svg"}
_DRAWING = "sandbox; default-src 'none'; style-src 'unsafe-inline'"
KEPT = "private, no-cache"


class TableQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """`sheet`: one of a workbook; left out, the first."""

    file_path: FilePath
    version: Annotated[int, Meta(ge=1)] | None = None
    sheet: Annotated[str, Meta(max_length=1000)] | None = None
    offset: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 0
    limit: Annotated[int, Meta(ge=1, le=MOST_ROWS)] = 200


class FrameQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """`scripts`: those of an HTML file run. In a drawing nothing ever does."""

    file_path: FilePath
    version: Annotated[int, Meta(ge=1)] | None = None
    scripts: bool = False


async def _table(call: Call) -> FileTable:
    wanted: TableQuery = call.query
    opened = await (await workspace_of(call)).open(wanted.file_path, wanted.version)
    return await call.incoming.while_connected(
        call.app.tables.rows(opened, sheet=wanted.sheet, offset=wanted.offset, limit=wanted.limit, user_id=call.user_id)
    )


async def _text(call: Call) -> FileText:
    wanted: FileQuery = call.query
    workspace = await workspace_of(call)
    record = await workspace.record(wanted.file_path)
    try:
        return FileText(record.path, record.filename, await workspace.text_of(wanted.file_path))
    except NotText as error:
        raise Unworkable(error.message) from error


async def _frame(call: Call) -> FileStream:
    """A page or a drawing, in a frame and nowhere else; whoever opens the address itself saves it."""
    wanted: FrameQuery = call.query
    opened = await (await workspace_of(call)).open(wanted.file_path, wanted.version)
    form = _FRAMED_AS.get(_suffix(opened))
    if form is None:
        raise WrongKind(f"{opened.record.filename} is neither HTML nor SVG, so it is not shown in a frame.")
    if opened.version.size > MOST_FRAME_BYTES:
        raise Unworkable(f"{opened.record.filename} has more than {MOST_FRAME_BYTES:,} bytes: download it.")
    if _wanted_as(call, "iframe") != "iframe":
        return await saved(opened)
    async with aclosing(opened.read(0, None)) as pieces:
        content = b"".join([piece async for piece in pieces])
    media_type, policy = _FRAMES[form]
    if wanted.scripts and form == "html":
        policy = _RUNNING
    return await _sent(opened, f"{media_type}{_charset(content)}", "inline", policy=policy, content=content)


async def _raw(call: Call) -> Reply | FileStream:
    """Images are shown where an image stands; all else, and an image that is opened by itself, is saved."""
    opened = await _opened(call)
    etag = etag_of(opened)
    if is_known(call.headers, etag):
        return Reply(status=304, etag=etag, cache_control=KEPT)
    if _wanted_as(call, "image") not in ("image", "empty"):
        return await saved(opened)
    if _suffix(opened) == "svg":
        return await _sent(opened, SVG, "inline", policy=_DRAWING)
    async with aclosing(opened.read(0, _HEAD)) as pieces:
        seen = seen_in(b"".join([piece async for piece in pieces]))
    if seen is None or seen.media_type not in IMAGES:
        return await saved(opened)
    return await _sent(opened, seen.media_type, "inline")


async def _opened(call: Call) -> Opened:
    wanted: ContentQuery = call.query
    return await (await workspace_of(call)).open(wanted.file_path, wanted.version)


def _wanted_as(call: Call, usual: str) -> str:
    """What the browser makes of it. Over plain http it does not say, but still who asks: then it is the page."""
    by_page = call.known.by == "cookie"
    return call.headers.get("sec-fetch-dest") or (usual if by_page else "nothing")


def _suffix(opened: Opened) -> str:
    return opened.record.filename.lower().rpartition(".")[2]


def _charset(content: bytes) -> str:
    """What is UTF-8 is said to be, as few pages say it of themselves; others are left to say it."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return ""
    return "; charset=utf-8"


async def saved(opened: Opened) -> FileStream:
    return await _sent(opened, "application/octet-stream", attachment(opened.record.filename))


async def _sent(
    opened: Opened, content_type: str, disposition: str, *, policy: str = FORBIDDEN, content: bytes | None = None
) -> FileStream:
    """`content`: where it was read already."""
    return FileStream(
        await begun(opened.read(0, None) if content is None else _whole(content)),
        content_type=content_type,
        content_disposition=disposition,
        content_length=str(opened.version.size),
        etag=etag_of(opened),
        cache_control=KEPT,
        content_security_policy=policy,
    )


async def _whole(content: bytes) -> AsyncGenerator[bytes, None]:
    yield content


def etag_of(opened: Opened) -> str:
    return f'"{opened.version.hash}"'


ROUTES = (
    Route("GET", f"{FILES}/table", _table, "Some rows of a table", query=TableQuery, answer=FileTable),
    Route("GET", f"{FILES}/text", _text, "What a document says", query=FileQuery, answer=FileText),
    Route("GET", f"{FILES}/frame", _frame, "A page or a drawing, for a frame", query=FrameQuery, media_type=ANYTHING),
    Route("GET", f"{FILES}/raw", _raw, "An image as it is", query=ContentQuery, media_type=ANYTHING, also=(304,)),
)
