"""A TCP proxy between browser and server that can be cut, and can be pointed to another server."""

import asyncio
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit


class EventProxy:
    """Forwards bytes. `cut` resets all connections and refuses new ones until `restore`. `hold` keeps back the
    events of runs until `release`; all other responses still pass."""

    def __init__(self, url: str) -> None:
        self.target_url = url
        self.port = 0
        self._is_up = True
        self._flows = asyncio.Event()
        self._flows.set()
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._handle_connection, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        self.release()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def cut(self) -> None:
        self._is_up = False
        for writer in list(self._open):
            writer.transport.abort()

    def restore(self, url: str | None = None) -> None:
        self.target_url = url or self.target_url
        self._is_up = True

    def hold(self) -> None:
        self._flows.clear()

    def release(self) -> None:
        self._flows.set()

    async def _handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if self._is_up:
                await self._relay(reader, writer)
        finally:
            writer.transport.abort()
            self._tasks.discard(task)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        target = urlsplit(self.target_url)
        with suppress(OSError):
            far_reader, far_writer = await asyncio.open_connection(target.hostname, target.port)
            self._open |= {writer, far_writer}
            try:
                streams = asyncio.Event()
                await asyncio.gather(
                    _relay_requests(reader, far_writer, streams), self._relay_responses(far_reader, writer, streams)
                )
            finally:
                self._open -= {writer, far_writer}
                far_writer.transport.abort()

    async def _relay_responses(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, streams: asyncio.Event
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                if streams.is_set():
                    await self._flows.wait()
                writer.write(data)
                await writer.drain()
        writer.transport.abort()


async def _relay_requests(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, streams: asyncio.Event) -> None:
    """`streams` is set while the current request of the connection follows the events of a run."""
    with suppress(OSError):
        while data := await reader.read(65_536):
            if b"/events HTTP/1.1" in data.partition(b"\r\n")[0]:
                streams.set()
            else:
                streams.clear()
            writer.write(data)
            await writer.drain()
    writer.transport.abort()
