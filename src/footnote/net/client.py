"""The HTTP client, on aiohttp. No value and no error of aiohttp leaves `net`."""

import asyncio
import socket
from collections.abc import AsyncIterator, Collection, Mapping
from types import TracebackType
from typing import Any, Self

import aiohttp
import msgspec

from footnote.net import ConnectionFailed
from footnote.net.connector import (
    CLIENT_ERRORS,
    CONNECT_TIMEOUT_SECONDS,
    GuardedConnector,
    ResolveHost,
    connection_failure,
    make_connector,
    resolve_host,
)
from footnote.net.guard import PageUrl
from footnote.net.proxies import Proxies
from footnote.protocol.errors import UpstreamError

IDLE_TIMEOUT_SECONDS = 180.0
"""A stream without a byte for this long is dead: providers send pings every 15 to 30 seconds."""
DRAIN_TIMEOUT_SECONDS = 0.1
PAUSE_BYTES = 32_768
"""So many bytes end a pause."""


class Response:
    """A response whose body is read as it arrives. Close it, whether or not it was read to its end."""

    __slots__ = (
        "_idle_timeout",
        "_idle_timer",
        "_inner",
        "_is_paused",
        "_loop",
        "_socket",
        "_waiting_since",
        "headers",
        "status",
    )

    def __init__(self, inner: aiohttp.ClientResponse, idle_timeout: float) -> None:
        self._inner = inner
        self._idle_timeout = idle_timeout
        self._waiting_since: float | None = None
        self._is_paused = False
        self._socket: socket.socket | None = None
        """A second descriptor of the connection's socket, once a pause needed one."""
        # The loop is stored: looking up the running loop is a system call, and a stream is read for every delta.
        self._loop = asyncio.get_running_loop()
        self._idle_timer = self._loop.call_later(idle_timeout, self._check_idle)
        self.status = inner.status
        self.headers: Mapping[str, str] = inner.headers

    async def read_chunk(self) -> bytes:
        """The bytes that have arrived, at least one; empty at the end of the body."""
        self._waiting_since = self._loop.time()
        try:
            return await self._inner.content.readany()
        except CLIENT_ERRORS as error:
            raise connection_failure(error) from error
        finally:
            self._waiting_since = None
            if self._is_paused:  # a connection that is reused for another response must not be
                self.resume()

    def pause(self) -> None:
        """Leaves incoming bytes in the socket's buffer, to be read in one piece: until `resume`, the end of the body,
        or `PAUSE_BYTES`.

        Done by the low-water mark of the socket, with which the kernel does not report fewer bytes. A transport that
        pauses stays registered for them, so that the event loop wakes once more for each pause.
        """
        if self._socket is None:
            connection = self._inner.connection
            transport = connection.transport if connection is not None else None
            if transport is None:  # the body has ended, or the connection is lost
                return
            named = transport.get_extra_info("socket")
            self._socket = socket.fromfd(named.fileno(), named.family, named.type)
        self._is_paused = _set_low_water(self._socket, PAUSE_BYTES)

    def resume(self) -> None:
        """Reads what has arrived. Does nothing for a response that is not paused, or closed."""
        if self._is_paused and self._socket is not None:
            self._is_paused = False
            _set_low_water(self._socket, 1)

    def _check_idle(self) -> None:
        """Aborts a read that has been idle for too long. There is one timer per response: aiohttp's own is reset for
        every chunk, which costs more than reading it."""
        waited = 0.0 if self._waiting_since is None else self._loop.time() - self._waiting_since
        if waited >= self._idle_timeout:
            self._inner.content.set_exception(TimeoutError())
        else:
            self._idle_timer = self._loop.call_later(self._idle_timeout - waited, self._check_idle)

    async def read_all(self, limit: int) -> bytes:
        """The body, truncated to `limit` bytes."""
        body = bytearray()
        while len(body) < limit and (chunk := await self.read_chunk()):
            body += chunk
        return bytes(body[:limit])

    async def drain(self) -> None:
        """Waits briefly for the end of a body whose content is complete, so that its connection can be reused."""
        try:
            async with asyncio.timeout(DRAIN_TIMEOUT_SECONDS):
                while not self._inner.content.at_eof() and await self.read_chunk():
                    pass
        except (TimeoutError, ConnectionFailed):
            self.close()

    def close(self) -> None:
        """Closes the connection, unless the body was read to its end: then the connection is reused."""
        self._idle_timer.cancel()
        if self._socket is not None:
            self.resume()
            self._socket.close()  # the connection stays open for as long as any descriptor of its socket does
            self._socket = None
        self._inner.close()


