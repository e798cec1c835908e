"""Replicas on one PostgreSQL, Redis and S3 server behind a balancer, each a process that is measured from outside."""

import asyncio
import contextlib
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import venvs
from processes import Server, footnote

sys.path.append(str(venvs.ROOT / "scripts"))

from services import Services

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_of(pid: int | None) -> float:
    """CPU seconds of a process with all its threads and children, including ended ones."""
    if pid is None:
        return 0.0
    spent = 0.0
    for one in (pid, *_children(pid)):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for thread in Path(f"/proc/{one}/task").iterdir():
                spent += int((thread / "schedstat").read_text().split()[0]) / 1e9
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return spent + (int(fields[13]) + int(fields[14])) / TICKS


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@dataclass
class Cluster:
    """`port`: that of the balancer. `settings`: the settings that all replicas share."""

    services: Services
    servers: list[Server]
    port: int
    database: str
    settings: dict[str, str]

    def cpu(self) -> dict[str, float]:
        """Seconds spent so far, by part."""
        return {
            "replicas": sum(cpu_of(server.pid) for server in self.servers if server.is_alive),
            "postgresql": cpu_of(self.services.postgres.pid),
            "redis": cpu_of(self.services.redis.pid),
            "s3": cpu_of(self.services.s3.pid),
        }

    def sql(self, query: str) -> list[tuple[object, ...]]:
        """Rows of a query in the database of the replicas, through a connection of its own."""
        return asyncio.run(_rows(self.services.postgres.url(self.database), query))


async def _rows(url: str, query: str) -> list[tuple[object, ...]]:
    connection = await asyncpg.connect(url)
    try:
        return [tuple(row.values()) for row in await connection.fetch(query)]
    finally:
        await connection.close()


@contextmanager
def cluster(
    services: Services, upstream_port: int, *, count: int = 2, bus: str | None = None, **settings: str
) -> Iterator[Cluster]:
    """With a database and a bucket prefix of its own. `bus`: the URL of another bus than Redis."""
    database = f"bench-{uuid.uuid4().hex[:12]}"
    asyncio.run(_rows(services.postgres.url(), f'CREATE DATABASE "{database}"'))
    shared = {
        **services.environ,
        "FOOTNOTE_DATABASE_URL": services.postgres.url(database),
        "FOOTNOTE_STORAGE_URL": services.s3.url(database),
        **({} if bus is None else {"FOOTNOTE_BUS_URL": bus}),
        **settings,
    }
    with ExitStack() as stack:
        # With different host names, so that no replica looks for the process of another one on its own machine.
        names = [f"machine{number}" for number in range(count)]
        servers = [stack.enter_context(footnote(upstream_port, machine=name, **shared)) for name in names]
        port = stack.enter_context(balancer(*(server.port for server in servers)))
        yield Cluster(services, servers, port, database, shared)


@contextmanager
def balancer(*ports: int) -> Iterator[int]:
    """The balancer of the tests in a process of its own; yields its port."""
    command = [sys.executable, "-m", "replicas.balancer", *map(str, ports)]
    environ = {**os.environ, "PYTHONPATH": str(venvs.ROOT / "tests")}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ, cwd=venvs.ROOT
    ) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()
