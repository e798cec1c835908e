"""A TCP balancer on loopback, without knowledge of HTTP and without health checks.

async with Balancer(8001, 8002) as balancer:
    balancer.url

Connections go to the backends in turn; one that refuses is skipped. `python -m replicas.balancer PORT PORT` runs
a balancer in a process of its own and prints its port.
"""

import asyncio
import sys
from dataclasses import dataclass, field
from typing import Self

from replicas.pipe import Pipe


@dataclass(eq=False)
class Backend:
    port: int
    pipes: set[Pipe] = field(default_factory=set[Pipe])
    connection_count: int = 0
    """How many connections the backend was given."""
    is_drained: bool = False
    """The backend gets no new connections."""

    def drop(self) -> None:
        """Resets all connections to the backend."""
        for pipe in list(self.pipes):
            pipe.reset()


class Balancer:
    def __init__(self, *ports: int) -> None:
        self.backends = [Backend(port) for port in ports]
        self.port = 0
        self._next = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._accept, "127.0.0.1", 0, backlog=4096)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for backend in self.backends:
            backend.drop()
        await self._server.wait_closed()

    def _accept(self) -> asyncio.Protocol:
        pipe = Pipe(self._on_closed)
        task = asyncio.ensure_future(self._connect(pipe))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return pipe.near

    def _on_closed(self, pipe: Pipe) -> None:
        for backend in self.backends:
            backend.pipes.discard(pipe)

    async def _connect(self, pipe: Pipe) -> None:
        for backend in self._rotation():
            backend.pipes.add(pipe)
            backend.connection_count += 1
            try:
                await pipe.connect(backend.port)
            except OSError:
                backend.pipes.discard(pipe)
                backend.connection_count -= 1
            else:
                return
        pipe.reset()

    def _rotation(self) -> list[Backend]:
        first, self._next = self._next, (self._next + 1) % len(self.backends)
        ordered = self.backends[first:] + self.backends[:first]
        return [backend for backend in ordered if not backend.is_drained]


async def _main(ports: list[int]) -> None:
    async with Balancer(*ports) as balancer:
        sys.stdout.write(f"{balancer.port}\n")
        sys.stdout.flush()
        await asyncio.get_running_loop().connect_read_pipe(asyncio.Protocol, sys.stdin)
        await asyncio.Event().wait()


if __name__ == "__main__":
    import uvloop

    uvloop.run(_main([int(port) for port in sys.argv[1:]]))
