"""Replicas behind a balancer, on one ground, and everything that can be done to them.

async with open_cluster(folder, ground, upstream) as cluster:
    async with cluster.client() as client:      # each request on whichever replica the balancer picks
        run_id = await client.start(await client.session())
    first, second = cluster.replicas
    await first.kill()
    second.lines["database"].cut()
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import aiohttp

from replicas.balancer import Backend, Balancer
from replicas.faults import FaultyLink
from replicas.ground import SharedServices
from runs.serving import SECONDS, TOKEN, Client, Process
from upstream import Upstream

TIMEOUT = 60.0
"""How long anything that must come is waited for."""


class Replica:
    """`footnote serve` with a home of its own; `lines` are its ways to the services."""

    def __init__(
        self, home: Path, upstream: Upstream, settings: dict[str, str], backend: Backend, links: dict[str, FaultyLink]
    ) -> None:
        self.links = links
        self.backend = backend
        self._home = home
        self._upstream = upstream
        self._settings = settings
        self._process: Process | None = None

    @property
    def process(self) -> Process:
        assert self._process is not None
        return self._process

    @property
    def url(self) -> str:
        return self.process.url

    @property
    def stderr(self) -> str:
        """What all of its starts wrote to stderr."""
        return self.process.stderr

    async def start(self, **changed: str) -> None:
        """Also again, after an end of whatever kind. `changed`: variables from now on."""
        self._home.mkdir(exist_ok=True)
        self._settings |= changed
        self._process = await Process.start(self._home, self._upstream, **self._settings)
        self.backend.port = int(self.url.rpartition(":")[2])

    async def kill(self) -> None:
        await self.process.kill()

    async def stop(self) -> int:
        """In good order; the exit code."""
        self.resume()
        return await self.process.stop()

    def pause(self) -> None:
        self.process.pause()

    def resume(self) -> None:
        if self.is_running:
            os.kill(self.process.pid, signal.SIGCONT)

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process._process.returncode is None

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        async with _client(self.url) as client:
            yield client

    async def ready(self) -> None:
        """Returns when it says that it can work."""
        await wait_until_ready(self.url)


class Cluster:
    def __init__(self, ground: SharedServices, balancer: Balancer, replicas: list[Replica]) -> None:
        self.ground = ground
        self.balancer = balancer
        self.replicas = replicas

    @property
    def url(self) -> str:
        return self.balancer.url

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """Each request goes over a connection of its own, so that the balancer picks a replica for each."""
        async with _client(self.url) as client:
            yield client

    async def ready(self) -> None:
        await asyncio.gather(*(replica.ready() for replica in self.replicas))


@asynccontextmanager
async def _client(url: str) -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {TOKEN}"}
    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    async with aiohttp.ClientSession(
        url, headers=headers, timeout=aiohttp.ClientTimeout(SECONDS), connector=connector
    ) as http:
        yield Client(http)


async def wait_until_ready(url: str) -> None:
    answered = "nothing"
    timeout = aiohttp.ClientTimeout(10)
    try:
        async with asyncio.timeout(TIMEOUT), aiohttp.ClientSession(timeout=timeout) as http:
            while True:
                try:
                    async with http.get(f"{url}/readyz") as answer:
                        if answer.status == 200:
                            return
                        answered = await answer.text()
                except (aiohttp.ClientError, TimeoutError) as error:
                    answered = repr(error)
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise AssertionError(f"{url} did not get ready, and last said {answered}") from None


@asynccontextmanager
async def open_cluster(
    folder: Path, ground: SharedServices, upstream: Upstream, *, count: int = 2, **settings: str
) -> AsyncIterator[Cluster]:
    """Ready. `settings` are variables that all replicas get."""
    async with AsyncExitStack() as stack:
        balancer = await stack.enter_async_context(Balancer(*([1] * count)))
        replicas: list[Replica] = []
        for number, backend in enumerate(balancer.backends, 1):
            lines = {
                name: await stack.enter_async_context(FaultyLink(service.port))
                for name, service in ground.services.items()
            }
            found = ground.settings({name: line.port for name, line in lines.items()})
            replica = Replica(folder / f"replica{number}", upstream, {**found, **settings}, backend, lines)
            stack.push_async_callback(_stop_replica, replica)
            replicas.append(replica)
        # One after the other, as a careful operator does: the first makes the tables.
        for replica in replicas:
            await replica.start()
        cluster = Cluster(ground, balancer, replicas)
        await cluster.ready()
        yield cluster


async def _stop_replica(replica: Replica) -> None:
    if replica.is_running:
        replica.resume()
        await replica.kill()
