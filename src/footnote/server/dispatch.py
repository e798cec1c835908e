"""From a request to the answer of its endpoint. Everything that holds for all routes is done here, once."""

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
from footnote.server.decoding import decode, decode_query, read_body, reject_nul
from footnote.server.errors import WrongMethod, error_response
from footnote.server.limits import RequestLimits, client_network
from footnote.server.negotiation import locale_of
from footnote.server.openapi import openapi_json
from footnote.server.responses import Reply, struct_response
from footnote.server.route import Answer, Route, RouteCall
from footnote.server.site import Site
from footnote.server.uploads import RequestBody, lingering_send
from footnote.tracing import Operation

REQUESTS = Operation("request", "Requests, until their answer began.", "route")
UNKNOWN_PATH = "unknown"
"""What requests to no route are counted as: an address that somebody made up is no label."""


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Path:
    """The routes at one path, by method."""

    pattern: re.Pattern[str]
    convertors: Mapping[str, Convertor[Any]]
    routes: Mapping[str, Route]


@dataclass(frozen=True, slots=True)
class _MatchedRoute:
    path: _Path
    parameters: Mapping[str, Any]


class Dispatcher:
    """The ASGI application."""

    def __init__(self, app: App, routes: Iterable[Route]) -> None:
        routes = tuple(routes)
        settings = app.configuration.settings
        self.site = Site(app, openapi_json=cache(lambda: openapi_json(routes)))
        self._public_url = settings.server.public_url
        self._logs_requests = settings.logs.requests
        most = settings.limits.requests_per_minute
        self._requests = RequestLimits(app.bus, "requests", most, most)
        self._paths = _compile_routes(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise AssertionError("the server speaks HTTP alone")
        began = perf_counter()
        asking = _RequestContext(scope, receive)
        tracing.set_caller(asking.headers.get("traceparent"))
        name, answer = await self._handle(asking, scope, receive)
        self._record_request(name, answer.status_code, perf_counter() - began, asking)
        if isinstance(answer, Reply) and asking.has_unread_body:
            answer.headers["connection"] = "close"  # or the rest of it would be read, however much that is
            send = lingering_send(receive, send)
        await answer(scope, receive, send)

    def _record_request(self, name: str, status: int, seconds: float, request: "_RequestContext") -> None:
        """An answer that comes in pieces is counted when it begins."""
        self.site.request_counts[name, status] += 1
        REQUESTS.observe(seconds, name, outcome=f"{status // 100}xx")
        if self._logs_requests:
            who = request.principal.user_id if request.principal else None
            facts = {"route": name, "status": status, "seconds": round(seconds, 6), "user_id": who}
            log.info("%s %d", name, status, extra={field: fact for field, fact in facts.items() if fact is not None})

    async def _handle(self, request: "_RequestContext", scope: Scope, receive: Receive) -> tuple[str, Answer]:
        """The name of the route, for the metrics, and what is sent."""
        route: Route | None = None
        try:
            found = self._match_route(reject_nul(scope["path"]))
            route = found.path.routes.get("GET" if scope["method"] == "HEAD" else scope["method"])
            request.principal = await authenticate(request.headers, self.site.app.accounts)
            if route is None or route.is_rate_limited:
                await self._requests.acquire(request.key, "requests")
            _check_authenticated(found.path, request.principal)
            if route is None or (scope["method"] == "HEAD" and not route.is_safe):
                raise _method_not_allowed(found.path, scope["method"])
            _check_authorized(route, request.principal)
            check_origin(scope["method"], request.headers, self._public_url)
            call = await self._call(route, found, request, receive)
            return route.name, await _to_response(route, await route.endpoint(call))
        except Exception as error:  # noqa: BLE001 - whatever it is, somebody waits for an answer
            operator = request.principal is not None and request.principal.role == "admin"
            reply = (
                error_response(error, route.error_format, is_operator=operator)
                if route
                else error_response(error, is_operator=operator)
            )
            return route.name if route else UNKNOWN_PATH, reply

    def _match_route(self, path: str) -> _MatchedRoute:
        for one in self._paths:
            if match := one.pattern.fullmatch(path):
                try:
                    return _MatchedRoute(
                        one, {name: one.convertors[name].convert(text) for name, text in match.groupdict().items()}
                    )
                except ValueError:  # a number of very many digits
                    break
        raise Unknown("There is nothing at this address. /openapi.json lists what there is.")

    async def _call(
        self, route: Route, found: _MatchedRoute, request: "_RequestContext", receive: Receive
    ) -> RouteCall:
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
            path=found.parameters,
            query=query,
            body=body,
            headers=request.headers,
            address=request.address,
            locale=locale_of(request.headers.get("accept-language")),
            incoming=request.incoming,
        )


class _RequestContext:
    """What is known of a request before its route is."""

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
        """It has a body that nobody read to its end."""
        return not self.incoming.is_done and not self.has_read_body

    @property
    def key(self) -> str:
        """Whose requests these are counted as."""
        return f"user {self.principal.user_id}" if self.principal else f"address {client_network(self.address)}"


def _compile_routes(table: tuple[Route, ...]) -> tuple[_Path, ...]:
    """Those without parameters first: `/v2/users/me` is not the user `me`."""
    grouped: dict[str, dict[str, Route]] = {}
    for route in table:
        if grouped.setdefault(route.path, {}).setdefault(route.method, route) is not route:
            raise AssertionError(f"{route.name} stands in the table twice")
    paths: list[_Path] = []
    for path, routes in sorted(grouped.items(), key=lambda item: item[0].count("{")):
        pattern, _, convertors = compile_path(path)
        paths.append(_Path(pattern, convertors, routes))
    return tuple(paths)


def _check_authenticated(path: _Path, principal: Principal | None) -> None:
    """Before anything else: who is nobody learns nothing, not even which methods there are."""
    if principal is None and all(route.access != "anyone" for route in path.routes.values()):
        raise NotLoggedIn(
            "Log in, or send a token: `Authorization: Bearer TOKEN`. Yours is in the file `token` of the home folder, "
            "or comes from who runs this server."
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
        raise NotAllowed("Only an admin of this server may do this.")


async def _to_response(route: Route, answer: Struct | Answer | None) -> Answer:
    if isinstance(answer, Answer):
        return answer
    if answer is None:
        return Reply(status=204)
    return await struct_response(answer, route.status)
