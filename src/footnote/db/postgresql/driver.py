"""The driver of PostgreSQL, which several replicas share: one transaction for each script, retried after transient
errors.

If the connection breaks during COMMIT, the driver asks the server whether the transaction with this number was
committed.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeVar

from footnote.db.errors import DatabaseFailed
from footnote.db.postgresql.connection import (
    AsyncpgConnection,
    Pool,
    borrow,
    close_gracefully,
    is_read_only_violation,
    is_retryable,
    is_unavailable,
    migrate,
    open_pool,
    parse_address,
    translate_error,
)
from footnote.db.script import Either, Row, Rows, Script, Statement

T = TypeVar("T")


async def run_script(script: Script[T], connection: AsyncpgConnection) -> T:
    """Runs the statements of a script, inside whatever transaction there is."""
    steps = iter(script)
    try:
        statement = next(steps)
        while True:
            statement = steps.send(await _rows(statement, connection))
    except StopIteration as end:
        return end.value
    finally:
        steps.close()


class NeedsTransaction(Exception):
    """A script that was run as a single statement has more."""


async def run_single_statement(script: Script[T], connection: AsyncpgConnection) -> T:
    """The same for a script of one statement, without a transaction."""
    steps = iter(script)
    try:
        steps.send(await _rows(next(steps), connection))
    except StopIteration as end:
        return end.value
    finally:
        steps.close()
    raise NeedsTransaction


async def _rows(statement: Statement | Either | None, connection: AsyncpgConnection) -> Rows:
    if isinstance(statement, Either):
        statement = statement.postgresql
    if statement is None:
        return []
    text = _number_placeholders(statement.text)
    if statement.many is not None:
        await connection.executemany(text, [_replace_nul(row) for row in statement.many])
        return []
    return [tuple(record) for record in await connection.fetch(text, *_replace_nul(statement.values))]


@lru_cache(maxsize=1000)
def _number_placeholders(text: str) -> str:
    """Replaces each `?` by `$1`, `$2`, …. No statement of this package has a `?` inside a string."""
    first, *others = text.split("?")
    return first + "".join(f"${number}{other}" for number, other in enumerate(others, 1))


def _replace_nul(values: Row) -> Row:
    """PostgreSQL refuses NUL in a text, where SQLite stores it; it is replaced by U+FFFD."""
    if any(isinstance(value, str) and "\0" in value for value in values):
        return tuple(value.replace("\0", "\ufffd") if isinstance(value, str) else value for value in values)
    return values


READERS = 6
WRITERS = 6
"""Two pools, so that many readers do not delay the heartbeats of leases."""
CLOSE_SECONDS = 5.0
RETRY_SECONDS = 8.0
"""How long an unavailable server is retried."""
_INITIAL_BACKOFF = 0.05
_MAX_BACKOFF = 1.0


class _CommitUncertain(Exception):
    """The connection broke while a transaction was being committed."""

    def __init__(self, number: str, value: Any) -> None:
        super().__init__(number)
        self.number = number
        self.value = value


class PostgresDriver:
    def __init__(self, url: str, *, retry_seconds: float = RETRY_SECONDS) -> None:
        self._address = parse_address(url)
        self._retry_seconds = retry_seconds
        self._open_lock = asyncio.Lock()
        self._pools: tuple[Pool, Pool] | None = None
        self._in_flight = 0
        self._idle = asyncio.Event()
        self._multi_statement: set[Callable[..., Any]] = set()
        """The functions of reading scripts that have more than one statement."""

    async def read(self, script: Script[T]) -> T:
        return await self._with_retries(lambda: self._read(script), is_fatal=is_read_only_violation)

    async def write(self, script: Script[T], *, erase: bool) -> T:
        del erase  # the next vacuum removes deleted rows, which nothing here could hasten
        return await self._with_retries(lambda: self._write(script))

    async def close(self) -> None:
        """Waits for running scripts, unless the server does not answer."""
        if self._in_flight:
            self._idle.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self._idle.wait()
        pools, self._pools = self._pools, None
        for pool in pools or ():
            await close_gracefully(pool)

    @property
    def connections(self) -> tuple[int, int]:
        """The number of connections, and how many of them are in use."""
        pools = self._pools or ()
        there = sum(pool.get_size() for pool in pools)
        return there, there - sum(pool.get_idle_size() for pool in pools)

    # One attempt -------------------------------------------------------------------------------------------

    async def _read(self, script: Script[T]) -> T:
        """A single statement needs no transaction. A script that turns out to have more is restarted in one, and from
        then on always run in one."""
        readers, _ = await self._ensure_pools()
        async with borrow(readers) as connection:
            try:
                if script.function not in self._multi_statement:
                    return await run_single_statement(script, connection)
            except NeedsTransaction:
                self._multi_statement.add(script.function)
            async with connection.transaction(isolation="repeatable_read"):
                return await run_script(script, connection)

    async def _write(self, script: Script[T]) -> T:
        _, writers = await self._ensure_pools()
        try:
            async with borrow(writers) as connection:
                return await _run_and_commit(script, connection)
        except _CommitUncertain as doubt:
            if await self._was_committed(doubt.number):
                return doubt.value
            raise ConnectionResetError("the connection broke before anything was kept") from doubt

    async def _was_committed(self, number: str) -> bool:
        """Waits until the server knows: the transaction may be in progress, or the server may be restarting."""
        last = time.monotonic() + 10 * self._retry_seconds
        while True:
            try:
                _, writers = await self._ensure_pools()
                async with borrow(writers) as connection:
                    state = await connection.fetchval("SELECT pg_xact_status($1::text::xid8)", number)
                if state != "in progress":
                    return state == "committed"
            except Exception as error:
                if not is_unavailable(error):
                    raise
            if time.monotonic() > last:
                raise ConnectionResetError("the server does not say whether it kept what was written")
            await asyncio.sleep(_MAX_BACKOFF / 2)

    # Until it works ----------------------------------------------------------------------------------------

    async def _with_retries(
        self, attempt: Callable[[], Awaitable[T]], *, is_fatal: Callable[[Exception], bool] = lambda _: False
    ) -> T:
        last = time.monotonic() + self._retry_seconds
        pause = _INITIAL_BACKOFF
        self._in_flight += 1
        try:
            while True:
                try:
                    return await attempt()
                except Exception as error:
                    if not _is_server_error(error):
                        raise
                    if not is_retryable(error) or is_fatal(error) or time.monotonic() + pause > last:
                        raise translate_error(error, self._address.name) from error
                await asyncio.sleep(pause)
                pause = min(2 * pause, _MAX_BACKOFF)
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._idle.set()

    async def _ensure_pools(self) -> tuple[Pool, Pool]:
        if self._pools is None:
            async with self._open_lock:
                if self._pools is None:
                    await migrate(self._address)
                    readers = await open_pool(self._address, READERS, readonly=True)
                    self._pools = readers, await open_pool(self._address, WRITERS)
        return self._pools


async def _run_and_commit(script: Script[T], connection: AsyncpgConnection) -> T:
    await connection.execute("BEGIN")
    try:
        value = await run_script(script, connection)
        number = await connection.fetchval("SELECT pg_current_xact_id_if_assigned()::text")
    except Exception as error:
        if not is_unavailable(error):
            await connection.execute("ROLLBACK")
        raise
    try:
        await connection.execute("COMMIT")
    except Exception as error:
        if number is not None and is_unavailable(error):
            raise _CommitUncertain(number, value) from error
        raise
    return value


def _is_server_error(error: Exception) -> bool:
    """Whether the driver raised the error, and not the script."""
    return not isinstance(error, DatabaseFailed) and (
        type(error).__module__.startswith("asyncpg") or is_unavailable(error)
    )
