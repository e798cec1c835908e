"""Real servers for the buses, and buses that meet at one of them."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from service_kinds import Postgres, Redis
from service_process import Service, free_ports
from service_programs import Missing

from footnote.bus.base import Bus, BusState
from footnote.bus.factory import open_bus
from footnote.bus.subscriptions import Listener
from footnote.db import rate_limits
from footnote.db.engine import Database

SECONDS = 60
PASSWORD = "a-password-that-nobody-may-see"


@contextmanager
def running_service(kind: type[Redis] | type[Postgres]) -> Iterator[Service]:
    with tempfile.TemporaryDirectory(prefix="footnote-bus-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        [port] = free_ports(1)
        try:
            # A commit waits for no disk: how long that takes is nothing that these tests are about.
            service = (
                Redis(folder / "server", port, PASSWORD)
                if kind is Redis
                else Postgres(folder / "server", port, PASSWORD, durable=False)
            )
        except Missing as missing:
            pytest.skip(str(missing))
        service.start()
        try:
            yield service
        finally:
            service.stop()


class BusServer:
    """Where buses meet: `open` gives one, as another replica would have it."""

    def __init__(self, url: str, database_url: str, home: Path, stack: AsyncExitStack) -> None:
        self.url = url
        self._database_url = database_url
        self._home = home
        self._stack = stack
        self._local: Bus | None = None

    async def open(self) -> Bus:
        if self._local is not None:
            return self._local
        database = await self._stack.enter_async_context(Database.open(self._database_url, self._home))
        if database.is_shared:
            await database.write(
                rate_limits.delete_full_buckets()
            )  # the first one makes the tables, which takes its time
        bus = open_bus(self.url, self._database_url, database)
        self._stack.push_async_callback(bus.close)
        if self.url == "local:":
            self._local = bus
        return bus


@asynccontextmanager
async def bus_server(url: str, home: Path, database_url: str = "sqlite:footnote.db") -> AsyncIterator[BusServer]:
    async with AsyncExitStack() as stack:
        yield BusServer(url, database_url, home, stack)


async def wait_for_state(bus: Bus, condition: Callable[[BusState], bool]) -> BusState:
    """What the bus says of itself, once that holds."""
    async with asyncio.timeout(SECONDS):
        while not condition(state := bus.state):
            await asyncio.sleep(0.01)
    return state


async def wait_for_log(caplog: pytest.LogCaptureFixture, text: str) -> None:
    """Until that stands in the log."""
    async with asyncio.timeout(SECONDS):
        while text not in caplog.text:
            await asyncio.sleep(0.01)


async def wait_live(listener: Listener) -> None:
    """Until every message is heard, and the word that some may have been missed is taken."""
    assert await listener.wait_ready(SECONDS)
    assert await listener.next(SECONDS) == b""


async def next_message(listener: Listener) -> bytes:
    """The next message, without hints that some may have been missed."""
    async with asyncio.timeout(SECONDS):
        while not (message := await listener.next()):
            pass
    return message
