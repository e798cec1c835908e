"""`Database`: opens what the settings name, reads and writes.

    async with Database.open("sqlite:footnote.db", home) as database:
        await database.write(keep(entry))
        row = await database.read(latest(url))

Nothing is opened, and no file made, before the first script that needs it.
"""

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol, Self, TypeVar

from footnote.db.errors import DatabaseFailed, DatabaseUnwritable
from footnote.db.script import Script
from footnote.protocol.errors import ConfigError
from footnote.tracing import HealthLog, Operation

T = TypeVar("T")


class Driver(Protocol):
    """Runs scripts on a database. `close` returns when all queued scripts are written."""

    async def read(self, script: Script[T]) -> T: ...

    async def write(self, script: Script[T], *, erase: bool) -> T: ...

    async def close(self) -> None: ...

    @property
    def connections(self) -> tuple[int, int]: ...


# Two, because a full disk or a lock stops writes but not reads.
_read_health, _write_health = HealthLog("Reading from the database"), HealthLog("Writing to the database")
READS = Operation("database_read", "Scripts that read.", failures=(DatabaseFailed,), health=_read_health)
WRITES = Operation("database_write", "Scripts that write.", failures=(DatabaseFailed,), health=_write_health)


class Database:
    """Belongs to one event loop. Any number of processes may have the same database open."""

    def __init__(
        self, open_driver: Callable[[], Driver], *, is_in_memory: bool = False, is_shared: bool = False
    ) -> None:
        self.is_in_memory = is_in_memory
        self.is_shared = is_shared
        """By replicas on other machines, whose clocks may differ from ours."""
        self._open_driver = open_driver
        self._driver: Driver | None = None

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, home: Path) -> AsyncGenerator[Self, None]:
        """The database at `url`, in which a file is relative to the home folder. `DatabaseUnwritable` is raised at
        once; what else may be wrong with a file shows when it is first used."""
        is_shared = url.startswith(("postgresql:", "postgres:"))
        database = cls(_server_opener(url) if is_shared else _file_opener(url, home), is_shared=is_shared)
        try:
            yield database
        finally:
            await database.close()

    @classmethod
    @asynccontextmanager
    async def in_memory(cls) -> AsyncGenerator[Self, None]:
        """For a process that cannot write to its home folder: everything is lost when it ends."""
        database = cls(_open_memory, is_in_memory=True)
        try:
            yield database
        finally:
            await database.close()

    async def read(self, script: Script[T]) -> T:
        """Returns the result of the script, whose statements all see the same state of the database."""
        with READS():
            return await self._ensure_driver().read(script)

    async def write(self, script: Script[T], *, erase: bool = False) -> T:
        """Returns the result of the script once it is committed. On an error nothing is changed.

        `erase`: deleted data is also removed from the log beside the file.
        """
        with WRITES():
            return await self._ensure_driver().write(script, erase=erase)

    @property
    def connections(self) -> tuple[int, int]:
        """The number of connections to a server, and how many of them are in use."""
        return self._driver.connections if self._driver is not None else (0, 0)

    async def close(self) -> None:
        if self._driver is not None:
            await self._driver.close()
            self._driver = None

    def _ensure_driver(self) -> Driver:
        if self._driver is None:
            self._driver = self._open_driver()
        return self._driver


def _file_opener(url: str, home: Path) -> Callable[[], Driver]:
    if not url.startswith("sqlite:"):
        raise ConfigError("database.url names a database that Footnote cannot use. Write sqlite:FILE or postgresql://…")
    path = home / Path(url.removeprefix("sqlite:")).expanduser()
    _check_writable(path)
    return lambda: _open_file(path)


def _check_writable(path: Path) -> None:
    """Checked before the first script, so that a caller can use a database in memory from the start."""
    place = next(place for place in (path, *path.parents) if os.path.lexists(place))
    if place == path and path.is_dir():
        raise DatabaseUnwritable(str(path), "it is a folder")
    if place != path and not place.is_dir():
        raise DatabaseUnwritable(str(path), f"{place} is not a folder")
    # SQLite keeps its log in the same folder, so that it must be writable too.
    for needed in {place, place if place.is_dir() else place.parent}:
        if not os.access(needed, os.W_OK):
            raise DatabaseUnwritable(str(path), f"no write access to {needed}")


# Lazy imports: a driver takes some milliseconds to import, and some commands need no database.
def _open_file(path: Path) -> Driver:
    from footnote.db.sqlite.driver import SqliteFile  # noqa: PLC0415 - see above

    return SqliteFile(path)


def _server_opener(url: str) -> Callable[[], Driver]:
    try:
        from footnote.db.postgresql.driver import PostgresDriver  # noqa: PLC0415 - see above
    except ImportError as error:
        raise ConfigError(
            "database.url names a PostgreSQL database, and the package for that is not installed: pip install "
            "'footnote[replicas]'."
        ) from error
    return lambda: PostgresDriver(url)


def _open_memory() -> Driver:
    from footnote.db.sqlite.driver import SqliteMemory  # noqa: PLC0415 - see above

    return SqliteMemory()
