from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import engines
from footnote.db.engine import Database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database.open(engines.database_url(tmp_path), tmp_path) as opened:
        yield opened
