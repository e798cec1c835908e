"""A route is data. Dispatch, the OpenAPI document, the tests of who may do what and the docs are made from the table.

ROUTES = (Route("GET", "/v2/runs/{run_id}", view, "How a run stands", answer=RunView),)

async def view(call: Call) -> RunView:
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
from footnote.server.downloads import FileStream
from footnote.server.responses import Reply
from footnote.server.site import Site
from footnote.server.stream import EventStream
from footnote.server.uploads import RequestBody

Method: TypeAlias = Literal["GET", "POST", "PATCH", "PUT", "DELETE"]
Access: TypeAlias = Literal["anyone", "user", "admin"]
MAX_BODY_BYTES = 4_000_000


class RouteRefusal(Struct, frozen=True):
    """Every answer of the API that is not a success."""

    error: ErrorBody


@dataclass(frozen=True, slots=True)
class RouteCall:
    """One request, as its endpoint gets it: known who asks, with query and body decoded into the types of the route."""

    site: Site
    method: str
    """GET and HEAD are asked for by the same route."""
    principal: Principal | None
    path: Mapping[str, Any]
    query: Any
    """A value of the route's `query`."""
    body: Any
    """A value of the route's `body`."""
    headers: Headers
    address: str
    """Where the request comes from: an IP address."""
    locale: Locale | None
    """What the client would like to read, from `Accept-Language`; None: it names no language of ours."""
    incoming: RequestBody
    """The body of a route that takes one `raw`."""

    @property
    def app(self) -> App:
        return self.site.app

    @property
    def current_user(self) -> Principal:
        """Who asks. On a route that is not for anyone it is always known."""
        if self.principal is None:
            raise NotLoggedIn("Log in first.")
        return self.principal

    @property
    def user_id(self) -> str:
        return self.current_user.user_id


Answer: TypeAlias = Reply | EventStream | FileStream
Endpoint: TypeAlias = Callable[[RouteCall], Awaitable[Struct | Answer | None]]
"""Returns a value (sent as JSON with the route's status), an `Answer`, or None where there is no body.

Whatever it raises becomes an answer: an error of ours with its own status, anything else a 500 that tells nothing.
"""
ErrorFormatter: TypeAlias = Callable[[ErrorBody, int], Any]
"""From an error and its status to the JSON that clients of a route expect."""


def format_refusal(error: ErrorBody, _status: int) -> RouteRefusal:
    return RouteRefusal(error)


@dataclass(frozen=True, slots=True)
class Route:
    """`path` may hold `{name}`, `{name:int}` and `{name:path}`, which takes slashes too. The body is JSON; where all
    of its fields have defaults it may be left out. `raw` is the media type of one that is something else: the endpoint
    reads it as it comes (`incoming`). `streams`: answers with server-sent events (status 200), and with `answer` only
    to who asked for JSON. `media_type` is what comes instead of JSON where there is no `answer`. `also`: other statuses
    of a success.
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
    """What the query holds beside its fields is passed over, as clients of other APIs are used to."""
    is_rate_limited: bool = True
    """Counts towards how often somebody may ask."""
    fetches_remote: bool = False
    """What is asked for is fetched from another site, which may fail."""
    is_safe: bool = True
    """A GET that changes something is not safe: a HEAD, which nobody means to have an effect, is refused."""

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"
