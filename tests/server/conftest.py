from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.house import House, answers_always, open_house
from upstream import Upstream


@pytest.fixture
async def house(tmp_path: Path, upstream: Upstream) -> AsyncIterator[House]:
    """A server whose model answers every question with one word."""
    answers_always(upstream)
    async with open_house(tmp_path, upstream) as house:
        yield house
