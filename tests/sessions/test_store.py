"""Sessions are created, listed, renamed and deleted by their owner, and by no other user."""

import asyncio
import base64
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import engines
from footnote.db.engine import Database
from footnote.db.runs import EventRow, append_events
from footnote.library import Library
from footnote.protocol.errors import RunActive, Unknown, UsageError
from footnote.protocol.history import SessionHead
from footnote.protocol.messages import ToolCall
from footnote.protocol.sessions import SessionChanges
from footnote.sessions.store import ABANDONED_SECONDS, Sessions
from library.samples import TREATY, TickingClock
from sessions.turn_writer import TurnWriter, answer, tool_calls, tool_result


async def titles(sessions: Sessions, user_id: str = "ann", **wanted: object) -> list[str]:
    page = await sessions.list(user_id, **wanted)  # pyright: ignore[reportArgumentType] - options by name
    return [found.title for found in page.sessions]


async def test_a_new_session_has_no_title_until_its_first_question(sessions: Sessions, turn_writer: TurnWriter) -> None:
    head = await sessions.create("ann", "researcher")
    assert head == SessionHead(head.id, "", "researcher", "2027-01-15T08:00:01Z")
    assert await sessions.head("ann", head.id) == head
    await turn_writer.turn(head.id, "Why is the sky blue? And the sea?", answer("Rayleigh."))
    await turn_writer.turn(head.id, "And the grass?", answer("Chlorophyll."))
    assert (await sessions.head("ann", head.id)).title == "Why is the sky blue?"


async def test_a_session_is_listed_from_its_first_question_on_or_from_its_title(
    sessions: Sessions, turn_writer: TurnWriter
) -> None:
    created = await sessions.create("ann", "researcher")
    named = await sessions.create("ann", "researcher", title="Mine")
    assert await titles(sessions) == ["Mine"]
    await turn_writer.turn(created.id, "Why is the sky blue?", answer("Rayleigh."))
    assert await titles(sessions) == ["Why is the sky blue?", "Mine"]
    # A question without words for a title is still asked.
    wordless = await turn_writer.session()
    await turn_writer.turn(wordless, "?", answer("!"))
    assert len(await titles(sessions)) == 3
    assert (await sessions.head("ann", named.id)).title == "Mine"


async def test_a_session_in_which_nothing_is_ever_asked_is_removed_a_month_after_its_last_file(
    sessions: Sessions, turn_writer: TurnWriter, clock: TickingClock
) -> None:
    # Files have the date of the real clock.
    clock.time = time.time() - ABANDONED_SECONDS + 60
    empty, filed, named = [await sessions.create("ann", "researcher", title=title) for title in (None, None, "Mine")]
    with_question = await turn_writer.session("Why?")
    clock.time = time.time()
    await sessions.workspace("ann", filed.id).put("/notes.md", "Kept.", base_hash=None)
    await sessions.clean_up()
    assert (await sessions.head("ann", empty.id)).id == empty.id
    clock.time += 120
    await sessions.clean_up()
    with pytest.raises(Unknown):
        await sessions.head("ann", empty.id)
    for session_id in (filed.id, named.id, with_question):
        assert (await sessions.head("ann", session_id)).id == session_id
    clock.time += ABANDONED_SECONDS
    await sessions.clean_up()
    with pytest.raises(Unknown):
        await sessions.head("ann", filed.id)
    for session_id in (named.id, with_question):
        assert (await sessions.head("ann", session_id)).id == session_id


async def test_a_title_that_a_person_chose_stays(sessions: Sessions, turn_writer: TurnWriter) -> None:
    chosen = await turn_writer.session("Why is the sky blue?", title="Mine")
    renamed = await turn_writer.session()
    await sessions.change("ann", renamed, SessionChanges(title=" Also\n\tmine\u202e "))
    await turn_writer.turn(renamed, "Why?", answer("So."))
    assert (await sessions.head("ann", chosen)).title == "Mine"
    assert (await sessions.head("ann", renamed)).title == "Also mine"
    with pytest.raises(UsageError, match="The title has nothing that can be read"):
        await sessions.change("ann", renamed, SessionChanges(title="\u200b \n"))


async def test_the_last_changed_is_first_and_renaming_moves_nothing(
    sessions: Sessions, turn_writer: TurnWriter
) -> None:
    first, _, _ = [await turn_writer.session(f"Question {number}?") for number in (1, 2, 3)]
    assert await titles(sessions) == ["Question 3?", "Question 2?", "Question 1?"]
    await sessions.change("ann", first, SessionChanges(title="One"))
    assert await titles(sessions) == ["Question 3?", "Question 2?", "One"]
    await turn_writer.turn(first, "More?", answer("More."))
    assert await titles(sessions) == ["One", "Question 3?", "Question 2?"]


