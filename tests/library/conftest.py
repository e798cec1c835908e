from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import engines
from footnote.db.engine import Database
from footnote.library import Library
from library.pages import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database.open(engines.database_url(tmp_path), tmp_path) as opened:
        yield opened


@pytest.fixture
def library(database: Database, clock: Clock) -> Library:
    return Library(database, clock=clock)
