"""One server, and what is asked of it. The token goes there and nowhere else: redirects are not followed."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import msgspec
from msgspec import Struct

from footnote.client.failures import refusal, unreachable
from footnote.net.client import Net, Response
from footnote.net.failures import ConnectionFailed
from footnote.protocol.errors import UpstreamError, UsageError

LARGEST_ANSWER = 1_000_000_000
JSON = "application/json"

_T = TypeVar("_T")


class Door:
    def __init__(self, net: Net, base_url: str, token: str | None) -> None:
        self.base_url = server_url(base_url)
        self._net = net
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    async def ask(self, method: str, path: str, kind: type[_T], body: Struct | None = None) -> _T:
        return self.understood(await self.answer(method, path, body), kind)

    def understood(self, answer: bytes, kind: type[_T]) -> _T:
        try:
            return msgspec.json.decode(answer, type=kind)
        except msgspec.DecodeError:
            raise UpstreamError(
                f"{self.base_url} answered with something that this version does not understand. "
                "Is it Footnote, and not much older or newer than this one?"
            ) from None

    async def answer(self, method: str, path: str, body: Struct | None = None) -> bytes:
        """The body of a whole answer."""
        data = None if body is None else msgspec.json.encode(body)
        return await self.send(method, path, data, {} if data is None else {"Content-Type": JSON})

    async def send(
        self, method: str, path: str, body: bytes | AsyncIterator[bytes] | None, headers: Mapping[str, str]
    ) -> bytes:
        """The same for a body of any kind. Where it fails, nothing is tried again: it may have been done."""
        try:
            async with self.opened(method, path, headers={"Accept": JSON, **headers}, body=body) as response:
                return await response.read_all(LARGEST_ANSWER)
        except ConnectionFailed as error:
            raise unreachable(self.base_url, error.message) from error

    @asynccontextmanager
    async def opened(
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
            await self._refuse(response)
            yield response
        finally:
            response.close()

    async def pieces(self, path: str) -> AsyncGenerator[bytes, None]:
        """The body of an answer as it comes. `UpstreamError`: it broke off."""
        try:
            async with self.opened("GET", path, headers={}) as response:
                while piece := await response.read_some():
                    yield piece
        except ConnectionFailed as error:
            raise unreachable(self.base_url, error.message) from error

    async def download(self, address: str) -> AsyncGenerator[bytes, None]:
        """What lies at an address that the server has signed: its own, or that of a storage, which is sent no token."""
        own = address if address.startswith("/") else address.removeprefix(self.base_url)
        try:
            response = await self._at(self.base_url + own if own.startswith("/") else address, ours=own.startswith("/"))
            try:
                if 300 <= response.status < 400:
                    elsewhere = str(response.headers.get("Location", ""))
                    response.close()
                    response = await self._at(elsewhere, ours=False)
                await self._refuse(response)
                while piece := await response.read_some():
                    yield piece
            finally:
                response.close()
        except ConnectionFailed as error:
            raise unreachable(self.base_url, error.message) from error

    async def _at(self, url: str, *, ours: bool) -> Response:
        if not url.startswith(("http://", "https://")):
            raise UpstreamError(f"{self.base_url} sends us on to something that is no address.")
        return await self._net.request("GET", url, headers=self._headers if ours else {})

    async def _refuse(self, response: Response) -> None:
        if not 200 <= response.status < 300:
            said = await response.read_all(1_000_000)
            raise refusal(self.base_url, response.status, response.headers, said)


def server_url(text: str) -> str:
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


def part(name: Any) -> str:
    """An id as one part of a path, whatever somebody typed."""
    return quote(str(name), safe="")
