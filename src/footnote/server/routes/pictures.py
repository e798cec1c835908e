"""Images of the web for the page, which may ask nobody but this server."""

import re
from typing import Annotated

from msgspec import Meta, Struct

from footnote.net.client import ConnectionFailed
from footnote.net.failures import AddressRefused
from footnote.net.guard import LONGEST_URL
from footnote.protocol.errors import Unknown, Unworkable, UpstreamError, WrongKind
from footnote.protocol.events import ErrorBody
from footnote.server.replies import Reply, as_json
from footnote.server.table import Call, Refusal, Route
from footnote.web_search.favicons import KEPT_SECONDS, MISSED_SECONDS
from footnote.web_search.reading.fetch import PageFailed

MOST_BYTES = 10_000_000
SECONDS = 15.0
ANYTHING = "*/*"
_DOMAIN = re.compile(r"[\w.:-]{1,253}")


class ImageOf(Struct, frozen=True, forbid_unknown_fields=True):
    url: Annotated[str, Meta(min_length=1, max_length=LONGEST_URL)]


async def _favicon(call: Call) -> Reply:
    """Only of sites that this user has sources of: nobody is to be asked because somebody made up a name."""
    domain: str = call.path["domain"]
    library = call.app.library.of(call.user_id)
    address = await library.address_at(domain) if _DOMAIN.fullmatch(domain) else None
    if address is None:
        raise Unknown("No source of yours is from this site.")
    found = await call.app.favicons.of(address, _private_hosts(call), await library.icon_at(domain))
    if found is None:
        refusal = Refusal(ErrorBody(Unknown.type, "This site has no icon that can be shown.", retryable=False))
        return as_json(refusal, 404, cache_control=f"private, max-age={MISSED_SECONDS}")
    return Reply(found.content, media_type=found.media_type, cache_control=f"private, max-age={KEPT_SECONDS}")


async def _image(call: Call) -> Reply:
    """On somebody's word alone, and so by POST: no markup of an answer can make a browser ask for it."""
    wanted: ImageOf = call.body
    try:
        found = await call.app.pictures.fetch(
            wanted.url, most=MOST_BYTES, seconds=SECONDS, private_hosts=_private_hosts(call)
        )
    except AddressRefused as error:
        raise Unworkable(f"The image is not fetched: {error.message}.") from error
    except ConnectionFailed as error:
        raise UpstreamError(f"The image could not be fetched: {error.message}.") from error
    except TimeoutError as error:
        raise UpstreamError(f"The image could not be fetched: no answer within {SECONDS:g} seconds.") from error
    except PageFailed as error:
        raise _refused(error) from error
    return Reply(found.content, media_type=found.media_type)


def _refused(error: PageFailed) -> WrongKind | Unworkable | UpstreamError:
    if error.failure == "media_type":
        return WrongKind(f"This is not shown: {error.reason}.")
    if error.failure == "too_large":
        return Unworkable(f"The image is not shown: {error.reason}.")
    return UpstreamError(f"The image could not be fetched: {error.reason}.")


def _private_hosts(call: Call) -> tuple[str, ...]:
    return call.app.configuration.settings.tools.web_search.allow_private_hosts


ROUTES = (
    Route("GET", "/v2/favicons/{domain}", _favicon, "The icon of a site", media_type=ANYTHING),
    Route("POST", "/v2/images", _image, "An image of the web", body=ImageOf, media_type=ANYTHING, reaches_out=True),
)
