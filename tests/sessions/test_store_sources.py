"""The sources of footnotes: the text that was read, in any branch, with the quoted places."""

import msgspec
import pytest
from msgspec.structs import replace

from footnote.library import Library
from footnote.protocol.errors import Unknown
from footnote.protocol.messages import ToolCall
from footnote.protocol.sessions import SessionChanges
from footnote.protocol.sources import Citation, Quote, Snapshot, Source
from footnote.sessions.store import Sessions
from library.samples import TREATY
from sessions.turn_writer import TurnWriter, answer, tool_calls, tool_result

SIGNED = "It was signed on 28 June 1919 in the Hall of Mirrors."
START = TREATY.text.index(SIGNED)
OLD = TREATY
NEW = replace(TREATY, text=f"New edition.\n\n{TREATY.text}", links=(), pages=(), fetched_at="2026-02-02T00:00:00+00:00")


def source(snapshot: Snapshot | None, *quotes: Quote, number: int = 1) -> Source:
    return Source(
        url=TREATY.url,
        title="Treaty of Versailles",
        snippet="Signed …",
        domain="history.example",
        number=number,
        status="read" if snapshot else "snippet",
        published="2024-03-17",
        snapshot_id=snapshot.id if snapshot else None,
        fetched_at=snapshot.fetched_at if snapshot else None,
        quotes=quotes,
    )


def artifact(*sources: Source, citations: tuple[Citation, ...] = ()) -> dict[str, object]:
    return msgspec.json.decode(msgspec.json.encode({"query": "q", "sources": sources, "citations": citations}))


def citation(text: str, start: int, number: int = 1) -> Citation:
    return Citation(f"[{number}]", number, 0, 5, "supported", text, start, start + len(text))


async def store_search(
    turn_writer: TurnWriter, session_id: str, call_id: str, found: dict[str, object], *citations: Citation
) -> None:
    call = ToolCall(call_id, "web_search", {})
    await turn_writer.turn(
        session_id, "When?", tool_calls(call), tool_result(call_id, "…", found), answer("1919 [1].", *citations)
    )


async def test_a_source_with_all_that_was_read_and_quoted(
    sessions: Sessions, turn_writer: TurnWriter, library: Library
) -> None:
    await library.store(OLD)
    await library.store(NEW)
    session_id = await turn_writer.session()
    quote, ended = Quote(SIGNED, START, START + len(SIGNED)), "It ended the war."
    await store_search(
        turn_writer, session_id, "c1", artifact(source(OLD, quote)), citation(ended, OLD.text.index(ended))
    )
    again = artifact(source(NEW), citations=(citation("New edition.", 0),))
    moved = citation(SIGNED, NEW.text.index(SIGNED))
    await store_search(
        turn_writer, session_id, "c2", again, moved, citation("Never said.", 3), citation(ended, 0, number=2)
    )
    view = await sessions.source("ann", session_id, 1)
    assert (view.number, view.url, view.title, view.domain) == (1, OLD.url, "Treaty of Versailles", "history.example")
    assert (view.status, view.published, view.fetched_at) == ("read", "2024-03-17", NEW.fetched_at)
    newest, oldest = view.snapshots
    assert (newest.id, newest.text, newest.fetched_at) == (NEW.id, NEW.text, NEW.fetched_at)
    assert (oldest.id, oldest.fetched_at, oldest.media_type) == (OLD.id, OLD.fetched_at, "application/pdf")
    assert (oldest.links, oldest.pages) == (OLD.links, OLD.pages)
    assert [one.text for one in newest.quotes] == ["New edition.", SIGNED]
    assert [one.text for one in oldest.quotes] == [SIGNED, ended]
    for snapshot in view.snapshots:
        assert all(snapshot.text[one.start : one.end] == one.text for one in snapshot.quotes)


async def test_a_source_of_another_branch_can_be_opened(
    sessions: Sessions, turn_writer: TurnWriter, library: Library
) -> None:
    await library.store(OLD)
    session_id = await turn_writer.session()
    first = await turn_writer.turn(
        session_id,
        "When?",
        tool_calls(ToolCall("c1", "x", {})),
        tool_result("c1", "…", artifact(source(OLD))),
        answer("So."),
    )
    await turn_writer.turn(session_id, "When exactly?", answer("No idea."), instead_of=first)
    assert [one.id for one in (await sessions.source("ann", session_id, 1)).snapshots] == [OLD.id]


async def test_of_two_sources_with_one_number_the_one_that_is_shown_is_opened(
    sessions: Sessions, turn_writer: TurnWriter, library: Library
) -> None:
    other = replace(TREATY, url="https://other.example", text="Another page.", links=(), pages=())
    await library.store(OLD)
    await library.store(other)
    session_id = await turn_writer.session()
    found = replace(source(other), url=other.url, domain="other.example")
    call = tool_calls(ToolCall("c1", "x", {}))
    first = await turn_writer.turn(
        session_id, "When?", call, tool_result("c1", "…", artifact(source(OLD))), answer("So.")
    )
    edited = await turn_writer.turn(
        session_id, "What?", call, tool_result("c1", "…", artifact(found, source(NEW, number=2))), instead_of=first
    )
    assert (await sessions.source("ann", session_id, 1)).url == other.url
    view = await sessions.source("ann", session_id, 2)
    assert (view.url, [one.id for one in view.snapshots]) == (OLD.url, [OLD.id])
    await sessions.change("ann", session_id, SessionChanges(head=first.message_id))
    assert (await sessions.source("ann", session_id, 1)).url == OLD.url
    assert edited


async def test_a_source_that_was_only_a_snippet_or_is_gone_has_no_snapshots(
    sessions: Sessions, turn_writer: TurnWriter, library: Library
) -> None:
    session_id = await turn_writer.session()
    await store_search(turn_writer, session_id, "c1", artifact(source(None)))
    view = await sessions.source("ann", session_id, 1)
    assert (view.status, view.snapshots) == ("snippet", ())
    removed = await turn_writer.session()
    await library.store(OLD)
    await store_search(turn_writer, removed, "c1", artifact(source(OLD, Quote(SIGNED, START, START + len(SIGNED)))))
    await library.remove(OLD.url)
    view = await sessions.source("ann", removed, 1)
    assert (view.status, view.snapshots) == ("read", ())


@pytest.mark.parametrize("number", [0, -1, 2, 10**30])
async def test_a_number_that_no_source_has(sessions: Sessions, turn_writer: TurnWriter, number: int) -> None:
    session_id = await turn_writer.session()
    await store_search(turn_writer, session_id, "c1", artifact(source(None)))
    with pytest.raises(Unknown, match="This session has no source"):
        await sessions.source("ann", session_id, number)


async def test_quotes_that_make_no_sense_are_left_out(
    sessions: Sessions, turn_writer: TurnWriter, library: Library
) -> None:
    await library.store(OLD)
    session_id = await turn_writer.session()
    odd = [
        Quote("", 0, 0),
        Quote("x", -1, 0),
        Quote(SIGNED, START + 1, START + 1 + len(SIGNED)),
        Quote("x", 10**9, 10**9 + 1),
    ]
    await store_search(turn_writer, session_id, "c1", artifact(source(OLD, *odd)), citation("", 5))
    [snapshot] = (await sessions.source("ann", session_id, 1)).snapshots
    assert snapshot.quotes == ()
