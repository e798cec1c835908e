"""The ASGI application: finds the route of a request, applies the rules of all routes, and calls the endpoint."""

import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from typing import Any

from msgspec import Struct
from starlette.convertors import Convertor
from starlette.datastructures import Headers
from starlette.routing import compile_path
from starlette.types import Receive, Scope, Send

from footnote import tracing
from footnote.app import App
from footnote.protocol.accounts import Principal
from footnote.protocol.errors import NotAllowed, NotLoggedIn, Unknown
from footnote.server.access import authenticate, check_origin
from footnote.server.errors import WrongMethod, error_response
from footnote.server.limits import RequestLimits, client_network
from footnote.server.openapi import openapi_json
from footnote.server.requests import (
    RequestBody,
    decode,
    decode_query,
    lingering_send,
    locale_of,
    read_body,
    reject_nul,
)
from footnote.server.responses import Reply, struct_response
from footnote.server.route import AnyResponse, Route, RouteCall, format_refusal
from footnote.server.site import Site
from footnote.tracing import Operation

REQUESTS = Operation("request", "Requests, until their response began.", "route")
UNKNOWN_PATH = "unknown"
"""The label of requests to unknown paths: a path that a client made up must not become a label."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Path:
    """The routes at one path, by method."""

    pattern: re.Pattern[str]
    convertors: Mapping[str, Convertor[Any]]
    routes: Mapping[str, Route]


@dataclass(frozen=True, slots=True)
class _MatchedPath:
    path: _Path
    parameters: Mapping[str, Any]


class Dispatcher:
    def __init__(self, app: App, routes: Iterable[Route]) -> None:
        routes = tuple(routes)
        settings = app.configuration.settings
        self.site = Site(app, openapi_json=cache(lambda: openapi_json(routes)))
        self._public_url = settings.server.public_url
        self._logs_requests = settings.logs.requests
        per_minute = settings.limits.requests_per_minute
        self._requests = RequestLimits(app.bus, "requests", per_minute, per_minute)
        self._paths = _compile_routes(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise AssertionError("the server speaks HTTP alone")
        started_at = perf_counter()
        request = _RequestContext(scope, receive)
        tracing.set_caller(request.headers.get("traceparent"))
        name, response = await self._handle(request, scope, receive)
        self._record_request(name, response.status_code, perf_counter() - started_at, request)
        if isinstance(response, Reply) and request.has_unread_body:
            response.headers["connection"] = "close"  # else the rest of the body would be read, whatever its size
            send = lingering_send(receive, send)
        await response(scope, receive, send)

    def _record_request(self, name: str, status: int, seconds: float, request: "_RequestContext") -> None:
        """Streams are counted when they begin."""
        self.site.request_counts[name, status] += 1
        REQUESTS.observe(seconds, name, outcome=f"{status // 100}xx")
        if self._logs_requests:
            user_id = request.principal.user_id if request.principal else None
            fields = {"route": name, "status": status, "seconds": round(seconds, 6), "user_id": user_id}
            log.info("%s %d", name, status, extra={key: value for key, value in fields.items() if value is not None})

    async def _handle(self, request: "_RequestContext", scope: Scope, receive: Receive) -> tuple[str, AnyResponse]:
        """The name of the route, for the metrics, and the response."""
        route: Route | None = None
        try:
            match = self._match_route(reject_nul(scope["path"]))
            route = match.path.routes.get("GET" if scope["method"] == "HEAD" else scope["method"])
            request.principal = await authenticate(request.headers, self.site.app.accounts)
            if route is None or route.is_rate_limited:
                await self._requests.acquire(request.key, "requests", code="too_many_requests")
            _check_authenticated(match.path, request.principal)
            if route is None or (scope["method"] == "HEAD" and not route.is_safe):
                raise _method_not_allowed(match.path, scope["method"])
            _check_authorized(route, request.principal)
            check_origin(scope["method"], request.headers, self._public_url)
            call = await self._call(route, match, request, receive)
            return route.name, await _to_response(route, await route.endpoint(call))
        except Exception as error:  # noqa: BLE001 - the client must get a response to any error
            is_operator = request.principal is not None and request.principal.role == "admin"
            error_format = route.error_format if route else format_refusal
            return route.name if route else UNKNOWN_PATH, error_response(error, error_format, is_operator=is_operator)

    def _match_route(self, path: str) -> _MatchedPath:
        for known in self._paths:
            if match := known.pattern.fullmatch(path):
                try:
                    return _MatchedPath(
                        known, {name: known.convertors[name].convert(text) for name, text in match.groupdict().items()}
                    )
                except ValueError:  # an integer with thousands of digits
                    break
        raise Unknown("There is nothing at this address. /openapi.json lists all routes.")

    async def _call(self, route: Route, match: _MatchedPath, request: "_RequestContext", receive: Receive) -> RouteCall:
        query = decode_query(request.query, route.query, lenient=route.lenient)
        body = None
        if route.body is not None:
            raw = await read_body(receive, request.headers, route.max_body_bytes)
            request.has_read_body = True
            body = await decode(raw, request.headers, route.body)
        return RouteCall(
            site=self.site,
            method=request.method,
            principal=request.principal,
            path=match.parameters,
            query=query,
            body=body,
            headers=request.headers,
            address=request.address,
            locale=locale_of(request.headers.get("accept-language")),
            incoming=request.incoming,
        )


class _RequestContext:
    """What is known of a request before its route is found."""

    __slots__ = ("address", "has_read_body", "headers", "incoming", "method", "principal", "query")

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.headers = Headers(scope=scope)
        self.incoming = RequestBody(receive, self.headers)
        self.address: str = scope["client"][0] if scope.get("client") else "unknown"
        self.method: str = scope["method"]
        self.query: bytes = scope["query_string"]
        self.principal: Principal | None = None
        self.has_read_body = False

    @property
    def has_unread_body(self) -> bool:
        """Whether there is a body that was not read to its end."""
        return not self.incoming.is_done and not self.has_read_body

    @property
    def key(self) -> str:
        """The key under which the rate limit counts this request."""
        return f"user {self.principal.user_id}" if self.principal else f"address {client_network(self.address)}"


def _compile_routes(routes: tuple[Route, ...]) -> tuple[_Path, ...]:
    """Paths without parameters first, so that `/v2/users/me` is not the user `me`."""
    grouped: dict[str, dict[str, Route]] = {}
    for route in routes:
        if grouped.setdefault(route.path, {}).setdefault(route.method, route) is not route:
            raise AssertionError(f"{route.name} is in the table twice")
    paths: list[_Path] = []
    for path, by_method in sorted(grouped.items(), key=lambda item: item[0].count("{")):
        pattern, _, convertors = compile_path(path)
        paths.append(_Path(pattern, convertors, by_method))
    return tuple(paths)


def _check_authenticated(path: _Path, principal: Principal | None) -> None:
    """Runs before the other checks: an anonymous client learns nothing, not even the methods of a path."""
    if principal is None and all(route.access != "anyone" for route in path.routes.values()):
        raise NotLoggedIn(
            "Log in, or send a token: `Authorization: Bearer TOKEN`. Yours is in the file `token` of the home folder, "
            "or comes from the operator of this server."
        )


def _method_not_allowed(path: _Path, method: str) -> WrongMethod:
    readable = path.routes.get("GET")
    methods = [*path.routes, "HEAD"] if readable and readable.is_safe else list(path.routes)
    allowed = ", ".join(sorted(methods))
    return WrongMethod(f"This address takes {allowed}, and not {method[:20]}.", allowed)


def _check_authorized(route: Route, principal: Principal | None) -> None:
    if route.access == "anyone":
        return
    if principal is None:
        raise NotLoggedIn("Log in, or send a token: `Authorization: Bearer TOKEN`.")
    if route.access == "admin" and principal.role != "admin":
        raise NotAllowed("Only an admin of this server may do this.", code="admin_only")


async def _to_response(route: Route, result: Struct | AnyResponse | None) -> AnyResponse:
    if isinstance(result, AnyResponse):
        return result
    if result is None:
        return Reply(status=204)
    return await struct_response(result, route.status)
