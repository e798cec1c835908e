"""Images of the web for the page, which may ask nobody but this server."""

import re
from typing import Annotated

from msgspec import Meta, Struct

from footnote.net.client import ConnectionFailed
from footnote.net.errors import AddressRefused
from footnote.net.guard import MAX_URL_LENGTH
from footnote.protocol.errors import Unknown, UnprocessableFile, UpstreamError, WrongKind
from footnote.protocol.events import ErrorBody
from footnote.server.responses import Reply, json_response
from footnote.server.route import Route, RouteCall, RouteRefusal
from footnote.web_search.crawl.fetch import PageFailed
from footnote.web_search.favicons import MISSING_TTL_SECONDS, TTL_SECONDS

MAX_IMAGE_BYTES = 10_000_000
SECONDS = 15.0
ANYTHING = "*/*"
_DOMAIN = re.compile(r"[\w.:-]{1,253}")


class ImageOf(Struct, frozen=True, forbid_unknown_fields=True):
    url: Annotated[str, Meta(min_length=1, max_length=MAX_URL_LENGTH)]


async def _favicon(call: RouteCall) -> Reply:
    """Only of sites that this user has sources of: nobody is to be asked because somebody made up a name."""
    domain: str = call.path["domain"]
    library = call.app.library.for_user(call.user_id)
    address = await library.url_on_domain(domain) if _DOMAIN.fullmatch(domain) else None
    if address is None:
        raise Unknown("No source of yours is from this site.")
    found = await call.app.favicons.get(address, _private_hosts(call), await library.icon_on_domain(domain))
    if found is None:
        refusal = RouteRefusal(ErrorBody(Unknown.type, "This site has no icon that can be shown.", retryable=False))
        return json_response(refusal, 404, cache_control=f"private, max-age={MISSING_TTL_SECONDS}")
    return Reply(found.content, media_type=found.media_type, cache_control=f"private, max-age={TTL_SECONDS}")


async def _image(call: RouteCall) -> Reply:
    """On somebody's word alone, and so by POST: no markup of an answer can make a browser ask for it."""
    wanted: ImageOf = call.body
    try:
        found = await call.app.images.fetch(
            wanted.url, max_bytes=MAX_IMAGE_BYTES, timeout_seconds=SECONDS, private_hosts=_private_hosts(call)
        )
    except AddressRefused as error:
        raise UnprocessableFile(f"The image is not fetched: {error.message}.") from error
    except ConnectionFailed as error:
        raise UpstreamError(f"The image could not be fetched: {error.message}.") from error
    except TimeoutError as error:
        raise UpstreamError(f"The image could not be fetched: no answer within {SECONDS:g} seconds.") from error
    except PageFailed as error:
        raise _to_error(error) from error
    return Reply(found.content, media_type=found.media_type)


def _to_error(error: PageFailed) -> WrongKind | UnprocessableFile | UpstreamError:
    if error.failure == "media_type":
        return WrongKind(f"This is not shown: {error.reason}.")
    if error.failure == "too_large":
        return UnprocessableFile(f"The image is not shown: {error.reason}.")
    return UpstreamError(f"The image could not be fetched: {error.reason}.")


def _private_hosts(call: RouteCall) -> tuple[str, ...]:
    return call.app.configuration.settings.tools.web_search.allow_private_hosts


ROUTES = (
    Route("GET", "/v2/favicons/{domain}", _favicon, "The icon of a site", media_type=ANYTHING),
    Route("POST", "/v2/images", _image, "An image of the web", body=ImageOf, media_type=ANYTHING, fetches_remote=True),
)
