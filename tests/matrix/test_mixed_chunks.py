"""Chunks with several deltas, or in an undocumented order: nothing may be lost."""

from typing import Any

import pytest

from footnote.protocol.messages import Text, Thinking, ToolCall
from footnote.protocol.stream import Done, Failed
from matrix.adapters import HttpAdapter, final_message, last_event
from upstream import call, event, raw, reply, say, stop


def chunk(delta: dict[str, Any], finish_reason: str | None = None, **more: Any) -> Any:
    return event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}], **more})


async def test_an_error_beside_choices_is_an_error(openai: HttpAdapter):
    broken = {"code": 502, "message": "Provider disconnected"}
    openai.script(reply(say("Half an ans"), chunk({"content": ""}, "error", error=broken)))

    last = last_event(await openai.ask())

    assert isinstance(last, Failed)
    assert last.message.content == (Text("Half an ans"),)
    assert last.message.failure is not None
    assert "Provider disconnected" in last.message.failure.message


async def test_the_finish_reason_error_alone_is_an_error(openai: HttpAdapter):
    openai.script(reply(say("Half"), chunk({}, "error"), raw(b"data: [DONE]\n\n")))

    assert isinstance(last_event(await openai.ask()), Failed)


async def test_calls_that_all_have_number_0_and_arrive_in_pieces_stay_apart(openai: HttpAdapter):
    def piece(arguments: str, **named: Any) -> Any:
        function = {"arguments": arguments} | ({"name": named["name"]} if named else {})
        return chunk({"tool_calls": [{"index": 0, "function": function} | ({"id": named["id"]} if named else {})]})

    openai.script(
        reply(
            piece("", id="c1", name="a"),
            piece('{"q":'),
            piece("1}"),
            piece("", id="c2", name="b"),
            piece('{"z":'),
            piece("2}"),
            stop("toolUse"),
        )
    )

    assert final_message(await openai.ask()).calls == (ToolCall("c1", "a", {"q": 1}), ToolCall("c2", "b", {"z": 2}))


async def test_thinking_and_refusals_that_come_after_text_are_kept(openai: HttpAdapter):
    record = {"type": "reasoning.text", "text": "", "signature": "sig", "index": 0}
    openai.script(reply(say("Yes"), chunk({"content": "", "reasoning": "Hm.", "reasoning_details": [record]}), stop()))
    content = final_message(await openai.ask()).content
    assert Text("Yes") in content
    assert [block.details[0]["signature"] for block in content if isinstance(block, Thinking)] == ["sig"]

    openai.script(reply(say("I"), chunk({"content": "", "refusal": "I cannot."}), stop()))
    last = last_event(await openai.ask())
    assert isinstance(last, Failed)
    assert last.message.failure is not None
    assert "I cannot." in last.message.failure.message


@pytest.mark.parametrize("depth", [65, 900])
async def test_arguments_nested_too_deeply_are_invalid_and_nothing_breaks(http: HttpAdapter, depth: int):
    http.script(reply(call("list_files", '{"x":' + "[" * depth + "]" * depth + "}"), stop("toolUse")))

    [tool_call] = final_message(await http.ask()).calls

    assert tool_call.arguments == {}
    assert tool_call.invalid is not None


async def test_a_count_of_the_wrong_type_is_not_counted(anthropic: HttpAdapter):
    counted = {"output_tokens": 7, "output_tokens_details": {"thinking_tokens": "many"}}
    anthropic.script(reply(say("Yes."), event({"type": "message_delta", "delta": {}, "usage": counted}), stop()))

    last = last_event(await anthropic.ask())

    assert isinstance(last, Done)
    assert last.message.usage.reasoning == 0


async def test_a_call_whose_name_comes_late_has_it_in_the_end(openai: HttpAdapter):
    def piece(**function: Any) -> Any:
        return chunk({"tool_calls": [{"index": 0, "id": "c1", "function": function}]})

    openai.script(
        reply(piece(arguments=""), piece(name="look", arguments='{"at": 1}'), piece(name="look"), stop("toolUse"))
    )

    assert final_message(await openai.ask()).calls == (ToolCall("c1", "look", {"at": 1}),)


async def test_the_old_form_of_a_call_is_a_call(openai: HttpAdapter):
    pieces = [
        chunk({"function_call": {"name": "look", "arguments": '{"at"'}}),
        chunk({"function_call": {"arguments": ": 1}"}}),
    ]
    openai.script(reply(*pieces, stop("function_call")))

    [tool_call] = final_message(await openai.ask()).calls

    assert (tool_call.name, tool_call.arguments) == ("look", {"at": 1})


async def test_a_mark_before_the_first_line_loses_nothing(http: HttpAdapter):
    whole = final_message(await _ask(http, b""))
    assert final_message(await _ask(http, b"\xef\xbb\xbf")) == whole


async def _ask(http: HttpAdapter, mark: bytes) -> Any:
    http.script(reply(raw(mark), say("Yes."), stop()))
    return await http.ask()
