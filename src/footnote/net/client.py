"""One HTTP client for everything, on aiohttp. Nothing of aiohttp leaves `net`, neither values nor errors."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from types import TracebackType
from typing import Any, Self

import aiohttp
import msgspec

from footnote.net.failures import FAILURES, ConnectionFailed, failed
from footnote.net.guard import PageUrl
from footnote.net.names import LookUp, connector, look_up
from footnote.net.pages import CONNECT_SECONDS, PageDoor
from footnote.net.proxies import Proxies
from footnote.protocol.errors import UpstreamError

STALL_SECONDS = 180.0
"""No byte for this long is a dead stream: providers send pings every 15 to 30 seconds."""
DRAIN_SECONDS = 0.1


class Response:
    """A response whose body is read as it arrives. Close it, whether or not it was read to its end."""

    __slots__ = ("_inner", "_stall", "_waiting_since", "_watch", "headers", "status")

    def __init__(self, inner: aiohttp.ClientResponse, stall: float) -> None:
        self._inner = inner
        self._stall = stall
        self._waiting_since: float | None = None
        self._watch = asyncio.get_running_loop().call_later(stall, self._look)
        self.status = inner.status
        self.headers: Mapping[str, str] = inner.headers

    async def read_some(self) -> bytes:
        """Whatever has arrived, waiting for at least one byte; empty at the end of the body."""
        self._waiting_since = asyncio.get_running_loop().time()
        try:
            return await self._inner.content.readany()
        except FAILURES as error:
            raise failed(error) from error
        finally:
            self._waiting_since = None

    def pause(self) -> None:
        """Leaves what arrives in the socket's buffer until `resume`: then it is read in one piece."""
        if transport := self._transport:
            transport.pause_reading()

    def resume(self) -> None:
        if transport := self._transport:
            transport.resume_reading()

    @property
    def _transport(self) -> asyncio.Transport | None:
        """None: the body has ended, or the connection is lost."""
        connection = self._inner.connection
        return connection.transport if connection is not None else None

    def _look(self) -> None:
        """Ends a wait that has lasted too long. One timer a response: the client's own is set anew for every
        chunk, which costs more than reading it."""
        loop = asyncio.get_running_loop()
        waited = 0.0 if self._waiting_since is None else loop.time() - self._waiting_since
        if waited >= self._stall:
            self._inner.content.set_exception(TimeoutError())
        else:
            self._watch = loop.call_later(self._stall - waited, self._look)

    async def read_all(self, limit: int) -> bytes:
        """The body, cut at `limit` bytes."""
        body = bytearray()
        while len(body) < limit and (chunk := await self.read_some()):
            body += chunk
        return bytes(body[:limit])

    async def drain(self) -> None:
        """Waits a moment for a body that has said all to end, so that its connection can be used again."""
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                while not self._inner.content.at_eof() and await self.read_some():
                    pass
        except (TimeoutError, ConnectionFailed):
            self.close()

    def close(self) -> None:
        """Ends the connection at once, unless the body was read to its end: then it is kept for reuse."""
        self._watch.cancel()
        self._inner.close()


class Net:
    """`async with Net() as net`. Endpoints that an operator configured are trusted and asked directly; pages, which
    anybody may have named, only through `open_page`. `look_up` finds the addresses of names."""

    def __init__(
        self, proxies: Proxies | None = None, *, stall: float = STALL_SECONDS, look_up: LookUp = look_up
    ) -> None:
        self._stall = stall
        self._proxies = proxies or Proxies()
        self._look_up = look_up
        self._pages = PageDoor(self._proxies, look_up)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None
        await self._pages.close()

    async def post(self, url: str, *, headers: Mapping[str, str], body: bytes) -> Response:
        """Sends `body`; returns when the head of the response is there."""
        return await self.request("POST", url, headers=headers, body=body)

    async def get(self, url: str, *, headers: Mapping[str, str] | None = None) -> Response:
        """Asks a configured endpoint; returns when the head of the response is there."""
        return await self.request("GET", url, headers=headers or {})

    async def get_json(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = 5.0,  # noqa: ASYNC109 - applied right here
    ) -> Any:
        """The JSON at `url`. Anything but a 2xx with JSON is an `UpstreamError`."""
        try:
            async with asyncio.timeout(timeout):
                response = await self.request("GET", url, headers=headers or {})
                try:
                    body = await response.read_all(10_000_000)
                finally:
                    response.close()
        except TimeoutError:
            raise ConnectionFailed(f"no answer within {timeout:g} seconds") from None
        if not 200 <= response.status < 300:
            raise UpstreamError(f"answered with status {response.status}", status=response.status)
        try:
            return msgspec.json.decode(body)
        except msgspec.DecodeError:
            raise UpstreamError("answered with something that is not JSON") from None

    async def open_page(
        self, url: str, *, headers: Mapping[str, str] | None = None, private_hosts: Collection[str] = ()
    ) -> Response:
        """Asks for a page that a model or another page named; returns when the head of the response is there.

        One hop: a redirect is returned as it is. The body is as it was sent, compressed or not. `AddressRefused` if it
        is not on the public web and `private_hosts` (exact `host:port`) does not open it.
        """
        target = PageUrl.parse(url)
        try:
            async with asyncio.timeout(self._stall):
                inner = await self._pages.open(target, headers=headers or {}, private_hosts=private_hosts)
        except TimeoutError as error:
            raise failed(error) from error
        return Response(inner, self._stall)

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | AsyncIterator[bytes] | None = None,
        stall: float | None = None,
    ) -> Response:
        """Asks a configured endpoint in any way; returns when the head of the response is there. A redirect is
        returned as it is: what the headers prove is for this endpoint alone.

        A body in pieces is sent as they come; its length stands in the header `content-length`. It may take as long
        as it likes while the endpoint goes on taking it. `stall`: seconds without a byte, where that differs from what
        others are given.
        """
        stall = self._stall if stall is None else stall
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=connector(self._look_up),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS),
            )
        proxy = self._proxies.of_url(url)
        waiting = _Waiting(stall)
        data = body if body is None or isinstance(body, bytes) else waiting.watched(body)
        try:
            async with waiting:
                inner = await self._session.request(
                    method, url, headers=headers, data=data, allow_redirects=False, proxy=proxy
                )
        except FAILURES as error:
            raise failed(error) from error
        return Response(inner, stall)


class _Waiting:
    """Ends with a `TimeoutError` when nothing has moved for too long."""

    __slots__ = ("_limit", "_open", "_stall")

    def __init__(self, stall: float) -> None:
        self._stall = stall
        self._limit = asyncio.timeout(stall)
        self._open = False

    async def __aenter__(self) -> None:
        await self._limit.__aenter__()
        self._open = True

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        await self._limit.__aexit__(kind, error, trace)

    async def watched(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Asked for the next piece when the one before has been taken. An endpoint may answer before it has all."""
        async for piece in pieces:
            if self._open and not self._limit.expired():
                self._limit.reschedule(asyncio.get_running_loop().time() + self._stall)
            yield piece
