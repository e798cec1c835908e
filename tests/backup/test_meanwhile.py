"""A backup is consistent while rows and blobs are written, deleted and lost."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import aclosing

import asyncpg
import pytest

from backup.conftest import NewInstallation
from backup.installations import BINARY, EMBEDDED, SERVICES, Installation, add_sample_session, make_backup
from bundles.sample_session import LARGE
from footnote.backup.create import BackupInterrupted, create_backup
from footnote.db import backup as db
from footnote.db.engine import Database
from footnote.db.script import Steps, script, sql
from footnote.library import Library
from footnote.sessions.store import Sessions
from footnote.storage.base import Storage, StorageFailed
from footnote.workspace.blobs import Blobs
from footnote.workspace.files import Workspace

pytestmark = pytest.mark.embedded  # these tests name both kinds of engine themselves

EITHER = pytest.mark.parametrize("kind", [EMBEDDED, pytest.param(SERVICES, marks=pytest.mark.slow)])


class GatedStorage:
    """A storage whose reads wait for the test, so that something can happen meanwhile."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.read_started = asyncio.Event()
        self.may_read = asyncio.Event()

    def __getattr__(self, name: str) -> object:
        return getattr(self._storage, name)

    async def read(self, place: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        self.read_started.set()
        await self.may_read.wait()
        async with aclosing(self._storage.read(place, start, end)) as pieces:
            async for piece in pieces:
                yield piece


def workspace(database: Database, storage: Storage, session_id: str) -> Workspace:
    sessions = Sessions(database, Library(database), Blobs(database, storage))
    return sessions.workspace("ann", session_id)


@EITHER
async def test_what_is_deleted_while_contents_are_copied_is_left_out_with_its_file(
    new_installation: NewInstallation, target: Installation, kind: str
) -> None:
    source = await new_installation(kind, "source")
    sample = await add_sample_session(source)
    async with source.open_stores() as (database, storage):
        slow = GatedStorage(storage)
        making = asyncio.create_task(make_backup(database, slow))  # pyright: ignore[reportArgumentType] - a storage all the same
        await slow.read_started.wait()
        files = workspace(database, storage, sample.session_id)
        await files.delete("/large.txt")
        await files.write("/later.md", "too late", message_id=None)
        slow.may_read.set()
        data, created = await making
    assert (created.end.contents, created.end.gone, created.end.lost) == (1, 1, 0)
    await target.restore_backup(data)
    async with target.open_stores() as (database, storage):
        files = workspace(database, storage, sample.session_id)
        assert sorted(record.filename for record in await files.list()) == ["báo cáo.pdf", "data.bin", "report.md"]
        assert await files.read("/data.bin") == BINARY
    assert sorted(await target.contents()) == sorted(
        row[0] for row in (await target.rows())["blob"] if row[2] is not None
    )


async def test_a_content_that_the_storage_lost_is_told_and_all_else_is_in_the_backup(
    source: Installation, target: Installation
) -> None:
    sample = await add_sample_session(source)
    for file in (source.home / "files").glob("??/*"):
        if file.stat().st_size == len(LARGE):
            file.unlink()
    async with source.open_stores() as (database, storage):
        data, created = await make_backup(database, storage)
    assert (created.end.contents, created.end.gone, created.end.lost) == (1, 0, 1)
    await target.restore_backup(data)
    for installation in (source, target):
        async with installation.open_stores() as (database, storage):
            files = workspace(database, storage, sample.session_id)
            assert await files.read("/data.bin") == BINARY
            with pytest.raises(StorageFailed, match="A file that the database knows of is not in"):
                await files.read("/large.txt")


async def test_a_content_that_is_not_what_it_was_counts_as_lost(source: Installation) -> None:
    await add_sample_session(source)
    for file in (source.home / "files").glob("??/*"):
        if file.stat().st_size == len(LARGE):
            file.write_bytes(LARGE[:-1] + b"!")
    async with source.open_stores() as (database, storage):
        _, created = await make_backup(database, storage)
    assert (created.end.contents, created.end.lost) == (1, 1)


class UnavailableStorage(GatedStorage):
    """A storage whose every operation fails."""

    async def read(self, place: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        await self.check()
        yield b""

    async def check(self) -> None:
        raise StorageFailed("The bucket cannot be reached.")


async def test_a_storage_that_is_away_is_an_error_and_no_loss(source: Installation) -> None:
    await add_sample_session(source)
    async with source.open_stores() as (database, storage):
        with pytest.raises(StorageFailed, match="cannot be reached"):
            await make_backup(database, UnavailableStorage(storage))  # pyright: ignore[reportArgumentType] - a storage all the same


PAIRS = 300


@script
def _tables() -> Steps[None]:
    yield sql("DELETE FROM library_fact")
    yield sql("DELETE FROM secret")


@script
def _pair(number: int) -> Steps[None]:
    """Two rows that belong together, in one of the first tables of a backup and in one of the last."""
    yield sql("INSERT INTO secret (name, value) VALUES (?, ?)", f"{number:06}", b"")
    yield sql("INSERT INTO library_fact (name, value) VALUES (?, ?)", f"{number:06}", "")


@EITHER
async def test_all_rows_are_those_of_one_moment(
    new_installation: NewInstallation, target: Installation, kind: str
) -> None:
    source = await new_installation(kind, "source")
    await add_sample_session(source)
    numbers = iter(range(1_000_000))

    async def write(database: Database) -> None:
        while True:
            await database.write(_pair(next(numbers)))

    async with source.open_stores() as (database, storage):
        await database.write(_tables())
        for _ in range(PAIRS):
            await database.write(_pair(next(numbers)))
        writing = asyncio.create_task(write(database))
        data, created = await make_backup(database, storage)
        writing.cancel()
        await asyncio.wait([writing])
    assert created.end.rows["secret"] == created.end.rows["library_fact"] >= PAIRS
    await target.restore_backup(data)
    rows = await target.rows()
    assert [row[0] for row in rows["secret"]] == [row[0] for row in rows["library_fact"]]


async def test_large_rows_are_read_a_few_at_a_time(source: Installation) -> None:
    """The memory does not grow with the number of rows: a library of gigabytes takes some megabytes."""
    snapshots = next(table for table in db.TABLES if table.name == "snapshot")
    sizes = [300_000] * 20 + [3_000_000] + [10] * 700
    rows = [(f"{number:032x}", bytes(size), 1) for number, size in enumerate(sizes)]

    @script
    def filled() -> Steps[None]:
        yield db.insert(snapshots, snapshots.backup_columns, rows)

    async with source.open_stores() as (database, _):
        await database.write(filled())
        first = await database.read(db.batch_sizes(snapshots, None))
        assert first == [3, 3, 3, 3, 3, 3, 2, 1, db.BATCH_ROWS - 21]
        assert await database.read(db.batch_sizes(snapshots, (rows[499][0],))) == [221]
        assert await database.read(db.rows(snapshots, (rows[19][0],), 2)) == rows[20:22]
        assert await database.read(db.batch_sizes(snapshots, (rows[-1][0],))) == []


@pytest.mark.slow
async def test_a_connection_that_breaks_while_rows_are_read_is_told_and_nothing_is_made_up(
    new_installation: NewInstallation,
) -> None:
    source = await new_installation(SERVICES, "source")
    await add_sample_session(source)
    parts = 0

    def write(_: bytes) -> None:
        nonlocal parts
        parts += 1
        if parts == 12:
            breaking = threading.Thread(target=lambda: asyncio.run(_close_connections(source)))
            breaking.start()
            breaking.join()

    async with source.open_stores() as (database, storage):
        with pytest.raises(BackupInterrupted, match="so there is no backup"):
            await create_backup(database, storage, write, "0")
        assert (await make_backup(database, storage))[1].end.rows["session"] == 1


async def _close_connections(installation: Installation) -> None:
    """Closes every other connection to the database."""
    connection = await asyncpg.connect(installation.environ["FOOTNOTE_DATABASE_URL"])
    await connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    await connection.close()
