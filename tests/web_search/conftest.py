from collections.abc import AsyncIterator

import pytest

from web import Web


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with Web() as opened:
        yield opened
