"""Content that not every model accepts: thinking of another model, unpaired surrogates, images."""

import json

from footnote.models.base import Context
from footnote.protocol.messages import (
    Foreign,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    user_message,
)
from footnote.protocol.stream import Done
from footnote.protocol.tools import ToolSpec
from matrix.adapters import HttpAdapter, final_message, last_event
from matrix.history import BLIND, MARK, PICTURE, SEARCH, assistant_answer, result, result_ids
from upstream import call, reply, say, stop, think


async def test_unsigned_thinking_goes_back_to_anthropic_as_text(anthropic: HttpAdapter):
    thought = assistant_answer(Thinking("Hm."), Text("Yes."), by=anthropic.id)

    body = await anthropic.request_body(user_message("Why?"), thought, user_message("And?"))

    assert body["messages"][1]["content"] == [{"type": "text", "text": "Hm."}, {"type": "text", "text": "Yes."}]


async def test_thinking_of_another_model_goes_to_anthropic_as_text_and_its_secrets_not_at_all(
    anthropic: HttpAdapter,
):
    thoughts = (
        Thinking("Hm.", signature="c2ln"),
        Thinking("", redacted="ZGF0YQ=="),
        Foreign({"type": "x", "blob": "secret"}),
    )

    body = await anthropic.request_body(
        user_message("Why?"), assistant_answer(*thoughts, Text("Yes."), by="anthropic/another"), user_message("And?")
    )

    assert body["messages"][1]["content"] == [{"type": "text", "text": "Hm."}, {"type": "text", "text": "Yes."}]


async def test_thinking_is_not_put_into_the_mouth_of_a_chat_completions_model(openai: HttpAdapter):
    thought = assistant_answer(Thinking("Hm.", signature="c2ln"), Text("Yes."), by="anthropic/another")

    body = await openai.request_body(user_message("Why?"), thought, user_message("And?"))

    assert body["messages"][1] == {"role": "assistant", "content": "Yes."}


async def test_signed_thinking_without_text_goes_back_as_it_is(anthropic: HttpAdapter):
    thought = assistant_answer(Thinking("", signature="c2ln"), Text("Yes."), by=anthropic.id)

    body = await anthropic.request_body(user_message("Why?"), thought, user_message("And?"))

    assert body["messages"][1]["content"][0] == {"type": "thinking", "thinking": "", "signature": "c2ln"}


async def test_half_characters_never_reach_a_provider(http: HttpAdapter):
    half = "a\ud83db"
    body = await http.request_body(
        user_message(half),
        assistant_answer(Text(half), ToolCall("one", "web_search", {half: [half]}), by=http.id, reason="toolUse"),
        result("one", half),
        system=half,
        tools=(ToolSpec("web_search", half, {"type": "object", "description": half, "properties": {}}),),
    )

    assert json.dumps(body, ensure_ascii=False).encode().count("a\ufffdb".encode()) == 8


async def test_half_characters_in_the_arguments_of_a_call_do_not_break_the_next_request(http: HttpAdapter):
    http.script(
        reply(call("web_search", '{"query": "a\\ud83db"}', id="one"), stop("toolUse")),
        reply(say("Yes."), stop()),
    )
    first = final_message(await http.ask())

    events = await http.ask(Context("", (user_message("Why?"), first, result("one", "Found"))))

    assert isinstance(last_event(events), Done)


async def test_whole_emoji_survive(http: HttpAdapter):
    body = await http.request_body(user_message("🚀 👩‍👩‍👧"))

    assert "🚀 👩‍👩‍👧" in json.dumps(body, ensure_ascii=False)


async def test_images_go_to_models_that_see(http: HttpAdapter):
    body = await http.request_body(UserMessage((Text("What is this?"), PICTURE)))

    assert body["messages"][0]["content"][1] == (
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="},
            **MARK,
        }
        if http.api == "anthropic"
        else {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}}
    )


