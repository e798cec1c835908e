"""The footnotes of a file over HTTP: each with the passage that it rests on, as the footnotes of an answer have it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from cli.searching import article
from footnote.sessions.file_citations import MAX_STATEMENTS
from server.desk import Desk
from server.forms import upload_files
from server.house import open_house
from upstream import Upstream, call, reply, say, stop
from web import Web

LITHIUM = "Recycling processes shall recover at least 50 percent of the lithium in waste batteries by 31 December 2027."
COBALT = "From 18 August 2031 new electric vehicle batteries shall contain at least 16 percent recovered cobalt."
REPORT = (
    "# Batteries 🔋\n\nNew electric vehicle batteries shall contain at least 16 percent recovered cobalt [1].\n\n"
    "- Recycling shall recover at least 50 percent of the lithium in waste batteries by 31 December 2027 [1].\n"
    "- It was invented in Hanoi in 1999 [1].\n"
)


@pytest.fixture
async def desk(tmp_path: Path, upstream: Upstream) -> AsyncIterator[Desk]:
    """A session in which the page about batteries was read as source 1."""
    async with Web() as web:
        web.put("/batteries", article("Regulation on batteries", LITHIUM, COBALT))
        upstream.script(
            reply(call("read_page", {"url": web.url("/batteries")}), stop("toolUse")), reply(say("Read."), stop())
        )
        settings = {"FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": f'["{web.host}"]'}
        async with open_house(tmp_path, upstream, **settings) as house:
            session_id = await house.local.create_session()
            await house.local.ask_for_events(session_id, f"What does {web.url('/batteries')} say?")
            yield Desk(house.local, session_id)


async def _citations(desk: Desk, path: str = "/report.md", **more: object) -> Any:
    answer = await desk.request("GET", "/citations", file_path=path, **more)
    assert answer.status == 200, answer
    return answer.json


async def test_each_footnote_of_a_report_has_its_verdict_and_its_own_passage(desk: Desk):
    await desk.write("/report.md", REPORT)
    told = await _citations(desk)
    text = (await desk.person.request("GET", f"/v2/sessions/{desk.session_id}/sources/1")).json["snapshots"][0]["text"]
    assert (told["file_path"], told["version"]) == ("/report.md", 1)
    assert told["counts"] == {
        "statements": 3,
        "supported": 2,
        "partial": 0,
        "contradicted": 0,
        "unsupported": 1,
        "uncited": 0,
        "unread": 0,
    }
    assert [(one["marker"], one["number"], one["verdict"], one["by"]) for one in told["citations"]] == [
        ("[1]", 1, "supported", "text"),
        ("[1]", 1, "supported", "text"),
        ("[1]", 1, "unsupported", "text"),
    ]
    cobalt, lithium, _ = told["citations"]
    assert "16 percent recovered cobalt" in REPORT[cobalt["start"] : cobalt["end"]]
    assert text[cobalt["quote_start"] : cobalt["quote_end"]] == cobalt["quote"]
    assert "cobalt" in cobalt["quote"]
    assert "lithium" not in cobalt["quote"]
    assert "lithium" in lithium["quote"]


async def test_every_version_has_its_own_footnotes(desk: Desk):
    await desk.write("/report.md", REPORT)
    await desk.write("/report.md", "Nothing is cited any more.\n", base=REPORT)
    newest, first = await _citations(desk), await _citations(desk, version=1)
    assert (newest["version"], newest["counts"]["statements"], newest["citations"]) == (2, 0, [])
    assert (first["version"], first["counts"]["statements"]) == (1, 3)
    assert await _citations(desk, version=1) == first


async def test_many_requests_at_once_get_the_same_answer(desk: Desk):
    await desk.write("/report.md", REPORT)
    told = await asyncio.gather(*(_citations(desk) for _ in range(20)))
    assert all(one == told[0] for one in told)
    assert told[0]["counts"]["statements"] == 3


async def test_numbers_in_brackets_of_an_upload_are_its_own(desk: Desk):
    path = (await upload_files(desk.person, desk.session_id, ("paper.md", REPORT.encode()))).json["files"][0]["path"]
    assert (await _citations(desk, path))["citations"] == []


async def test_of_a_very_long_report_the_first_statements_are_judged(desk: Desk):
    sentence = "New electric vehicle batteries shall contain at least 16 percent recovered cobalt [1].\n\n"
    await desk.write("/report.md", sentence * (MAX_STATEMENTS + 20))
    assert (await _citations(desk))["counts"]["statements"] == MAX_STATEMENTS


async def test_a_file_without_sentences_has_no_footnotes(desk: Desk):
    await desk.write("/table.csv", "a,b\n")
    answer = await desk.request("GET", "/citations", file_path="/table.csv")
    assert (answer.status, answer.error) == (415, "unsupported_media_type")
    assert (await desk.request("GET", "/citations", file_path="/missing.md")).status == 404
    await desk.write("/report.md", REPORT)
    assert (await desk.request("GET", "/citations", file_path="/report.md", version=9)).status == 404
