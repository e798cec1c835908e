from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from schemathesis.pytest.plugin import SchemathesisFunction

from cli.small_web import small_web
from server.harness import ServerHarness, open_server, script_answer
from server.session_files import SessionFiles
from upstream import Upstream
from web import Web


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Schemathesis has the route in the name of a test and not in its id; of tests with the same id, pytest-xdist would
    run only one."""
    for item in items:
        if isinstance(item, SchemathesisFunction):
            item._id = item.id.with_params(item.operation_label)


@pytest.fixture
async def server(tmp_path: Path, upstream: Upstream) -> AsyncIterator[ServerHarness]:
    """A server whose model answers every question with one word."""
    script_answer(upstream)
    async with open_server(tmp_path, upstream) as server:
        yield server


@pytest.fixture
async def session_files(server: ServerHarness) -> SessionFiles:
    return SessionFiles(server.local, await server.local.create_session())


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with small_web() as opened:
        yield opened
