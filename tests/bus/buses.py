"""Real servers for the bus, and buses that are connected to the same server."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TypeVar

import pytest
from service_kinds import Postgres, Redis
from service_process import free_ports
from service_programs import MissingProgram

from footnote.bus import open_bus
from footnote.bus.base import Bus, BusState, Listener
from footnote.db.engine import Database
from footnote.db.postgresql.bus import delete_full_buckets

S = TypeVar("S", Redis, Postgres)
SECONDS = 60
PASSWORD = "a-password-that-nobody-may-see"


@contextmanager
def running_service(kind: type[S]) -> Iterator[S]:
    # No test here is about durability, so a commit need not wait for the disk.
    options = {"durable": False} if kind is Postgres else {}
    with tempfile.TemporaryDirectory(prefix="footnote-bus-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        [port] = free_ports(1)
        try:
            service = kind(folder / "server", port, PASSWORD, **options)
        except MissingProgram as missing:
            pytest.skip(str(missing))
        service.start()
        try:
            yield service
        finally:
            service.stop()


class BusServer:
    """A server for buses: each `open` returns one more bus, as another replica would have it."""

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
            await database.write(delete_full_buckets())  # the first transaction creates the tables, which is slow
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
    """Waits until the condition holds, and returns that state of the bus."""
    async with asyncio.timeout(SECONDS):
        while not condition(state := bus.state):
            await asyncio.sleep(0.01)
    return state


async def wait_for_log(caplog: pytest.LogCaptureFixture, text: str) -> None:
    """Waits until the text is in the log."""
    async with asyncio.timeout(SECONDS):
        while text not in caplog.text:
            await asyncio.sleep(0.01)


async def wait_live(listener: Listener) -> None:
    """Waits until the listener receives every message, and consumes its first hint that messages may have been
    missed."""
    assert await listener.wait_ready(SECONDS)
    assert await listener.next(SECONDS) == b""


async def next_message(listener: Listener) -> bytes:
    """The next message, skipping hints that messages may have been missed."""
    async with asyncio.timeout(SECONDS):
        while not (message := await listener.next()):
            pass
    return message
