"""Replicas behind a balancer on shared services, with control over each process and connection.

async with open_cluster(folder, shared_services, upstream) as cluster:
    async with cluster.client() as client:      # each request on whichever replica the balancer picks
        run_id = await client.start(await client.session())
    first, second = cluster.replicas
    await first.kill()
    second.links["database"].cut()
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import aiohttp

from replicas.balancer import Backend, Balancer
from replicas.faulty_link import FaultyLink
from replicas.shared_services import SharedServices
from runs.server_process import SECONDS, TOKEN, RunClient, ServerProcess
from upstream import Upstream

TIMEOUT = 60.0
"""Timeout of everything that must happen."""


class Replica:
    """`footnote serve` with a home folder of its own; `links` are its connections to the services."""

    def __init__(
        self, home: Path, upstream: Upstream, settings: dict[str, str], backend: Backend, links: dict[str, FaultyLink]
    ) -> None:
        self.links = links
        self.backend = backend
        self._home = home
        self._upstream = upstream
        self._settings = settings
        self._process: ServerProcess | None = None

    @property
    def process(self) -> ServerProcess:
        assert self._process is not None
        return self._process

    @property
    def url(self) -> str:
        return self.process.url

    @property
    def stderr(self) -> str:
        """The stderr of all starts of the process."""
        return self.process.stderr

    async def start(self, **changed: str) -> None:
        """Starts the process, also after it was stopped or killed. `changed`: settings from now on."""
        self._home.mkdir(exist_ok=True)
        self._settings |= changed
        self._process = await ServerProcess.start(self._home, self._upstream, **self._settings)
        self.backend.port = int(self.url.rpartition(":")[2])

    async def kill(self) -> None:
        await self.process.kill()

    async def stop(self) -> int:
        """Stops gracefully, and returns the exit code."""
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
    async def client(self) -> AsyncIterator[RunClient]:
        async with _client(self.url) as client:
            yield client

    async def ready(self) -> None:
        """Waits until `/readyz` reports that the replica can work."""
        await wait_until_ready(self.url)


class Cluster:
    def __init__(self, shared_services: SharedServices, balancer: Balancer, replicas: list[Replica]) -> None:
        self.shared_services = shared_services
        self.balancer = balancer
        self.replicas = replicas

    @property
    def url(self) -> str:
        return self.balancer.url

    @asynccontextmanager
    async def client(self) -> AsyncIterator[RunClient]:
        """Each request has a connection of its own, so that the balancer picks a replica for each."""
        async with _client(self.url) as client:
            yield client

    async def ready(self) -> None:
        await asyncio.gather(*(replica.ready() for replica in self.replicas))


@asynccontextmanager
async def _client(url: str) -> AsyncIterator[RunClient]:
    headers = {"authorization": f"Bearer {TOKEN}"}
    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    async with aiohttp.ClientSession(
        url, headers=headers, timeout=aiohttp.ClientTimeout(SECONDS), connector=connector
    ) as http:
        yield RunClient(http)


async def wait_until_ready(url: str) -> None:
    last_response = "nothing"
    timeout = aiohttp.ClientTimeout(10)
    try:
        async with asyncio.timeout(TIMEOUT), aiohttp.ClientSession(timeout=timeout) as http:
            while True:
                try:
                    async with http.get(f"{url}/readyz") as response:
                        if response.status == 200:
                            return
                        last_response = await response.text()
                except (aiohttp.ClientError, TimeoutError) as error:
                    last_response = repr(error)
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise AssertionError(f"{url} did not get ready, and last said {last_response}") from None


@asynccontextmanager
async def open_cluster(
    folder: Path, shared_services: SharedServices, upstream: Upstream, *, count: int = 2, **settings: str
) -> AsyncIterator[Cluster]:
    """Yields when all replicas are ready. `settings` apply to all replicas."""
    async with AsyncExitStack() as stack:
        balancer = await stack.enter_async_context(Balancer(*([1] * count)))
        replicas: list[Replica] = []
        for number, backend in enumerate(balancer.backends, 1):
            links = {
                name: await stack.enter_async_context(FaultyLink(service.port))
                for name, service in shared_services.services.items()
            }
            found = shared_services.settings({name: link.port for name, link in links.items()})
            replica = Replica(folder / f"replica{number}", upstream, {**found, **settings}, backend, links)
            stack.push_async_callback(_stop_replica, replica)
            replicas.append(replica)
        # One after the other, as operators are told to do, because the first one creates the tables.
        for replica in replicas:
            await replica.start()
        cluster = Cluster(shared_services, balancer, replicas)
        await cluster.ready()
        yield cluster


async def _stop_replica(replica: Replica) -> None:
    if replica.is_running:
        replica.resume()
        await replica.kill()
