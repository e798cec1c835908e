"""What `Database` drives when several replicas share it: a transaction for each script, tried again when it met with
something that passes.

Whether a transaction whose COMMIT was not answered has happened is not guessed: the server is asked by its number.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

from footnote.db.failures import DatabaseFailed
from footnote.db.postgresql.address import address_of
from footnote.db.postgresql.connecting import Connection, Pool, closed, lent, open_pool
from footnote.db.postgresql.explaining import explained, is_away, is_forbidden, is_passing
from footnote.db.postgresql.migrate import migrate
from footnote.db.postgresql.playing import NeedsTransaction, play, play_one
from footnote.db.script import Script

T = TypeVar("T")

READERS = 6
WRITERS = 6
"""Apart from each other: a thousand who read do not keep those waiting who hold on to their runs."""
CLOSE_SECONDS = 5.0
PATIENCE_SECONDS = 8.0
"""How long a server that is away is waited for."""
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0


class _InDoubt(Exception):
    """The connection broke while a transaction was being committed."""

    def __init__(self, number: str, value: Any) -> None:
        super().__init__(number)
        self.number = number
        self.value = value


class PostgresDriver:
    def __init__(self, url: str, *, patience: float = PATIENCE_SECONDS) -> None:
        self._address = address_of(url)
        self._patience = patience
        self._opening = asyncio.Lock()
        self._pools: tuple[Pool, Pool] | None = None
        self._going = 0
        self._quiet = asyncio.Event()
        self._longer: set[Callable[..., Any]] = set()
        """Scripts that read with more than one statement."""

    async def read(self, script: Script[T]) -> T:
        return await self._patiently(lambda: self._read(script), unless=is_forbidden)

    async def write(self, script: Script[T], *, erase: bool) -> T:
        del erase  # what is deleted goes with the next vacuum, and nothing here could hasten that
        return await self._patiently(lambda: self._write(script))

    async def close(self) -> None:
        """What was handed over gets to its end, unless the server does not answer."""
        if self._going:
            self._quiet.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self._quiet.wait()
        pools, self._pools = self._pools, None
        for pool in pools or ():
            await closed(pool)

    @property
    def connections(self) -> tuple[int, int]:
        """How many there are, and how many of them are in use."""
        pools = self._pools or ()
        there = sum(pool.get_size() for pool in pools)
        return there, there - sum(pool.get_idle_size() for pool in pools)

    # One attempt -------------------------------------------------------------------------------------------

    async def _read(self, script: Script[T]) -> T:
        """One statement needs no transaction around it. A script that turns out to have more is begun again in one, and
        known by then."""
        readers, _ = await self._opened()
        async with lent(readers) as connection:
            try:
                if script.kind not in self._longer:
                    return await play_one(script, connection)
            except NeedsTransaction:
                self._longer.add(script.kind)
            async with connection.transaction(isolation="repeatable_read"):
                return await play(script, connection)

    async def _write(self, script: Script[T]) -> T:
        _, writers = await self._opened()
        try:
            async with lent(writers) as connection:
                return await _committed(script, connection)
        except _InDoubt as doubt:
            if await self._has_happened(doubt.number):
                return doubt.value
            raise ConnectionResetError("the connection broke before anything was kept") from doubt

    async def _has_happened(self, number: str) -> bool:
        """Waits until the server knows: it may be busy with that very transaction, or with starting again."""
        last = time.monotonic() + 10 * self._patience
        while True:
            try:
                _, writers = await self._opened()
                async with lent(writers) as connection:
                    state = await connection.fetchval("SELECT pg_xact_status($1::text::xid8)", number)
                if state != "in progress":
                    return state == "committed"
            except Exception as error:
                if not is_away(error):
                    raise
            if time.monotonic() > last:
                raise ConnectionResetError("the server does not say whether it kept what was written")
            await asyncio.sleep(_LONGEST_PAUSE / 2)

    # Until it works ----------------------------------------------------------------------------------------

    async def _patiently(
        self, attempt: Callable[[], Awaitable[T]], *, unless: Callable[[Exception], bool] = lambda _: False
    ) -> T:
        last = time.monotonic() + self._patience
        pause = _FIRST_PAUSE
        self._going += 1
        try:
            while True:
                try:
                    return await attempt()
                except Exception as error:
                    if not _is_of_the_server(error):
                        raise
                    if not is_passing(error) or unless(error) or time.monotonic() + pause > last:
                        raise explained(error, self._address.name) from error
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
        finally:
            self._going -= 1
            if not self._going:
                self._quiet.set()

    async def _opened(self) -> tuple[Pool, Pool]:
        if self._pools is None:
            async with self._opening:
                if self._pools is None:
                    await migrate(self._address)
                    readers = await open_pool(self._address, READERS, readonly=True)
                    self._pools = readers, await open_pool(self._address, WRITERS)
        return self._pools


async def _committed(script: Script[T], connection: Connection) -> T:
    await connection.execute("BEGIN")
    try:
        value = await play(script, connection)
        number = await connection.fetchval("SELECT pg_current_xact_id_if_assigned()::text")
    except Exception as error:
        if not is_away(error):
            await connection.execute("ROLLBACK")
        raise
    try:
        await connection.execute("COMMIT")
    except Exception as error:
        if number is not None and is_away(error):
            raise _InDoubt(number, value) from error
        raise
    return value


def _is_of_the_server(error: Exception) -> bool:
    """And not what a script raised, which is for whoever asked."""
    return not isinstance(error, DatabaseFailed) and (type(error).__module__.startswith("asyncpg") or is_away(error))
