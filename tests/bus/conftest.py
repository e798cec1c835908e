from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from service_kinds import Postgres, Redis

from bus.buses import Place, place, running


@pytest.fixture(scope="package")
def redis() -> Iterator[Redis]:
    with running(Redis) as server:
        assert isinstance(server, Redis)
        yield server


@pytest.fixture(scope="package")
def postgres() -> Iterator[Postgres]:
    with running(Postgres) as server:
        assert isinstance(server, Postgres)
        yield server


@pytest.fixture(params=["local", "redis", "postgresql"])
async def meeting(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    """Every kind of bus, each with a real server."""
    match request.param:
        case "redis":
            url, database_url = request.getfixturevalue("redis").url(3), "sqlite:footnote.db"
        case "postgresql":
            url, database_url = "postgresql:", request.getfixturevalue("postgres").url()
        case _:
            url, database_url = "local:", "sqlite:footnote.db"
    async with place(url, tmp_path, database_url) as found:
        yield found
