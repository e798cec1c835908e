"""Homes on either kind of database and storage, their backups, and all that is in them."""

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

from bundles.shelf import Study, create_study
from footnote.backup.create import CreatedBackup, create_backup
from footnote.backup.restore import restore
from footnote.backup.verify import BackupReport
from footnote.db import backup as db
from footnote.db.engine import Database
from footnote.db.script import Rows, Steps, script
from footnote.library import Library
from footnote.net.client import Net
from footnote.protocol.accounts import LOCAL_USER
from footnote.sessions.store import Sessions
from footnote.storage.base import Storage
from footnote.storage.factory import open_storage
from footnote.workspace.blobs import Blobs
from library.pages import Clock
from sessions.stored import TurnWriter, add_user

EMBEDDED, SERVICES = "embedded", "services"
BINARY = random.Random(7).randbytes(3_000_000)
"""Larger than a piece of a backup, and nothing that could be packed."""
_numbers = itertools.count(1)


class Place(Struct, frozen=True):
    """A home, and the settings that say where its database and its storage are."""

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
        """All that a backup has of the database."""
        async with self.open_stores() as (database, _):
            return await database.read(_read_all_rows())

    async def contents(self) -> dict[str, bytes]:
        """What lies in the storage, by its hash."""
        found: dict[str, bytes] = {}
        async with self.open_stores() as (database, storage):
            for hash_, _, place, _ in (await database.read(_read_all_rows()))["blob"]:
                if place is not None:
                    async with aclosing(storage.read(place)) as pieces:
                        found[hash_] = b"".join([piece async for piece in pieces])
        return found


async def make_backup(database: Database, storage: Storage) -> tuple[bytes, CreatedBackup]:
    target = io.BytesIO()
    made = await create_backup(database, storage, target.write, "0.0.test")
    return target.getvalue(), made


@script
def _read_all_rows() -> Steps[dict[str, Rows]]:
    found: dict[str, Rows] = {}
    for table in db.TABLES:
        found[table.name] = yield from db.rows(table, None, 1_000_000)
    return found


async def new_place(kind: str, home: Path, services: Services | None) -> Place:
    home.mkdir(exist_ok=True)
    if kind == EMBEDDED:
        urls = ("sqlite:footnote.db", "local:files", "local:")
        return Place(home, dict(zip(_NAMES, urls, strict=True)))
    assert services is not None
    name = f"backup_{next(_numbers)}"
    connection = await asyncpg.connect(services.postgres.url())
    try:
        await connection.execute(f"CREATE DATABASE {name}")
    finally:
        await connection.close()
    urls = (services.postgres.url(name), services.s3.url(name.replace("_", "-")), "postgresql:")
    return Place(home, {**dict(zip(_NAMES, urls, strict=True)), **services.s3.environ})


_NAMES = ("FOOTNOTE_DATABASE_URL", "FOOTNOTE_STORAGE_URL", "FOOTNOTE_BUS_URL")


async def add_sample_session(place: Place, user_id: str = "ann") -> Study:
    """A user with a session that has all that a session can have."""
    async with place.open_stores() as (database, storage):
        clock = Clock()
        if user_id != LOCAL_USER:
            await database.write(add_user(user_id))
        library, blobs = Library(database, clock=clock), Blobs(database, storage, clock=clock)
        desk = TurnWriter(database, Sessions(database, library, blobs, clock=clock), clock)
        study = await create_study(desk, library, blobs, user_id)
        await desk.sessions.workspace(user_id, study.session_id).write("/data.bin", BINARY, message_id=None)
        return study


def without_places(rows: dict[str, Rows]) -> dict[str, Any]:
    """Without what is another one in every storage: the places of contents."""
    blobs = [(hash_, size, place is None, content) for hash_, size, place, content in rows["blob"]]
    return {**rows, "blob": blobs}


async def run_program(*command: str, env: dict[str, str], stdin: bytes = b"") -> tuple[int, bytes, str]:
    """Any program, to its end: exit code, stdout, stderr."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, env=env, stdin=pipe, stdout=pipe, stderr=pipe)
    async with asyncio.timeout(120):
        out, err = await process.communicate(stdin)
    assert process.returncode is not None
    return process.returncode, out, err.decode()
