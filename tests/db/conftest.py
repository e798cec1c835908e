from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from footnote.db.engine import Database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database.open("sqlite:footnote.db", tmp_path) as opened:
        yield opened
