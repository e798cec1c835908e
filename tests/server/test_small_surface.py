"""What a model is asked first, and how its calls are read: the whole server between scripted models and searches."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from cli.small_web import article
from server.forms import upload_files
from server.harness import LOCAL_TOKEN, ServerHarness, answer_text, open_server
from upstream import Upstream, call, reply, say, stop
from upstream.server import Api
from web import Web
from web.providers import KEY, Hit, SearchServer

MAX_FIRST_REQUEST_TOKENS = 1_000
BYTES_PER_TOKEN = 3.5
"""Fewer than a tokenizer needs for the JSON of such a request: that of Qwen2.5 takes 3.7."""
FILE_TOOLS = ["edit_file", "list_files", "read_file", "search_files"]
FACT = "The town hall of Velden was opened in 1904."


def tools_of(body: dict[str, Any]) -> list[str]:
    return [tool["name"] if "name" in tool else tool["function"]["name"] for tool in body.get("tools", ())]


def tokens_of(body: dict[str, Any]) -> float:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode()) / BYTES_PER_TOKEN


def results_of(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    blocks = [event["content_block"] for event in events if event["type"] == "content_block_start"]
    return [block for block in blocks if block["type"] == "tool_result"]


@pytest.mark.parametrize("api", ["openai", "anthropic"])
@pytest.mark.parametrize("locale", ["en", "vi", "zh"])
async def test_the_first_request_of_a_session_has_a_thousand_tokens_at_most(
    tmp_path: Path, upstream: Upstream, api: Api, locale: str
) -> None:
    name = api.upper()
    place = {f"{name}_API_KEY": upstream.key or "", f"FOOTNOTE_MODELS_PROVIDERS_{name}_BASE_URL": upstream.url}
    upstream.script(lambda _: reply(say("Canberra."), stop()))
    async with open_server(tmp_path, None, **place) as server:
        question = {"content": "What is the capital of Australia?", "locale": locale}
        session_id = await server.local.create_session()
        response = await server.local.request("POST", f"/v2/sessions/{session_id}/messages", question)
        assert response.status == 200, response
    [request] = upstream.requests
    assert request.api == api
    assert tools_of(request.body) == ["web_search", "read_page", "write_file"]
    assert tokens_of(request.body) <= MAX_FIRST_REQUEST_TOKENS


async def test_file_tools_are_offered_after_an_upload_and_in_the_round_after_the_first_file(
    tmp_path: Path, upstream: Upstream
) -> None:
    async with open_server(tmp_path, upstream) as server:
        session_id = await server.local.create_session()
        upstream.script(
            reply(call("read_file", {"file_path": "/a.md"}), stop("toolUse")),
            reply(call("write_file", {"path": "/a.md", "content": "# A"}, id="c2"), stop("toolUse")),
            reply(say("Written."), stop()),
        )
        events = await server.local.ask_for_events(session_id, "Write it.")
        before = ["web_search", "read_page", "write_file"]
        after = before + FILE_TOOLS
        assert [tools_of(request.body) for request in upstream.requests] == [before, before, after]
        assert [block["status"] for block in results_of(events)] == ["error", "success"]
        assert "There is no file /a.md" in results_of(events)[0]["content"]

        other = await server.local.create_session()
        await upload_files(server.local, other, ("notes.txt", b"hello"))
        upstream.script(reply(say("I see."), stop()))
        await server.local.ask_for_events(other, "What is in it?")
        assert tools_of(upstream.requests[-1].body) == after


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
async def test_the_compatible_apis_offer_the_same_tools(tmp_path: Path, upstream: Upstream, path: str) -> None:
    upstream.script(
        reply(call("write_file", {"filename": "/a.md", "text": "# A"}), stop("toolUse")), reply(say("Written."), stop())
    )
    async with open_server(tmp_path, upstream) as server:
        body = {"model": "researcher", "max_tokens": 99, "messages": [{"role": "user", "content": "Write it."}]}
        response = await server.request("POST", path, token=LOCAL_TOKEN, body=body)
    assert response.status == 200, response
    before = ["web_search", "read_page", "write_file"]
    assert [tools_of(request.body) for request in upstream.requests] == [before, before + FILE_TOOLS]


# Odd arguments -------------------------------------------------------------------------------------------------------


@pytest.fixture
async def search() -> AsyncIterator[SearchServer]:
    async with SearchServer("brave", []) as opened:
        yield opened


@pytest.fixture
async def server(tmp_path: Path, upstream: Upstream, search: SearchServer) -> AsyncIterator[ServerHarness]:
    """A server that searches with a provider that takes every option, and finds one page."""
    async with Web() as web:
        web.put("/velden", article("Velden", FACT))
        search._hits = [Hit("Velden", web.url("/velden"), "", "2024-03-02")]
        settings = {
            "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": f'["{web.host}"]',
            "FOOTNOTE_TOOLS_WEB_SEARCH_DEFAULT_PROVIDER": "brave",
            "FOOTNOTE_TOOLS_WEB_SEARCH_MAX_RESULTS": "10",
            "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_BRAVE_BASE_URL": search.url,
            "FOOTNOTE_TOOLS_WEB_SEARCH_SUMMARY": "false",
            "BRAVE_API_KEY": KEY,
        }
        async with open_server(tmp_path, upstream, **settings) as harness:
            yield harness


ODD_SEARCHES = {
    "words for codes": (
        {"query": "Velden", "country": "Australia", "freshness": "last week", "count": "5"},
        {"country": "AU", "freshness": "pw", "count": "5"},
        ['country "Australia" was read as "AU".', 'freshness "last week" was read as "pw".'],
    ),
    "empty and unknown ones": (
        {"query": "Velden", "country": "", "freshness": "soon", "count": 50, "language": "en"},
        {"country": None, "freshness": None, "count": "10"},
        ['country "" was left out.', "count 50 was read as 10.", '"language" was left out: the parameters are'],
    ),
    "another name, and too few": (
        {"search_query": "Velden", "num_results": 0, "region": "中国", "time_range": "2024-03"},
        {"country": "CN", "freshness": "2024-03-01to2024-03-31", "count": "10"},
        ['"search_query" was read as query.', "count 0 was left out", 'country "中国" was read as "CN".'],
    ),
    "an object in a string": (json.dumps(json.dumps({"queries": ["Velden"]})), {}, ['query ["Velden"] was read as']),
    "an object around them": ({"parameters": {"query": "Velden"}}, {}, []),
}


@pytest.mark.parametrize("name", ["web_search", "functions.Web_Search"])
@pytest.mark.parametrize(("arguments", "options", "notes"), ODD_SEARCHES.values(), ids=ODD_SEARCHES)
async def test_a_search_with_odd_arguments_is_made_and_says_how_they_were_read(
    server: ServerHarness,
    upstream: Upstream,
    search: SearchServer,
    arguments: Any,
    options: dict[str, str | None],
    notes: list[str],
    name: str,
) -> None:
    upstream.script(reply(call(name, arguments), stop("toolUse")), reply(say(f"{FACT[:-1]} [1.1]."), stop()))
    events = await server.local.ask_for_events(await server.local.create_session())

    [request] = search.requests
    assert {"q": "Velden", **options} == {name: request.options.get(name) for name in ("q", *options)}
    [result] = results_of(events)
    assert (result["name"], result["status"]) == ("web_search", "success")
    assert FACT in result["content"]
    told = "\n".join(result["artifact"]["receipt"]["notes"])
    sent = json.dumps(upstream.requests[-1].body["messages"], ensure_ascii=False).replace('\\"', '"')
    for note in notes:
        assert note in told, "the user reads it in the receipt"
        assert f"Note: {note}" in result["content"]
        assert f"Note: {note}" in sent, "and so does the model"
    assert answer_text(events) == f"{FACT[:-1]} [1]."


@pytest.mark.parametrize("arguments", [{}, {"query": ""}, {"query": None, "count": "many"}, {"queries": ["a", "b"]}])
async def test_a_search_without_a_query_is_an_error_that_says_so(
    server: ServerHarness, upstream: Upstream, search: SearchServer, arguments: dict[str, Any]
) -> None:
    upstream.script(reply(call("web_search", arguments), stop("toolUse")), reply(say("Sorry."), stop()))
    events = await server.local.ask_for_events(await server.local.create_session())
    [result] = results_of(events)
    assert result["status"] == "error"
    assert "- query: " in result["content"]
    assert "count" not in result["content"].partition("Received")[0]
    assert search.requests == []


async def test_odd_arguments_of_the_other_tools_are_read_too(server: ServerHarness, upstream: Upstream) -> None:
    calls = [
        ("write_file", {"path": "/a.md", "text": "one\ntwo\n"}),
        ("read_file", {"filename": "/a.md", "limit": "all", "offset": "1"}),
        ("edit_file", {"FilePath": "/a.md", "old_str": "two", "new_str": "three", "replace_all": "null"}),
        ("search_files", {"q": "three", "path": "*", "limit": 5_000}),
        ("list_files", {"path": "/"}),
    ]
    upstream.script(
        *[reply(call(name, given, id=f"c{at}"), stop("toolUse")) for at, (name, given) in enumerate(calls)],
        reply(say("Done."), stop()),
    )
    results = results_of(await server.local.ask_for_events(await server.local.create_session()))
    assert [(result["name"], result["status"]) for result in results] == [(name, "success") for name, _ in calls]
    read, found = results[1]["content"], results[3]["content"]
    assert "two" in read
    assert "one" not in read
    assert 'Note: limit "all" was left out.' in read
    assert "/a.md:2: three" in found
    assert "Note: limit 5000 was read as 200." in found
