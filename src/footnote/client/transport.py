"""HTTP requests to one server, and its errors. The token is sent to this server only: redirects are not followed."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from footnote.net import ConnectionFailed
from footnote.net.client import Net, Response
from footnote.protocol.errors import (
    Conflict,
    FileChanged,
    FootnoteError,
    LimitReached,
    NotAllowed,
    NotLoggedIn,
    RunActive,
    StatementRefusal,
    TooLarge,
    Unknown,
    UnprocessableFile,
    UpstreamError,
    UsageError,
    WrongKind,
)
from footnote.protocol.events import ErrorBody

RETRYABLE_STATUSES = frozenset({502, 503, 504})
"""Worth another attempt: the answers of a server that is starting, or of the proxy before it."""

_ERROR_TYPES: dict[str, type[UsageError]] = {
    kind.type: kind
    for kind in (
        *(UsageError, Unknown, Conflict, RunActive, FileChanged, TooLarge, WrongKind, UnprocessableFile),
        *(NotLoggedIn, NotAllowed),
    )
}


class _ErrorReply(msgspec.Struct, frozen=True):
    error: ErrorBody


def error_from_response(base_url: str, status: int, headers: Mapping[str, str], body: bytes) -> FootnoteError:
    """The error for a response without success, with the server's own message if it has one."""
    if 300 <= status < 400:
        return UpstreamError(
            f"{base_url} redirects to another address, and the token is for this one only. "
            f"Give that address{_redirect_hint(headers)}.",
            status=status,
        )
    reported = _parse_error(body)
    if status == 401:
        return NotLoggedIn(
            f"{base_url} does not accept the token. Set FOOTNOTE_TOKEN to a token of that server: one that was created "
            "for you there, or the content of the file `token` in its home folder."
        )
    if reported is None:
        return UpstreamError(
            f"{base_url} answered with status {status} and does not seem to be Footnote.", status=status
        )
    if status == 429:
        return LimitReached(reported.message, retry_after=_retry_after(headers))
    if 400 <= status < 500:
        return _usage_error(reported)
    return UpstreamError(reported.message, status=status)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """The header `Retry-After`, if it is a number of seconds."""
    value = headers.get("Retry-After", "")
    return float(value) if value.isdecimal() else None


def unreachable_error(base_url: str, reason: str) -> UpstreamError:
    return UpstreamError(
        f"{base_url} cannot be reached: {reason}. Start a server there with `footnote serve`, or leave out --server."
    )


def _parse_error(body: bytes) -> ErrorBody | None:
    try:
        return msgspec.json.decode(body, type=_ErrorReply).error
    except msgspec.DecodeError:
        return None


def _usage_error(reported: ErrorBody) -> UsageError:
    error = _ERROR_TYPES.get(reported.type, UsageError)(reported.message)
    error.code = reported.code or error.code
    error.params = reported.params or {}
    error.refused_statements = tuple(StatementRefusal(*astuple(one)) for one in reported.statements or ())
    return error


def _redirect_hint(headers: Mapping[str, Any]) -> str:
    location = str(headers.get("Location", ""))
    return f": {location}" if location.startswith(("http://", "https://")) else ""


MAX_RESPONSE_BYTES = 1_000_000_000
JSON = "application/json"

_T = TypeVar("_T")


class Transport:
    def __init__(self, net: Net, base_url: str, token: str | None) -> None:
        self.base_url = parse_server_url(base_url)
        self._net = net
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    async def request(self, method: str, path: str, kind: type[_T], body: Struct | None = None) -> _T:
        return self.decode(await self.request_bytes(method, path, body), kind)

    def decode(self, body: bytes, kind: type[_T]) -> _T:
        try:
            return msgspec.json.decode(body, type=kind)
        except msgspec.DecodeError:
            raise UpstreamError(
                f"{self.base_url} sent a response that this version does not understand. "
                "Is it Footnote, and not much older or newer than this one?"
            ) from None

    async def request_bytes(self, method: str, path: str, body: Struct | None = None) -> bytes:
        """The body of the response, completely read."""
        data = None if body is None else msgspec.json.encode(body)
        return await self.send(method, path, data, {} if data is None else {"Content-Type": JSON})

    async def send(
        self, method: str, path: str, body: bytes | AsyncIterator[bytes] | None, headers: Mapping[str, str]
    ) -> bytes:
        """The same with any request body. It does not retry: the server may have executed a request that failed."""
        try:
            async with self.open_response(method, path, headers={"Accept": JSON, **headers}, body=body) as response:
                return await response.read_all(MAX_RESPONSE_BYTES)
        except ConnectionFailed as error:
            raise unreachable_error(self.base_url, error.message) from error

    @asynccontextmanager
    async def open_response(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str],
        body: bytes | AsyncIterator[bytes] | None = None,
    ) -> AsyncGenerator[Response, None]:
        """A successful response; any other is raised as its error."""
        url = f"{self.base_url}{path}"
        response = await self._net.request(method, url, headers={**headers, **self._headers}, body=body)
        try:
            await self._raise_for_status(response)
            yield response
        finally:
            response.close()

    async def stream_chunks(self, path: str) -> AsyncGenerator[bytes, None]:
        """The body of a response as it arrives. `UpstreamError`: the connection broke."""
        try:
            async with self.open_response("GET", path, headers={}) as response:
                while chunk := await response.read_chunk():
                    yield chunk
        except ConnectionFailed as error:
            raise unreachable_error(self.base_url, error.message) from error

    async def download(self, address: str) -> AsyncGenerator[bytes, None]:
        """Downloads a URL that the server has signed: its own, or that of a storage, to which no token is sent."""
        own = address if address.startswith("/") else address.removeprefix(self.base_url)
        try:
            response = await self._get(
                self.base_url + own if own.startswith("/") else address, with_token=own.startswith("/")
            )
            try:
                if 300 <= response.status < 400:
                    location = str(response.headers.get("Location", ""))
                    response.close()
                    response = await self._get(location, with_token=False)
                await self._raise_for_status(response)
                while chunk := await response.read_chunk():
                    yield chunk
            finally:
                response.close()
        except ConnectionFailed as error:
            raise unreachable_error(self.base_url, error.message) from error

    async def _get(self, url: str, *, with_token: bool) -> Response:
        if not url.startswith(("http://", "https://")):
            raise UpstreamError(f"{self.base_url} redirects to something that is not a URL.")
        return await self._net.request("GET", url, headers=self._headers if with_token else {})

    async def _raise_for_status(self, response: Response) -> None:
        if not 200 <= response.status < 300:
            body = await response.read_all(1_000_000)
            raise error_from_response(self.base_url, response.status, response.headers, body)


def parse_server_url(text: str) -> str:
    """The address of a server, without a slash at its end."""
    wrong = UsageError(f"{text!r} is not the address of a server. Write it as http://127.0.0.1:8484")
    try:
        parts = urlsplit(text.strip())
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise wrong from None
    if not known or parts.username is not None or parts.query or parts.fragment:
        raise wrong
    return text.strip().rstrip("/")


def quote_segment(name: Any) -> str:
    """An id as one segment of a path, whatever characters it has."""
    return quote(str(name), safe="")
