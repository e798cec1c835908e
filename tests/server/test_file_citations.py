"""The footnotes of a file over HTTP: each with its passage, like the footnotes of an answer."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from cli.small_web import article
from footnote.evidence.file_proof import PIECE_CHARACTERS
from server.forms import upload_files
from server.harness import open_server
from server.session_files import SessionFiles
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
async def session_files(tmp_path: Path, upstream: Upstream) -> AsyncIterator[SessionFiles]:
    """A session whose source 1 is the page about batteries."""
    async with Web() as web:
        web.put("/batteries", article("Regulation on batteries", LITHIUM, COBALT))
        upstream.script(
            reply(call("read_page", {"url": web.url("/batteries")}), stop("toolUse")), reply(say("Read."), stop())
        )
        settings = {"FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": f'["{web.host}"]'}
        async with open_server(tmp_path, upstream, **settings) as server:
            session_id = await server.local.create_session()
            await server.local.ask_for_events(session_id, f"What does {web.url('/batteries')} say?")
            yield SessionFiles(server.local, session_id)


async def _citations(session_files: SessionFiles, path: str = "/report.md", **more: object) -> Any:
    response = await session_files.request("GET", "/citations", file_path=path, **more)
    assert response.status == 200, response
    return response.json


async def test_each_footnote_of_a_report_has_its_verdict_and_its_own_passage(session_files: SessionFiles):
    await session_files.write("/report.md", REPORT)
    citations = await _citations(session_files)
    text = (await session_files.client.request("GET", f"/v2/sessions/{session_files.session_id}/sources/1")).json[
        "snapshots"
    ][0]["text"]
    assert (citations["file_path"], citations["version"]) == ("/report.md", 1)
    assert citations["counts"] == {
        "statements": 3,
        "supported": 2,
        "partial": 0,
        "contradicted": 0,
        "unsupported": 1,
        "uncited": 0,
        "unread": 0,
    }
    assert [(one["marker"], one["number"], one["verdict"], one["by"]) for one in citations["citations"]] == [
        ("[1]", 1, "supported", "text"),
        ("[1]", 1, "supported", "text"),
        ("[1]", 1, "unsupported", "text"),
    ]
    cobalt, lithium, _ = citations["citations"]
    assert "16 percent recovered cobalt" in REPORT[cobalt["start"] : cobalt["end"]]
    assert text[cobalt["quote_start"] : cobalt["quote_end"]] == cobalt["quote"]
    assert "cobalt" in cobalt["quote"]
    assert "lithium" not in cobalt["quote"]
    assert "lithium" in lithium["quote"]


async def test_every_version_has_its_own_footnotes(session_files: SessionFiles):
    await session_files.write("/report.md", REPORT)
    await session_files.write("/report.md", "Nothing is cited any more.\n", base=REPORT)
    newest, first = await _citations(session_files), await _citations(session_files, version=1)
    assert (newest["version"], newest["counts"]["statements"], newest["citations"]) == (2, 0, [])
    assert (first["version"], first["counts"]["statements"]) == (1, 3)
    assert await _citations(session_files, version=1) == first


async def test_many_requests_at_once_get_the_same_answer(session_files: SessionFiles):
    await session_files.write("/report.md", REPORT)
    answers = await asyncio.gather(*(_citations(session_files) for _ in range(20)))
    assert all(one == answers[0] for one in answers)
    assert answers[0]["counts"]["statements"] == 3


async def test_numbers_in_brackets_of_an_upload_are_its_own(session_files: SessionFiles):
    path = (await upload_files(session_files.client, session_files.session_id, ("paper.md", REPORT.encode()))).json[
        "files"
    ][0]["path"]
    assert (await _citations(session_files, path))["citations"] == []


async def test_every_statement_of_a_very_long_report_is_judged(session_files: SessionFiles):
    sentences = [
        f"New electric vehicle batteries of type {number} shall contain at least 16 percent recovered cobalt [1].\n\n"
        for number in range(500)
    ]
    report = "".join((*sentences, "It was invented in Hanoi in 1999 [1].\n"))
    assert len(report) > 3 * PIECE_CHARACTERS
    await session_files.write("/report.md", report)
    citations = await _citations(session_files)
    assert citations["counts"]["statements"] == 501
    places = [(one["start"], one["end"]) for one in citations["citations"]]
    assert places == sorted(places)
    assert report[slice(*places[-1])].startswith("It was invented in Hanoi")
    assert report[slice(*places[250])].startswith("New electric vehicle batteries of type 250 ")


async def test_a_file_without_sentences_has_no_footnotes(session_files: SessionFiles):
    await session_files.write("/table.csv", "a,b\n")
    response = await session_files.request("GET", "/citations", file_path="/table.csv")
    assert (response.status, response.error) == (415, "unsupported_media_type")
    assert (await session_files.request("GET", "/citations", file_path="/missing.md")).status == 404
    await session_files.write("/report.md", REPORT)
    assert (await session_files.request("GET", "/citations", file_path="/report.md", version=9)).status == 404
