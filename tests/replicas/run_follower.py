"""Follows a run through a balancer, and reconnects as often as the connection is lost."""

import asyncio
from collections.abc import Callable

import aiohttp

from replicas.cluster import TIMEOUT
from runs.fold import FoldedTurn
from runs.server_process import TOKEN

SILENCE_SECONDS = 4.0
"""After so many seconds without a byte, the replica may have stopped."""


class SeenFrames:
    """All frames that any follower received: an event id must always have the same bytes, on every replica."""

    def __init__(self) -> None:
        self._frames: dict[tuple[str, int], bytes] = {}

    def check_frame(self, run_id: str, event_id: int, frame: bytes) -> None:
        known = self._frames.setdefault((run_id, event_id), frame)
        assert known == frame, f"two events with the id {event_id}: {known!r}, {frame!r}"


class Follower:
    """`stream`: all frames received, without pings. `folded`: the turn folded from them."""

    def __init__(
        self, url: str, run_id: str, seen: SeenFrames | None = None, *, silence: float = SILENCE_SECONDS
    ) -> None:
        """`silence`: after so many seconds without a byte the follower reconnects."""
        self.run_id = run_id
        self.folded = FoldedTurn()
        self.stream = b""
        self.connections = 0
        self._url = url
        self._seen = seen or SeenFrames()
        self._silence = silence

    async def follow_to_end(self, leave: Callable[[], int | None] = lambda: None) -> None:
        """`leave`: returns the number of bytes after which a connection is dropped, or None."""
        try:
            async with asyncio.timeout(TIMEOUT), aiohttp.ClientSession() as http:
                while not self.folded.ended:
                    self.connections += 1
                    try:
                        await self._follow(http, leave())
                    except (aiohttp.ClientError, ConnectionError, TimeoutError):
                        await asyncio.sleep(0.05)
        except TimeoutError:
            raise AssertionError(f"{self.run_id} did not end; its last event is {self.folded.last_id}") from None

    async def _follow(self, http: aiohttp.ClientSession, max_bytes: int | None) -> None:
        headers = {"authorization": f"Bearer {TOKEN}"}
        if self.folded.last_id:
            headers["last-event-id"] = str(self.folded.last_id)
        timeout = aiohttp.ClientTimeout(None, sock_connect=self._silence, sock_read=self._silence)
        async with http.get(f"{self._url}/v2/runs/{self.run_id}/events", headers=headers, timeout=timeout) as response:
            if response.status != 200:
                # A service is away: the follower retries.
                assert response.status in (500, 503), await response.text()
                raise aiohttp.ClientConnectionError(f"status {response.status}")
            rest, read = b"", 0
            async for piece in response.content.iter_any():
                accepted = piece if max_bytes is None else piece[: max_bytes - read]
                read += len(accepted)
                *whole, rest = (rest + accepted).split(b"\n\n")
                for frame in whole:
                    if frame.startswith(b"event: error\n"):
                        # An error without an id is about this stream, and not an event of the run.
                        raise aiohttp.ClientConnectionError(frame.decode())
                    self._handle_frame(frame)
                if read == max_bytes:
                    return

    def _handle_frame(self, frame: bytes) -> None:
        if frame.startswith(b"id: "):
            self._seen.check_frame(self.run_id, int(frame[4 : frame.index(b"\n")]), frame)
            self.stream += frame + b"\n\n"
        self.folded.feed(frame)
