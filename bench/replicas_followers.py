"""Thousands of followers of runs in one process: each counts every event, and reconnects when it is disconnected."""

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, cast

from processes import TOKEN

RETRY_SECONDS = 0.2
_TIME = re.compile(rb'"text": ?"(\d{16})"')
_ID = re.compile(rb"id: (\d+)\n")


class _Connection(asyncio.Protocol):
    def __init__(self, follower: "RunFollower") -> None:
        self._follower = follower
        self._rest = b""
        self._frames = b""
        self._in_body = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        follower = self._follower
        follower.transport = cast("asyncio.Transport", transport)
        head = [
            f"GET /v2/runs/{follower.run_id}/events HTTP/1.1",
            "host: 127.0.0.1",
            "connection: close",
            f"authorization: Bearer {TOKEN}",
            *([f"last-event-id: {follower.last_id}"] if follower.last_id else []),
        ]
        follower.transport.write("\r\n".join(head).encode() + b"\r\n\r\n")

    def data_received(self, data: bytes) -> None:
        self._rest += data
        if not self._in_body:
            head, mark, body = self._rest.partition(b"\r\n\r\n")
            if not mark:
                return
            if b" 200 " not in head[:20]:
                self._follower.refusals += 1
                return
            self._in_body, self._rest = True, body
        self._unwrap()
        whole, mark, self._frames = self._frames.rpartition(b"\n\n")
        if mark:
            self._follower.receive(time.monotonic(), whole)

    def _unwrap(self) -> None:
        """Decodes the complete chunks."""
        while True:
            size, mark, rest = self._rest.partition(b"\r\n")
            length = int(size, 16) if mark else 0
            if not length or len(rest) < length + 2:
                return
            self._frames += rest[:length]
            self._rest = rest[length + 2 :]

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._follower.on_lost()


class RunFollower:
    """`port` is called for each connection. `frames`: all frames with an id, in order."""

    def __init__(self, run_id: str, port: Callable[[], int]) -> None:
        self.run_id = run_id
        self.last_id = 0
        self.frames: list[tuple[int, bytes]] = []
        self.delays: list[tuple[float, float]] = []
        """Arrival and latency of deltas, which contain the time at which they were sent."""
        self.connections = 0
        self.refusals = 0
        self.transport: asyncio.Transport | None = None
        loop = asyncio.get_running_loop()
        self.started: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[None] = loop.create_future()
        self._port = port
        self._reconnecting: asyncio.Task[None] | None = None
        """Kept, because the event loop holds only a weak reference to a task."""

    async def connect(self) -> None:
        while not self.ended.done():
            try:
                await asyncio.get_running_loop().create_connection(lambda: _Connection(self), "127.0.0.1", self._port())
            except OSError:
                await asyncio.sleep(RETRY_SECONDS)
            else:
                self.connections += 1
                return

    def receive(self, now: float, frames: bytes) -> None:
        for frame in frames.split(b"\n\n"):
            found = _ID.match(frame)
            if found is None:
                continue
            self.last_id = int(found[1])
            self.frames.append((self.last_id, frame))
            if sent := _TIME.search(frame):
                self.delays.append((now, now - int(sent[1]) / 1e6))
            elif b"\nevent: message_stop\n" in frame and not self.ended.done():
                self.ended.set_result(None)
        if self.frames and not self.started.done():
            self.started.set_result(None)

    def on_lost(self) -> None:
        self.transport = None
        if not self.ended.done() and not asyncio.get_running_loop().is_closed():
            self._reconnecting = asyncio.ensure_future(self._reconnect())

    async def _reconnect(self) -> None:
        await asyncio.sleep(RETRY_SECONDS)
        await self.connect()


@dataclass
class FollowerTotals:
    """The sums over all followers of a load. Nothing may be lost, doubled or changed."""

    streams: int = 0
    events: int = 0
    lost: int = 0
    doubled: int = 0
    changed: int = 0
    unlike: int = 0
    """Streams that differ from the stored events."""
    restarted: int = 0
    connections: int = 0

    def add(self, follower: RunFollower, stored: list[tuple[int, bytes]]) -> None:
        """`stored`: a replay of the run."""
        known = dict(stored)
        seen = dict(follower.frames)
        self.streams += 1
        self.connections += follower.connections
        self.events += len(follower.frames)
        self.doubled += len(follower.frames) - len(seen)
        self.lost += len(known.keys() - seen.keys())
        self.changed += sum(known[event_id] != frame for event_id, frame in seen.items() if event_id in known)
        self.unlike += _block_texts(follower.frames) != _block_texts(stored)
        self.restarted += any(b"\nevent: round_restart\n" in frame for _, frame in follower.frames)


def _block_texts(frames: Iterable[tuple[int, bytes]]) -> dict[int, str]:
    """The text of each block, as a client folds it."""
    blocks: dict[int, str] = {}
    for _, frame in frames:
        event: dict[str, Any] = json.loads(frame.rpartition(b"\ndata: ")[2])
        match event["type"]:
            case "round_restart":
                blocks = {index: text for index, text in blocks.items() if index < event["from_index"]}
            case "content_block_start":
                blocks[event["index"]] = ""
            case "content_block_delta":
                blocks[event["index"]] += event["delta"].get("text", "")
            case _:
                pass
    return blocks


async def connect_all(followers: list[RunFollower], *, at_once: int = 50) -> None:
    for batch in _batches(followers, at_once):
        await asyncio.gather(*(follower.connect() for follower in batch))


def _batches(followers: list[RunFollower], size: int) -> Iterable[list[RunFollower]]:
    return (followers[at : at + size] for at in range(0, len(followers), size))


@dataclass
class Delays:
    seconds: list[float] = field(default_factory=list[float])

    def at(self, share: float) -> float:
        """Milliseconds."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1e3 if ordered else 0.0
