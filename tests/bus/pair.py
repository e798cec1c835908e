"""Two servers that share a database and a bus, each in a process of its own."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from runs.serving import Client, Process
from upstream import Upstream


@dataclass
class Replica:
    process: Process
    client: Client

    def resume(self) -> None:
        os.kill(self.process.pid, signal.SIGCONT)

    async def stream(self, run_id: str, after: int | None = None) -> bytes:
        """The events of a run, to their end, as they came; what was heard until the connection broke."""
        headers = {} if after is None else {"last-event-id": str(after)}
        heard = b""
        try:
            async with self.client.http.get(f"/v2/runs/{run_id}/events", headers=headers) as answer:
                assert answer.status == 200, await answer.text()
                async for piece in answer.content.iter_any():
                    heard += piece
        except aiohttp.ClientError:
            pass
        return heard


@asynccontextmanager
async def open_pair(home: Path, upstream: Upstream, **settings: str) -> AsyncIterator[tuple[Replica, Replica]]:
    """Both are ended afterwards, also those that are paused or gone."""
    async with AsyncExitStack() as stack:
        replicas: list[Replica] = []
        for name in ("one", "two"):
            own = home / name
            own.mkdir(exist_ok=True)
            process = await Process.start(own, upstream, FOOTNOTE_LIMITS_RUNS_PER_USER="100", **settings)
            stack.push_async_callback(_kill, process)
            replicas.append(Replica(process, await stack.enter_async_context(process.client())))
        first, second = replicas
        yield first, second


async def _kill(process: Process) -> None:
    with suppress(ProcessLookupError):
        await process.kill()


def without_pings(stream: bytes) -> bytes:
    return b"".join(frame + b"\n\n" for frame in stream.split(b"\n\n") if frame.startswith(b"id: "))


def event_ids(stream: bytes) -> list[int]:
    return [int(line[4:]) for line in stream.split(b"\n") if line.startswith(b"id: ")]
