"""The ends of answers: every stop reason, refusals, errors in the middle, broken connections."""

from typing import Any

import pytest

from footnote.net.client import Net
from footnote.protocol.messages import AssistantMessage, Failure, Text, ToolCall, Usage
from footnote.protocol.stream import Done, Failed, Start, TextDelta, TextEnd, TextStart
from matrix.adapters import Adapter, HttpAdapter, final_message, last_event
from upstream import (
    Upstream,
    Wire,
    call,
    cut,
    error_event,
    event,
    overflow,
    raw,
    refuse,
    reply,
    reset,
    say,
    status,
    stop,
    usage,
)
from upstream.server import Api

ANTHROPIC_ENDS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "a_reason_of_tomorrow": "stop",
}
OPENAI_ENDS = {
    "stop": "stop",
    "end": "stop",
    "length": "length",
    "a_reason_of_tomorrow": "stop",
}


@pytest.mark.parametrize(
    ("api", "word", "reason"),
    [
        *(("anthropic", word, reason) for word, reason in ANTHROPIC_ENDS.items()),
        *(("openai", word, reason) for word, reason in OPENAI_ENDS.items()),
    ],
)
async def test_each_stop_reason_of_a_provider_has_its_meaning_and_its_own_word_is_kept(
    api: Api, word: str, reason: Any, upstream: Upstream, net: Net
):
    http = HttpAdapter(api, upstream, net)
    http.script(reply(say("Yes."), stop(word)))

    whole = AssistantMessage((Text("Yes."),), reason, http.id, Usage(10, 5), word)
    assert last_event(await http.ask()) == Done(reason, whole)


@pytest.mark.parametrize("word", ["tool_calls", "function_call", "stop"])
async def test_an_openai_answer_with_calls_stops_for_them_whatever_the_server_calls_it(openai: HttpAdapter, word: str):
    openai.script(reply(call("list_files", {}), stop(word)))

    message = AssistantMessage((ToolCall("call_1", "list_files", {}),), "toolUse", openai.id, Usage(10, 5), word)
    assert last_event(await openai.ask()) == Done("toolUse", message)


async def test_anthropic_tool_use_stops_for_the_calls(anthropic: HttpAdapter):
    anthropic.script(reply(call("list_files", {}), stop("toolUse")))

    content = (ToolCall("call_1", "list_files", {}),)
    message = AssistantMessage(content, "toolUse", anthropic.id, Usage(10, 5), "tool_use")
    assert last_event(await anthropic.ask()) == Done("toolUse", message)


@pytest.mark.parametrize("done_line", [True, False])
async def test_a_finish_reason_completes_an_openai_answer_with_or_without_an_end_mark(
    openai: HttpAdapter, *, done_line: bool
):
    openai.script(reply(say("Yes."), stop(), wire=Wire(done_line=done_line)))

    assert final_message(await openai.ask()).stop_reason == "stop"


async def test_an_end_mark_without_a_finish_reason_is_an_end(openai: HttpAdapter):
    openai.script(reply(say("Yes."), stop(None)))

    whole = AssistantMessage((Text("Yes."),), "stop", openai.id, Usage(10, 5), None)
    assert last_event(await openai.ask()) == Done("stop", whole)


async def test_a_refusal_is_an_error_that_keeps_its_cause_and_the_text_before_it(http: HttpAdapter):
    http.script(reply(say("I"), refuse("It would help to build a weapon")))

    end = last_event(await http.ask())

    assert end == Failed(
        "error",
        AssistantMessage(
            (Text("I"),),
            "error",
            http.id,
            Usage(10, 5),
            {"anthropic": "refusal", "openai": "stop"}[http.provider],
            Failure(
                "refusal",
                f"{http.provider} refused to answer: It would help to build a weapon."
                " Ask in another way, or choose another model.",
                code="model_refused",
                params={"provider": http.provider, "detail": "It would help to build a weapon"},
            ),
        ),
    )


async def test_a_refusal_before_any_text_keeps_its_cause_and_is_not_asked_again(http: HttpAdapter):
    http.script(reply(refuse("No weapons")))

    answer = final_message(await http.ask())

    assert answer.failure is not None
    assert (answer.failure.type, "No weapons" in answer.failure.message) == ("refusal", True)
    assert answer.raw_stop_reason == {"anthropic": "refusal", "openai": "stop"}[http.provider]
    assert answer.usage == Usage(10, 5)
    assert len(http.upstream.requests) == 1


async def test_an_answer_of_nothing_is_whole_and_empty(adapter: Adapter):
    adapter.script(reply(stop()))

    nothing = AssistantMessage((), "stop", adapter.id, Usage(10, 5), adapter.raw("stop"))
    assert await adapter.ask() == [Start(adapter.id), Done("stop", nothing)]


@pytest.mark.parametrize(
    ("api", "word"), [("anthropic", "refusal"), ("anthropic", "sensitive"), ("openai", "content_filter")]
)
async def test_a_filtered_answer_is_an_error_and_keeps_what_was_said(
    api: str, word: str, anthropic: HttpAdapter, openai: HttpAdapter
):
    chosen = anthropic if api == "anthropic" else openai
    chosen.script(reply(say("So far"), stop(word)))

    end = last_event(await chosen.ask())

    assert (end.message.content, end.message.stop_reason) == ((Text("So far"),), "error")
    assert (end.message.raw_stop_reason, end.message.failure and end.message.failure.type) == (word, "refusal")


