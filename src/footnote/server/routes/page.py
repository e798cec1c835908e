"""The page: files of the package, and nothing else of the disk."""

from starlette.datastructures import Headers

from footnote.protocol.errors import Unknown
from footnote.server.assets import HTML, Asset
from footnote.server.downloads import is_not_modified
from footnote.server.negotiation import accepts_gzip
from footnote.server.responses import Reply
from footnote.server.route import Route, RouteCall

ANYTHING = "*/*"
_IMMUTABLE = "public, max-age=31536000, immutable"
_SHORT_LIVED = "public, max-age=300"
_REVALIDATE = "no-cache"
_VARY = "accept-encoding"
_NOT_BUILT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Footnote: the page is not built</title>
<link rel="icon" href="data:,">
</head>
<body>
<main>
<h1>The page is not built</h1>
<p>The server is running, and its API works: <a href="/openapi.json">/openapi.json</a> lists all that it can do.</p>
<p>The page is part of every release. In a checkout it is built with <code>make page</code>; start the server again
after that.</p>
</main>
</body>
</html>
"""


def render_page(call: RouteCall, name: str, status: int = 200, **texts: str) -> Reply:
    """A page with `texts`, which are HTML already, in the places that have their names."""
    found = call.site.assets.find(name)
    body = b"<!doctype html><title>Footnote</title><p>{{reason}}</p>" if found is None else found.content
    for place, text in texts.items():
        body = body.replace(b"{{%b}}" % place.encode(), text.encode())
    return Reply(body, status, media_type=HTML)


async def _index(call: RouteCall) -> Reply:
    """The same for every address of the page, which finds out by itself what to show there."""
    found = call.site.assets.find("index.html")
    return (
        Reply(_NOT_BUILT, media_type=HTML) if found is None else await _asset_response(found, call.headers, _REVALIDATE)
    )


async def _static(call: RouteCall) -> Reply:
    found = call.site.assets.find(call.path["path"])
    if found is None or found.media_type == HTML:
        raise Unknown("There is no such file.")
    return await _asset_response(found, call.headers, _IMMUTABLE if found.is_immutable else _SHORT_LIVED)


async def _asset_response(asset: Asset, headers: Headers, cache_control: str) -> Reply:
    packed = asset.is_compressible and accepts_gzip(headers.get("accept-encoding"))
    try:
        body = await asset.body(compressed=packed)
    except FileNotFoundError as error:
        raise Unknown("The page was built anew meanwhile. Start the server again, and reload the page.") from error
    if is_not_modified(headers, asset.etag):
        return Reply(status=304, etag=asset.etag, cache_control=cache_control, vary=_VARY)
    reply = Reply(body, media_type=asset.media_type, etag=asset.etag, cache_control=cache_control, vary=_VARY)
    if packed:
        reply.headers["content-encoding"] = "gzip"
    return reply


ROUTES = (
    # The page reads the query of its address itself: what is open beside the session.
    Route("GET", "/", _index, "The page", access="anyone", media_type=HTML, other_statuses=(304,), lenient=True),
    Route(
        "GET",
        "/s/{session_id}",
        _index,
        "The page, at a session",
        access="anyone",
        media_type=HTML,
        other_statuses=(304,),
        lenient=True,
    ),
    Route(
        "GET",
        "/static/{path:path}",
        _static,
        "A file of the page",
        access="anyone",
        media_type=ANYTHING,
        other_statuses=(304,),
    ),
)
