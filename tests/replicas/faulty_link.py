"""A TCP proxy between a replica and a service that can be cut, go silent or become slow.

async with FaultyLink(5432) as link:
    link.port         # the port in the settings of the replica
    link.cut()        # connections are reset, new ones refused
    link.blackhole()  # no bytes pass, and no end is told
    link.slow(0.2)    # each piece is delayed by this time
    await link.repair()
"""

import asyncio
from collections import deque
from typing import Literal, Self, TypeAlias

from replicas.pipe import Pipe, PipeEnd

State: TypeAlias = Literal["whole", "cut", "hole", "slow"]


class _FaultyPipe(Pipe):
    """Delays bytes while the link is silent or slow. Bytes keep their order and none is lost while the connection
    lives, as TCP promises: a retransmitted packet looks like this to the application."""

    def __init__(self, link: "FaultyLink") -> None:
        super().__init__(link._on_closed)
        self._link = link
        self._waiting: deque[tuple[float, PipeEnd, bytes]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def forward(self, end: PipeEnd, data: bytes) -> None:
        if self._link.state == "whole" and not self._waiting:
            super().forward(end, data)
            return
        due = asyncio.get_running_loop().time() + self._link.seconds_for(data)
        self._waiting.append((due, end, data))
        self.flush()

    def flush(self) -> None:
        """Forwards the bytes that are due, unless the link is silent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        loop = asyncio.get_running_loop()
        while self._waiting and self._link.state != "hole":
            due, end, data = self._waiting[0]
            if due > loop.time() and self._link.state == "slow":
                self._timer = loop.call_at(due, self.flush)
                return
            self._waiting.popleft()
            super().forward(end, data)

    def on_lost(self, end: PipeEnd, *, reset: bool) -> None:
        if self._link.state == "hole":
            # While the link is silent, the other side does not learn that the connection is lost.
            self._link.delayed_losses.append((self, end, reset))
            return
        super().on_lost(end, reset=reset)


class FaultyLink:
    """`service_port`: the port of the service. Replicas use `port`, which stays the same."""

    def __init__(self, service_port: int) -> None:
        self.service_port = service_port
        self.port = 0
        self.state: State = "whole"
        self.delayed_losses: list[tuple[_FaultyPipe, PipeEnd, bool]] = []
        self.connection_count = 0
        """How many connections went through the link."""
        self._delay = 0.0
        self._bytes_a_second = float("inf")
        self._server: asyncio.Server | None = None
        self._pipes: set[Pipe] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self._listen()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.cut()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """Resets every connection, and refuses new ones."""
        self.state = "cut"
        if self._server is not None:
            self._server.close()
            self._server = None
        for pipe in list(self._pipes):
            pipe.reset()

    def blackhole(self) -> None:
        """No bytes pass any more. Connections stay open, and new ones seem to be accepted."""
        self.state = "hole"

    def slow(self, seconds: float, bytes_a_second: float = float("inf")) -> None:
        self._delay, self._bytes_a_second = seconds, bytes_a_second
        self.state = "slow"

    async def repair(self) -> None:
        """Forwards delayed bytes, and accepts connections again after a cut."""
        self.state = "whole"
        for pipe in list(self._pipes):
            assert isinstance(pipe, _FaultyPipe)
            pipe.flush()
        unheard, self.delayed_losses = self.delayed_losses, []
        for pipe, end, reset in unheard:
            pipe.on_lost(end, reset=reset)
        if self._server is None:
            await self._listen()

    def seconds_for(self, data: bytes) -> float:
        return self._delay + len(data) / self._bytes_a_second

    async def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._accept, "127.0.0.1", self.port, backlog=512)
        self.port = self._server.sockets[0].getsockname()[1]

    def _accept(self) -> asyncio.Protocol:
        pipe = _FaultyPipe(self)
        self._pipes.add(pipe)
        self.connection_count += 1
        task = asyncio.ensure_future(self._connect(pipe))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return pipe.near

    async def _connect(self, pipe: _FaultyPipe) -> None:
        try:
            await pipe.connect(self.service_port)
        except OSError:
            pipe.reset()

    def _on_closed(self, pipe: Pipe) -> None:
        self._pipes.discard(pipe)
