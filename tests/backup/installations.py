"""Installations on either kind of database and storage, their backups and their contents."""

import asyncio
import io
import itertools
import random
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
from msgspec import Struct
from services import Services

from bundles.sample_session import SampleSession, create_sample_session
from footnote.backup.create import CreatedBackup, create_backup
from footnote.backup.restore import restore
from footnote.backup.verify import BackupReport
from footnote.db import backup as db
from footnote.db.engine import Database
from footnote.db.progress import change_plan
from footnote.db.runs import Lease
from footnote.db.script import Rows, Steps, script
from footnote.library import Library
from footnote.net.client import Net
from footnote.protocol.accounts import LOCAL_USER
from footnote.sessions.store import Sessions
from footnote.storage import open_storage
from footnote.storage.base import Storage
from footnote.workspace.blobs import Blobs
from library.samples import TickingClock
from sessions.turn_writer import TurnWriter, add_user

EMBEDDED, SERVICES = "embedded", "services"
BINARY = random.Random(7).randbytes(3_000_000)
"""Larger than one part of a backup, and incompressible."""
_numbers = itertools.count(1)


class Installation(Struct, frozen=True):
    """A home folder, and the settings that name its database and its storage."""

    home: Path
    environ: dict[str, str]

    @asynccontextmanager
    async def open_stores(self) -> AsyncIterator[tuple[Database, Storage]]:
        url = self.environ["FOOTNOTE_DATABASE_URL"]
        async with Net() as net, Database.open(url, self.home) as database:
            storage = open_storage(self.environ["FOOTNOTE_STORAGE_URL"], self.home, self.environ, net)
            yield database, storage
            await storage.close()

    async def backup(self) -> bytes:
        async with self.open_stores() as (database, storage):
            return (await make_backup(database, storage))[0]

    async def restore_backup(self, data: bytes) -> BackupReport:
        self.home.mkdir(exist_ok=True)
        file = self.home / "a.backup"
        file.write_bytes(data)
        async with self.open_stores() as (database, storage):
            return await restore(file, database, storage)

    async def rows(self) -> dict[str, Rows]:
        """All rows of the tables that a backup contains."""
        async with self.open_stores() as (database, _):
            return await database.read(_read_all_rows())

    async def contents(self) -> dict[str, bytes]:
        """The blobs in the storage, by their hash."""
        found: dict[str, bytes] = {}
        async with self.open_stores() as (database, storage):
            for hash_, _, place, _ in (await database.read(_read_all_rows()))["blob"]:
                if place is not None:
                    async with aclosing(storage.read(place)) as pieces:
                        found[hash_] = b"".join([piece async for piece in pieces])
        return found


async def make_backup(database: Database, storage: Storage) -> tuple[bytes, CreatedBackup]:
    target = io.BytesIO()
    created = await create_backup(database, storage, target.write, "0.0.test")
    return target.getvalue(), created


@script
def _read_all_rows() -> Steps[dict[str, Rows]]:
    found: dict[str, Rows] = {}
    for table in db.TABLES:
        found[table.name] = yield from db.rows(table, None, 1_000_000)
    return found


async def create_installation(kind: str, home: Path, services: Services | None) -> Installation:
    home.mkdir(exist_ok=True)
    if kind == EMBEDDED:
        urls = ("sqlite:footnote.db", "local:files", "local:")
        return Installation(home, dict(zip(_NAMES, urls, strict=True)))
    assert services is not None
    name = f"backup_{next(_numbers)}"
    connection = await asyncpg.connect(services.postgres.url())
    try:
        await connection.execute(f"CREATE DATABASE {name}")
    finally:
        await connection.close()
    urls = (services.postgres.url(name), services.s3.url(name.replace("_", "-")), "postgresql:")
    return Installation(home, {**dict(zip(_NAMES, urls, strict=True)), **services.s3.environ})


_NAMES = ("FOOTNOTE_DATABASE_URL", "FOOTNOTE_STORAGE_URL", "FOOTNOTE_BUS_URL")


async def add_sample_session(installation: Installation, user_id: str = "ann") -> SampleSession:
    """Adds a user with a session that uses every feature of sessions."""
    async with installation.open_stores() as (database, storage):
        clock = TickingClock()
        if user_id != LOCAL_USER:
            await database.write(add_user(user_id))
        library, blobs = Library(database, clock=clock), Blobs(database, storage, clock=clock)
        turn_writer = TurnWriter(database, Sessions(database, library, blobs, clock=clock), clock)
        sample = await create_sample_session(turn_writer, library, blobs, user_id)
        await turn_writer.sessions.workspace(user_id, sample.session_id).write("/data.bin", BINARY, message_id=None)
        await database.write(change_plan(Lease(sample.first.run_id, 0), lambda _: b'{"is_finishing":true}'))
        return sample


def without_storage_places(rows: dict[str, Rows]) -> dict[str, Any]:
    """The rows without the storage places of blobs, which differ in every storage."""
    blobs = [(hash_, size, place is None, content) for hash_, size, place, content in rows["blob"]]
    return {**rows, "blob": blobs}


async def run_program(*command: str, env: dict[str, str], stdin: bytes = b"") -> tuple[int, bytes, str]:
    """Runs a program to its end: exit code, stdout, stderr."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, env=env, stdin=pipe, stdout=pipe, stderr=pipe)
    async with asyncio.timeout(120):
        out, err = await process.communicate(stdin)
    assert process.returncode is not None
    return process.returncode, out, err.decode()
