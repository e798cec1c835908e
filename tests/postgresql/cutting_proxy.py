"""A proxy before PostgreSQL that cuts the connection at a given word: before the server receives it, while it works on
it, or before its response arrives."""

import asyncio
from contextlib import suppress
from typing import Literal, Self
from urllib.parse import urlsplit, urlunsplit

When = Literal["before", "meanwhile", "after"]


class CuttingProxy:
    """Cuts each connection whose client sends `word`, as long as there are `cuts` left."""

    def __init__(self, url: str, word: bytes, when: When, cuts: int = 1) -> None:
        parts = urlsplit(url)
        assert parts.port is not None
        self._to = parts.port
        self._parts = parts
        self._word = word
        self._when = when
        self.cuts = cuts
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        user = f"{self._parts.username}:{self._parts.password}"
        return urlunsplit(self._parts._replace(netloc=f"{user}@127.0.0.1:{port}"))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        there, back = await asyncio.open_connection("127.0.0.1", self._to)
        answers = asyncio.create_task(_forward(there, writer))
        try:
            while data := await reader.read(65536):
                is_cut = self._word in data and self.cuts > 0
                if is_cut:
                    self.cuts -= 1
                if is_cut and self._when == "before":
                    return
                if is_cut:
                    answers.cancel()  # the response is not forwarded
                    await asyncio.wait([answers])
                back.write(data)
                await back.drain()
                if is_cut and self._when == "after":
                    await there.read(1)  # the statement was executed
                if is_cut:
                    return
        finally:
            answers.cancel()
            for end in (writer, back):
                end.close()
            with suppress(OSError, asyncio.CancelledError):
                await asyncio.gather(writer.wait_closed(), back.wait_closed())
            self._tasks.discard(task)


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()