async def test_models_that_do_not_see_are_told_that_an_image_was_there(http: HttpAdapter):
    question = UserMessage((Text("What is this?"), PICTURE))
    message = assistant_answer(ToolCall("one", "web_search", {}), by=http.id, reason="toolUse")
    result = ToolResultMessage("one", "web_search", (PICTURE,))

    body = await http.request_body(question, message, result, profile=BLIND)

    assert "iVBORw" not in json.dumps(body)
    assert json.dumps(body).count("this model cannot see images") == 2


async def test_images_in_results_reach_models_that_see(http: HttpAdapter):
    calls = [ToolCall(one, "web_search", {}) for one in ("one", "two")]
    pictured = ToolResultMessage("one", "web_search", (PICTURE,))

    body = await http.request_body(
        user_message("Why?"), assistant_answer(*calls, by=http.id, reason="toolUse"), pictured, result("two", "B")
    )

    assert result_ids(body) == ["one", "two"]
    assert json.dumps(body).count("iVBORw==") == 1


async def test_images_in_results_stand_before_what_came_after_them(http: HttpAdapter):
    message = assistant_answer(ToolCall("one", "web_search", {}), by=http.id, reason="toolUse")
    pictured = ToolResultMessage("one", "web_search", (PICTURE,))

    body = await http.request_body(
        user_message("Why?"), message, pictured, assistant_answer(Text("A cat."), by=http.id), user_message("Sure?")
    )

    text = json.dumps(body)
    assert text.index("iVBORw==") < text.index("A cat.") < text.index("Sure?")


async def test_a_conversation_of_many_turns_is_taken_with_at_most_four_cache_marks(anthropic: HttpAdapter):
    turns: list[Message] = []
    for number in range(50):
        message = ToolCall(f"call_{number}", "web_search", {"n": number})
        turns += [
            user_message(f"Question {number}"),
            assistant_answer(message, by=anthropic.id, reason="toolUse"),
            result(message.id, "Found"),
            assistant_answer(Text("Because."), by=anthropic.id),
        ]

    body = await anthropic.request_body(*turns, user_message("Last"), system="Be brief.", tools=(SEARCH,))

    assert json.dumps(body).count("cache_control") == 3
    assert body["messages"][-1]["content"] == [{"type": "text", "text": "Last", **MARK}]


async def test_a_foreign_block_goes_back_to_its_own_model_unchanged(anthropic: HttpAdapter):
    block = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}}

    body = await anthropic.request_body(
        user_message("Why?"), assistant_answer(Foreign(block), Text("Yes."), by=anthropic.id), user_message("And?")
    )

    assert body["messages"][1]["content"][0] == block


async def test_what_one_provider_said_can_be_continued_by_the_other(anthropic: HttpAdapter, openai: HttpAdapter):
    rich = (think("Hm.", signature="c2ln"), say("Look."), call("web_search", {"query": "x"}, id="toolu_1"))
    anthropic.script(reply(*rich, stop("toolUse")))
    first = final_message(await anthropic.ask())

    body = await openai.request_body(user_message("Why?"), first, result("toolu_1", "Found"))
    anthropic.script(reply(say("So."), stop()))
    again = last_event(await anthropic.ask(Context("", (user_message("Why?"), first, result("toolu_1", "Found")))))

    assert result_ids(body) == ["toolu_1"]
    assert isinstance(again, Done)


async def test_an_error_goes_to_anthropic_without_its_images(anthropic: HttpAdapter):
    message = assistant_answer(ToolCall("toolu_1", "look", {}), by=anthropic.id, reason="toolUse")
    failed = ToolResultMessage("toolu_1", "look", (Text("It failed."), PICTURE), is_error=True)

    body = await anthropic.request_body(user_message("Look."), message, failed)

    assert body["messages"][2]["content"][0]["content"] == "It failed."


async def test_thinking_that_led_to_nothing_does_not_go_back(http: HttpAdapter):
    thought = assistant_answer(Thinking("Hm.", signature="c2ln"), by=http.id, reason="length")

    body = await http.request_body(user_message("Why?"), thought, user_message("Well?"))

    assert "Hm." not in str(body["messages"])
    assert [message["role"] for message in body["messages"]] == ["user"]
