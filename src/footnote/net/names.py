"""Host names to addresses."""

import asyncio
import errno
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeAlias

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from footnote.net.failures import NotPublic

LookUp: TypeAlias = Callable[[str], Awaitable[Sequence[str]]]
"""All addresses of a name; an `OSError` if it has none."""


async def look_up(host: str) -> Sequence[str]:
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


def connector(
    look_up: LookUp,
    *,
    is_allowed: Callable[[str], bool] | None = None,
    socket_factory: Callable[[Any], socket.socket] | None = None,
) -> aiohttp.TCPConnector:
    """Connections whose names are looked up by `look_up`. The client's own resolver would do it in a pool that is
    waited for at the end, and its cache in tasks that outlive a cancelled request."""
    resolver = _Resolver(look_up, is_allowed or (lambda _: True))
    return aiohttp.TCPConnector(limit=0, use_dns_cache=False, resolver=resolver, socket_factory=socket_factory)


class _Resolver(AbstractResolver):
    """A name with even one address that is not allowed is refused: it could be chosen the next time."""

    def __init__(self, look_up: LookUp, is_allowed: Callable[[str], bool]) -> None:
        self._look_up = look_up
        self._is_allowed = is_allowed

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        addresses = await self._look_up(host)
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
