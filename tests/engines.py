"""The engines that the tests run on: `pytest --engines=embedded`, with SQLite and files, or `--engines=services`, with
PostgreSQL, Redis and an S3 server.

A test names no engine. It asks for the database URL of its home folder, or for the settings of a process with that
home: the same folder always has the same database, which no other folder has.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from service_kinds import REDIS_DATABASES
from services import Services

from database_pool import DatabasePool

NAMES = ("embedded", "services")


class ServiceEngine:
    """One server of each kind for the whole test run, started by the first test that needs one.

    A home folder has a PostgreSQL database, a Redis database number, which also names its topics, and a bucket
    prefix.
    """

    def __init__(self) -> None:
        self._ended = ExitStack()
        self._servers: tuple[Services, DatabasePool] | None = None
        self._homes: dict[Path, tuple[str, int]] = {}
        self._count = 0

    def database_url(self, home: Path) -> str:
        return self._start_services()[0].postgres.url(self._resources_of(home)[0])

    def environment(self, home: Path) -> dict[str, str]:
        database, number = self._resources_of(home)
        services, _ = self._start_services()
        return {
            "FOOTNOTE_DATABASE_URL": services.postgres.url(database),
            "FOOTNOTE_BUS_URL": services.redis.url(number),
            "FOOTNOTE_STORAGE_URL": services.s3.url(f"home-{number}"),
            **services.s3.environ,
        }

    def rows(self, home: Path, statement: str) -> list[tuple[Any, ...]]:
        return self._start_services()[1].rows(self._resources_of(home)[0], statement)

    def count(self) -> int:
        return len(self._homes)

    def release_since(self, count: int) -> None:
        for home in list(self._homes)[count:]:
            database, _ = self._homes.pop(home)
            self._start_services()[1].release(database)

    def close(self) -> None:
        self._ended.close()

    def _resources_of(self, home: Path) -> tuple[str, int]:
        if home not in self._homes:
            self._count += 1
            self._homes[home] = self._start_services()[1].acquire(), self._count % REDIS_DATABASES
        return self._homes[home]

    def _start_services(self) -> tuple[Services, DatabasePool]:
        if self._servers is None:
            with ExitStack() as opened:
                services = opened.enter_context(Services(durable=False))
                self._servers = services, opened.enter_context(DatabasePool.open(services.postgres))
                self._ended = opened.pop_all()
        return self._servers


_services: ServiceEngine | None = None
"""None: the embedded engines, whose files are in the home folder and are removed with it."""


def select_engine(name: str) -> None:
    global _services  # noqa: PLW0603 - one choice for the whole run, made before the first test
    _services = ServiceEngine() if name == "services" else None


def database_url(home: Path) -> str:
    """The URL for `Database.open` with this home folder."""
    return "sqlite:footnote.db" if _services is None else _services.database_url(home)


def environment(home: Path) -> dict[str, str]:
    """Settings for a process with this home folder."""
    return {} if _services is None else _services.environment(home)


def rows(home: Path, statement: str) -> list[tuple[Any, ...]]:
    """Rows of the database of this home folder, read through a connection of their own."""
    if _services is not None:
        return _services.rows(home, statement)
    with closing(sqlite3.connect(home / "footnote.db", isolation_level=None)) as connection:
        return connection.execute(statement).fetchall()


def contents(home: Path) -> bytes:
    """All bytes of the database files; on services, every value of every row."""
    if _services is None:
        return b"".join(path.read_bytes() for path in sorted(home.glob("footnote.db*")))
    tables = rows(home, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
    found = [value for (table,) in tables for row in rows(home, f'SELECT * FROM "{table}"') for value in row]
    return b"\n".join(value if isinstance(value, bytes) else str(value).encode() for value in found)


@contextmanager
def released_at_exit() -> Iterator[None]:
    """Releases at its end the databases that home folders acquired in the block."""
    if _services is None:
        yield
        return
    before = _services.count()
    try:
        yield
    finally:
        _services.release_since(before)


def close() -> None:
    if _services is not None:
        _services.close()
