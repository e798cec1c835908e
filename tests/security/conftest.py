"""A web at a public address, and traps on loopback that must not be connected to."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from footnote.net.client import Net
from footnote.sandbox.pool import SandboxPool
from web import Trap, Web
from web.internet import SITE, Internet


@pytest.fixture
async def traps() -> AsyncIterator[tuple[Trap, Trap]]:
    """Servers on loopback, IPv4 and IPv6. A single connection to one of them fails the test."""
    async with Trap("127.0.0.1") as four, Trap("::1") as six:
        yield four, six
        assert (four.connections, six.connections) == (0, 0), "something connected to loopback"


@pytest.fixture
def internet(monkeypatch: pytest.MonkeyPatch) -> Internet:
    internet = Internet()
    internet.install(monkeypatch)
    return internet


@pytest.fixture
async def site(internet: Internet) -> AsyncIterator[Web]:
    """The small web, at a public address and under the name `site.test`."""
    async with Web() as web:
        internet.serve_at(SITE, web)
        internet.add_name("site.test", [SITE])
        yield web


@pytest.fixture
async def net(internet: Internet) -> AsyncIterator[Net]:
    async with Net(resolve_host=internet.resolve_host) as net:
        yield net


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[SandboxPool]:
    """One sandbox for all tests of a module, as a server has it."""
    async with SandboxPool() as opened:
        yield opened
