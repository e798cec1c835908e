"""A route is data: dispatch, the OpenAPI document, the tests of access and the docs are made from the table of routes.

ROUTES = (Route("GET", "/v2/runs/{run_id}", view, "The state of a run", response=RunView),)

async def view(call: RouteCall) -> RunView:
    return await call.app.runner.view(call.user_id, call.path["run_id"])
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from starlette.datastructures import Headers

from footnote.app import App
from footnote.protocol.accounts import Principal
from footnote.protocol.errors import NotLoggedIn
from footnote.protocol.events import ErrorBody
from footnote.protocol.tools import Locale
from footnote.server.requests import RequestBody
from footnote.server.responses import EventStream, FileStream, Reply
from footnote.server.site import Site

Method: TypeAlias = Literal["GET", "POST", "PATCH", "PUT", "DELETE"]
Access: TypeAlias = Literal["anyone", "user", "admin"]
MAX_BODY_BYTES = 4_000_000
ANY_MEDIA_TYPE = "*/*"
"""For `Route.media_type`: the type depends on the file."""


class RouteRefusal(Struct, frozen=True):
    """The body of every response of the API that is not a success."""

    error: ErrorBody


@dataclass(frozen=True, slots=True)
class RouteCall:
    """One request as its endpoint gets it: authenticated, with query and body decoded into the types of the route."""

    site: Site
    method: str
    """GET or HEAD on a route of GET."""
    principal: Principal | None
    path: Mapping[str, Any]
    query: Any
    """A value of the route's `query`."""
    body: Any
    """A value of the route's `body`."""
    headers: Headers
    address: str
    """The IP address of the client."""
    locale: Locale | None
    """From `Accept-Language`; None if it names no supported language."""
    incoming: RequestBody
    """The body, for a route with a `raw_media_type`."""

    @property
    def app(self) -> App:
        return self.site.app

    @property
    def current_user(self) -> Principal:
        """The logged-in user. There always is one on a route whose `access` is not "anyone"."""
        if self.principal is None:
            raise NotLoggedIn("Log in first.")
        return self.principal

    @property
    def user_id(self) -> str:
        return self.current_user.user_id


AnyResponse: TypeAlias = Reply | EventStream | FileStream
Endpoint: TypeAlias = Callable[[RouteCall], Awaitable[Struct | AnyResponse | None]]
"""Returns a value, which is sent as JSON with the status of the route, a response, or None for an empty one.

An error that it raises becomes a response: a `FootnoteError` with its own status, any other a 500 without details.
"""
ErrorFormatter: TypeAlias = Callable[[ErrorBody, int], Any]
"""Makes the JSON that clients of a route expect from an error and its status."""


def format_refusal(error: ErrorBody, _status: int) -> RouteRefusal:
    return RouteRefusal(error)


@dataclass(frozen=True, slots=True)
class Route:
    """`path` may hold `{name}`, `{name:int}` and `{name:path}`, which matches slashes too.

    `body` is the type of the JSON body, which may be left out if all its fields have defaults. `raw_media_type` is that
    of any other body, which the endpoint reads as it arrives (`RouteCall.incoming`). `streams`: responds with a stream
    of events and status 200, and with `response` only to a client that prefers JSON. `media_type` is that of a route
    without `response`. `other_statuses` are those of a success beside `status`.
    """

    method: Method
    path: str
    endpoint: Endpoint
    summary: str
    access: Access = "user"
    body: type[Struct] | None = None
    raw_media_type: str | None = None
    query: type[Struct] | None = None
    response: type[Struct] | None = None
    status: int = 200
    other_statuses: tuple[int, ...] = ()
    streams: bool = False
    media_type: str = "application/json"
    error_format: ErrorFormatter = format_refusal
    max_body_bytes: int = MAX_BODY_BYTES
    lenient: bool = False
    """Unknown fields of the query are ignored, which clients of other APIs rely on."""
    is_rate_limited: bool = True
    """Whether its requests count towards `limits.requestsPerMinute`."""
    fetches_remote: bool = False
    """It requests another site, which may fail."""
    is_safe: bool = True
    """False for a GET that changes something: HEAD, which must have no effect, is refused there."""

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"
