"""An imported bundle is a session like any other: it can be read, searched, continued and exported."""

import re
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import astuple

import engines
from bundles.sample_session import LARGE, SampleSession, export_bundle, json_of, read_entries, upload_file, write_bundle
from footnote.bundles.bundles import Bundles
from footnote.bundles.manifest import MANIFEST
from footnote.bundles.schema import BundleRejected
from footnote.bundles.verify import verify
from footnote.bus.base import LocalBus
from footnote.db.engine import Database
from footnote.library import Library
from footnote.protocol.errors import LimitReached, Unknown
from footnote.protocol.events import Gap, MessageStop
from footnote.protocol.history import History, SessionHead
from footnote.protocol.sessions import SessionChanges
from footnote.protocol.sse import EventDecoder
from footnote.sessions.follow import RemoteLogs, follow
from footnote.sessions.store import Sessions
from footnote.storage.local import MemoryStorage
from footnote.workspace.blobs import Blobs
from library.samples import RECIPE, TREATY, TickingClock
from sessions.turn_writer import TurnWriter, add_user, answer, tool_result

IDS = re.compile(
    r"(?:session|run|msg)_[0-9a-f]{28}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<=/)(?:ann|ben|cat)(?=/)"
)


@dataclass
class OtherHome:
    """Another installation, without any data of the first one."""

    database: Database
    library: Library
    sessions: Sessions
    bundles: Bundles
    path: Path


@asynccontextmanager
async def open_empty_home(home: Path, **limits: Any) -> AsyncIterator[OtherHome]:
    home.mkdir()
    clock = TickingClock()
    async with Database.open(engines.database_url(home), home) as database:
        await database.write(add_user("cat"))
        await database.write(add_user("dan"))
        library = Library(database, clock=clock)
        blobs = Blobs(database, MemoryStorage(), clock=clock)
        sessions = Sessions(database, library, blobs, clock=clock)
        bundles = Bundles(database, library, blobs, agents=("researcher",), clock=clock, **limits)
        yield OtherHome(database, library, sessions, bundles, home / "footnote.db")


@pytest.fixture
async def other_home(tmp_path: Path) -> AsyncIterator[OtherHome]:
    async with open_empty_home(tmp_path / "elsewhere") as other_home:
        yield other_home


def without_ids(value: Any) -> Any:
    """JSON with its ids numbered in order of appearance, to compare sessions whose ids differ. The url of an imported
    file always names its session."""
    known: dict[str, str] = {}
    text = re.sub(r"\?session=\w+", "", msgspec.json.encode(value).decode())
    return json_of(IDS.sub(lambda found: known.setdefault(found[0], f"id-{len(known)}"), text).encode())


async def import_bundle(other_home: OtherHome, data: bytes, folder: Path, user_id: str = "cat") -> SessionHead:
    return await other_home.bundles.import_bundle(user_id, write_bundle(folder, data))


async def stored_events(database: Database, run_id: str) -> list[Any]:
    decoder = EventDecoder()
    relays = RemoteLogs(database, LocalBus(), lambda _: None)
    async with aclosing(follow(database, lambda _: None, relays, run_id, 0, None)) as pieces:
        return [event async for piece in pieces for _, event in decoder.push(piece)]


async def test_the_history_is_the_same_but_for_ids(
    bundles: Bundles, sessions: Sessions, sample: SampleSession, other_home: OtherHome, tmp_path: Path
) -> None:
    head = await import_bundle(other_home, await export_bundle(bundles, sample.session_id), tmp_path)
    before, after = await sessions.history("ann", sample.session_id), await other_home.sessions.history("cat", head.id)
    assert (head.id, head.title, head.agent_id, head.created_at) == astuple(after.session)
    assert without_ids(before) == without_ids(after)
    ids = [set(re.findall(r"(?:session|run|msg)_[0-9a-f]{28}", str(one))) for one in (before, after)]
    assert not ids[0] & ids[1]
    assert len(ids[0]) == len(ids[1])
    upload = after.workspace.workspace_files[-1]
    assert upload.path == f"local://uploads/cat/{upload.id}/báo cáo.pdf"
    assert f'"attachments":[{msgspec.json.encode(upload).decode()}]' in msgspec.json.encode(after).decode()


async def test_every_branch_comes_along(
    bundles: Bundles, sessions: Sessions, sample: SampleSession, other_home: OtherHome, tmp_path: Path
) -> None:
    head = await import_bundle(other_home, await export_bundle(bundles, sample.session_id), tmp_path)
    await sessions.change("ann", sample.session_id, SessionChanges(head=sample.first.message_id))
    after = await other_home.sessions.history("cat", head.id)
    assert isinstance(after.turns, tuple)
    first = after.turns[0].answers[0]
    await other_home.sessions.change("cat", head.id, SessionChanges(head=first))
    changed = await other_home.sessions.history("cat", head.id)
    upload = changed.workspace.workspace_files[-1]
    assert f'"file_path":"{upload.path}"' in msgspec.json.encode(changed).decode()
    assert f'"{upload.path}: Bản gốc."' in msgspec.json.encode(changed).decode()
    assert without_ids(changed) == without_ids(await sessions.history("ann", sample.session_id))


