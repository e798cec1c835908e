"""A line between a replica and a service that can be cut, go silent or grow slow.

async with FaultyLink(5432) as line:
    line.port       # what the replica is told
    line.cut()      # connections are reset, new ones refused
    line.blackhole()     # nothing comes through, and nobody is told
    line.slow(0.2)  # each piece takes so long
    await line.repair()
"""

import asyncio
from collections import deque
from typing import Literal, Self, TypeAlias

from replicas.pipes import Pipe, PipeEnd

State: TypeAlias = Literal["whole", "cut", "hole", "slow"]


class _FaultyPipe(Pipe):
    """Bytes wait here while the line is silent or slow. They keep their order, and none is ever lost while its
    connection lives: that is what TCP promises, and what a lost packet that is sent again looks like from above."""

    def __init__(self, line: "FaultyLink") -> None:
        super().__init__(line._on_closed)
        self._line = line
        self._waiting: deque[tuple[float, PipeEnd, bytes]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def forward(self, end: PipeEnd, data: bytes) -> None:
        if self._line.state == "whole" and not self._waiting:
            super().forward(end, data)
            return
        due = asyncio.get_running_loop().time() + self._line.seconds_for(data)
        self._waiting.append((due, end, data))
        self.flush()

    def flush(self) -> None:
        """Passes on what is due, unless nothing comes through."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        loop = asyncio.get_running_loop()
        while self._waiting and self._line.state != "hole":
            due, end, data = self._waiting[0]
            if due > loop.time() and self._line.state == "slow":
                self._timer = loop.call_at(due, self.flush)
                return
            self._waiting.popleft()
            super().forward(end, data)

    def on_lost(self, end: PipeEnd, *, reset: bool) -> None:
        if self._line.state == "hole":
            # The other side does not hear of it while nothing comes through.
            self._line.delayed_losses.append((self, end, reset))
            return
        super().on_lost(end, reset=reset)


class FaultyLink:
    """`to`: the port of the service. Replicas use `port`, which stays the same."""

    def __init__(self, service_port: int) -> None:
        self.service_port = service_port
        self.port = 0
        self.state: State = "whole"
        self.delayed_losses: list[tuple[_FaultyPipe, PipeEnd, bool]] = []
        self.connection_count = 0
        """How many connections went through it."""
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
        """Nothing comes through any more. Connections seem to stand; new ones seem to be made."""
        self.state = "hole"

    def slow(self, seconds: float, bytes_a_second: float = float("inf")) -> None:
        self._delay, self._bytes_a_second = seconds, bytes_a_second
        self.state = "slow"

    async def repair(self) -> None:
        """What waited goes on; what was cut can be connected again."""
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
