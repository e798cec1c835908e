"""A proxy and a server that misbehave."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass
class TruncatingProxy:
    """Forwards all bytes, and cuts each connection after so many bytes of responses. None: never."""

    target: str
    after: int | None
    connections: int = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        place = urlsplit(self.target)
        theirs, ours = await asyncio.open_connection(place.hostname, place.port)
        up = asyncio.create_task(_pump(reader, ours, None))
        try:
            await _pump(theirs, writer, self.after)
        finally:
            up.cancel()
            await asyncio.wait([up])
            for one in (ours, writer):
                one.close()
                with suppress(ConnectionError):
                    await one.wait_closed()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter, max_bytes: int | None) -> None:
    with suppress(ConnectionError):
        while data := await source.read(256):
            sink.write(data[:max_bytes])
            await sink.drain()
            if max_bytes is not None:
                max_bytes -= len(data)
                if max_bytes <= 0:
                    return


@dataclass
class CannedServer:
    """Answers each request with the next of some canned responses, and repeats the last one."""

    answers: list[bytes]
    requests: list[bytes] = field(default_factory=list[bytes])

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.requests.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(self.answers[min(len(self.requests), len(self.answers)) - 1])
        await writer.drain()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


@asynccontextmanager
async def serve(handle: Callable[..., object]) -> AsyncIterator[str]:
    """Serves on loopback, and yields the URL."""
    tasks: set[asyncio.Task[None]] = set()

    async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        with suppress(asyncio.IncompleteReadError, asyncio.CancelledError):
            await handle(reader, writer)

    server = await asyncio.start_server(keep, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


def response(status: int, body: bytes = b"", **headers: str) -> bytes:
    named = {"Content-Length": str(len(body)), "Connection": "close", **headers}
    lines = [f"HTTP/1.1 {status} X", *(f"{name.replace('_', '-')}: {value}" for name, value in named.items()), "", ""]
    return "\r\n".join(lines).encode() + body