async def test_footnotes_open_and_files_have_their_versions(
    bundles: Bundles, sessions: Sessions, sample: SampleSession, other_home: OtherHome, tmp_path: Path
) -> None:
    head = await import_bundle(other_home, await export_bundle(bundles, sample.session_id), tmp_path)
    assert await other_home.sessions.source("cat", head.id, 1) == await sessions.source("ann", sample.session_id, 1)
    before, after = sessions.workspace("ann", sample.session_id), other_home.sessions.workspace("cat", head.id)
    versions = await after.versions("/notes/report.md")
    assert without_ids(versions) == without_ids(await before.versions("/notes/report.md"))
    assert [await after.read("/notes/report.md", one.number) for one in versions] == [b"three", b"two", b"one"]
    assert await after.read("/large.txt") == LARGE
    assert await after.extracted_text("báo cáo.pdf") == "Bản gốc."
    assert versions[1].message_id in str(await other_home.sessions.history("cat", head.id))


async def test_an_edit_stays_in_its_branch(
    bundles: Bundles, sessions: Sessions, sample: SampleSession, other_home: OtherHome, tmp_path: Path
) -> None:
    await sessions.workspace("ann", sample.session_id).put("/mine.md", "of this branch", base_hash=None)
    head = await import_bundle(other_home, await export_bundle(bundles, sample.session_id), tmp_path)
    workspace = other_home.sessions.workspace("cat", head.id)
    assert await workspace.read("/mine.md") == b"of this branch"
    turns = (await other_home.sessions.history("cat", head.id)).turns
    assert isinstance(turns, tuple)
    await other_home.sessions.change("cat", head.id, SessionChanges(head=turns[0].answers[0]))
    assert not await workspace.exists("/mine.md")


async def test_it_is_found_by_its_words(
    bundles: Bundles, sample: SampleSession, other_home: OtherHome, tmp_path: Path
) -> None:
    head = await import_bundle(other_home, await export_bundle(bundles, sample.session_id), tmp_path)
    for words in ("treaty signed", "napoleon", "where", "mirrors", "three", "gốc"):
        assert [one.id for one in (await other_home.sessions.list("cat", query=words)).sessions] == [head.id]
    assert (await other_home.sessions.list("dan", query="treaty")).sessions == ()


async def test_its_events_can_be_followed(
    database: Database, bundles: Bundles, sample: SampleSession, other_home: OtherHome, tmp_path: Path
) -> None:
    head = await import_bundle(other_home, await export_bundle(bundles, sample.session_id), tmp_path)
    turns = (await other_home.sessions.history("cat", head.id)).turns
    assert isinstance(turns, tuple)
    assert without_ids(await stored_events(other_home.database, turns[-1].run_id)) == without_ids(
        await stored_events(database, sample.edited.run_id)
    )
    gap, *_, last = await stored_events(other_home.database, turns[0].run_id)  # this run has no stored events
    assert (type(gap), type(last)) == (Gap, MessageStop)


async def test_an_import_exported_again_is_right_and_has_the_same_contents(
    bundles: Bundles, sample: SampleSession, other_home: OtherHome, tmp_path: Path
) -> None:
    data = await export_bundle(bundles, sample.session_id)
    head = await import_bundle(other_home, data, tmp_path)
    again = await export_bundle(other_home.bundles, head.id, "cat")
    assert verify(write_bundle(tmp_path, again)).findings == ()
    first, second = read_entries(data), read_entries(again)
    same = {name for name in first if name.startswith(("files/", "versions/", "snapshots"))}
    assert {name: first[name] for name in same} == {name: second[name] for name in same}
    assert json_of(first[MANIFEST])["seal"] != json_of(second[MANIFEST])["seal"]


async def test_the_same_bundle_twice_gives_two_sessions(
    bundles: Bundles, sample: SampleSession, other_home: OtherHome, tmp_path: Path
) -> None:
    data = await export_bundle(bundles, sample.session_id)
    first, second = await import_bundle(other_home, data, tmp_path), await import_bundle(other_home, data, tmp_path)
    assert first.id != second.id
    assert {one.id for one in (await other_home.sessions.list("cat")).sessions} == {first.id, second.id}
    await other_home.sessions.delete("cat", first.id)
    assert await other_home.sessions.workspace("cat", second.id).read("/large.txt") == LARGE


async def test_it_belongs_to_whoever_took_it(
    bundles: Bundles, sample: SampleSession, other_home: OtherHome, tmp_path: Path
) -> None:
    head = await import_bundle(other_home, await export_bundle(bundles, sample.session_id), tmp_path)
    with pytest.raises(Unknown):
        await other_home.sessions.history("dan", head.id)


async def test_pages_of_a_bundle_do_not_become_what_the_library_knows(
    bundles: Bundles, sample: SampleSession, other_home: OtherHome, tmp_path: Path
) -> None:
    known = msgspec.structs.replace(TREATY, text="What we read ourselves.", title="Ours")
    await other_home.library.for_user("dan").store(known)
    await import_bundle(other_home, await export_bundle(bundles, sample.session_id), tmp_path)
    assert await other_home.library.for_user("dan").latest(TREATY.url) == known
    assert [one.url for one in await other_home.library.for_user("dan").search("treaty signed mirrors", 5)] == []
    opened = await other_home.library.for_user("cat").snapshot(TREATY.id)
    assert opened is not None
    assert opened.text == TREATY.text