def _set_low_water(connection: socket.socket, size: int) -> bool:
    """False: this system has no such mark, or the connection is lost."""
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)
    except OSError:
        return False
    return True


class Net:
    """`async with Net() as net`. Endpoints that an operator configured are trusted and requested directly; pages, whose
    URL anyone may have chosen, only through `open_page`. `resolve_host` resolves host names."""

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

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, idle_timeout: float | None = None
    ) -> Response:
        """Sends a POST request; returns when the response headers are there."""
        return await self.request("POST", url, headers=headers, body=body, idle_timeout=idle_timeout)

    async def get(self, url: str, *, headers: Mapping[str, str] | None = None) -> Response:
        """Sends a GET request to a configured endpoint; returns when the response headers are there."""
        return await self.request("GET", url, headers=headers or {})

    async def get_json(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = 5.0,  # noqa: ASYNC109 - applied right here
    ) -> Any:
        """The JSON at `url`. Any response but a 2xx with JSON is an `UpstreamError`."""
        return await self._request_json("GET", url, headers or {}, None, timeout)

    async def post_json(
        self,
        url: str,
        value: Any,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = 5.0,  # noqa: ASYNC109 - applied right here
    ) -> Any:
        """The JSON that `url` answers to a JSON value; errors as with `get_json`."""
        sent = {"content-type": "application/json", **(headers or {})}
        return await self._request_json("POST", url, sent, msgspec.json.encode(value), timeout)

    async def _request_json(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        timeout: float,  # noqa: ASYNC109 - applied right here
    ) -> Any:
        try:
            async with asyncio.timeout(timeout):
                response = await self.request(method, url, headers=headers, body=body)
                try:
                    answer = await response.read_all(10_000_000)
                finally:
                    response.close()
        except TimeoutError:
            raise ConnectionFailed(f"no answer within {timeout:g} seconds") from None
        if not 200 <= response.status < 300:
            raise UpstreamError(f"answered with status {response.status}", status=response.status)
        try:
            return msgspec.json.decode(answer)
        except msgspec.DecodeError:
            raise UpstreamError("answered with something that is not JSON") from None

    async def open_page(
        self, url: str, *, headers: Mapping[str, str] | None = None, private_hosts: Collection[str] = ()
    ) -> Response:
        """Requests a page whose URL a model or another page chose; returns when the response headers are there.

        One hop: a redirect is returned to the caller. The body keeps its content encoding. `AddressRefused`: the host
        is not on the public web and `private_hosts` (exact `host:port`) does not allow it.
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
        """Sends a request to a configured endpoint; returns when the response headers are there. A redirect is returned
        to the caller: the credentials in the headers are for this endpoint alone.

        A streamed body is sent chunk by chunk; the caller sets its `content-length`. Sending may take any time while
        the endpoint keeps reading. `idle_timeout`: seconds without a byte, where that differs from the default.
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
    """Raises `TimeoutError` when no byte has moved for too long."""

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
        """Passes the chunks of a request body on and resets the timer with each. An endpoint may respond before it has
        read all of them."""
        async for piece in pieces:
            if self._is_active and not self._timeout.expired():
                self._timeout.reschedule(asyncio.get_running_loop().time() + self._idle_timeout)
            yield piece
