"""Sessions are found by the text of their files, and frequent words quickly and in order."""

import time

from footnote.db import sessions as db
from footnote.db.engine import Database
from footnote.db.script import Steps, script
from footnote.db.sessions import COMMON_PHRASE_ENTRIES, MAX_PROBED
from footnote.protocol.sessions import FoundSession
from footnote.sessions.store import Sessions
from sessions.turn_writer import TurnWriter, answer


async def search(sessions: Sessions, query: str) -> list[FoundSession]:
    return list((await sessions.list("ann", query=query)).sessions)


async def test_a_word_of_a_file_finds_its_session_and_says_in_which_file_it_stands(
    sessions: Sessions, turn_writer: TurnWriter
):
    session_id = await turn_writer.session("What hops?")
    await sessions.workspace("ann", session_id).write("/notes/hops.md", "# Notes\n\nA Kangaroo hops.", message_id="m1")
    await turn_writer.session("Something else?")
    [one] = await search(sessions, "kangaroo")
    assert (one.id, one.path, one.message_id) == (session_id, "/notes/hops.md", None)
    assert one.excerpt == "# Notes A Kangaroo hops."
    assert (await sessions.list("ben", query="kangaroo")).sessions == ()


async def test_only_the_newest_version_of_a_file_is_found(sessions: Sessions, turn_writer: TurnWriter):
    workspace = sessions.workspace("ann", await turn_writer.session("What hops?"))
    await workspace.write("/a.md", "kangaroo", message_id="m1")
    await workspace.write("/a.md", "wallaby", message_id="m2")
    assert await search(sessions, "kangaroo") == []
    assert [one.path for one in await search(sessions, "wallaby")] == ["/a.md"]
    await workspace.write("/a.md", b"\xff\x00wallaby", message_id="m3")
    assert await search(sessions, "wallaby") == []


async def test_a_deleted_file_is_not_found(sessions: Sessions, turn_writer: TurnWriter):
    workspace = sessions.workspace("ann", await turn_writer.session("What hops?"))
    await workspace.write("/a.md", "kangaroo", message_id="m1")
    await workspace.delete("/a.md")
    assert await search(sessions, "kangaroo") == []


async def test_what_was_said_comes_before_files_and_the_title_after_them(sessions: Sessions, turn_writer: TurnWriter):
    session_id = await turn_writer.session(title="A kangaroo")
    await sessions.workspace("ann", session_id).write("/a.md", "A kangaroo hops.", message_id="m1")
    [one] = await search(sessions, "kangaroo")
    assert (one.path, one.excerpt) == ("/a.md", "A kangaroo hops.")
    turn = await turn_writer.turn(session_id, "What hops?", answer("The kangaroo."))
    [one] = await search(sessions, "kangaroo")
    assert (one.path, one.message_id) == (None, turn.message_id)


async def test_words_of_a_file_and_of_a_message_find_a_session_together(sessions: Sessions, turn_writer: TurnWriter):
    session_id = await turn_writer.session("What hops?")
    await sessions.workspace("ann", session_id).write("/a.md", "A kangaroo.", message_id="m1")
    assert [one.id for one in await search(sessions, "hops kangaroo")] == [session_id]


SESSIONS = 30
ENTRIES = COMMON_PHRASE_ENTRIES // SESSIONS + 20


async def test_a_word_that_is_everywhere_finds_the_newest_sessions_and_skips_those_without_it(
    sessions: Sessions, database: Database, turn_writer: TurnWriter
):
    """Also where the match is too far down in the session to be looked for."""
    ids = [await turn_writer.session(title=f"Session {number}") for number in range(SESSIONS)]
    without, late = ids[-2], ids[-4]
    for session_id in ids:
        parts = [(f"msg_{entry:04}", _entry_text(session_id, entry, without, late)) for entry in range(ENTRIES)]
        await database.write(_index_parts(session_id, parts))
    newest = [session_id for session_id in reversed(ids) if session_id != without]
    for query in ("everywhere", "everywh", "said everywhere"):
        assert [one.id for one in await search(sessions, query)] == newest
        first = await sessions.list("ann", query=query, limit=2)
        assert [one.id for one in first.sessions] == newest[:2]
        second = await sessions.list("ann", query=query, limit=2, cursor=first.next_cursor)
        assert [one.id for one in second.sessions] == newest[2:4]
    assert {one.message_id for one in (await sessions.list("ann", query="everywhere", limit=1)).sessions} == {
        "msg_0000"
    }


async def test_a_word_that_is_everywhere_is_found_as_fast_among_ten_times_as_many_messages(
    sessions: Sessions, database: Database, turn_writer: TurnWriter
):
    ids = [await turn_writer.session(title=f"Session {number}") for number in range(SESSIONS)]

    async def fill(numbers: range) -> None:
        for session_id in ids:
            parts = [(f"msg_{number:04}", "it was said everywhere") for number in numbers]
            await database.write(_index_parts(session_id, parts))

    async def cost() -> float:
        spent: list[float] = []
        for _ in range(7):
            began = time.process_time()
            assert len(await search(sessions, "everywhere")) == SESSIONS
            spent.append(time.process_time() - began)
        return min(spent)

    await fill(range(ENTRIES))
    few = await cost()
    await fill(range(ENTRIES, 10 * ENTRIES))
    assert await cost() < 3 * few, "without a shortcut for common words it is five times as much, and grows on"


def _entry_text(session_id: str, entry: int, without: str, late: str) -> str:
    if session_id == without or (session_id == late and entry < MAX_PROBED + 10):
        return "it was said nowhere"
    return "it was said everywhere"


@script
def _index_parts(session_id: str, parts: list[tuple[str, str]]) -> Steps[None]:
    for part, terms in parts:
        yield from db.index_part(session_id, part, terms)
