"""A server harness behind a balancer, with a second replica in a process of its own.

Tests that were written for one server run on two: requests go through the balancer, and what a test prepares or reads
through `app` is in the shared database.
"""

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from cli.process import environment
from footnote.server.route import Route
from footnote.server.routes import ALL_ROUTES
from replicas.balancer import Balancer
from replicas.cluster import TIMEOUT
from replicas.shared_services import SharedServices
from server.harness import ServerHarness, open_server
from upstream import Upstream


@asynccontextmanager
async def open_two_replicas(
    shared_services: SharedServices,
    home: Path,
    upstream: Upstream | None = None,
    *,
    routes: Iterable[Route] = ALL_ROUTES,
    **environ: str,
) -> AsyncIterator[ServerHarness]:
    """Like `open_server`, with the URL of the balancer."""
    services = {name: service.port for name, service in shared_services.services.items()}
    settings = {**environment(home, upstream), **environ, **shared_services.settings(services)}
    async with (
        open_server(home, upstream, routes=routes, **settings) as server,
        _start_second_replica(home / "second", settings) as port,
        Balancer(int(server.url.rpartition(":")[2]), port) as balancer,
        aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(TIMEOUT), connector=aiohttp.TCPConnector(force_close=True)
        ) as http,
    ):
        alone, server.url, server.http = (server.url, server.http), balancer.url, http
        try:
            yield server
        finally:
            server.url, server.http = alone
            # Both replicas end here, so runs that the second one leaves must not be adopted.
            server.app.runner._supervisor.stop()
        assert len(server.responses) < 2 or all(backend.connection_count for backend in balancer.backends)


@asynccontextmanager
async def _start_second_replica(home: Path, settings: dict[str, str]) -> AsyncIterator[int]:
    """Starts the second replica with the same agents."""
    (home / ".footnote").mkdir(parents=True, exist_ok=True)
    agents = home.parent / ".footnote" / "agents.json"
    if agents.exists():
        shutil.copy(agents, home / ".footnote")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "replicas.second_replica",
        str(home),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**settings, "PYTHONPATH": ":".join(filter(None, sys.path))},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(settings).encode() + b"\n")
        async with asyncio.timeout(TIMEOUT):
            line = await process.stdout.readline()
        assert line, "the second replica did not start"
        yield int(line)
        process.stdin.close()
        async with asyncio.timeout(TIMEOUT):
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _main(home: Path, settings: dict[str, str]) -> None:
    """Serves until stdin is closed."""
    async with open_server(home, **settings) as server:
        sys.stdout.write(server.url.rpartition(":")[2] + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]), json.loads(sys.stdin.readline())))
