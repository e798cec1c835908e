"""Two replicas on one database, to be put behind a proxy."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from service_process import free_ports

import engines
from cli.process import environment
from upstream import Upstream

TOKEN = "a-token-for-the-tests-0123456789"
SECONDS = 60


class ProxiedReplica:
    """One `footnote serve` on the port that the proxy is configured with."""

    def __init__(self, folder: Path, port: int, environ: dict[str, str]) -> None:
        self.port = port
        self._errors = folder / f"{port}.txt"
        self._environ = {**environ, "HOME": str(folder / str(port))}
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        with self._errors.open("ab") as stderr:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "footnote", "serve", "--port", str(self.port)),
                stdout=asyncio.subprocess.PIPE,
                stderr=stderr,
                env=self._environ,
            )
        assert self._process.stdout is not None
        async with asyncio.timeout(SECONDS):
            line = await self._process.stdout.readline()
        assert line, self.stderr_text

    async def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        await self._process.wait()

    async def stop(self) -> int | None:
        if self._process is None:
            return None
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGCONT)
            self._process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(SECONDS):
            return await self._process.wait()

    def pause(self) -> None:
        """Stops the process with SIGSTOP: the kernel still accepts connections, but no request is answered."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    @property
    def stderr_text(self) -> str:
        return self._errors.read_text()


@asynccontextmanager
async def two_replicas(
    folder: Path, upstream: Upstream, public_url: str
) -> AsyncIterator[tuple[ProxiedReplica, ProxiedReplica]]:
    """They share a database and a storage, and have a home folder each."""
    environ = {
        **environment(folder, upstream, "anthropic"),
        "FOOTNOTE_TOKEN": TOKEN,
        "FOOTNOTE_SERVER_PUBLIC_URL": public_url,
        "FOOTNOTE_DATABASE_URL": f"sqlite:{folder / 'footnote.db'}",
        "FOOTNOTE_STORAGE_URL": f"local:{folder / 'files'}",
        **engines.environment(folder),
    }
    replicas = [ProxiedReplica(folder, port, environ) for port in free_ports(2)]
    try:
        await asyncio.gather(*(replica.start() for replica in replicas))
        yield replicas[0], replicas[1]
    finally:
        await asyncio.gather(*(replica.stop() for replica in replicas))
