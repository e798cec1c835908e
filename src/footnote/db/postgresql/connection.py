"""Connections to PostgreSQL: opens pools, migrates a database, and translates errors."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, Protocol, cast
from urllib.parse import urlsplit

import asyncpg  # pyright: ignore[reportMissingTypeStubs] - it has none; what we use of it stands below
from msgspec import Struct

from footnote.db.errors import (
    DatabaseAway,
    DatabaseClosed,
    DatabaseFailed,
    DatabaseForeign,
    DatabaseFull,
    DatabaseLocked,
    DatabaseRefused,
)
from footnote.db.schema import Step, load_migrations


class ServerAddress(Struct, frozen=True):
    """`url` has the password in it; `name` is for messages."""

    url: str
    name: str


def parse_address(url: str) -> ServerAddress:
    parts = urlsplit(url)
    place = (parts.hostname or "the local server") + (f":{parts.port}" if parts.port else "")
    return ServerAddress(url, f"The database {parts.path.strip('/') or 'of the user'} at {place}")


CONNECT_SECONDS = 5.0
COMMAND_SECONDS = 10.0
"""Longer than any statement takes, and than the server keeps the locks of a dead client."""
_SERVER_SETTINGS = {
    "application_name": "footnote",
    "timezone": "UTC",
    # A replica that hangs in a transaction does not block the others for longer.
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
    """Closes the connections, or terminates them if the server does not answer."""
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            await these.close()
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        these.terminate()


async def open_pool(address: ServerAddress, size: int, *, readonly: bool = False) -> Pool:
    """A pool that opens connections on demand, at most `size` of them."""
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
    """No state outlives a transaction, so that the round trip of a reset is saved."""


@asynccontextmanager
async def borrow(pool: Pool) -> AsyncGenerator[AsyncpgConnection, None]:
    """A connection of the pool. It is terminated, not reused, if it broke or its user was cancelled."""
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
    """If the caller is cancelled or times out, the connection is released once it is established."""
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

# Errors -----------------------------------------------------------------------------------------------------


LOCK_SECONDS = 10.0

_UNAVAILABLE = (
    OSError,  # refused, reset, no such host; also its TimeoutError
    asyncpg.InterfaceError,  # the connection was closed under us
    asyncpg.InternalClientError,  # or ended by the server while we were speaking
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.ReadOnlySQLTransactionError,  # a standby, until it is promoted
)
_REFUSED = (asyncpg.DataError, asyncpg.IntegrityConstraintViolationError, asyncpg.ProgramLimitExceededError)
_RETRYABLE = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.InvalidCachedStatementError,  # another version has changed the tables
    asyncpg.OutdatedSchemaCacheError,
)
_POOLER_HINT = (
    "PgBouncer has to have `ignore_startup_parameters = default_transaction_read_only, "
    "idle_in_transaction_session_timeout, lock_timeout`, and docs/scale.md says what else"
)


def is_unavailable(error: BaseException) -> bool:
    """Whether the server or the network failed, so that another connection may succeed later."""
    if isinstance(error, ValueError) or _is_pooler_error(error):  # a value of the wrong type, or a permanent error
        return False
    return isinstance(error, _UNAVAILABLE)


def _is_pooler_error(error: BaseException) -> bool:
    """Only a pooler refuses our startup parameters: PostgreSQL itself knows all of them."""
    return isinstance(error, asyncpg.ProtocolViolationError) and "startup parameter" in str(error)


def is_read_only_violation(error: BaseException) -> bool:
    """Whether a script that reads tried to write."""
    return isinstance(error, asyncpg.ReadOnlySQLTransactionError)


def is_retryable(error: BaseException) -> bool:
    """Whether nothing was changed and a retry may succeed."""
    return isinstance(error, _RETRYABLE) or is_unavailable(error)


def translate_error(error: Exception, name: str) -> DatabaseFailed:
    """The messages, with the `name` of the database, are for operators; users get the error's `public` message."""
    match error:
        case asyncpg.DiskFullError():
            found = DatabaseFull(name)
        case asyncpg.LockNotAvailableError() | asyncpg.QueryCanceledError() | asyncpg.DeadlockDetectedError():
            found = DatabaseLocked(name, LOCK_SECONDS)
        case asyncpg.InvalidPasswordError() | asyncpg.InvalidAuthorizationSpecificationError():
            found = DatabaseClosed(name, "it refuses the user or the password")
        case asyncpg.InvalidCatalogNameError():
            found = DatabaseClosed(name, "there is no such database; `createdb` makes one")
        case _ if _is_pooler_error(error):
            found = DatabaseClosed(name, f"a pooler before it says `{_reason(error)}`; {_POOLER_HINT}")
        case asyncpg.InsufficientPrivilegeError():
            found = DatabaseClosed(name, _reason(error))
        case asyncpg.UndefinedTableError() | asyncpg.UndefinedColumnError():
            found = DatabaseForeign(f"{name} is not as this Footnote knows it ({_reason(error)}). Upgrade Footnote.")
        case _ if isinstance(error, _REFUSED):
            found = DatabaseRefused(f"{name} does not take what was to be written: {_reason(error)}.")
        case _ if is_unavailable(error):
            found = DatabaseAway(name, _reason(error))
        case _:
            found = DatabaseFailed(f"{name} could not be used: {_reason(error)}. `footnote doctor` looks at it.")
    return found