async def test_an_error_event_in_the_middle_keeps_the_partial_message_and_the_kind(adapter: Adapter):
    adapter.script(reply(say("So", " far"), error_event("overloaded_error", "Overloaded")))

    events = await adapter.ask()
    partial = final_message(events)

    assert events == [
        Start(adapter.id),
        TextStart(0),
        TextDelta(0, "So"),
        TextDelta(0, " far"),
        TextEnd(0, "So far"),
        Failed("error", partial),
    ]
    assert (partial.content, partial.stop_reason) == ((Text("So far"),), "error")
    assert partial.failure is not None
    assert (partial.failure.type, "Overloaded" in partial.failure.message) == ("overloaded_error", True)


@pytest.mark.parametrize(
    "payload",
    [
        {"error": {"message": "Out of memory", "type": "server_error", "code": 500}},
        {"error": "Out of memory"},
        {"message": "Out of memory", "code": 500},
        {"detail": "Out of memory"},
    ],
)
async def test_an_openai_error_of_any_shape_keeps_its_message(openai: HttpAdapter, payload: Any):
    openai.script(reply(say("So far"), event(payload)))

    partial = final_message(await openai.ask())

    assert partial.content == (Text("So far"),)
    assert partial.failure is not None
    assert "Out of memory" in partial.failure.message


async def test_an_open_call_is_closed_and_flagged_when_the_stream_breaks_in_it(http: HttpAdapter):
    http.script(reply(say("Well."), call("web_search", '{"query": "cổ'), cut()))

    partial = final_message(await http.ask())

    assert partial.content == (Text("Well."), ToolCall("call_1", "web_search", {}, invalid='{"query": "cổ'))
    assert partial.stop_reason == "error"


@pytest.mark.parametrize("end", [cut(), reset()], ids=["cut", "reset"])
async def test_a_connection_that_breaks_is_an_error_with_the_partial_message(http: HttpAdapter, end: Any):
    http.script(reply(say("So", " far"), end))

    partial = final_message(await http.ask())

    assert (partial.content, partial.stop_reason) == ((Text("So far"),), "error")
    assert partial.failure is not None
    assert (partial.failure.type, partial.failure.retryable) == ("connection_error", True)
    assert partial.failure.message.startswith(f"The answer of {http.provider} broke off")
    assert partial.failure.message.endswith("What came before it is kept. Try again, or choose another model.")
    assert len(http.upstream.requests) == 1


async def test_a_body_that_ends_without_the_end_of_the_answer_is_an_error(http: HttpAdapter):
    http.script(reply(say("So", " far")))

    partial = final_message(await http.ask())

    assert (partial.content, partial.stop_reason) == ((Text("So far"),), "error")
    assert partial.failure == Failure(
        "truncated",
        f"{http.provider} ended the stream without ending the answer. What came before it is kept. "
        "Try again, or choose another model.",
        retryable=True,
        code="model_stream_truncated",
        params={"provider": http.provider},
    )


async def test_an_event_that_is_not_json_is_an_error_with_the_partial_message(http: HttpAdapter):
    http.script(reply(say("So", " far"), raw(b"data: {oops\n\n"), say("never seen"), stop()))

    partial = final_message(await http.ask())

    assert (partial.content, partial.stop_reason) == ((Text("So far"),), "error")
    assert partial.failure is not None
    assert partial.failure.message.startswith(f"The answer of {http.provider} broke off: an event could not be read")


async def test_nothing_follows_the_end(http: HttpAdapter):
    end_mark = raw(b"data: [DONE]\n\n")
    in_one_piece = Wire(piece=100_000)
    more = (say("And another thing"), error_event(), stop())
    http.script(reply(say("Yes."), stop(), end_mark, *more, wire=in_one_piece))

    assert final_message(await http.ask()).content == (Text("Yes."),)


async def test_usage_has_every_count_and_no_token_twice(http: HttpAdapter):
    counts = usage(input=100, output=50, cache_read=700, cache_write=30, reasoning=20)
    http.script(reply(say("Yes."), counts, stop()))

    assert final_message(await http.ask()).usage == Usage(100, 50, cache_read=700, cache_write=30, reasoning=20)


async def test_later_counts_replace_earlier_ones_and_null_replaces_nothing(anthropic: HttpAdapter):
    later: dict[str, Any] = {"input_tokens": None, "output_tokens": 40, "cache_read_input_tokens": 9}
    update = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": later}
    anthropic.script(reply(say("Yes."), usage(input=100, output=50, cache_write=3), event(update), stop()))

    assert final_message(await anthropic.ask()).usage == Usage(100, 50, cache_read=9, cache_write=3)


async def test_usage_on_every_chunk_is_not_added_up(openai: HttpAdapter):
    openai.script(reply(say("a", "b", "c"), usage(input=11, output=3), stop(), wire=Wire(usage_everywhere=True)))

    assert final_message(await openai.ask()).usage == Usage(11, 3)


async def test_a_usage_chunk_without_choices_counts(openai: HttpAdapter):
    openai.script(reply(say("a"), usage(input=11, output=3), stop(), wire=Wire(usage_choices="null")))

    assert final_message(await openai.ask()).usage == Usage(11, 3)


async def test_a_broken_stream_keeps_the_usage_that_was_known(anthropic: HttpAdapter):
    anthropic.script(reply(say("So far"), usage(input=123, cache_read=45), cut()))

    assert final_message(await anthropic.ask()).usage == Usage(123, 1, cache_read=45)


async def test_a_request_that_is_too_long_is_told_apart(http: HttpAdapter):
    http.script(overflow())

    failure = final_message(await http.ask()).failure
    assert failure is not None
    assert (failure.type, failure.status, failure.retryable) == ("context_overflow", 400, False)


async def test_a_limit_of_requests_is_never_taken_for_a_long_request(http: HttpAdapter):
    message = "Too many tokens per minute: the context window of your account is used up"
    http.script(*[status(429, message)] * 4)

    failure = final_message(await http.ask()).failure
    assert failure is not None
    assert (failure.type, failure.status, failure.retryable) == ("rate_limit_error", 429, True)
