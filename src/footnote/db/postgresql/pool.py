"""Connections to PostgreSQL: how they are made, and the part of asyncpg that we use."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, Protocol, cast
from urllib.parse import urlsplit

import asyncpg  # pyright: ignore[reportMissingTypeStubs] - it has none; what we use of it stands below
from msgspec import Struct

from footnote.db.postgresql.errors import is_unavailable


class ServerAddress(Struct, frozen=True):
    """`url` holds the password; `name` is for people."""

    url: str
    name: str


def parse_address(url: str) -> ServerAddress:
    parts = urlsplit(url)
    place = (parts.hostname or "the local server") + (f":{parts.port}" if parts.port else "")
    return ServerAddress(url, f"The database {parts.path.strip('/') or 'of the user'} at {place}")


CONNECT_SECONDS = 5.0
COMMAND_SECONDS = 10.0
"""Longer than any statement of ours, and than what somebody who died is held on to by the server."""
_SERVER_SETTINGS = {
    "application_name": "footnote",
    "timezone": "UTC",
    # A replica that stopped in the middle of a transaction keeps no other waiting for longer.
    "idle_in_transaction_session_timeout": "5000",
    "lock_timeout": "9000",
}
IDLE_SECONDS = 300.0
CLOSE_SECONDS = 2.0


class AsyncpgConnection(Protocol):
    async def fetch(self, query: str, *args: Any) -> list[Sequence[Any]]: ...

    async def fetchval(self, query: str, *args: Any) -> Any: ...

    async def execute(self, query: str, *args: Any) -> str: ...

    async def executemany(self, command: str, args: Sequence[Sequence[Any]]) -> None: ...

    def transaction(self, **options: str) -> AbstractAsyncContextManager[None]: ...

    def terminate(self) -> None: ...

    async def close(self) -> None: ...


class Pool(Protocol):
    async def acquire(self) -> AsyncpgConnection: ...

    async def release(self, connection: AsyncpgConnection) -> None: ...

    async def close(self) -> None: ...

    def terminate(self) -> None: ...

    def get_size(self) -> int: ...

    def get_idle_size(self) -> int: ...


_driver = cast("Any", asyncpg)


async def connect(address: ServerAddress, *, command_seconds: float | None = COMMAND_SECONDS) -> AsyncpgConnection:
    return await _driver.connect(
        address.url, timeout=CONNECT_SECONDS, command_timeout=command_seconds, server_settings=_SERVER_SETTINGS
    )


async def close_gracefully(these: AsyncpgConnection | Pool) -> None:
    """In good order, if the server takes part in that."""
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            await these.close()
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        these.terminate()


async def open_pool(address: ServerAddress, size: int, *, readonly: bool = False) -> Pool:
    """It connects as connections are needed, `size` of them at most."""
    reading = {"default_transaction_read_only": "on"} if readonly else {}
    return await _driver.create_pool(
        address.url,
        min_size=0,
        max_size=size,
        max_inactive_connection_lifetime=IDLE_SECONDS,
        timeout=CONNECT_SECONDS,
        command_timeout=COMMAND_SECONDS,
        server_settings=_SERVER_SETTINGS | reading,
        reset=_skip_reset,
    )


async def _skip_reset(_: object) -> None:
    """Nothing of ours outlives its transaction; to ask the server to see to that would cost a way there and back."""


@asynccontextmanager
async def borrow(pool: Pool) -> AsyncGenerator[AsyncpgConnection, None]:
    """A connection of the pool. One that broke, or was left in the middle of something, is given to nobody else."""
    connection = await _acquire(pool)
    try:
        yield connection
    except BaseException as error:
        if not isinstance(error, Exception) or is_unavailable(error):
            connection.terminate()
        raise
    finally:
        await pool.release(connection)


async def _acquire(pool: Pool) -> AsyncpgConnection:
    """Who does not wait any longer leaves no connection behind that is half made: it is given back when it is there."""
    taking = asyncio.ensure_future(pool.acquire())
    try:
        async with asyncio.timeout(COMMAND_SECONDS):
            return await asyncio.shield(taking)
    except BaseException:
        taking.add_done_callback(partial(_release_late, pool))
        raise


def _release_late(pool: Pool, taking: "asyncio.Future[AsyncpgConnection]") -> None:
    if not taking.cancelled() and taking.exception() is None:
        giving = asyncio.ensure_future(pool.release(taking.result()))
        _releases.add(giving)
        giving.add_done_callback(_releases.discard)


_releases: "set[asyncio.Future[None]]" = set()