async def test_a_listed_session_tells_when_it_changed_and_whether_it_is_being_answered(
    sessions: Sessions, turn_writer: TurnWriter
) -> None:
    session_id = await turn_writer.session()
    turn = await turn_writer.turn(session_id, "Why?", state="running")
    [found] = (await sessions.list("ann")).sessions
    assert found.active_run_id == turn.run_id
    assert found.created_at < found.updated_at
    assert found.excerpt is None


async def test_pages_follow_each_other_whatever_changes_in_between(sessions: Sessions, turn_writer: TurnWriter) -> None:
    ids = [await turn_writer.session(f"Question {number}?") for number in range(7)]
    first = await sessions.list("ann", limit=3)
    assert [one.title for one in first.sessions] == ["Question 6?", "Question 5?", "Question 4?"]
    await turn_writer.turn(ids[5], "More?", answer("More."))  # listed before: it moves to the top
    await turn_writer.session("New?")
    await sessions.delete("ann", ids[4])  # the last one of the page, where the next page begins
    second = await sessions.list("ann", limit=3, cursor=first.next_cursor)
    assert [one.title for one in second.sessions] == ["Question 3?", "Question 2?", "Question 1?"]
    third = await sessions.list("ann", limit=3, cursor=second.next_cursor)
    assert [one.title for one in third.sessions] == ["Question 0?"]
    assert third.next_cursor is None


async def test_sessions_of_the_same_moment_are_each_listed_once(
    sessions: Sessions, turn_writer: TurnWriter, clock: TickingClock
) -> None:
    ids: list[str] = []
    for _ in range(5):
        clock.time = 1_800_000_000.0
        ids.append((await sessions.create("ann", "researcher", title="Same")).id)
    seen: list[str] = []
    cursor = None
    while True:
        page = await sessions.list("ann", limit=2, cursor=cursor)
        seen += [one.id for one in page.sessions]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sorted(seen) == sorted(ids)
    assert turn_writer.sessions is sessions


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "é", "{}", "AAAA", "\0", "=", "W10", "W251bGwsbnVsbF0", "WzFlOTk5LCJhIl0", "WyIxIiwiYSJd", "x" * 5000]
    + [
        base64.urlsafe_b64encode(text).decode()
        for text in (b"[1]", b'[1,"a",2]', b'{"changed_at":1}', b"[NaN,1]", b'[1,"\\ud800"]')
    ],
)
async def test_a_cursor_that_nobody_gave_is_refused(sessions: Sessions, cursor: str) -> None:
    with pytest.raises(UsageError, match="The cursor is none of this list"):
        await sessions.list("ann", cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1, 101])
async def test_a_page_has_a_size(sessions: Sessions, limit: int) -> None:
    with pytest.raises(UsageError, match=f"limit is {limit}; it may be from 1 to 100"):
        await sessions.list("ann", limit=limit)


async def test_sessions_of_compatible_doors_are_not_listed(sessions: Sessions) -> None:
    head = await sessions.create("ann", "researcher", origin="api", title="API")
    assert await titles(sessions) == []
    assert await titles(sessions, query="API") == []
    assert await sessions.head("ann", head.id) == head


ASKED: list[Callable[[Sessions, str], Awaitable[object]]] = [
    lambda sessions, session_id: sessions.head("ben", session_id),
    lambda sessions, session_id: sessions.history("ben", session_id),
    lambda sessions, session_id: sessions.change("ben", session_id, SessionChanges(title="Mine")),
    lambda sessions, session_id: sessions.change("ben", session_id, SessionChanges()),
    lambda sessions, session_id: sessions.delete("ben", session_id),
    lambda sessions, session_id: sessions.source("ben", session_id, 1),
    lambda sessions, session_id: sessions.workspace("ben", session_id).write("/a.md", "x", message_id=None),
]


@pytest.mark.parametrize("call", ASKED)
async def test_a_session_of_somebody_else_does_not_exist(
    sessions: Sessions, turn_writer: TurnWriter, call: Callable[[Sessions, str], Awaitable[object]]
) -> None:
    theirs = await turn_writer.session("Secret?")
    with pytest.raises(Unknown) as refused:
        await call(sessions, theirs)
    with pytest.raises(Unknown) as missing:
        await call(sessions, "session_none")
    assert refused.value.message == missing.value.message
    assert await titles(sessions, "ben") == []
    assert await titles(sessions, "ben", query="secret") == []
    assert await titles(sessions) == ["Secret?"]


