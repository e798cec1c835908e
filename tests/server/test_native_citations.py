"""Citations that the API of a model makes itself, in everything that leaves the server."""

import json
from pathlib import Path
from typing import Any

from server.harness import ServerHarness, answer_text
from server.test_pointers import ask, searching_server
from upstream import ModelReply, Upstream, Wire, call, cite, reply, say, status, stop, think

SHOWN = (
    "Oxygen was isolated by Carl Wilhelm Scheele in Uppsala [1] and the name oxygen was coined in 1777 [2]."
    " Both are known."
)
REFUSAL = status(400, "messages.2.content.0.tool_result.content.1: Input tag 'search_result' does not match 'text'")
SEARCH = reply(think("Look.", signature="c2ln"), call("web_search", {"query": "oxygen"}, id="c1"), stop("toolUse"))


def settings(upstream: Upstream) -> dict[str, str]:
    return {
        "ANTHROPIC_API_KEY": upstream.key or "",
        "FOOTNOTE_MODELS_PROVIDERS_ANTHROPIC_BASE_URL": upstream.url,
        "FOOTNOTE_MODELS_DEFAULT": "anthropic/claude-sonnet-5-5",
        "FOOTNOTE_MODELS_PROFILES": json.dumps({"anthropic/claude-sonnet-5-5": {"citations": "native"}}),
    }


def cited_answer(piece: Any = "event") -> ModelReply:
    return reply(
        think("I know.", signature="c2ln"),
        cite("Oxygen was isolated by Carl Wilhelm", " Scheele in Uppsala", passages=("1.1",)),
        say(" and "),
        cite("the name oxygen was coined in 1777.", passages=("2.1",), citations_first=True),
        say(" Both are known."),
        stop(),
        wire=Wire(piece=piece),
    )


def search_results(upstream: Upstream) -> list[int]:
    """How many search results each request asks to cite."""
    return [json.dumps(request.body).count('"type": "search_result"') for request in upstream.requests]


def citations_in(events: list[dict[str, Any]]) -> list[tuple[int, str | None, str]]:
    deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    found = [one for delta in deltas if delta["type"] == "citations_delta" for one in delta["citations"]]
    return [(one["number"], one["passage"], one["verdict"]) for one in found]


async def test_cited_spans_are_plain_footnotes_that_lead_to_their_passages(tmp_path: Path, upstream: Upstream):
    async with searching_server(tmp_path, None, **settings(upstream)) as server:
        for piece in ("event", 1):
            upstream.script(SEARCH, cited_answer(piece))
            session_id, events = await ask(server)

            assert answer_text(events) == SHOWN
            assert citations_in(events) == [(1, "1.1", "supported"), (2, "2.1", "supported")]
            texts = [one for one in events if one["type"] == "content_block_start"]
            assert [one["content_block"]["type"] for one in texts][-2:] == ["thinking", "text"]
            history = await server.local.history(session_id)
            assert history["messages"][-1]["content"][-1]["text"] == SHOWN
        assert search_results(upstream) == [0, 2, 0, 2]


async def test_the_next_question_sends_the_passages_again_and_the_answer_as_it_was_shown(
    tmp_path: Path, upstream: Upstream
):
    async with searching_server(tmp_path, None, **settings(upstream)) as server:
        upstream.script(SEARCH, cited_answer(), reply(cite("In Uppsala.", passages=("1.1",)), stop()))
        session_id, _ = await ask(server)
        events = await server.local.ask_for_events(session_id, "Where?")

    assert answer_text(events) == "In Uppsala [1]."
    assert citations_in(events) == [(1, "1.1", "supported")]
    answers = [one for one in upstream.requests[-1].body["messages"] if one["role"] == "assistant"]
    assert answers[-1]["content"][-1] == {"type": "text", "text": SHOWN}
    assert search_results(upstream) == [0, 2, 2]


async def test_files_have_the_ids_that_the_model_wrote(tmp_path: Path, upstream: Upstream):
    report = "Oxygen was isolated by Carl Wilhelm Scheele in Uppsala [1.1]."
    async with searching_server(tmp_path, None, **settings(upstream)) as server:
        upstream.script(
            SEARCH,
            reply(call("write_file", {"file_path": "/a.md", "content": report}, id="c2"), stop("toolUse")),
            cited_answer(),
        )
        session_id, _ = await ask(server)
        path = f"/v2/sessions/{session_id}/files/citations?file_path=/a.md"
        [cited] = (await server.local.request("GET", path)).json["citations"]

    assert (cited["marker"], cited["passage"], cited["verdict"]) == ("[1]", "1.1", "supported")


async def test_other_apis_get_plain_footnotes(tmp_path: Path, upstream: Upstream):
    body = {"model": "researcher", "max_tokens": 500, "messages": [{"role": "user", "content": "Who isolated it?"}]}
    async with searching_server(tmp_path, None, **settings(upstream)) as server:
        for path in ("/v1/chat/completions", "/v1/messages"):
            upstream.script(SEARCH, cited_answer())
            answer = await server.local.request("POST", path, body)
            assert SHOWN in answer.body.decode(), answer


async def test_a_refusal_is_remembered_for_all_runs_of_the_process(tmp_path: Path, upstream: Upstream):
    plain = reply(say("Isolated by Carl Wilhelm Scheele in Uppsala [1.1]."), stop())
    async with searching_server(tmp_path, None, **settings(upstream)) as server:
        upstream.script(SEARCH, REFUSAL, plain, SEARCH, plain)
        answers = [await ask_again(server) for _ in range(2)]

    assert answers == ["Isolated by Carl Wilhelm Scheele in Uppsala [1]."] * 2
    assert search_results(upstream) == [0, 2, 0, 0, 0]


async def ask_again(server: ServerHarness) -> str:
    return answer_text((await ask(server))[1])
