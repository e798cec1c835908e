"""One HTTP client for everything, on aiohttp. Nothing of aiohttp leaves `net`, neither values nor errors."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from types import TracebackType
from typing import Any, Self

import aiohttp
import msgspec

from footnote.net.connector import CONNECT_TIMEOUT_SECONDS, GuardedConnector, ResolveHost, make_connector, resolve_host
from footnote.net.errors import CLIENT_ERRORS, ConnectionFailed, connection_failure
from footnote.net.guard import PageUrl
from footnote.net.proxies import Proxies
from footnote.protocol.errors import UpstreamError

IDLE_TIMEOUT_SECONDS = 180.0
"""No byte for this long is a dead stream: providers send pings every 15 to 30 seconds."""
DRAIN_TIMEOUT_SECONDS = 0.1


class Response:
    """A response whose body is read as it arrives. Close it, whether or not it was read to its end."""

    __slots__ = ("_idle_timeout", "_idle_timer", "_inner", "_waiting_since", "headers", "status")

    def __init__(self, inner: aiohttp.ClientResponse, idle_timeout: float) -> None:
        self._inner = inner
        self._idle_timeout = idle_timeout
        self._waiting_since: float | None = None
        self._idle_timer = asyncio.get_running_loop().call_later(idle_timeout, self._check_idle)
        self.status = inner.status
        self.headers: Mapping[str, str] = inner.headers

    async def read_chunk(self) -> bytes:
        """Whatever has arrived, waiting for at least one byte; empty at the end of the body."""
        self._waiting_since = asyncio.get_running_loop().time()
        try:
            return await self._inner.content.readany()
        except CLIENT_ERRORS as error:
            raise connection_failure(error) from error
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

    def _check_idle(self) -> None:
        """Ends a wait that has lasted too long. One timer a response: the client's own is set anew for every
        chunk, which costs more than reading it."""
        loop = asyncio.get_running_loop()
        waited = 0.0 if self._waiting_since is None else loop.time() - self._waiting_since
        if waited >= self._idle_timeout:
            self._inner.content.set_exception(TimeoutError())
        else:
            self._idle_timer = loop.call_later(self._idle_timeout - waited, self._check_idle)

    async def read_all(self, limit: int) -> bytes:
        """The body, cut at `limit` bytes."""
        body = bytearray()
        while len(body) < limit and (chunk := await self.read_chunk()):
            body += chunk
        return bytes(body[:limit])

    async def drain(self) -> None:
        """Waits a moment for a body that has said all to end, so that its connection can be used again."""
        try:
            async with asyncio.timeout(DRAIN_TIMEOUT_SECONDS):
                while not self._inner.content.at_eof() and await self.read_chunk():
                    pass
        except (TimeoutError, ConnectionFailed):
            self.close()

    def close(self) -> None:
        """Ends the connection at once, unless the body was read to its end: then it is kept for reuse."""
        self._idle_timer.cancel()
        self._inner.close()


class Net:
    """`async with Net() as net`. Endpoints that an operator configured are trusted and asked directly; pages, which
    anybody may have named, only through `open_page`. `look_up` finds the addresses of names."""

    def __init__(
        self,
        proxies: Proxies | None = None,
        *,
        idle_timeout: float = IDLE_TIMEOUT_SECONDS,
        resolve_host: ResolveHost = resolve_host,
    ) -> None:
        self._idle_timeout = idle_timeout
        self._proxies = proxies or Proxies()
        self._resolve_host = resolve_host
        self._page_connector = GuardedConnector(self._proxies, resolve_host)
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
        await self._page_connector.close()

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
            async with asyncio.timeout(self._idle_timeout):
                inner = await self._page_connector.open(target, headers=headers or {}, private_hosts=private_hosts)
        except TimeoutError as error:
            raise connection_failure(error) from error
        return Response(inner, self._idle_timeout)

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | AsyncIterator[bytes] | None = None,
        idle_timeout: float | None = None,
    ) -> Response:
        """Asks a configured endpoint in any way; returns when the head of the response is there. A redirect is
        returned as it is: what the headers prove is for this endpoint alone.

        A body in pieces is sent as they come; its length stands in the header `content-length`. It may take as long
        as it likes while the endpoint goes on taking it. `stall`: seconds without a byte, where that differs from what
        others are given.
        """
        idle_timeout = self._idle_timeout if idle_timeout is None else idle_timeout
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=make_connector(self._resolve_host),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_TIMEOUT_SECONDS),
            )
        proxy = self._proxies.for_url(url)
        waiting = _IdleTimeout(idle_timeout)
        data = body if body is None or isinstance(body, bytes) else waiting.watch(body)
        try:
            async with waiting:
                inner = await self._session.request(
                    method, url, headers=headers, data=data, allow_redirects=False, proxy=proxy
                )
        except CLIENT_ERRORS as error:
            raise connection_failure(error) from error
        return Response(inner, idle_timeout)


class _IdleTimeout:
    """Ends with a `TimeoutError` when nothing has moved for too long."""

    __slots__ = ("_idle_timeout", "_is_active", "_timeout")

    def __init__(self, idle_timeout: float) -> None:
        self._idle_timeout = idle_timeout
        self._timeout = asyncio.timeout(idle_timeout)
        self._is_active = False

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()
        self._is_active = True

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_active = False
        await self._timeout.__aexit__(kind, error, trace)

    async def watch(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Asked for the next piece when the one before has been taken. An endpoint may answer before it has all."""
        async for piece in pieces:
            if self._is_active and not self._timeout.expired():
                self._timeout.reschedule(asyncio.get_running_loop().time() + self._idle_timeout)
            yield piece