async def test_the_branch_through_a_message_is_shown(sessions: Sessions, turn_writer: TurnWriter) -> None:
    session_id = await turn_writer.session()
    first = await turn_writer.turn(session_id, "First?", answer("One."))
    second = await turn_writer.turn(session_id, "Second?", answer("Two."))
    third = await turn_writer.turn(session_id, "Third?", answer("Three."))
    edited = await turn_writer.turn(session_id, "Second, changed?", answer("Another."), instead_of=second)
    retried = await turn_writer.retry(session_id, first, answer("One again."))

    async def listed_titles() -> list[str]:
        return [turn.run_id for turn in (await sessions.history("ann", session_id)).turns]

    assert await listed_titles() == [retried.run_id]
    for message_id, branch in [
        (second.message_id, [first, second, third]),
        (f"{second.message_id}-1", [first, second, third]),
        (edited.question_id, [first, edited]),
        (third.question_id, [first, second, third]),
        (first.message_id, [first, edited]),
        (first.question_id, [retried]),
    ]:
        await sessions.change("ann", session_id, SessionChanges(head=message_id))
        assert await listed_titles() == [turn.run_id for turn in branch]
    with pytest.raises(Unknown, match="no such message"):
        await sessions.change("ann", session_id, SessionChanges(head="msg_none", title="Not this either"))
    assert (await sessions.head("ann", session_id)).title == "First?"


async def test_another_branch_is_not_shown_while_one_is_being_answered(
    sessions: Sessions, turn_writer: TurnWriter
) -> None:
    session_id = await turn_writer.session()
    first = await turn_writer.turn(session_id, "First?", answer("One."))
    await turn_writer.turn(session_id, "Second?", state="running")
    with pytest.raises(RunActive):
        await sessions.change("ann", session_id, SessionChanges(head=first.message_id))


async def test_sessions_deleted_at_once_leave_nothing_behind(
    sessions: Sessions, turn_writer: TurnWriter, tmp_path: Path
) -> None:
    await turn_writer.session("Which stones are there?")
    ids = [await turn_writer.session(f"What is xy{word}?") for word in ("beryl", "topaz", "agate")]
    assert is_stored(tmp_path, "topaz")
    await asyncio.gather(*(sessions.delete("ann", session_id) for session_id in ids))
    assert not any(is_stored(tmp_path, word) for word in ("beryl", "topaz", "agate"))
    assert await titles(sessions, query="stones") == ["Which stones are there?"]


async def test_a_deleted_session_leaves_nothing_behind(
    sessions: Sessions, turn_writer: TurnWriter, database: Database, library: Library, tmp_path: Path
) -> None:
    words = ["kryptonite", "adamantium", "unobtainium", "vibranium", "mithril", "orichalcum"]
    other = await turn_writer.session("What is a carbuncle?")
    await turn_writer.session("krypton, adamant, unobtain, vibrant, mithridate, orichalk?", user_id="ben")
    session_id = await turn_writer.session()
    call = ToolCall("c1", "web_search", {"query": words[1]})
    turn = await turn_writer.turn(
        session_id,
        f"What is {words[0]}?",
        tool_calls(call),
        tool_result("c1", f"All on {words[2]}"),
        answer(f"It is {words[3]}."),
    )
    await turn_writer.turn(session_id, f"And {words[0]} again?", answer("The same."), instead_of=turn)
    await sessions.change("ann", session_id, SessionChanges(title=f"On {words[4]}"))
    workspace = sessions.workspace("ann", session_id)
    await workspace.write("/notes.md", f"Of {words[5]}", message_id=turn.message_id)
    await database.write(append_events([(EventRow(turn.run_id, 1, 1, words[3].encode()), 0)]))
    await library.store(TREATY)
    assert all(is_stored(tmp_path, word) for word in words), "they are there before"

    await sessions.delete("ann", session_id)
    for word in words:
        assert not is_stored(tmp_path, word), f"{word} can still be read"
    with pytest.raises(Unknown):
        await sessions.head("ann", session_id)
    with pytest.raises(Unknown):
        await sessions.delete("ann", session_id)
    assert await titles(sessions) == ["What is a carbuncle?"]
    assert await titles(sessions, query="carbuncle") == ["What is a carbuncle?"]
    assert len((await sessions.history("ann", other)).messages) == 2
    assert await library.snapshot(TREATY.id) == TREATY, "what was read belongs to the library"


def is_stored(home: Path, word: str) -> bool:
    """Whether the database contains a word anywhere. An index stores only the part of a word that differs from the word
    before it."""
    return word[-5:].encode() in engines.contents(home)
