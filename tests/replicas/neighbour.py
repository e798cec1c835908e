"""A house whose every second connection goes to a neighbour: another replica, in a process of its own.

What is written for one server runs on two: the tests talk to the balancer, and what they prepare or look up in `app`
is in the database that both have.
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
from replicas.ground import SharedServices
from server.house import House, open_house
from upstream import Upstream


@asynccontextmanager
async def open_two_replicas(
    ground: SharedServices,
    home: Path,
    upstream: Upstream | None = None,
    *,
    routes: Iterable[Route] = ALL_ROUTES,
    **environ: str,
) -> AsyncIterator[House]:
    """As `open_house`, but for the address: that is the balancer's."""
    services = {name: service.port for name, service in ground.services.items()}
    settings = {**environment(home, upstream), **environ, **ground.settings(services)}
    async with (
        open_house(home, upstream, table=routes, **settings) as house,
        _start_neighbour(home / "neighbour", settings) as port,
        Balancer(int(house.url.rpartition(":")[2]), port) as balancer,
        aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(TIMEOUT), connector=aiohttp.TCPConnector(force_close=True)
        ) as http,
    ):
        alone, house.url, house.http = (house.url, house.http), balancer.url, http
        try:
            yield house
        finally:
            house.url, house.http = alone
            # Both end here: what the neighbour leaves unfinished is for whoever comes after them.
            house.app.runner._supervisor.stop()
        assert len(house.responses) < 2 or all(backend.connection_count for backend in balancer.backends)


@asynccontextmanager
async def _start_neighbour(home: Path, settings: dict[str, str]) -> AsyncIterator[int]:
    """With the same agents, as replicas have them."""
    (home / ".footnote").mkdir(parents=True, exist_ok=True)
    agents = home.parent / ".footnote" / "agents.json"
    if agents.exists():
        shutil.copy(agents, home / ".footnote")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "replicas.neighbour",
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
        assert line, "the neighbour did not start"
        yield int(line)
        process.stdin.close()
        async with asyncio.timeout(TIMEOUT):
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _main(home: Path, settings: dict[str, str]) -> None:
    """Serves until nobody holds the other end of stdin."""
    async with open_house(home, **settings) as house:
        sys.stdout.write(house.url.rpartition(":")[2] + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]), json.loads(sys.stdin.readline())))
