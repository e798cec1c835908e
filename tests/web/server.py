"""The servers: HTTP/1.1 on bare asyncio streams, so that they can hang, drip and cut; and traps, which only count."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing, suppress
from http import HTTPStatus
from types import TracebackType
from typing import Self
from urllib.parse import unquote

from web import hostile, site
from web.replies import Answer, PageReply, PageRequest

TIMEOUT_SECONDS = 60.0
"""Timeout of everything that a test waits for."""

_TLS = b"\x16"
"""The first byte of a TLS handshake."""


class _Server:
    """Listens on loopback, numbers its connections, and tracks which of them are open."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.port = 0
        self.connections = 0
        self.open = 0
        self._tasks: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._changed = asyncio.Condition()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._handle_connection, self.address, 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._tasks.values():
            writer.transport.abort()
        await asyncio.gather(*self._tasks)
        await self._server.wait_closed()

    @property
    def host(self) -> str:
        """`host:port`, as in a URL and in the setting that allows private hosts."""
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"

    def url(self, path: str, *, name: str | None = None, scheme: str = "http") -> str:
        """`name`: another host name of this server, which the client has to resolve."""
        return f"{scheme}://{self.host if name is None else f'{name}:{self.port}'}{path}"

    async def wait_closed(self, *, but: int = 0) -> None:
        """Waits until at most `but` connections are open, which a client may keep for reuse."""
        async with asyncio.timeout(TIMEOUT_SECONDS), self._changed:
            await self._changed.wait_for(lambda: self.open <= but)

    async def _handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks[task] = writer
        self.connections += 1
        self.open += 1
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await self.serve(reader, writer, self.connections)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
            del self._tasks[task]
            self.open -= 1
            async with self._changed:
                self._changed.notify_all()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int) -> None:
        raise NotImplementedError


class Trap(_Server):
    """A server on loopback that must never be connected to: `connections` stays 0."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        super().__init__(address)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nsecret")
        await writer.drain()


class Web(_Server):
    """The whole small web, or only `pages`."""

    def __init__(self, pages: Mapping[str, Answer] | None = None, *, address: str = "127.0.0.1") -> None:
        super().__init__(address)
        self.requests: list[PageRequest] = []
        self.sent: dict[str, int] = {}
        """The number of bytes of each path's body that were sent."""
        self.max_concurrent = 0
        """The highest number of concurrent requests."""
        self._in_flight = 0
        self._arrived = asyncio.Condition()
        self._pages: dict[str, Answer] = dict({**site.pages(), **hostile.pages()} if pages is None else pages)

    def put(self, path: str, answer: Answer) -> str:
        """Adds a page at `path`, and returns its URL."""
        self._pages[path] = answer
        return self.url(path)

    @property
    def paths(self) -> list[str]:
        return list(self._pages)

    def requests_for(self, path: str) -> list[PageRequest]:
        return [request for request in self.requests if request.path == path]

    async def wait_requested(self, path: str, times: int = 1) -> None:
        """Waits until `path` was requested that often."""
        async with asyncio.timeout(TIMEOUT_SECONDS), self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests_for(path)) >= times)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int) -> None:
        """A TLS handshake is answered with plain HTTP, so that the client fails."""
        while (request := await _read_request(reader, connection)) is not None:
            self.requests.append(request)
            self._in_flight += 1
            self.max_concurrent = max(self.max_concurrent, self._in_flight)
            async with self._arrived:
                self._arrived.notify_all()
            try:
                ended = await self._answer(request, reader, writer)
            finally:
                self._in_flight -= 1
            if ended:
                return

    async def _answer(self, request: PageRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answers a request, and returns whether the connection has ended."""
        reply = self._reply(request)
        streamed = reply.stream is not None
        length = {} if streamed else {"Content-Length": str(len(reply.body) if reply.length is None else reply.length)}
        if reply.head:
            headers = {**reply.headers, **length, **({"Connection": "close"} if streamed else {})}
            writer.write(_response_head(reply.status, headers))
        pieces = reply.stream() if reply.stream is not None else None
        if pieces is None:
            await self._send(request.path, reply.body, writer)
            return reply.length is not None
        async with aclosing(pieces):
            async for piece in pieces:
                if piece is None:
                    await reader.read()  # until the client goes away
                    break
                await self._send(request.path, piece, writer)
        return True

    def _reply(self, request: PageRequest) -> PageReply:
        path = unquote(request.path)
        answer = self._pages.get(path) or self._pages.get(path.partition("?")[0])
        if answer is None:
            return PageReply(404, body=b"<p>There is no such page.</p>")
        return answer if isinstance(answer, PageReply) else answer(request)

    async def _send(self, path: str, data: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        self.sent[path] = self.sent.get(path, 0) + len(data)


async def _read_request(reader: asyncio.StreamReader, connection: int) -> PageRequest | None:
    """The next request of a connection; None at its end."""
    head = await reader.read(1)
    if not head:
        return None
    if head == _TLS:
        return PageRequest("", "/", {}, connection)
    head += await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines if line)
    return PageRequest(method, path, {name.lower(): value.strip() for name, _, value in pairs}, connection)


def _response_head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join((*lines, "", "")).encode("utf-8")
