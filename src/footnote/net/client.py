"""One HTTP client for everything, on aiohttp. Nothing of aiohttp leaves this module, neither values nor errors."""

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import aiohttp
import msgspec

from footnote.net.proxies import Proxies
from footnote.protocol.errors import UpstreamError

CONNECT_SECONDS = 15.0
STALL_SECONDS = 180.0
"""No byte for this long is a dead stream: providers send pings every 15 to 30 seconds."""
DRAIN_SECONDS = 0.1


class ConnectionFailed(UpstreamError):
    """Nobody answered, or the connection broke. The message says which, and names no header or body."""

    type = "connection_error"

    def __init__(self, message: str, *, retryable: bool = True) -> None:
        super().__init__(message)
        self.retryable = retryable


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
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _failed(error) from error
        finally:
            self._waiting_since = None

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
    """`async with Net() as net`. Endpoints that an operator configured are trusted and asked directly."""

    def __init__(self, proxies: Proxies | None = None, *, stall: float = STALL_SECONDS) -> None:
        self._stall = stall
        self._proxies = proxies or Proxies()
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

    async def post(self, url: str, *, headers: Mapping[str, str], body: bytes) -> Response:
        """Sends `body`; returns when the head of the response is there."""
        return await self._request("POST", url, headers=headers, data=body)

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
                response = await self._request("GET", url, headers=headers or {}, data=None)
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

    async def _request(self, method: str, url: str, *, headers: Mapping[str, str], data: bytes | None) -> Response:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS),
            )
        try:
            async with asyncio.timeout(self._stall):
                inner = await self._session.request(
                    method, url, headers=headers, data=data, allow_redirects=False, proxy=self._proxies.of_url(url)
                )
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise _failed(error) from error
        return Response(inner, self._stall)


_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (aiohttp.InvalidURL, "the address is not a valid URL"),
    (aiohttp.ConnectionTimeoutError, "no connection could be made in time"),
    (TimeoutError, "nothing was received for too long"),
    (aiohttp.ClientConnectorDNSError, "the host name could not be resolved"),
    (aiohttp.ClientProxyConnectionError, "the proxy could not be reached"),
    (aiohttp.ClientHttpProxyError, "the proxy refused the connection"),
    (aiohttp.ClientConnectorCertificateError, "its certificate was not accepted"),
    (aiohttp.ClientSSLError, "the TLS handshake failed"),
    (aiohttp.ClientConnectorError, "the connection was refused"),
)


def _failed(error: Exception) -> ConnectionFailed:
    found = (reason for kind, reason in _REASONS if isinstance(error, kind))
    passing = not isinstance(error, aiohttp.InvalidURL | aiohttp.ClientConnectorCertificateError)
    return ConnectionFailed(next(found, "the connection was broken"), retryable=passing)
