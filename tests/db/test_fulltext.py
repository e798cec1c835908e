"""An index from which many rows were deleted keeps working: SQLite fails at 2000 levels."""

from collections.abc import AsyncIterator

import pytest

from footnote.db.engine import Database
from footnote.db.fulltext import MAX_LEVELS, index_levels
from footnote.library import Library, file_url
from footnote.protocol.sources import Snapshot
from footnote.sessions.store import Sessions
from footnote.storage.local import MemoryStorage
from footnote.workspace.blobs import Blobs

pytestmark = pytest.mark.embedded

TIMES = MAX_LEVELS


@pytest.fixture
async def database() -> AsyncIterator[Database]:
    async with Database.in_memory() as opened:
        yield opened


@pytest.mark.slow
async def test_texts_that_come_and_go_do_not_wear_the_index_of_the_library_out(database: Database) -> None:
    library = Library(database)
    stays = Snapshot(url=file_url("stays.md"), text="The quokka is a small macropod. " * 5, title="Quokka")
    await library.add(stays, "stays")
    sizes: list[int] = []
    for number in range(TIMES):
        text = f"Number{number} is a text about wombats, which are not quokkas. " * 3
        snapshot = await library.add(Snapshot(url=file_url(f"{number}.md"), text=text, title="Wombat"), str(number))
        assert await library.remove(snapshot.url)
        sizes.append(await database.read(index_levels("passage_terms")))
    assert max(sizes) <= MAX_LEVELS + 4
    assert [hit.title for hit in await library.search("quokka macropod", 3)] == ["Quokka"]


@pytest.mark.slow
async def test_sessions_that_come_and_go_do_not_wear_their_index_out(database: Database) -> None:
    sessions = Sessions(database, Library(database), Blobs(database, MemoryStorage()))
    stays = await sessions.create("local", "researcher", title="The quokka stays")
    sizes: list[int] = []
    for number in range(TIMES):
        head = await sessions.create("local", "researcher", title=f"Wombat {number}")
        await sessions.delete("local", head.id)
        sizes.append(await database.read(index_levels("session_terms")))
    assert max(sizes) <= MAX_LEVELS + 4
    assert [one.id for one in (await sessions.list("local", query="quokka")).sessions] == [stays.id]


def test_both_forms_of_the_structure_are_read() -> None:
    def of(block: bytes) -> int:
        script = iter(index_levels("passage_terms"))
        next(script)
        with pytest.raises(StopIteration) as stopped:
            script.send([(block,)])
        return stopped.value.value

    assert of(b"\0\0\0\x05\x02\x01\x00") == 2
    assert of(b"\0\0\0\x05\x8f\x51\x01") == 2001
    assert of(b"\0\0\0\x05\xff\x00\x00\x01\x03\x01") == 3
