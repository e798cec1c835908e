"""Many clients of a server in one process, as cheap as possible in Python: what they received, and when."""

import asyncio
import re
import time
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple, cast

DELTA = b"text_delta"
_TIME = re.compile(rb'"text": ?"(\d{16})"')


class HttpRequest(NamedTuple):
    """One request on a connection of its own."""

    method: str
    path: str
    body: bytes = b""
    headers: tuple[str, ...] = ()

    def encode(self) -> bytes:
        head = [
            f"{self.method} {self.path} HTTP/1.1",
            "host: 127.0.0.1",
            "connection: close",
            "content-type: application/json",
            f"content-length: {len(self.body)}",
            *self.headers,
        ]
        return "\r\n".join(head).encode() + b"\r\n\r\n" + self.body


class Follower(asyncio.Protocol):
    """One connection: each piece with the time of its arrival."""

    def __init__(self, ask: HttpRequest) -> None:
        self._ask = ask
        loop = asyncio.get_running_loop()
        self.pieces: list[tuple[float, bytes]] = []
        self.started: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[None] = loop.create_future()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(self._ask.encode())

    def data_received(self, data: bytes) -> None:
        self.pieces.append((time.monotonic(), data))
        if not self.started.done() and (b"\ndata:" in data):
            self.started.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        for waited in (self.started, self.ended):
            if not waited.done():
                waited.set_result(None)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    @property
    def received(self) -> bytes:
        return b"".join(data for _, data in self.pieces)

    @property
    def status(self) -> int:
        return int(self.received[9:12] or b"0")

    @property
    def body(self) -> bytes:
        """The body of a response with a known length."""
        return self.received.partition(b"\r\n\r\n")[2]

    def check(self, deltas: int) -> None:
        """Whether the whole response was received."""
        text = self.received
        if self.status != 200:
            raise SystemExit(f"The server answered: {text[:500].decode(errors='replace')}")
        if text.count(DELTA) != deltas:
            raise SystemExit(f"{text.count(DELTA)} of {deltas} deltas arrived: …{text[-500:].decode(errors='replace')}")

    def delays(self, since: float, until: float) -> list[float]:
        """The latency of each delta that arrived in this time; deltas contain the time at which they were sent."""
        ends = list(accumulate(len(data) for _, data in self.pieces))
        found: list[float] = []
        at = 0
        for one in _TIME.finditer(self.received):
            while ends[at] < one.end():
                at += 1
            arrived = self.pieces[at][0]
            if since <= arrived < until:
                found.append(arrived - int(one[1]) / 1e6)
        return found


async def connect(port: int, ask: HttpRequest) -> Follower:
    loop = asyncio.get_running_loop()
    _, follower = await loop.create_connection(lambda: Follower(ask), "127.0.0.1", port)
    return follower


async def follow_all(port: int, asks: Iterable[HttpRequest], *, seconds: float) -> list[Follower]:
    """Sends all requests at once, and waits for all responses."""
    followers = [await connect(port, ask) for ask in asks]
    async with asyncio.timeout(seconds):
        await asyncio.gather(*(follower.ended for follower in followers))
    return followers
