"""Connections to addresses that a page or a model chose: made only to where they may go, whatever a name says.

There are three ways, each with sockets and kept connections of its own, so that none can be used for another:
`public` judges every address at the moment a socket is made for it; `private` is for hosts that the operator opened;
`proxied` connects to the operator's proxy and nowhere else, and then it is the proxy that looks names up.
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

from footnote.net.errors import CLIENT_ERRORS, NotPublic, connection_failure, is_refused_address
from footnote.net.guard import PageUrl, is_public
from footnote.net.proxies import Proxies

ResolveHost: TypeAlias = Callable[[str], Awaitable[Sequence[str]]]
"""All addresses of a name; an `OSError` if it has none."""


async def resolve_host(host: str) -> Sequence[str]:
    """Asks the system. In a thread of its own: a name server that hangs must hold up neither other names, as it would
    in a pool, nor the end of the program."""
    answer: Future[Sequence[str]] = Future()
    answer.set_running_or_notify_cancel()

    def ask() -> None:
        try:
            found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
        except Exception as error:  # noqa: BLE001 - handed to whoever waits
            answer.set_exception(error)
        else:
            answer.set_result(list(dict.fromkeys(str(address[0]) for *_, address in found)))

    threading.Thread(target=ask, name=f"look-up of {host}", daemon=True).start()
    return await asyncio.wrap_future(answer)


def make_connector(
    resolve_host: ResolveHost,
    *,
    is_allowed: Callable[[str], bool] | None = None,
    socket_factory: Callable[[Any], socket.socket] | None = None,
) -> aiohttp.TCPConnector:
    """Connections whose names are looked up by `look_up`. The client's own resolver would do it in a pool that is
    waited for at the end, and its cache in tasks that outlive a cancelled request."""
    resolver = _Resolver(resolve_host, is_allowed or (lambda _: True))
    return aiohttp.TCPConnector(limit=0, use_dns_cache=False, resolver=resolver, socket_factory=socket_factory)


class _Resolver(AbstractResolver):
    """A name with even one address that is not allowed is refused: it could be chosen the next time."""

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

    async def close(self) -> None:
        """Nothing is held."""


CONNECT_TIMEOUT_SECONDS = 15.0
MAX_HEADER_BYTES = 65_536
"""Some sites send policies of dozens of kilobytes."""
PROXY_RESOLVE_TIMEOUT_SECONDS = 2.0

_Route: TypeAlias = Literal["public", "private", "proxied"]


@cache
def user_agent() -> str:
    return f"Footnote/{version('footnote')} (self-hosted research agent)"


class GuardedConnector:
    """The way out to pages. One request each time: redirects are the caller's, so that each hop comes through here."""

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
        """The response, its body still compressed, or `ConnectionFailed`."""
        is_private = url.is_allowed_private(private_hosts)
        if not is_private:
            url.check_name()
        proxy = self._proxies.for_host(url.scheme, url.host)
        if proxy and not is_private:
            await self._check_before_proxy(url)
        way: _Route = "proxied" if proxy else "private" if is_private else "public"
        try:
            return await self._session(way).get(
                url.parsed,
                headers={"User-Agent": user_agent(), "Accept-Encoding": "gzip, deflate", **headers},
                allow_redirects=False,
                proxy=proxy,
            )
        except CLIENT_ERRORS as error:
            raise (url.not_public_error() if is_refused_address(error) else connection_failure(error)) from error

    async def _check_before_proxy(self, url: PageUrl) -> None:
        """The proxy makes the connection, so that we cannot see where to. What is known here to be private is not
        asked for; a name that only the proxy can resolve is left to the proxy and its rules."""
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
    """Where every connection of the public way begins, also one to an address that was written into the URL."""
    family, kind, protocol, _, target = address
    if not is_public(str(target[0])):
        raise NotPublic(errno.EACCES, "not a public address")
    return socket.socket(family, kind, protocol)
