"""The page: the static files of the package and no other files of the disk, and images of the web, which are fetched
for the page because it may contact no other server."""

import re
from typing import Annotated

from msgspec import Meta, Struct
from starlette.datastructures import Headers

from footnote.net import AddressRefused
from footnote.net.client import ConnectionFailed
from footnote.net.guard import MAX_URL_LENGTH
from footnote.protocol.errors import Unknown, UnprocessableFile, UpstreamError, WrongKind
from footnote.protocol.events import ErrorBody
from footnote.server.assets import HTML, Asset
from footnote.server.requests import accepts_gzip, is_not_modified
from footnote.server.responses import Reply, json_response
from footnote.server.route import ANY_MEDIA_TYPE, Route, RouteCall, RouteRefusal
from footnote.web_search.crawl.fetch import PageFailed
from footnote.web_search.images import ICON_TTL_SECONDS, MISSING_ICON_TTL_SECONDS

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
    """A page with each placeholder `{{name}}` replaced by the text of that name, which must be escaped already."""
    asset = call.site.assets.find(name)
    body = b"<!doctype html><title>Footnote</title><p>{{reason}}</p>" if asset is None else asset.content
    for placeholder, text in texts.items():
        body = body.replace(b"{{%b}}" % placeholder.encode(), text.encode())
    return Reply(body, status, media_type=HTML)


async def _index(call: RouteCall) -> Reply:
    """The same for every URL of the page, which routes by itself."""
    asset = call.site.assets.find("index.html")
    if asset is None:
        return Reply(_NOT_BUILT, media_type=HTML)
    return await _asset_response(asset, call.headers, _REVALIDATE)


async def _static(call: RouteCall) -> Reply:
    asset = call.site.assets.find(call.path["path"])
    if asset is None or asset.media_type == HTML:
        raise Unknown("There is no such file.")
    return await _asset_response(asset, call.headers, _IMMUTABLE if asset.is_immutable else _SHORT_LIVED)


async def _asset_response(asset: Asset, headers: Headers, cache_control: str) -> Reply:
    compressed = asset.is_compressible and accepts_gzip(headers.get("accept-encoding"))
    try:
        body = await asset.body(compressed=compressed)
    except FileNotFoundError as error:
        raise Unknown("The page has been rebuilt. Restart the server, then reload the page.") from error
    if is_not_modified(headers, asset.etag):
        return Reply(status=304, etag=asset.etag, cache_control=cache_control, vary=_VARY)
    reply = Reply(body, media_type=asset.media_type, etag=asset.etag, cache_control=cache_control, vary=_VARY)
    if compressed:
        reply.headers["content-encoding"] = "gzip"
    return reply


# Images of the web ---------------------------------------------------------------------------------------


MAX_IMAGE_BYTES = 10_000_000
IMAGE_SECONDS = 15.0
_DOMAIN = re.compile(r"[\w.:-]{1,253}")


class ImageOf(Struct, frozen=True, forbid_unknown_fields=True):
    url: Annotated[str, Meta(min_length=1, max_length=MAX_URL_LENGTH)]


async def _favicon(call: RouteCall) -> Reply:
    """Only for sites that the user has sources of, so that a request cannot make the server contact any domain."""
    domain: str = call.path["domain"]
    library = call.app.library.for_user(call.user_id)
    address = await library.url_on_domain(domain) if _DOMAIN.fullmatch(domain) else None
    if address is None:
        raise Unknown("No source of yours is from this site.")
    icon = await call.app.favicons.get(address, _private_hosts(call), await library.icon_on_domain(domain))
    if icon is None:
        refusal = RouteRefusal(ErrorBody.from_error(Unknown("This site has no icon that can be shown.")))
        return json_response(refusal, 404, cache_control=f"private, max-age={MISSING_ICON_TTL_SECONDS}")
    return Reply(icon.content, media_type=icon.media_type, cache_control=f"private, max-age={ICON_TTL_SECONDS}")


async def _image(call: RouteCall) -> Reply:
    """Any URL that the user gives. It is a POST, so that no markup in an answer can make a browser request it."""
    body: ImageOf = call.body
    try:
        image = await call.app.images.fetch(
            body.url, max_bytes=MAX_IMAGE_BYTES, timeout_seconds=IMAGE_SECONDS, private_hosts=_private_hosts(call)
        )
    except AddressRefused as error:
        raise UnprocessableFile(f"The image is not fetched: {error.message}.") from error
    except ConnectionFailed as error:
        raise UpstreamError(f"The image could not be fetched: {error.message}.") from error
    except TimeoutError as error:
        raise UpstreamError(f"The image could not be fetched: no answer within {IMAGE_SECONDS:g} seconds.") from error
    except PageFailed as error:
        raise _to_error(error) from error
    return Reply(image.content, media_type=image.media_type)


def _to_error(error: PageFailed) -> WrongKind | UnprocessableFile | UpstreamError:
    if error.failure == "media_type":
        return WrongKind(f"This is not shown: {error.reason}.")
    if error.failure == "too_large":
        return UnprocessableFile(f"The image is not shown: {error.reason}.")
    return UpstreamError(f"The image could not be fetched: {error.reason}.")


def _private_hosts(call: RouteCall) -> tuple[str, ...]:
    return call.app.configuration.settings.tools.web_search.allow_private_hosts


IMAGE_ROUTES = (
    Route("GET", "/v2/favicons/{domain}", _favicon, "The icon of a site", media_type=ANY_MEDIA_TYPE),
    Route(
        "POST",
        "/v2/images",
        _image,
        "An image of the web",
        body=ImageOf,
        media_type=ANY_MEDIA_TYPE,
        fetches_remote=True,
    ),
)
ROUTES = (
    # Lenient, because the page itself reads the query of its URL: what is open beside the session.
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
        media_type=ANY_MEDIA_TYPE,
        other_statuses=(304,),
    ),
)
