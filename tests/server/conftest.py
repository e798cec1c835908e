from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from schemathesis.pytest.plugin import SchemathesisFunction

from server.house import House, open_house, script_answer
from upstream import Upstream


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Schemathesis tells the route in the name of a test and not in its id; of tests with one id only one would run
    where they are spread over processes."""
    for item in items:
        if isinstance(item, SchemathesisFunction):
            item._id = item.id.with_params(item.operation_label)


@pytest.fixture
async def house(tmp_path: Path, upstream: Upstream) -> AsyncIterator[House]:
    """A server whose model answers every question with one word."""
    script_answer(upstream)
    async with open_house(tmp_path, upstream) as house:
        yield house
