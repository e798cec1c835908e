"""Blobs are stored once, as long as something needs them, under concurrent changes."""

from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

import pytest

from footnote.db.blobs import StoredBlob, has_blob, store_rendition
from footnote.db.engine import Database
from footnote.db.script import Steps, script, sql
from footnote.library import Library
from footnote.sessions.store import Sessions
from footnote.storage.base import StorageFailed
from footnote.storage.local import MemoryStorage
from footnote.workspace.blobs import INLINE_BYTES, LOOSE_SECONDS, RENDITION_SECONDS, Blobs, Spooled
from footnote.workspace.files import FileMissing
from library.samples import TickingClock

FAR = 1e12
SMALL, LARGE = b"s" * INLINE_BYTES, b"l" * (INLINE_BYTES + 1)


class UndeletingStorage(MemoryStorage):
    """A storage that deletes nothing while it is `down`."""

    down = False

    async def delete(self, place: str) -> None:
        if self.down:
            raise StorageFailed("It does not answer.")
        await super().delete(place)


@pytest.fixture
async def database() -> AsyncIterator[Database]:
    async with Database.in_memory() as opened:
        yield opened


@pytest.fixture
def storage() -> UndeletingStorage:
    return UndeletingStorage()


@pytest.fixture
def clock() -> TickingClock:
    return TickingClock()


@pytest.fixture
def blobs(database: Database, storage: UndeletingStorage, clock: TickingClock) -> Blobs:
    return Blobs(database, storage, clock=clock)


@pytest.fixture
async def sessions(database: Database, blobs: Blobs) -> Sessions:
    return Sessions(database, Library(database), blobs)


async def new_session(sessions: Sessions) -> str:
    """With a file of the same id, of which copies can be made."""
    session_id = (await sessions.create("local", "researcher")).id
    await sessions._database.write(_file(session_id))
    return session_id


@script
def _file(session_id: str) -> Steps[None]:
    yield sql(
        "INSERT INTO workspace_file (session_id, path, id, source, created_at, current) VALUES (?, '/a', ?, '', '', 0)",
        *(session_id, session_id),
    )


async def store_blob(
    blobs: Blobs, database: Database, session_id: str, content: bytes | Spooled, key: str = "k"
) -> StoredBlob:
    async def need(blob: StoredBlob) -> StoredBlob:
        assert await database.write(store_rendition(session_id, session_id, key, blob, b"[]", FAR))
        return blob

    return await blobs.store_for(content, need)


async def test_small_contents_lie_in_the_database_and_large_ones_in_the_storage(
    database: Database, storage: UndeletingStorage, blobs: Blobs, sessions: Sessions
) -> None:
    session_id = await new_session(sessions)
    small = await store_blob(blobs, database, session_id, SMALL, "small")
    assert storage._contents == {}
    large = await store_blob(blobs, database, session_id, LARGE, "large")
    assert list(storage._contents.values()) == [LARGE]
    for blob, content in ((small, SMALL), (large, LARGE)):
        assert (blob.hash, blob.size) == (sha256(content).hexdigest(), len(content))
        assert await blobs.read(blob.hash) == content
        assert [piece async for piece in blobs.stream(blob.hash, 3, 7)] == [content[3:7]]


async def test_a_file_is_kept_as_its_bytes_are(
    tmp_path: Path, database: Database, storage: UndeletingStorage, blobs: Blobs, sessions: Sessions
) -> None:
    session_id = await new_session(sessions)
    for content in (b"", SMALL, LARGE):
        path = tmp_path / "spooled"
        path.write_bytes(content)
        spooled = Spooled(path, len(content), sha256(content).hexdigest())
        blob = await store_blob(blobs, database, session_id, spooled, str(len(content)))
        assert await blobs.read(blob.hash) == content
    assert len(storage._contents) == 1


