"""The history of a session: messages grouped by turn, with times, in the text that users see."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from server.harness import ServerHarness, open_server
from upstream import Upstream, call, hold, parallel_calls, reply, say, stop
from web import Web
from web.providers import Hit, SearchServer

MOMENT = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")
SUMMARY = "The name oxygen was coined in 1777 by Antoine Lavoisier [1]."


@pytest.fixture
async def search_server(tmp_path: Path, upstream: Upstream) -> AsyncIterator[ServerHarness]:
    """A server whose search finds one page of a small web."""
    async with Web() as web:
        hits = [Hit("Oxygen", web.url("/en/Oxygen"), "About oxygen.")]
        async with SearchServer("duckduckgo", hits) as search:
            settings = {
                "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": f'["{web.host}"]',
                "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_DUCKDUCKGO_BASE_URL": search.url,
            }
            async with open_server(tmp_path, upstream, **settings) as server:
                yield server


async def two_turns(server: ServerHarness, upstream: Upstream) -> tuple[str, list[dict[str, Any]]]:
    """The first turn has a search and a file in two rounds, the second only an answer."""
    calls = parallel_calls(call("web_search", {"query": "oxygen"}, id="c1"), call("list_files", {}, id="c2"))
    upstream.script(
        reply(say("I look."), calls, stop("toolUse")),
        reply(say(SUMMARY), stop()),
        reply(say(SUMMARY), stop()),
        reply(say("You are welcome."), stop()),
    )
    session_id = await server.local.create_session()
    events = await server.local.ask_for_events(session_id, "Who named oxygen?")
    await server.local.ask_for_events(session_id, "Thanks!")
    return session_id, events


async def test_every_message_has_the_time_at_which_it_was_said(search_server: ServerHarness, upstream: Upstream):
    session_id, _ = await two_turns(search_server, upstream)
    shown = await search_server.local.history(session_id)
    times = [message["timestamp"] for message in shown["messages"]]
    assert [message["role"] for message in shown["messages"]] == [
        *("user", "assistant", "tool", "tool", "assistant"),
        *("user", "assistant"),
    ]
    assert all(MOMENT.fullmatch(moment) for moment in times)
    assert times == sorted(times)
    first, second = shown["turns"]
    assert first["timestamp"] <= first["ended_at"] <= second["timestamp"] <= second["ended_at"]
    assert MOMENT.fullmatch(second["ended_at"])


async def test_a_message_keeps_its_own_time_though_its_turn_goes_on(search_server: ServerHarness, upstream: Upstream):
    later = asyncio.Event()
    upstream.script(
        reply(call("list_files", {}, id="c1"), stop("toolUse")),
        reply(say("There "), hold(later), say("is none."), stop()),
    )
    session_id = await search_server.local.create_session()
    # Times are in whole seconds.
    asyncio.get_running_loop().call_later(1.2, later.set)
    await search_server.local.ask_for_events(session_id, "Which files?")
    _, asked, found, answered = (await search_server.local.history(session_id))["messages"]
    assert asked["timestamp"] <= found["timestamp"] < answered["timestamp"]


async def test_all_messages_of_a_turn_have_its_id_so_that_it_can_be_drawn_as_one(
    search_server: ServerHarness, upstream: Upstream
):
    session_id, events = await two_turns(search_server, upstream)
    shown = await search_server.local.history(session_id)
    first, second = (turn["run_id"] for turn in shown["turns"])
    assert [message["turn_id"] for message in shown["messages"]] == [first] * 5 + [second] * 2
    assert events[0]["message"]["run_id"] == first


async def test_clients_get_the_result_of_a_search_without_the_marks_that_the_model_gets_it_in(
    search_server: ServerHarness, upstream: Upstream
):
    session_id, events = await two_turns(search_server, upstream)
    blocks = [one["content_block"] for one in events if one["type"] == "content_block_start"]
    [live] = [block["content"] for block in blocks if block["type"] == "tool_result" and block["name"] == "web_search"]
    shown = await search_server.local.history(session_id)
    [content] = [one["content"] for one in shown["messages"] if one["role"] == "tool" and one["name"] == "web_search"]
    assert live == content
    assert live.startswith(f"{SUMMARY}\n\nSources:\n[1] [Oxygen](http://127.0.0.1:")
    assert "web_text" not in live
    # The model gets it between markers, in the round of the search and in the next turn.
    for request in upstream.requests[2:]:
        assert re.search(r"<web_text id=.{1,2}\w{8}.{1,2}>", str(request.body["messages"]))


async def test_an_edit_in_a_later_turn_leaves_a_file_with_the_turn_that_made_it(
    search_server: ServerHarness, upstream: Upstream
):
    edit = {"file_path": "/report.md", "old_string": "One", "new_string": "Two"}
    upstream.script(
        reply(call("write_file", {"file_path": "/report.md", "content": "One."}, id="c1"), stop("toolUse")),
        reply(say("Written."), stop()),
        reply(call("edit_file", edit, id="c2"), stop("toolUse")),
        reply(say("Changed."), stop()),
    )
    session_id = await search_server.local.create_session()
    first = (await search_server.local.ask_for_events(session_id, "Write."))[0]["message"]["id"]
    second = (await search_server.local.ask_for_events(session_id, "Change."))[0]["message"]["id"]
    shown = await search_server.local.history(session_id)
    [file] = shown["workspace"]["workspace_files"]
    assert file["message_id"] == first
    # The later turn lists the file as changed, and the versions name their authors.
    assert shown["messages"][-1]["attachments"] == [file]
    path = f"/v2/sessions/{session_id}/files/versions?file_path=/report.md"
    versions = (await search_server.local.request("GET", path)).json["versions"]
    assert [version["message_id"] for version in versions] == [second, first]
