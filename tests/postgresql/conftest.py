"""A real server for what only PostgreSQL has: commits in doubt, deadlocks, two versions of a schema at once."""

import itertools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest
from service_kinds import Postgres

from bus.buses import running_service
from footnote.db.engine import Database

_numbers = itertools.count()


@pytest.fixture(scope="package")
def postgres() -> Iterator[Postgres]:
    with running_service(Postgres) as server:
        yield server


@pytest.fixture
async def url(postgres: Postgres) -> str:
    """The URL of an empty database."""
    name = f"empty_{next(_numbers)}"
    connection = await asyncpg.connect(postgres.url())
    await connection.execute(f"CREATE DATABASE {name}")
    await connection.close()
    return postgres.url(name)


@pytest.fixture
async def database(url: str, tmp_path: Path) -> AsyncIterator[Database]:
    async with Database.open(url, tmp_path) as opened:
        yield opened


@pytest.fixture
async def other(url: str, tmp_path: Path) -> AsyncIterator[Database]:
    """A second connection pool for the same database, as another replica has it."""
    async with Database.open(url, tmp_path) as opened:
        yield opened
