"""A bundle of a research session: the plan and the work on its items come along, and the transcript tells the plan."""

from pathlib import Path

import pytest

from bundles.sample_session import export_bundle, json_of, read_entries, write_bundle
from bundles.test_import import OtherHome, import_bundle, other_home, without_ids
from footnote.bundles.bundles import Bundles
from footnote.bundles.verify import verify
from footnote.library import Library
from library.samples import RECIPE, TREATY
from sessions.research_turn import ANSWER, COOKED, MUSING, QUESTION, SIGNED, research_messages
from sessions.turn_writer import TurnWriter

__all__ = ["other_home"]


@pytest.fixture
async def session_id(turn_writer: TurnWriter, library: Library) -> str:
    for page in (TREATY, RECIPE):
        await library.for_user("ann").store(page)
    head = await turn_writer.sessions.create("ann", "researcher")
    await turn_writer.turn(head.id, QUESTION, *research_messages())
    return head.id


async def test_it_is_verified_and_all_verdicts_of_items_are_judged_again(
    bundles: Bundles, session_id: str, tmp_path: Path
) -> None:
    report = verify(write_bundle(tmp_path, await export_bundle(bundles, session_id)))

    assert report.findings == ()
    assert (report.verdicts, report.notes) == (4, ())


async def test_the_transcript_has_the_plan_and_leaves_out_the_work_on_its_items(
    bundles: Bundles, session_id: str
) -> None:
    transcript = read_entries(await export_bundle(bundles, session_id))["transcript.md"].decode()

    _, _, text = transcript.partition("## Answer\n\n")
    assert text.startswith(
        "Plan:\n\n"
        "- When was the treaty signed?\n"
        "- How is the soup \\*made\\*?\n"
        "- Who paid? (failed: No page could be read.)\n"
        "- Who cares? (dropped)\n\n"
        "Said meanwhile:\n\n"
        "- Leave out prices.\n\n"
        "- write_file: /report.md\n\n"
        f"{ANSWER} {SIGNED} [1]\n\n"
        "Sources:\n\n"
        "- [1] [Treaty of Versailles](<https://history.example/versailles>)\n"
    )
    assert COOKED not in text
    assert MUSING not in text
    assert "web_search" not in text


async def test_the_imported_session_shows_the_same(
    bundles: Bundles, session_id: str, turn_writer: TurnWriter, other_home: OtherHome, tmp_path: Path
) -> None:
    data = await export_bundle(bundles, session_id)
    imported = await import_bundle(other_home, data, tmp_path)

    there = await other_home.sessions.history("cat", imported.id)
    here = await turn_writer.sessions.history("ann", session_id)
    assert without_ids(there.messages) == without_ids(here.messages)
    again = write_bundle(tmp_path, await export_bundle(other_home.bundles, imported.id, "cat"))
    assert verify(again).ok
    assert json_of(read_entries(data)["history.json"])["messages"][1]["content"][0]["type"] == "plan"


async def test_what_readers_of_items_wrote_is_not_searched_in_it(
    bundles: Bundles, session_id: str, other_home: OtherHome, tmp_path: Path
) -> None:
    await import_bundle(other_home, await export_bundle(bundles, session_id), tmp_path)

    assert not (await other_home.sessions.list("cat", query="Zeppelins")).sessions
    [found] = (await other_home.sessions.list("cat", query="their time")).sessions
    assert found.excerpt is not None
    assert ANSWER in found.excerpt
