"""Servers that return a model's own notation of tool calls as text: the calls are executed all the same."""

import pytest
from msgspec.structs import replace

from footnote.cancel import CancelScope
from footnote.models.base import Context, Options
from footnote.protocol.messages import Text, Thinking, ToolCall, user_message
from footnote.protocol.stream import Done, StreamEvent, ToolCallStart
from matrix.adapters import HttpAdapter, final_message
from matrix.recorded_response import model_with_response
from models.test_call_notations import CALL, NOTATIONS, TOOLS
from upstream import Wire, call, reply, say, stop
from upstream.server import render_body

CONTEXT = Context("", (user_message("How dear is gold?"),), TOOLS)


async def events_of(*pieces: bytes) -> list[StreamEvent]:
    model = model_with_response("openai", *pieces)
    return [event async for event in model.stream(CONTEXT, Options(), CancelScope())]


def without_ids(events: list[StreamEvent]) -> str:
    """The ids of these calls are random."""
    done = events[-1]
    assert isinstance(done, Done)
    return repr([replace(block, id="") if isinstance(block, ToolCall) else block for block in done.message.content])


@pytest.mark.parametrize("notation", NOTATIONS)
async def test_a_call_in_a_models_own_notation_is_a_call_wherever_the_stream_is_cut(notation: str) -> None:
    data = render_body("openai", reply(say("I look.\n", NOTATIONS[notation]), stop("stop")))
    whole = await events_of(data)

    done = whole[-1]
    assert isinstance(done, Done)
    assert done.reason == "toolUse"
    text, made = done.message.content
    assert text == Text("I look.\n")
    assert isinstance(made, ToolCall)
    assert (made.name, made.arguments) == (CALL.name, CALL.arguments)
    for at in range(1, len(data)):
        assert without_ids(await events_of(data[:at], data[at:])) == without_ids(whole), f"split at byte {at}"


@pytest.mark.parametrize("notation", NOTATIONS)
async def test_a_call_is_found_in_a_response_that_arrives_byte_by_byte(notation: str, openai: HttpAdapter) -> None:
    text = NOTATIONS[notation]
    half = len(text) // 2
    openai.script(reply(say("I look.\n", text[:half], text[half:]), stop("stop"), wire=Wire(piece=1)))
    message = final_message(await openai.ask(CONTEXT))
    assert message.stop_reason == "toolUse"
    assert [(call.name, call.arguments) for call in message.calls] == [(CALL.name, CALL.arguments)]
    assert message.text == "I look.\n"


@pytest.mark.parametrize(
    "name", ["functions.web_search", "Web_Search", "web-search", "web_search<|channel|>commentary"]
)
async def test_a_call_has_the_name_of_the_tool_however_the_model_spells_it(name: str, http: HttpAdapter) -> None:
    http.script(reply(call(name, {"query": "gold"}), stop("toolUse")))
    events = await http.ask(CONTEXT)
    assert [event.name for event in events if isinstance(event, ToolCallStart)] == ["web_search"]
    assert [made.name for made in final_message(events).calls] == ["web_search"]


async def test_a_call_after_thinking_in_tags_is_found(openai: HttpAdapter) -> None:
    openai.script(reply(say("<think>\nHm.\n</think>\n\n", NOTATIONS["qwen"]), stop()))
    events = [event async for event in openai.model().stream(CONTEXT, Options(), CancelScope())]
    content = final_message(events).content
    assert [type(block) for block in content] == [Thinking, ToolCall]


async def test_without_tools_in_the_request_everything_is_text(openai: HttpAdapter) -> None:
    openai.script(reply(say(NOTATIONS["qwen"]), stop()))
    assert final_message(await openai.ask()).content == (Text(NOTATIONS["qwen"]),)