def _reason(error: Exception) -> str:
    """One line, without values: an error about a value would quote it."""
    if isinstance(error, TimeoutError):
        return "it took too long"
    if isinstance(error, asyncpg.DataError | ValueError):
        return type(error).__name__
    return (str(error).splitlines() or [type(error).__name__])[0] or type(error).__name__


# Migrations -------------------------------------------------------------------------------------------------


log = logging.getLogger(__name__)

# Only migrations wait for this lock; other transactions go on meanwhile.
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || 'footnote format', 0))"
_FORMAT_TABLE = """
CREATE TABLE IF NOT EXISTS footnote_format (
    number BIGINT PRIMARY KEY,
    works_with BIGINT NOT NULL,
    applied_at TIMESTAMPTZ NOT NULL DEFAULT now()
)
"""


async def migrate(address: ServerAddress) -> None:
    """Applies the missing migrations in one transaction. Of several replicas, one does it and the others wait; replicas
    of the previous version may run meanwhile."""
    connection = await connect(address, command_seconds=None)
    try:
        known = load_migrations("postgresql")
        if await _applied_number(connection) == len(known):
            return
        async with connection.transaction():
            await connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            await connection.execute(_LOCK)
            await connection.execute(_FORMAT_TABLE)
            await _apply_missing(connection, known, address.name)
    finally:
        await close_gracefully(connection)


async def _applied_number(connection: AsyncpgConnection) -> int:
    """The number of the last migration. Read without a lock, because nearly always none is missing."""
    if await connection.fetchval("SELECT to_regclass('footnote_format')") is None:
        return 0
    return await connection.fetchval("SELECT coalesce(max(number), 0) FROM footnote_format")


async def _apply_missing(connection: AsyncpgConnection, known: list[Step], name: str) -> None:
    number = await _applied_number(connection)
    if number > len(known):
        await _check_compatible(connection, number, known, name)
    elif number == 0:
        await _check_empty(connection, name)
    for step in known[number:]:
        await connection.execute(step.text)
        works_with = step.works_with or step.number
        await connection.execute(
            "INSERT INTO footnote_format (number, works_with) VALUES ($1, $2)", step.number, works_with
        )
        log.info("The database has format %d now.", step.number)


async def _check_compatible(connection: AsyncpgConnection, number: int, known: list[Step], name: str) -> None:
    """The format is of a newer version. While replicas are upgraded one by one, the old ones go on if the format is
    compatible."""
    works_with = await connection.fetchval("SELECT works_with FROM footnote_format WHERE number = $1", number)
    if len(known) < works_with:
        raise DatabaseForeign(
            f"{name} was written by a newer Footnote (format {number}; this one knows {len(known)}, and needs to know "
            f"{works_with}). Upgrade Footnote."
        )
    log.info("The database has format %d of a newer Footnote, beside which this one can go on.", number)


async def _check_empty(connection: AsyncpgConnection, name: str) -> None:
    tables = await connection.fetchval(
        "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'footnote_format'"
    )
    if tables:
        raise DatabaseForeign(
            f"{name} has tables of another program, and was left as it is. Name an empty database, or a schema of its "
            "own, in database.url."
        )