async def test_a_private_text_comes_with_an_address_of_its_own(
    bundles: Bundles, turn_writer: TurnWriter, library: Library, other_home: OtherHome, tmp_path: Path
) -> None:
    """Otherwise a bundle that names the address of another user's file would add it to the user's library."""
    theirs = msgspec.structs.replace(RECIPE, url="footnote:files/phở.md")
    secret = msgspec.structs.replace(theirs, text="The zabaglione recipe.")
    await other_home.library.for_user("dan").add(secret, "origin")
    ours = await library.for_user("ann").add(theirs, "origin")
    found = {"url": ours.url, "title": "", "snippet": "", "domain": "", "number": 1, "status": "read"}
    session_id = await turn_writer.session()
    reading = tool_result("c", "…", {"query": "q", "sources": [{**found, "snapshot_id": ours.id}]})
    await turn_writer.turn(session_id, "How?", reading, answer("So [1]."))
    head = await import_bundle(other_home, await export_bundle(bundles, session_id), tmp_path)
    [snapshot] = (await other_home.sessions.source("cat", head.id, 1)).snapshots
    assert snapshot.text == RECIPE.text
    mine = other_home.library.for_user("cat")
    assert [page.url for page in await mine.list() if page.kind != "documentation"] == []
    assert await mine.search("zabaglione", 5) == ()


async def test_a_run_that_was_active_counts_as_stopped(
    bundles: Bundles, turn_writer: TurnWriter, other_home: OtherHome, tmp_path: Path
) -> None:
    session_id = await turn_writer.session()
    await turn_writer.turn(session_id, "Why?", answer("Half"), state="running")
    head = await import_bundle(other_home, await export_bundle(bundles, session_id), tmp_path)
    history = await other_home.sessions.history("cat", head.id)
    assert history.active_run is None
    assert isinstance(history.turns, tuple)
    assert (history.turns[0].state, history.turns[0].stop_reason) == ("cancelled", "aborted")
    assert _texts(history) == ["Why?", "Half"]


def _texts(history: History) -> list[str]:
    return [block["text"] for one in json_of(msgspec.json.encode(history.messages)) for block in one["content"]]


async def test_a_session_of_an_agent_that_is_unknown_here_goes_on_with_the_first_one(
    bundles: Bundles, sessions: Sessions, other_home: OtherHome, tmp_path: Path
) -> None:
    strange = await sessions.create("ann", "somebody", title="Strange")
    head = await import_bundle(other_home, await export_bundle(bundles, strange.id), tmp_path)
    assert (head.agent_id, head.title, head.created_at) == ("researcher", "Strange", strange.created_at)


async def test_files_count_against_what_a_user_may_have(
    bundles: Bundles, sample: SampleSession, tmp_path: Path
) -> None:
    data = await export_bundle(bundles, sample.session_id)
    async with open_empty_home(tmp_path / "small", file_bytes=len(LARGE)) as other_home:
        with pytest.raises(LimitReached, match="this server allows 120,000"):
            await import_bundle(other_home, data, tmp_path)
        assert (await other_home.sessions.list("cat")).sessions == ()
    tables = ("session", "run", "question", "workspace_file", "file_version", "blob", "snapshot", "session_entry")
    counts = {table: engines.rows(tmp_path / "small", f"SELECT count(*) FROM {table}") for table in tables}
    assert counts == {table: [(0,)] for table in tables}


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("/tool.bin", b"\x7fELF\2\1\1" + bytes(99), "tool.bin is a program for Linux"),
        ("/old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old.doc is an old Office document"),
        ("/plan.docm", b"PK", "plan.docm may hold macros"),
    ],
)
async def test_what_would_be_refused_as_an_upload_does_not_come_in_with_a_bundle(
    name: str,
    content: bytes,
    why: str,
    bundles: Bundles,
    sessions: Sessions,
    turn_writer: TurnWriter,
    blobs: Blobs,
    sample: SampleSession,
    tmp_path: Path,
) -> None:
    await upload_file(turn_writer, blobs, "ann", sample.session_id, content, name, None)
    file = write_bundle(tmp_path, await export_bundle(bundles, sample.session_id))
    with pytest.raises(BundleRejected, match=f"^The bundle was not imported, because of an upload in it: {why}"):
        await bundles.import_bundle("ben", file)
    assert (await sessions.list("ben")).sessions == ()


async def test_a_text_that_could_not_be_read_is_taken_with_the_reason(
    bundles: Bundles, turn_writer: TurnWriter, blobs: Blobs, sample: SampleSession, tmp_path: Path
) -> None:
    await upload_file(turn_writer, blobs, "ann", sample.session_id, b"words", "/unread.txt", None)
    file = write_bundle(tmp_path, await export_bundle(bundles, sample.session_id))
    assert verify(file).ok
    await bundles.import_bundle("ben", file)
