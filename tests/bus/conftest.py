from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from service_kinds import Postgres, Redis

from bus.buses import SECONDS, BusServer, bus_server, running_service


@pytest.fixture(scope="package")
def redis() -> Iterator[Redis]:
    with running_service(Redis) as server:
        yield server


@pytest.fixture(scope="package")
def postgres() -> Iterator[Postgres]:
    with running_service(Postgres) as server:
        yield server


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raises the timeouts of the bus, so that a message delayed by a busy machine is late but not lost."""
    for name in ("CONNECT_SECONDS", "SILENT_SECONDS", "TOKEN_SECONDS", "_CLOSE_SECONDS", "_HOLD_SECONDS"):
        monkeypatch.setattr(f"footnote.bus.remote.{name}", SECONDS)
    for name in ("CONNECT_SECONDS", "SILENT_SECONDS", "ANSWER_SECONDS"):
        monkeypatch.setattr(f"footnote.bus.redis.{name}", SECONDS)
    monkeypatch.setattr("footnote.bus.postgresql.CONNECT_SECONDS", SECONDS)


@pytest.fixture(params=["local", "redis", "postgresql"])
async def meeting(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[BusServer]:
    """A server for each kind of bus, each of them real."""
    match request.param:
        case "redis":
            url, database_url = request.getfixturevalue("redis").url(3), "sqlite:footnote.db"
        case "postgresql":
            url, database_url = "postgresql:", request.getfixturevalue("postgres").url()
        case _:
            url, database_url = "local:", "sqlite:footnote.db"
    async with bus_server(url, tmp_path, database_url) as found:
        yield found
