"""Connections to addresses that a page or a model chose, made only to hosts that are allowed, whatever their names
resolve to.

There are three routes, each with its own sockets and connection pool, so that no connection of one is used for another:
`public` checks every address at the moment a socket is made for it; `private` is for hosts that the operator allowed;
`proxied` connects to the operator's proxy alone, and then the proxy resolves names.
"""

import asyncio
import errno
import socket
import threading
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from functools import cache
from importlib.metadata import version
from typing import Any, Literal, TypeAlias

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from footnote.net import ConnectionFailed, FailureKind
from footnote.net.guard import PageUrl, is_public
from footnote.net.proxies import Proxies


class NotPublic(OSError):
    """An address was refused while connecting. aiohttp passes it on as the cause of a connection error."""


_CAUSES: tuple[tuple[type[Exception], FailureKind, str], ...] = (
    (aiohttp.InvalidURL, "connection", "the address is not a valid URL"),
    (aiohttp.ConnectionTimeoutError, "timeout", "no connection could be made in time"),
    (TimeoutError, "timeout", "nothing was received for too long"),
    (aiohttp.ClientConnectorDNSError, "dns", "the host name could not be resolved"),
    (aiohttp.ClientProxyConnectionError, "connection", "the proxy could not be reached"),
    (aiohttp.ClientHttpProxyError, "connection", "the proxy refused the connection"),
    (aiohttp.ClientConnectorCertificateError, "tls", "its certificate was not accepted"),
    (aiohttp.ClientSSLError, "tls", "the TLS handshake failed"),
    (aiohttp.ClientConnectorError, "connection", "the connection was refused"),
)

CLIENT_ERRORS = (aiohttp.ClientError, TimeoutError, OSError, ValueError)
"""The errors that aiohttp raises when a request or a body fails."""


def connection_failure(error: Exception) -> ConnectionFailed:
    is_transient = not isinstance(error, aiohttp.InvalidURL | aiohttp.ClientConnectorCertificateError)
    was_connected = not isinstance(
        error, aiohttp.InvalidURL | aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError
    )
    for error_type, kind, reason in _CAUSES:
        if isinstance(error, error_type):
            return ConnectionFailed(reason, retryable=is_transient, kind=kind, was_connected=was_connected)
    return ConnectionFailed("the connection was broken", retryable=is_transient, was_connected=was_connected)


def _is_refused_address(error: Exception) -> bool:
    return isinstance(error, aiohttp.ClientConnectorError) and isinstance(error.os_error, NotPublic)


ResolveHost: TypeAlias = Callable[[str], Awaitable[Sequence[str]]]
"""Returns all addresses of a host name; raises `OSError` if it has none."""


async def resolve_host(host: str) -> Sequence[str]:
    """Resolves a name by the system's resolver, in a daemon thread: a name server that hangs must delay neither other
    names, as in a thread pool, nor the exit of the process."""
    result: Future[Sequence[str]] = Future()
    result.set_running_or_notify_cancel()

    def resolve() -> None:
        try:
            found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
        except Exception as error:  # noqa: BLE001 - raised where the future is awaited
            result.set_exception(error)
        else:
            result.set_result(list(dict.fromkeys(str(address[0]) for *_, address in found)))

    threading.Thread(target=resolve, name=f"look-up of {host}", daemon=True).start()
    return await asyncio.wrap_future(result)


def make_connector(
    resolve_host: ResolveHost,
    *,
    is_allowed: Callable[[str], bool] | None = None,
    socket_factory: Callable[[Any], socket.socket] | None = None,
) -> aiohttp.TCPConnector:
    """A connector that resolves names by `resolve_host`. aiohttp's own resolver uses a thread pool that is joined at
    exit, and its cache uses tasks that outlive a cancelled request."""
    resolver = _Resolver(resolve_host, is_allowed or (lambda _: True))
    return aiohttp.TCPConnector(limit=0, use_dns_cache=False, resolver=resolver, socket_factory=socket_factory)


