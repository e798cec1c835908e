"""Two server processes that share a database and a bus."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from runs.server_process import RunClient, ServerProcess
from upstream import Upstream


@dataclass
class PairedReplica:
    process: ServerProcess
    client: RunClient

    def resume(self) -> None:
        os.kill(self.process.pid, signal.SIGCONT)

    async def stream(self, run_id: str, after: int | None = None, *, received: bytearray | None = None) -> bytes:
        """The raw event stream of a run to its end, or until the connection broke. `received`: collects it."""
        headers = {} if after is None else {"last-event-id": str(after)}
        received = bytearray() if received is None else received
        try:
            async with self.client.http.get(f"/v2/runs/{run_id}/events", headers=headers) as response:
                assert response.status == 200, await response.text()
                async for piece in response.content.iter_any():
                    received += piece
        except aiohttp.ClientError:
            pass
        return bytes(received)


@asynccontextmanager
async def open_pair(
    home: Path, upstream: Upstream, **settings: str
) -> AsyncIterator[tuple[PairedReplica, PairedReplica]]:
    """Both processes are killed at the end, even if they are paused or gone."""
    async with AsyncExitStack() as stack:
        replicas: list[PairedReplica] = []
        for name in ("one", "two"):
            own = home / name
            own.mkdir(exist_ok=True)
            process = await ServerProcess.start(own, upstream, FOOTNOTE_LIMITS_RUNS_PER_USER="100", **settings)
            stack.push_async_callback(_kill, process)
            replicas.append(PairedReplica(process, await stack.enter_async_context(process.client())))
        first, second = replicas
        yield first, second


async def _kill(process: ServerProcess) -> None:
    with suppress(ProcessLookupError):
        await process.kill()


def without_pings(stream: bytes) -> bytes:
    return b"".join(frame + b"\n\n" for frame in stream.split(b"\n\n") if frame.startswith(b"id: "))


def event_ids(stream: bytes) -> list[int]:
    return [int(line[4:]) for line in stream.split(b"\n") if line.startswith(b"id: ")]