async def test_the_same_content_is_kept_once_and_goes_with_its_last_need(
    database: Database, storage: UndeletingStorage, blobs: Blobs, sessions: Sessions
) -> None:
    first, second = await new_session(sessions), await new_session(sessions)
    one = await store_blob(blobs, database, first, LARGE)
    await sessions.workspace("local", second).write("/a.txt", LARGE, message_id=None)
    assert len(storage._contents) == 1
    await sessions.delete("local", first)
    assert await blobs.read(one.hash) == LARGE
    await sessions.workspace("local", second).delete("/a.txt")
    assert storage._contents == {}
    with pytest.raises(FileMissing):
        await blobs.read(one.hash)


async def test_what_nobody_came_to_need_is_swept_when_it_is_old(
    database: Database, storage: UndeletingStorage, blobs: Blobs, clock: TickingClock
) -> None:
    async def need(blob: StoredBlob) -> None:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await blobs.store_for(LARGE, need)
    assert len(storage._contents) == 1
    await blobs.sweep()
    assert len(storage._contents) == 1  # another writer may be about to need it
    clock.time += LOOSE_SECONDS + 1
    await blobs.sweep()
    assert storage._contents == {}
    assert not await database.read(has_blob(sha256(LARGE).hexdigest()))


async def test_a_content_that_goes_before_it_is_needed_again_is_written_anew(
    database: Database, storage: UndeletingStorage, blobs: Blobs, sessions: Sessions
) -> None:
    first, second = await new_session(sessions), await new_session(sessions)
    await store_blob(blobs, database, first, LARGE)
    tries: list[StoredBlob] = []

    async def need(blob: StoredBlob) -> StoredBlob:
        tries.append(blob)
        if len(tries) == 1:
            await sessions.delete("local", first)
        assert await database.write(store_rendition(second, second, "k", blob, b"[]", FAR))
        return blob

    blob = await blobs.store_for(LARGE, need)
    assert [one.place is None for one in tries] == [True, False]
    assert await blobs.read(blob.hash) == LARGE
    assert len(storage._contents) == 1


async def test_two_who_keep_the_same_at_once_leave_one(
    database: Database, storage: UndeletingStorage, blobs: Blobs, sessions: Sessions, clock: TickingClock
) -> None:
    session_id = await new_session(sessions)

    async def need(blob: StoredBlob) -> str:
        if not await database.read(has_blob(blob.hash)):
            await store_blob(blobs, database, session_id, LARGE, "the other")
        assert await database.write(store_rendition(session_id, session_id, "one", blob, b"[]", FAR))
        return blob.hash

    content_hash = await blobs.store_for(LARGE, need)
    assert len(storage._contents) == 2
    clock.time += LOOSE_SECONDS + 1
    await database.write(
        store_rendition(session_id, session_id, "young", StoredBlob(content_hash, 0), b"[]", clock.time)
    )
    await blobs.sweep()
    assert len(storage._contents) == 1
    assert await blobs.read(content_hash) == LARGE


async def test_a_storage_that_does_not_answer_is_swept_later(
    database: Database, storage: UndeletingStorage, blobs: Blobs, sessions: Sessions
) -> None:
    session_id = await new_session(sessions)
    await store_blob(blobs, database, session_id, LARGE)
    storage.down = True
    await sessions.delete("local", session_id)
    assert len(storage._contents) == 1
    storage.down = False
    await blobs.sweep()
    assert storage._contents == {}


async def test_renditions_are_forgotten_after_a_day(
    database: Database, storage: UndeletingStorage, blobs: Blobs, sessions: Sessions, clock: TickingClock
) -> None:
    session_id = await new_session(sessions)

    async def need(blob: StoredBlob) -> bool:
        return await database.write(store_rendition(session_id, session_id, "k", blob, b"[]", clock.time))

    assert await blobs.store_for(LARGE, need)
    clock.time += RENDITION_SECONDS - 1
    await blobs.sweep()
    assert len(storage._contents) == 1
    clock.time += 2
    await blobs.sweep()
    assert storage._contents == {}
