"""A PostgreSQL database for each home folder of a test, with the tables of Footnote and no rows of other tests.

New databases are copied from a template that has the tables already, which takes a quarter of the time of creating them
and takes no locks that other tests would wait for. A released database is emptied and reused, which takes a tenth of
that; a database whose schema was changed is dropped.
"""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import asyncpg
from service_kinds import Postgres

from footnote.db.engine import Database
from footnote.db.script import Steps, script, sql

TEMPLATE = "template_footnote"
T = TypeVar("T")

# Rows that the migrations insert are saved in a schema of their own.
_SAVE_INITIAL_ROWS = """
DO $$ DECLARE name TEXT; filled BOOLEAN; BEGIN
    CREATE SCHEMA at_first;
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM public.%I)', name) INTO filled;
        IF filled THEN EXECUTE format('CREATE TABLE at_first.%I AS TABLE public.%I', name, name); END IF;
    END LOOP;
END $$
"""
# The replica role disables triggers and foreign keys. Remaining connections are those of killed processes.
_RESET = """
DO $$ DECLARE name TEXT; BEGIN
    PERFORM pg_terminate_backend(pid, 60000) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid();
    SET LOCAL session_replication_role = replica;
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
        EXECUTE format('DELETE FROM public.%I', name);
    END LOOP;
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'at_first' LOOP
        EXECUTE format('INSERT INTO public.%I SELECT * FROM at_first.%I', name, name);
    END LOOP;
    PERFORM setval(format('public.%I', sequencename), 1, false) FROM pg_sequences WHERE schemaname = 'public';
END $$
"""
_SCHEMA_HASH = """
SELECT md5(string_agg(format('%s %s %s %s', relname, relkind, attname, atttypid), ',' ORDER BY relname, attnum)),
    (SELECT count(*) FROM pg_trigger), (SELECT count(*) FROM pg_proc), (SELECT count(*) FROM pg_constraint)
FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid WHERE relnamespace = 'public'::regnamespace
"""


class DatabasePool:
    """Runs in a thread of its own, because callers may already run an event loop."""

    def __init__(self, server: Postgres, loop: asyncio.AbstractEventLoop) -> None:
        self._server = server
        self._loop = loop
        self._count = 0
        self._free: list[str] = []
        self._connections: dict[str, asyncpg.Connection] = {}
        self._schema: tuple[Any, ...] = ()

    @classmethod
    @contextmanager
    def open(cls, server: Postgres) -> "Iterator[DatabasePool]":
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="databases of tests")
        thread.start()
        databases = cls(server, loop)
        try:
            databases._wait(databases._prepare())
            yield databases
        finally:
            databases._wait(databases._disconnect())
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def acquire(self) -> str:
        """The name of a database without rows."""
        return self._free.pop() if self._free else self._wait(self._create())

    def release(self, name: str) -> None:
        self._wait(self._reset(name))

    def rows(self, name: str, statement: str) -> list[tuple[Any, ...]]:
        return self._wait(self._rows(name, statement))

    def _wait(self, work: "Coroutine[Any, Any, T]") -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(120)

    async def _prepare(self) -> None:
        server = await self._connect("footnote")
        await server.execute(f"CREATE DATABASE {TEMPLATE}")
        async with Database.open(self._server.url(TEMPLATE), self._server.folder) as database:
            await database.write(_select_one())
        template = await self._connect(TEMPLATE)
        await template.execute(_SAVE_INITIAL_ROWS)
        self._schema = tuple(await template.fetchrow(_SCHEMA_HASH))
        await self._connections.pop(TEMPLATE).close()

    async def _create(self) -> str:
        server = await self._connect("footnote")
        # Servers before version 15 always copy files, and do not know the option.
        copying = "STRATEGY file_copy" if server.get_server_version().major >= 15 else ""
        self._count += 1
        name = f"home_{self._count}"
        await server.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} {copying}")
        return name

    async def _reset(self, name: str) -> None:
        connection = await self._connect(name)
        if tuple(await connection.fetchrow(_SCHEMA_HASH)) == self._schema:
            await connection.execute(_RESET)
            self._free.append(name)
        else:
            await self._connections.pop(name).close()
            await (await self._connect("footnote")).execute(f"DROP DATABASE {name} WITH (FORCE)")

    async def _rows(self, name: str, statement: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in await (await self._connect(name)).fetch(statement)]

    async def _connect(self, name: str) -> asyncpg.Connection:
        if name not in self._connections or self._connections[name].is_closed():
            self._connections[name] = await asyncpg.connect(self._server.url(name))
        return self._connections[name]

    async def _disconnect(self) -> None:
        for connection in self._connections.values():
            await connection.close()


@script
def _select_one() -> Steps[None]:
    """The first transaction creates the tables."""
    yield sql("SELECT 1")
