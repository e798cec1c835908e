"""The second look at an answer, from the settings to what a client sees: one model, one page of the small web."""

import json
from pathlib import Path

import pytest

from footnote import App
from footnote.protocol.events import BlockDelta, BlockStart, BlockStop, CitationsGrowth, Event, MessageDelta, TextBlock
from footnote.protocol.messages import AssistantMessage
from footnote.protocol.sources import Citation
from interaction.test_search import OXYGEN, hits, keyless
from interaction.test_turns import environment, follow, stop_reason
from upstream import ModelReply, ModelRequest, Upstream, call, reply, say, stall, stop, usage
from web import Web
from web.providers import SearchServer

NAMED = "The name oxygen was coined in 1777 by Antoine Lavoisier, whose experiments with oxygen helped to discredit"
ANSWER = "Antoine Lavoisier là người đặt tên cho ôxy vào năm 1777 [1]. Ông sống ở Hà Nội năm 1999 [1]."
ENTRIES = [
    {"id": 1, "verdict": "supports", "quotation": NAMED},
    {"id": 2, "verdict": "supports", "quotation": NAMED},
]
SEARCH = reply(call("web_search", {"query": "oxygen", "prompt": "who named it"}), usage(10, 1), stop("toolUse"))
SUMMARY = reply(say("Lavoisier named it [1]."), usage(10, 1), stop())
REVIEW = reply(say(json.dumps(ENTRIES)), usage(500, 40), stop())


def written(text: str) -> ModelReply:
    return reply(say(text), usage(10, 1), stop())


def is_review(request: ModelRequest) -> bool:
    return "Statements about page [1]" in json.dumps(request.body["messages"])


def shown(events: list[Event]) -> list[tuple[Citation, ...]]:
    deltas = (event.delta for event in events if isinstance(event, BlockDelta))
    return [delta.citations for delta in deltas if isinstance(delta, CitationsGrowth)]


async def ask(home: Path, web: Web, upstream: Upstream, **settings: str) -> tuple[list[Event], list[AssistantMessage]]:
    async with SearchServer("duckduckgo", hits(web, OXYGEN)) as search:
        environ = keyless(home, web, search) | environment("anthropic", upstream, home) | settings
        async with App.open(environ=environ) as app:
            run = await app.ask("Ai đặt tên cho ôxy?")
            events = await follow(run)
            return events, [message for message in run.messages if isinstance(message, AssistantMessage)]


async def test_verdicts_by_text_come_at_once_and_those_of_the_second_look_replace_them(
    tmp_path: Path, web: Web, upstream: Upstream
):
    upstream.script(SEARCH, SUMMARY, written(ANSWER), REVIEW)
    events, messages = await ask(tmp_path, web, upstream)

    first, second = shown(events)
    assert [(one.verdict, one.by) for one in first] == [("partial", "text"), ("partial", "text")]
    assert [(one.verdict, one.by) for one in second] == [("supported", "model"), ("partial", "model")]
    assert second[1].missing == "1999"
    [start] = [
        event.index for event in events if isinstance(event, BlockStart) and isinstance(event.content_block, TextBlock)
    ]
    of_block = [event for event in events if isinstance(event, BlockDelta | BlockStop) and event.index == start]
    assert [type(event) for event in of_block[-3:]] == [BlockDelta, BlockDelta, BlockStop]
    assert messages[-1].content[0].citations == second
    [end] = [event for event in events if isinstance(event, MessageDelta)]
    assert (end.usage.input_tokens, end.usage.output_tokens) == (530, 43)
    assert messages[-1].usage.input == 10
    assert stop_reason(events) == "stop"
    assert [is_review(request) for request in upstream.requests] == [False, False, False, True]
    assert "tools" not in upstream.requests[3].body


async def test_a_text_between_calls_gets_none(tmp_path: Path, web: Web, upstream: Upstream):
    between = reply(say("Một điều sai [1]."), call("list_files", {}), stop("toolUse"))
    upstream.script(SEARCH, SUMMARY, between, written("Xong."))
    events, _ = await ask(tmp_path, web, upstream)
    assert len(shown(events)) == 1
    assert not any(map(is_review, upstream.requests))


@pytest.mark.parametrize("model", ["off", "openai/absent"])
async def test_switched_off_or_without_a_key_it_is_left_out(model: str, tmp_path: Path, web: Web, upstream: Upstream):
    upstream.script(SEARCH, SUMMARY, written(ANSWER))
    events, _ = await ask(tmp_path, web, upstream, FOOTNOTE_CITATIONS_MODEL=model)
    assert [[one.by for one in citations] for citations in shown(events)] == [["text", "text"]]


async def test_a_cancelled_turn_keeps_its_verdicts_by_text_and_ends_at_once(
    tmp_path: Path, web: Web, upstream: Upstream
):
    upstream.script(SEARCH, SUMMARY, written(ANSWER), reply(say("["), stall()))
    async with SearchServer("duckduckgo", hits(web, OXYGEN)) as search:
        settings = keyless(tmp_path, web, search) | environment("anthropic", upstream, tmp_path)
        async with App.open(environ=settings) as app:
            run = await app.ask("Ai đặt tên cho ôxy?")
            events: list[Event] = []
            async for event in run.events():
                events.append(event)
                if isinstance(event, BlockDelta) and isinstance(event.delta, CitationsGrowth):
                    await upstream.wait_received(4)
                    run.cancel()
    assert [[one.verdict for one in citations] for citations in shown(events)] == [["partial", "partial"]]
    assert stop_reason(events) == "stop", "the answer was complete"
    [last] = [message for message in run.messages[-1:] if isinstance(message, AssistantMessage)]
    assert [one.verdict for one in last.content[0].citations] == ["partial", "partial"]
