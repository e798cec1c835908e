"""Pointers of a strong model, in everything that leaves the server: stream, history, files, exports, other APIs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from cli.small_web import article
from server.harness import ServerHarness, answer_text, open_server
from upstream import Upstream, call, parallel_calls, reply, say, stop
from web import Web
from web.providers import Hit, SearchServer

ISOLATED = "Oxygen was isolated by Carl Wilhelm Scheele in Uppsala before 1772."
NAMED = "The name oxygen was coined in 1777 by Antoine Lavoisier in Paris."
ANSWER = (
    "Oxygen was isolated by Carl Wilhelm Scheele in Uppsala [1",
    ".1]. Its name was coined in 1777【2.1】. See [2].",
)
SHOWN = "Oxygen was isolated by Carl Wilhelm Scheele in Uppsala [1]. Its name was coined in 1777[2]. See [2]."
REPORT = "# Oxygen\n\nOxygen was isolated by Carl Wilhelm Scheele in Uppsala [1.1].\n\nIt is a gas.\n"


@pytest.fixture
async def server(tmp_path: Path, upstream: Upstream) -> AsyncIterator[ServerHarness]:
    async with searching_server(tmp_path, upstream) as harness:
        yield harness


@asynccontextmanager
async def searching_server(home: Path, upstream: Upstream | None, **more: str) -> AsyncIterator[ServerHarness]:
    """A server whose search finds two pages, and whose model reads the evidence itself."""
    async with Web() as web:
        web.put("/isolated", article("Isolation", ISOLATED))
        web.put("/named", article("Name", NAMED))
        hits = [Hit("Isolation", web.url("/isolated"), ""), Hit("Name", web.url("/named"), "")]
        async with SearchServer("duckduckgo", hits) as search:
            settings = {
                "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": f'["{web.host}"]',
                "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_DUCKDUCKGO_BASE_URL": search.url,
                "FOOTNOTE_TOOLS_WEB_SEARCH_SUMMARY": "false",
                "FOOTNOTE_CITATIONS_MODEL": "off",
                "FOOTNOTE_CITATIONS_REPAIR": "off",
            }
            async with open_server(home, upstream, **settings | more) as harness:
                yield harness


def script_turn(upstream: Upstream) -> None:
    upstream.script(
        reply(call("web_search", {"query": "oxygen"}, id="c1"), stop("toolUse")),
        reply(call("write_file", {"file_path": "/oxygen.md", "content": REPORT}, id="c2"), stop("toolUse")),
        reply(say(*ANSWER), stop()),
    )


async def ask(server: ServerHarness) -> tuple[str, list[dict[str, Any]]]:
    session_id = await server.local.create_session()
    return session_id, await server.local.ask_for_events(session_id, "Who isolated oxygen?")


async def test_the_model_reads_the_passages_word_for_word_with_their_ids(server: ServerHarness, upstream: Upstream):
    script_turn(upstream)
    _, events = await ask(server)
    [result] = [
        event["content_block"]
        for event in events
        if event["type"] == "content_block_start" and event["content_block"].get("name") == "web_search"
        if event["content_block"]["type"] == "tool_result"
    ]
    assert result["content"].startswith("Sources:\n[1] [Isolation](")
    evidence = result["content"].partition("\n\nEvidence:\n")[2]
    passages = {"1.1": f"# Isolation\n\n{ISOLATED}", "2.1": f"# Name\n\n{NAMED}"}
    assert {one["id"]: one["text"] for one in result["artifact"]["evidence"]} == passages
    assert evidence == "\n\n".join(f"[{one['id']}] {one['text']}" for one in result["artifact"]["evidence"])
    assert result["artifact"]["summary"] == ""
    assert len(upstream.requests) == 3, "no request of its own for a summary"
    assert evidence in str(upstream.requests[1].body["messages"]).replace("\\n", "\n")


async def test_stream_and_history_have_plain_footnotes_that_lead_to_their_passages(
    server: ServerHarness, upstream: Upstream
):
    script_turn(upstream)
    session_id, events = await ask(server)
    assert answer_text(events) == SHOWN
    [citations] = [
        event["delta"]["citations"]
        for event in events
        if event["type"] == "content_block_delta" and event["delta"]["type"] == "citations_delta"
    ]
    wanted = [("[1]", 1, "1.1", "supported"), ("[2]", 2, "2.1", "supported"), ("[2]", 2, None)]
    assert [(one["marker"], one["number"], one["passage"], one["verdict"]) for one in citations[:2]] == wanted[:2]
    assert (citations[2]["marker"], citations[2]["number"], citations[2]["passage"]) == wanted[2]
    history = await server.local.history(session_id)
    last = history["messages"][-1]["content"][-1]
    assert (last["text"], last["citations"]) == (SHOWN, citations)
    assert "[1.1]" not in str([one for one in history["messages"] if one["role"] == "assistant"])


async def test_a_file_has_plain_footnotes_that_keep_their_pointers_through_edits(
    server: ServerHarness, upstream: Upstream
):
    script_turn(upstream)
    session_id, events = await ask(server)
    [written] = [
        event["content_block"]["input"]
        for event in events
        if event["type"] == "content_block_start" and event["content_block"].get("id") == "c2"
    ]
    assert written["content"] == REPORT.replace("[1.1]", "[1]")
    files = f"/v2/sessions/{session_id}/files"
    shown = (await server.local.request("GET", f"{files}/content?file_path=/oxygen.md")).json
    assert shown["content"] == REPORT.replace("[1.1]", "[1]")
    upstream.script(
        reply(
            call(
                "edit_file", {"file_path": "/oxygen.md", "old_string": "It is a gas.", "new_string": "It burns [2.1]."}
            ),
            stop("toolUse"),
        ),
        reply(say("Done."), stop()),
        reply(say("It does burn."), stop()),  # it is asked to correct that, and does not
    )
    await server.local.ask_for_events(session_id, "Say more.")
    [first, second] = (await server.local.request("GET", f"{files}/citations?file_path=/oxygen.md")).json["citations"]
    assert (first["number"], first["passage"], first["verdict"]) == (1, "1.1", "supported")
    assert (second["number"], second["passage"]) == (2, "2.1")
    archive = await server.local.request("GET", f"{files}/archive")
    assert archive.status == 200


async def test_other_apis_get_plain_footnotes(server: ServerHarness, upstream: Upstream):
    for path, read in (
        ("/v1/chat/completions", lambda body: body["choices"][0]["message"]["content"]),
        ("/v1/messages", lambda body: "\n".join(one.get("text", "") for one in body["content"])),
    ):
        upstream.script(reply(call("web_search", {"query": "oxygen"}), stop("toolUse")), reply(say(*ANSWER), stop()))
        body = {"model": "researcher", "max_tokens": 500, "messages": [{"role": "user", "content": "Who isolated it?"}]}
        answer = await server.local.request("POST", path, body)
        assert answer.status == 200, answer
        assert SHOWN in read(answer.json)
        history = await server.local.history(answer.headers["footnote-session"])
        citations = history["messages"][-1]["content"][-1]["citations"]
        assert [one["passage"] for one in citations] == ["1.1", "2.1", None]


async def test_a_bundle_with_pointers_is_verified(server: ServerHarness, upstream: Upstream):
    script_turn(upstream)
    session_id, _ = await ask(server)
    exported = await server.local.request("GET", f"/v2/sessions/{session_id}/export")
    assert exported.status == 200, exported


async def test_both_calls_of_one_round_number_their_passages_apart(server: ServerHarness, upstream: Upstream):
    upstream.script(
        reply(
            parallel_calls(
                call("web_search", {"query": "oxygen"}, id="c1"), call("web_search", {"query": "oxygen name"}, id="c2")
            ),
            stop("toolUse"),
        ),
        reply(say("Named by Lavoisier [2.1]."), stop()),
    )
    _, events = await ask(server)
    found = [
        {one["id"]: one["text"] for one in event["content_block"]["artifact"]["evidence"]}
        for event in events
        if event["type"] == "content_block_start" and event["content_block"]["type"] == "tool_result"
    ]
    assert found[0] == found[1], "the same passages have the same ids"
    assert answer_text(events) == "Named by Lavoisier [2]."


def search_result(events: list[dict[str, Any]]) -> dict[str, Any]:
    blocks = [event["content_block"] for event in events if event["type"] == "content_block_start"]
    [result] = [block for block in blocks if block["type"] == "tool_result" and block["name"] == "web_search"]
    return result


async def test_without_evidence_the_model_reads_the_summary_and_a_number_in_brackets_is_none(
    tmp_path: Path, upstream: Upstream
):
    more = {"SUMMARY": "true", "EVIDENCE_TOKENS": "0"}
    settings = {f"FOOTNOTE_TOOLS_WEB_SEARCH_{name}": value for name, value in more.items()}
    async with searching_server(tmp_path, upstream, **settings) as server:
        upstream.script(
            reply(call("web_search", {"query": "oxygen"}, id="c1"), stop("toolUse")),
            reply(say("Isolated in Uppsala [1]."), stop()),
            reply(say("Version [1.1] is cited as [1]."), stop()),
        )
        _, events = await ask(server)

    result = search_result(events)
    assert result["content"].startswith("Isolated in Uppsala [1].\n\nSources:\n[1] [Isolation](")
    assert "Evidence:" not in result["content"]
    assert result["artifact"]["evidence"] == []
    assert answer_text(events) == "Version [1.1] is cited as [1]."


async def test_with_neither_summary_nor_evidence_the_model_reads_the_quotations(tmp_path: Path, upstream: Upstream):
    async with searching_server(tmp_path, upstream, FOOTNOTE_TOOLS_WEB_SEARCH_EVIDENCE_TOKENS="0") as server:
        upstream.script(
            reply(call("web_search", {"query": "Who isolated oxygen?"}, id="c1"), stop("toolUse")),
            reply(say(f"{ISOLATED} [1]"), stop()),
        )
        _, events = await ask(server)

    result = search_result(events)
    assert result["content"].startswith(f"> {ISOLATED} [1]\n\n")
    assert (result["artifact"]["summary"], result["artifact"]["receipt"]["summary_by"]) == ("", None)
    assert len(upstream.requests) == 2


async def test_the_reader_answers_without_summary_and_evidence(tmp_path: Path):
    for tokens in ("2000", "0"):
        settings = {"FOOTNOTE_TOOLS_WEB_SEARCH_EVIDENCE_TOKENS": tokens, "FOOTNOTE_MODELS_DEFAULT": "footnote/reader"}
        async with searching_server(tmp_path / tokens, None, **settings) as server:
            _, events = await ask(server)
        assert f"> {ISOLATED} [1]" in answer_text(events), tokens
