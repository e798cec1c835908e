"""Joins two connections: bytes from one go to the other, at the pace of the slower one."""

import asyncio
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import cast

_LINGER_ZERO = struct.pack("ii", 1, 0)


class PipeEnd(asyncio.Protocol):
    """One end of a pipe."""

    def __init__(self, pipe: "Pipe") -> None:
        self._pipe = pipe
        self.transport: asyncio.Transport | None = None
        self.buffered: list[bytes] = []
        """Bytes that arrived before the other end was connected."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        self._pipe.forward(self, data)

    def eof_received(self) -> bool:
        self._pipe.forward(self, b"")
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._pipe.on_lost(self, reset=exc is not None)

    def pause_writing(self) -> None:
        self._pipe.set_reading(self._pipe.other(self), on=False)

    def resume_writing(self) -> None:
        self._pipe.set_reading(self._pipe.other(self), on=True)

    def send(self, data: bytes) -> None:
        """b"": the end of the stream."""
        if self.transport is None:
            self.buffered.append(data)
        elif self.transport.is_closing():
            return
        elif data:
            self.transport.write(data)
        else:
            with suppress(OSError):  # the connection was reset, and `connection_lost` was not called yet
                self.transport.write_eof()

    def close(self) -> None:
        if self.transport is not None:
            self.transport.close()

    def reset(self) -> None:
        """Ends the connection with RST, as a machine that does not know it."""
        if self.transport is not None:
            held = self.transport.get_extra_info("socket")
            if held is not None and held.fileno() >= 0:
                held.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
            self.transport.abort()


class Pipe:
    """`near`: the connection that was accepted, `far`: the one that was opened for it."""

    def __init__(self, on_closed: Callable[["Pipe"], None]) -> None:
        self.near = PipeEnd(self)
        self.far = PipeEnd(self)
        self._on_closed = on_closed
        self._is_closed = False
        self._finished_ends: set[PipeEnd] = set()

    def other(self, end: PipeEnd) -> PipeEnd:
        return self.far if end is self.near else self.near

    async def connect(self, port: int) -> None:
        """Connects the far end. Raises `OSError` if the connection is refused."""
        await asyncio.get_running_loop().create_connection(lambda: self.far, "127.0.0.1", port)
        early, self.far.buffered = self.far.buffered, []
        for data in early:
            self.far.send(data)
        if self._is_closed:
            self.far.reset()

    def forward(self, end: PipeEnd, data: bytes) -> None:
        self.other(end).send(data)
        if not data:
            self._finished_ends.add(end)
            if len(self._finished_ends) == 2:
                self.near.close()
                self.far.close()

    def set_reading(self, end: PipeEnd, *, on: bool) -> None:
        if end.transport is not None and not end.transport.is_closing():
            (end.transport.resume_reading if on else end.transport.pause_reading)()

    def on_lost(self, end: PipeEnd, *, reset: bool) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        other = self.other(end)
        other.reset() if reset else other.close()
        self._on_closed(self)

    def reset(self) -> None:
        """Resets both connections."""
        self._is_closed = True
        self.near.reset()
        self.far.reset()
        self._on_closed(self)