class _Resolver(AbstractResolver):
    """Refuses a name if even one of its addresses is not allowed: the next connection could choose that one."""

    def __init__(self, resolve_host: ResolveHost, is_allowed: Callable[[str], bool]) -> None:
        self._resolve_host = resolve_host
        self._is_allowed = is_allowed

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        addresses = await self._resolve_host(host)
        if not all(map(self._is_allowed, addresses)):
            raise NotPublic(errno.EACCES, "not a public address")
        if not addresses:
            raise OSError(errno.EADDRNOTAVAIL, "no address")
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=socket.AI_NUMERICHOST)
            for address in addresses
        ]

    async def close(self) -> None: ...


CONNECT_TIMEOUT_SECONDS = 15.0
MAX_HEADER_BYTES = 65_536
"""Some sites send policies of dozens of kilobytes in their headers."""
PROXY_RESOLVE_TIMEOUT_SECONDS = 2.0

_Route: TypeAlias = Literal["public", "private", "proxied"]


@cache
def user_agent() -> str:
    return f"Footnote/{version('footnote')} (self-hosted research agent)"


class GuardedConnector:
    """The connections to pages. Each call is one request: the caller follows redirects, so that every hop is checked
    here."""

    def __init__(self, proxies: Proxies, resolve_host: ResolveHost) -> None:
        self._proxies = proxies
        self._resolve_host = resolve_host
        self._sessions: dict[_Route, aiohttp.ClientSession] = {}

    async def close(self) -> None:
        sessions, self._sessions = self._sessions, {}
        for session in sessions.values():
            await session.close()

    async def open(
        self, url: PageUrl, *, headers: Mapping[str, str], private_hosts: Collection[str]
    ) -> aiohttp.ClientResponse:
        """The response, its body still compressed; or `ConnectionFailed`."""
        is_private = url.is_allowed_private(private_hosts)
        if not is_private:
            url.check_name()
        proxy = self._proxies.for_host(url.scheme, url.host)
        if proxy and not is_private:
            await self._check_before_proxy(url)
        route: _Route = "proxied" if proxy else "private" if is_private else "public"
        try:
            return await self._session(route).get(
                url.parsed,
                headers={"User-Agent": user_agent(), "Accept-Encoding": "gzip, deflate", **headers},
                allow_redirects=False,
                proxy=proxy,
            )
        except CLIENT_ERRORS as error:
            raise (url.not_public_error() if _is_refused_address(error) else connection_failure(error)) from error

    async def _check_before_proxy(self, url: PageUrl) -> None:
        """The proxy connects, so that the address cannot be checked here. A host that is known to be private is
        refused; a name that only the proxy can resolve is left to the proxy and its rules."""
        if url.address is not None:
            addresses = [str(url.address)]
        else:
            try:
                async with asyncio.timeout(PROXY_RESOLVE_TIMEOUT_SECONDS):
                    addresses = await self._resolve_host(url.host)
            except (OSError, TimeoutError):
                addresses = []
        if not all(map(is_public, addresses)):
            raise url.not_public_error()

    def _session(self, route: _Route) -> aiohttp.ClientSession:
        if route not in self._sessions:
            self._sessions[route] = aiohttp.ClientSession(
                connector=self._connector(route),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_TIMEOUT_SECONDS),
                auto_decompress=False,
                max_line_size=MAX_HEADER_BYTES,
                max_field_size=MAX_HEADER_BYTES,
            )
        return self._sessions[route]

    def _connector(self, route: _Route) -> aiohttp.TCPConnector:
        if route != "public":
            return make_connector(self._resolve_host)
        return make_connector(self._resolve_host, is_allowed=is_public, socket_factory=_public_socket)


def _public_socket(address: tuple[int, int, int, str, tuple[Any, ...]]) -> socket.socket:
    """Creates every socket of the public route, including one to an address that was written in the URL."""
    family, kind, protocol, _, target = address
    if not is_public(str(target[0])):
        raise NotPublic(errno.EACCES, "not a public address")
    return socket.socket(family, kind, protocol)
