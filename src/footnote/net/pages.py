"""Connections to addresses that a page or a model chose: made only to where they may go, whatever a name says.

There are three ways, each with sockets and kept connections of its own, so that none can be used for another:
`public` judges every address at the moment a socket is made for it; `private` is for hosts that the operator opened;
`proxied` connects to the operator's proxy and nowhere else, and then it is the proxy that looks names up.
"""

import asyncio
import errno
import socket
from collections.abc import Collection, Mapping
from functools import cache
from importlib.metadata import version
from typing import Any, Literal, TypeAlias

import aiohttp

from footnote.net.failures import FAILURES, NotPublic, failed, was_refused
from footnote.net.guard import PageUrl, is_public
from footnote.net.names import LookUp, connector
from footnote.net.proxies import Proxies

CONNECT_SECONDS = 15.0
LONGEST_HEADER = 65_536
"""Some sites send policies of dozens of kilobytes."""
LOOK_UP_BEFORE_PROXY_SECONDS = 2.0

_Way: TypeAlias = Literal["public", "private", "proxied"]


@cache
def user_agent() -> str:
    return f"Footnote/{version('footnote')} (self-hosted research agent)"


class PageDoor:
    """The way out to pages. One request each time: redirects are the caller's, so that each hop comes through here."""

    def __init__(self, proxies: Proxies, look_up: LookUp) -> None:
        self._proxies = proxies
        self._look_up = look_up
        self._sessions: dict[_Way, aiohttp.ClientSession] = {}

    async def close(self) -> None:
        sessions, self._sessions = self._sessions, {}
        for session in sessions.values():
            await session.close()

    async def open(
        self, url: PageUrl, *, headers: Mapping[str, str], private_hosts: Collection[str]
    ) -> aiohttp.ClientResponse:
        """The response, its body still compressed, or `ConnectionFailed`."""
        is_private = url.is_among(private_hosts)
        if not is_private:
            url.check_name()
        proxy = self._proxies.of_host(url.scheme, url.host)
        if proxy and not is_private:
            await self._check_before_proxy(url)
        way: _Way = "proxied" if proxy else "private" if is_private else "public"
        try:
            return await self._session(way).get(
                url.parsed,
                headers={"User-Agent": user_agent(), "Accept-Encoding": "gzip, deflate", **headers},
                allow_redirects=False,
                proxy=proxy,
            )
        except FAILURES as error:
            raise (url.not_public() if was_refused(error) else failed(error)) from error

    async def _check_before_proxy(self, url: PageUrl) -> None:
        """The proxy makes the connection, so that we cannot see where to. What is known here to be private is not
        asked for; a name that only the proxy can resolve is left to the proxy and its rules."""
        if url.address is not None:
            addresses = [str(url.address)]
        else:
            try:
                async with asyncio.timeout(LOOK_UP_BEFORE_PROXY_SECONDS):
                    addresses = await self._look_up(url.host)
            except (OSError, TimeoutError):
                addresses = []
        if not all(map(is_public, addresses)):
            raise url.not_public()

    def _session(self, way: _Way) -> aiohttp.ClientSession:
        if way not in self._sessions:
            self._sessions[way] = aiohttp.ClientSession(
                connector=self._connector(way),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS),
                auto_decompress=False,
                max_line_size=LONGEST_HEADER,
                max_field_size=LONGEST_HEADER,
            )
        return self._sessions[way]

    def _connector(self, way: _Way) -> aiohttp.TCPConnector:
        if way != "public":
            return connector(self._look_up)
        return connector(self._look_up, is_allowed=is_public, socket_factory=_public_socket)


def _public_socket(address: tuple[int, int, int, str, tuple[Any, ...]]) -> socket.socket:
    """Where every connection of the public way begins, also one to an address that was written into the URL."""
    family, kind, protocol, _, target = address
    if not is_public(str(target[0])):
        raise NotPublic(errno.EACCES, "not a public address")
    return socket.socket(family, kind, protocol)
