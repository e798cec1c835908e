"""What a client reads of a session: messages that belong to turns, with times, in words that are meant for it."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from server.house import House, open_house, parse_events
from upstream import Upstream, call, reply, say, stop, together
from web import Web
from web.providers import Hit, SearchServer

MOMENT = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")
SUMMARY = "The name oxygen was coined in 1777 by Antoine Lavoisier [1]."


@pytest.fixture
async def searching(tmp_path: Path, upstream: Upstream) -> AsyncIterator[House]:
    """A server that finds one page of a small web."""
    async with Web() as web:
        hits = [Hit("Oxygen", web.url("/en/Oxygen"), "About oxygen.")]
        async with SearchServer("duckduckgo", hits) as search:
            settings = {
                "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": f'["{web.host}"]',
                "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_DUCKDUCKGO_BASE_URL": search.url,
            }
            async with open_house(tmp_path, upstream, **settings) as house:
                yield house


async def ask(house: House, session_id: str, question: str) -> list[dict[str, Any]]:
    answer = await house.local.request("POST", f"/v2/sessions/{session_id}/messages", {"content": question})
    return parse_events(answer.body)


async def history(house: House, session_id: str) -> dict[str, Any]:
    return (await house.local.request("GET", f"/v2/sessions/{session_id}/history?turns=true")).json


async def two_turns(house: House, upstream: Upstream) -> tuple[str, list[dict[str, Any]]]:
    """The first with a search and a file in two rounds, the second with an answer at once."""
    calls = together(call("web_search", {"query": "oxygen"}, id="c1"), call("list_files", {}, id="c2"))
    upstream.script(
        reply(say("I look."), calls, stop("toolUse")),
        reply(say(SUMMARY), stop()),
        reply(say(SUMMARY), stop()),
        reply(say("You are welcome."), stop()),
    )
    session_id = await house.local.create_session()
    told = await ask(house, session_id, "Who named oxygen?")
    await ask(house, session_id, "Thanks!")
    return session_id, told


async def test_every_message_has_the_time_at_which_it_was_said(searching: House, upstream: Upstream):
    session_id, _ = await two_turns(searching, upstream)
    shown = await history(searching, session_id)
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


async def test_all_messages_of_a_turn_have_its_id_so_that_it_can_be_drawn_as_one(searching: House, upstream: Upstream):
    session_id, told = await two_turns(searching, upstream)
    shown = await history(searching, session_id)
    first, second = (turn["run_id"] for turn in shown["turns"])
    assert [message["turn_id"] for message in shown["messages"]] == [first] * 5 + [second] * 2
    assert told[0]["message"]["run_id"] == first


async def test_clients_get_the_result_of_a_search_without_the_marks_that_the_model_gets_it_in(
    searching: House, upstream: Upstream
):
    session_id, told = await two_turns(searching, upstream)
    blocks = [one["content_block"] for one in told if one["type"] == "content_block_start"]
    [live] = [block["content"] for block in blocks if block["type"] == "tool_result" and block["name"] == "web_search"]
    shown = await history(searching, session_id)
    [kept] = [one["content"] for one in shown["messages"] if one["role"] == "tool" and one["name"] == "web_search"]
    assert live == kept
    assert live.startswith(f"{SUMMARY}\n\nSources:\n[1] [Oxygen](http://127.0.0.1:")
    assert "web_text" not in live
    # The model has it between marks, in the round of the search and in the next turn.
    for request in upstream.requests[2:]:
        assert re.search(r"<web_text id=.{1,2}\w{8}.{1,2}>", str(request.body["messages"]))


async def test_an_edit_in_a_later_turn_leaves_a_file_with_the_turn_that_made_it(searching: House, upstream: Upstream):
    edit = {"file_path": "/report.md", "old_string": "One", "new_string": "Two"}
    upstream.script(
        reply(call("write_file", {"file_path": "/report.md", "content": "One."}, id="c1"), stop("toolUse")),
        reply(say("Written."), stop()),
        reply(call("edit_file", edit, id="c2"), stop("toolUse")),
        reply(say("Changed."), stop()),
    )
    session_id = await searching.local.create_session()
    first = (await ask(searching, session_id, "Write."))[0]["message"]["id"]
    second = (await ask(searching, session_id, "Change."))[0]["message"]["id"]
    shown = await history(searching, session_id)
    [file] = shown["workspace"]["workspace_files"]
    assert file["message_id"] == first
    # The later turn shows that it changed the file, and the versions say who wrote what.
    assert shown["messages"][-1]["attachments"] == [file]
    path = f"/v2/sessions/{session_id}/files/versions?file_path=/report.md"
    versions = (await searching.local.request("GET", path)).json["versions"]
    assert [version["message_id"] for version in versions] == [second, first]
