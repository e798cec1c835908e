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
from footnote.server.access import check_origin, principal_of
from footnote.server.decoding import checked, decode, decode_query, read_body
from footnote.server.failures import WrongMethod, reply_to
from footnote.server.incoming import Incoming, lingering
from footnote.server.limits import Buckets, place_of
from footnote.server.negotiation import locale_of
from footnote.server.openapi import document_of
from footnote.server.replies import Reply, struct_as_json
from footnote.server.site import Site
from footnote.server.table import Answer, Call, Route
from footnote.tracing import Work

REQUESTS = Work("request", "Requests, until their answer began.", "route")
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
class _Found:
    path: _Path
    parameters: Mapping[str, Any]


class Dispatcher:
    """The ASGI application."""

    def __init__(self, app: App, table: Iterable[Route]) -> None:
        table = tuple(table)
        settings = app.configuration.settings
        self.site = Site(app, document=cache(lambda: document_of(table)))
        self._public_url = settings.server.public_url
        self._logs_requests = settings.logs.requests
        most = settings.limits.requests_per_minute
        self._requests = Buckets(app.bus, "requests", most, most)
        self._paths = _paths(table)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise AssertionError("the server speaks HTTP alone")
        began = perf_counter()
        asking = _Asking(scope, receive)
        tracing.asked_by(asking.headers.get("traceparent"))
        name, answer = await self._answer(asking, scope, receive)
        self._count(name, answer.status_code, perf_counter() - began, asking)
        if isinstance(answer, Reply) and asking.leaves_body:
            answer.headers["connection"] = "close"  # or the rest of it would be read, however much that is
            send = lingering(receive, send)
        await answer(scope, receive, send)

    def _count(self, name: str, status: int, seconds: float, asking: "_Asking") -> None:
        """An answer that comes in pieces is counted when it begins."""
        self.site.requests[name, status] += 1
        REQUESTS.took(seconds, name, outcome=f"{status // 100}xx")
        if self._logs_requests:
            who = asking.principal.user_id if asking.principal else None
            facts = {"route": name, "status": status, "seconds": round(seconds, 6), "user_id": who}
            log.info("%s %d", name, status, extra={field: fact for field, fact in facts.items() if fact is not None})

    async def _answer(self, asking: "_Asking", scope: Scope, receive: Receive) -> tuple[str, Answer]:
        """The name of the route, for the metrics, and what is sent."""
        route: Route | None = None
        try:
            found = self._find(checked(scope["path"]))
            route = found.path.routes.get("GET" if scope["method"] == "HEAD" else scope["method"])
            asking.principal = await principal_of(asking.headers, self.site.app.accounts)
            if route is None or route.limited:
                await self._requests.take(asking.key, "requests")
            _check_known(found.path, asking.principal)
            if route is None or (scope["method"] == "HEAD" and not route.safe):
                raise _wrong_method(found.path, scope["method"])
            _check_rights(route, asking.principal)
            check_origin(scope["method"], asking.headers, self._public_url)
            call = await self._call(route, found, asking, receive)
            return route.name, await _reply(route, await route.endpoint(call))
        except Exception as error:  # noqa: BLE001 - whatever it is, somebody waits for an answer
            operator = asking.principal is not None and asking.principal.role == "admin"
            reply = reply_to(error, route.errors, operator=operator) if route else reply_to(error, operator=operator)
            return route.name if route else UNKNOWN_PATH, reply

    def _find(self, path: str) -> _Found:
        for one in self._paths:
            if match := one.pattern.fullmatch(path):
                try:
                    return _Found(
                        one, {name: one.convertors[name].convert(text) for name, text in match.groupdict().items()}
                    )
                except ValueError:  # a number of very many digits
                    break
        raise Unknown("There is nothing at this address. /openapi.json lists what there is.")

    async def _call(self, route: Route, found: _Found, asking: "_Asking", receive: Receive) -> Call:
        query = decode_query(asking.query, route.query, lenient=route.lenient)
        body = None
        if route.body is not None:
            raw = await read_body(receive, asking.headers, route.most_bytes)
            asking.has_read = True
            body = await decode(raw, asking.headers, route.body)
        return Call(
            site=self.site,
            method=asking.method,
            principal=asking.principal,
            path=found.parameters,
            query=query,
            body=body,
            headers=asking.headers,
            address=asking.address,
            locale=locale_of(asking.headers.get("accept-language")),
            incoming=asking.incoming,
        )


class _Asking:
    """What is known of a request before its route is."""

    __slots__ = ("address", "has_read", "headers", "incoming", "method", "principal", "query")

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.headers = Headers(scope=scope)
        self.incoming = Incoming(receive, self.headers)
        self.address: str = scope["client"][0] if scope.get("client") else "unknown"
        self.method: str = scope["method"]
        self.query: bytes = scope["query_string"]
        self.principal: Principal | None = None
        self.has_read = False

    @property
    def leaves_body(self) -> bool:
        """It has a body that nobody read to its end."""
        return not self.incoming.is_done and not self.has_read

    @property
    def key(self) -> str:
        """Whose requests these are counted as."""
        return f"user {self.principal.user_id}" if self.principal else f"address {place_of(self.address)}"


def _paths(table: tuple[Route, ...]) -> tuple[_Path, ...]:
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


def _check_known(path: _Path, principal: Principal | None) -> None:
    """Before anything else: who is nobody learns nothing, not even which methods there are."""
    if principal is None and all(route.access != "anyone" for route in path.routes.values()):
        raise NotLoggedIn(
            "Log in, or send a token: `Authorization: Bearer TOKEN`. Yours is in the file `token` of the home folder, "
            "or comes from who runs this server."
        )


def _wrong_method(path: _Path, method: str) -> WrongMethod:
    readable = path.routes.get("GET")
    methods = [*path.routes, "HEAD"] if readable and readable.safe else list(path.routes)
    allowed = ", ".join(sorted(methods))
    return WrongMethod(f"This address takes {allowed}, and not {method[:20]}.", allowed)


def _check_rights(route: Route, principal: Principal | None) -> None:
    if route.access == "anyone":
        return
    if principal is None:
        raise NotLoggedIn("Log in, or send a token: `Authorization: Bearer TOKEN`.")
    if route.access == "admin" and principal.role != "admin":
        raise NotAllowed("Only an admin of this server may do this.")


async def _reply(route: Route, answer: Struct | Answer | None) -> Answer:
    if isinstance(answer, Answer):
        return answer
    if answer is None:
        return Reply(status=204)
    return await struct_as_json(answer, route.status)
