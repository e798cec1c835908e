"""One server, and what is asked of it. The token goes there and nowhere else: redirects are not followed."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import msgspec
from msgspec import Struct

from footnote.net.client import Net, Response
from footnote.net.errors import ConnectionFailed
from footnote.protocol.errors import (
    Conflict,
    FileChanged,
    FootnoteError,
    LimitReached,
    NotAllowed,
    NotLoggedIn,
    RunActive,
    TooLarge,
    Unknown,
    UnprocessableFile,
    UpstreamError,
    UsageError,
    WrongKind,
)
from footnote.protocol.events import ErrorBody

RETRYABLE_STATUSES = frozenset({502, 503, 504})
"""Statuses after which it is worth another try: a server that starts, or what stands before it."""

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
    """The error of a response that is no success, with the server's own sentence where it has one."""
    if 300 <= status < 400:
        return UpstreamError(
            f"{base_url} sends us on to another address, and the token is for this one only. "
            f"Give the address itself{_redirect_hint(headers)}.",
            status=status,
        )
    said = _parse_error(body)
    if status == 401:
        return NotLoggedIn(
            f"{base_url} does not accept the token. Set FOOTNOTE_TOKEN to a token of that server: one that was made "
            "for you there, or what stands in the file `token` of its home folder."
        )
    if said is None:
        return UpstreamError(
            f"{base_url} answered with status {status} and does not seem to be Footnote.", status=status
        )
    if status == 429:
        return LimitReached(said.message, retry_after=_retry_after(headers))
    if 400 <= status < 500:
        return _ERROR_TYPES.get(said.type, UsageError)(said.message)
    return UpstreamError(said.message, status=status)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """What `Retry-After` says, if it is a number of seconds."""
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


def _redirect_hint(headers: Mapping[str, Any]) -> str:
    place = str(headers.get("Location", ""))
    return f": {place}" if place.startswith(("http://", "https://")) else ""


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
                f"{self.base_url} answered with something that this version does not understand. "
                "Is it Footnote, and not much older or newer than this one?"
            ) from None

    async def request_bytes(self, method: str, path: str, body: Struct | None = None) -> bytes:
        """The body of a whole answer."""
        data = None if body is None else msgspec.json.encode(body)
        return await self.send(method, path, data, {} if data is None else {"Content-Type": JSON})

    async def send(
        self, method: str, path: str, body: bytes | AsyncIterator[bytes] | None, headers: Mapping[str, str]
    ) -> bytes:
        """The same for a body of any kind. Where it fails, nothing is tried again: it may have been done."""
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
        """A response that is a success; anything else is the error that it tells of."""
        url = f"{self.base_url}{path}"
        response = await self._net.request(method, url, headers={**headers, **self._headers}, body=body)
        try:
            await self._raise_for_status(response)
            yield response
        finally:
            response.close()

    async def stream_chunks(self, path: str) -> AsyncGenerator[bytes, None]:
        """The body of an answer as it comes. `UpstreamError`: it broke off."""
        try:
            async with self.open_response("GET", path, headers={}) as response:
                while piece := await response.read_chunk():
                    yield piece
        except ConnectionFailed as error:
            raise unreachable_error(self.base_url, error.message) from error

    async def download(self, address: str) -> AsyncGenerator[bytes, None]:
        """What lies at an address that the server has signed: its own, or that of a storage, which is sent no token."""
        own = address if address.startswith("/") else address.removeprefix(self.base_url)
        try:
            response = await self._get(
                self.base_url + own if own.startswith("/") else address, with_token=own.startswith("/")
            )
            try:
                if 300 <= response.status < 400:
                    elsewhere = str(response.headers.get("Location", ""))
                    response.close()
                    response = await self._get(elsewhere, with_token=False)
                await self._raise_for_status(response)
                while piece := await response.read_chunk():
                    yield piece
            finally:
                response.close()
        except ConnectionFailed as error:
            raise unreachable_error(self.base_url, error.message) from error

    async def _get(self, url: str, *, with_token: bool) -> Response:
        if not url.startswith(("http://", "https://")):
            raise UpstreamError(f"{self.base_url} sends us on to something that is no address.")
        return await self._net.request("GET", url, headers=self._headers if with_token else {})

    async def _raise_for_status(self, response: Response) -> None:
        if not 200 <= response.status < 300:
            said = await response.read_all(1_000_000)
            raise error_from_response(self.base_url, response.status, response.headers, said)


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
    """An id as one part of a path, whatever somebody typed."""
    return quote(str(name), safe="")
