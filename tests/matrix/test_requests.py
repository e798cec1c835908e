"""What is sent: a request that the provider accepts, whatever really happened in the conversation.

The upstream refuses, and fails the test, when a request breaks the official types or the API's rules; these tests
say beyond that what the request looks like.
"""

import json
from typing import Any

import pytest

from footnote.models.base import Context, Options
from footnote.models.profiles import Profile
from footnote.protocol.messages import (
    AssistantMessage,
    Block,
    Foreign,
    Image,
    Message,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    user,
)
from footnote.protocol.stream import Done
from footnote.protocol.tools import ToolSpec
from matrix.adapters import PROFILE, HttpAdapter, ending, listen, message
from upstream import call, redacted, reply, say, stop, think

MARK = {"cache_control": {"type": "ephemeral"}}
PICTURE = Image("image/png", b"\x89PNG")
BLIND = Profile(window=8_000, max_output=4_000, images=False)
SEARCH = ToolSpec("web_search", "Searches.", {"type": "object", "properties": {"query": {"type": "string"}}})
FILES = ToolSpec("list_files", "Lists.", {"type": "object", "properties": {}})


def answer(*content: Block, by: str, reason: StopReason = "stop") -> AssistantMessage:
    return AssistantMessage(content, reason, by)


def result(call_id: str, text: str, name: str = "web_search", *, is_error: bool = False) -> ToolResultMessage:
    return ToolResultMessage(call_id, name, (Text(text),), is_error=is_error)


# What an ordinary request looks like ------------------------------------------------------------------


async def test_an_anthropic_request_in_full(anthropic: HttpAdapter):
    body = await anthropic.asked_with(
        user("Why?"), system="Be brief.", tools=(SEARCH, FILES), options=Options(max_tokens=500)
    )

    assert body == {
        "model": "the-model",
        "stream": True,
        "max_tokens": 500,
        "system": [{"type": "text", "text": "Be brief.", **MARK}],
        "tools": [
            {"name": "web_search", "description": "Searches.", "input_schema": SEARCH.input_schema},
            {"name": "list_files", "description": "Lists.", "input_schema": FILES.input_schema, **MARK},
        ],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Why?", **MARK}]}],
    }


async def test_an_openai_request_in_full(openai: HttpAdapter):
    body = await openai.asked_with(user("Why?"), system="Be brief.", tools=(SEARCH,), options=Options(max_tokens=500))

    function = {"name": "web_search", "description": "Searches.", "parameters": SEARCH.input_schema}
    assert body == {
        "model": "the-model",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 500,
        "tools": [{"type": "function", "function": function}],
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}],
    }


async def test_without_tools_there_is_no_tools_field(http: HttpAdapter):
    assert "tools" not in await http.asked_with(user("Why?"))


@pytest.mark.parametrize("system", ["", "  \n"])
async def test_without_a_system_prompt_there_is_none_in_the_request(http: HttpAdapter, system: str):
    body = await http.asked_with(user("Why?"), system=system)

    assert "system" not in body
    assert [one["role"] for one in body["messages"]] == ["user"]


@pytest.mark.parametrize("slash", ["", "/"])
async def test_a_base_url_may_end_in_a_slash(http: HttpAdapter, slash: str):
    http.script(reply(say("Yes."), stop()))

    await listen(http.model(base_url=f"{http.upstream.url}/proxy/of/ours{slash}"))

    path = {"anthropic": "/proxy/of/ours/v1/messages", "openai": "/proxy/of/ours/chat/completions"}
    assert http.upstream.requests[0].path == path[http.provider]


async def test_a_server_without_a_key_is_sent_none(openai: HttpAdapter):
    openai.upstream.key = None
    openai.script(reply(say("Yes."), stop()))

    await openai.ask()

    assert "authorization" not in openai.upstream.requests[0].headers


async def test_other_servers_than_openai_get_the_older_name_of_the_limit(openai: HttpAdapter):
    openai.script(reply(say("Yes."), stop()))

    await listen(openai.model(provider="ollama"), options=Options(max_tokens=500))

    body = openai.upstream.requests[0].body
    assert (body["max_tokens"], "max_completion_tokens" in body) == (500, False)


async def test_more_than_the_model_can_say_is_not_asked_for(http: HttpAdapter):
    body = await http.asked_with(user("Why?"), options=Options(max_tokens=10**6))

    assert body.get("max_tokens", body.get("max_completion_tokens")) == PROFILE.max_output


async def test_sampling_parameters_are_never_sent_to_anthropic(anthropic: HttpAdapter):
    body = await anthropic.asked_with(user("Why?"), options=Options(temperature=0.5))

    assert not body.keys() & {"temperature", "top_p", "top_k"}


async def test_the_temperature_goes_to_models_that_take_one(openai: HttpAdapter):
    plain = await openai.asked_with(user("Why?"), options=Options(temperature=0.5), profile=BLIND)
    thinks = Profile(thinking="effort")
    thoughtful = await openai.asked_with(user("Why?"), options=Options(temperature=0.5), profile=thinks)

    assert (plain["temperature"], "temperature" in thoughtful) == (0.5, False)


@pytest.mark.parametrize("budget", [1, 1024, 5_000, 63_999, 10**6])
@pytest.mark.parametrize("max_tokens", [None, 1, 2_000, 10**6])
async def test_a_thinking_budget_always_leaves_room_for_the_answer(
    anthropic: HttpAdapter, budget: int, max_tokens: int | None
):
    body = await anthropic.asked_with(user("Why?"), options=Options(thinking_budget=budget, max_tokens=max_tokens))

    asked = body["thinking"]["budget_tokens"]
    assert 1024 <= asked <= body["max_tokens"] - 1024 <= PROFILE.max_output
    assert asked == min(max(budget, 1024), PROFILE.max_output - 1024)


@pytest.mark.parametrize(("budget", "effort"), [(1024, "low"), (8_192, "medium"), (32_000, "high")])
async def test_models_that_take_an_effort_get_one(http: HttpAdapter, budget: int, effort: str):
    style = "adaptive" if http.api == "anthropic" else "effort"
    body = await http.asked_with(user("Why?"), options=Options(thinking_budget=budget), profile=Profile(thinking=style))

    if http.api == "anthropic":
        assert body["output_config"] == {"effort": effort}
        assert body["thinking"]["type"] == "adaptive"
    else:
        assert body["reasoning_effort"] == effort


async def test_a_model_that_does_not_think_is_not_asked_to(http: HttpAdapter):
    body = await http.asked_with(user("Why?"), options=Options(thinking_budget=5_000), profile=BLIND)

    assert not body.keys() & {"thinking", "output_config", "reasoning_effort"}


# The round after tool results ---------------------------------------------------------------------------


async def test_a_round_trip_of_thinking_text_and_parallel_calls(anthropic: HttpAdapter):
    anthropic.script(
        reply(
            think("Hm.", signature="c2ln"),
            redacted("ZGF0YQ=="),
            say("I will look."),
            call("web_search", {"query": "a"}, id="toolu_1"),
            call("web_search", {"query": "b"}, id="toolu_2"),
            call("list_files", "", id="toolu_3"),
            stop("toolUse"),
        ),
        reply(say("Done."), stop()),
    )
    question = user("Why?")
    first = message(await anthropic.ask(Context("", (question,), (SEARCH, FILES))))
    results = (
        result("toolu_1", "A"),
        result("toolu_2", "B", is_error=True),
        result("toolu_3", "C", "list_files"),
    )

    await anthropic.ask(Context("", (question, first, *results), (SEARCH, FILES)))

    assert anthropic.upstream.requests[1].body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Why?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "ZGF0YQ=="},
                {"type": "text", "text": "I will look."},
                {"type": "tool_use", "id": "toolu_1", "name": "web_search", "input": {"query": "a"}},
                {"type": "tool_use", "id": "toolu_2", "name": "web_search", "input": {"query": "b"}},
                {"type": "tool_use", "id": "toolu_3", "name": "list_files", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "A"},
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": "B", "is_error": True},
                {"type": "tool_result", "tool_use_id": "toolu_3", "content": "C", **MARK},
            ],
        },
    ]


async def test_a_round_trip_of_parallel_calls_over_chat_completions(openai: HttpAdapter):
    openai.script(
        reply(
            say("I will look."),
            call("web_search", {"query": "cổ"}, id="call_1"),
            call("list_files", "", id="call_2"),
            stop("toolUse"),
        ),
        reply(say("Done."), stop()),
    )
    question = user("Why?")
    first = message(await openai.ask(Context("", (question,), (SEARCH, FILES))))

    await openai.ask(Context("", (question, first, result("call_1", "A"), result("call_2", "B")), (SEARCH, FILES)))

    sent = openai.upstream.requests[1].body["messages"]
    arguments = [json.loads(one["function"].pop("arguments")) for one in sent[1]["tool_calls"]]
    assert arguments == [{"query": "cổ"}, {}]
    assert sent == [
        {"role": "user", "content": "Why?"},
        {
            "role": "assistant",
            "content": "I will look.",
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "web_search"}},
                {"id": "call_2", "type": "function", "function": {"name": "list_files"}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "A"},
        {"role": "tool", "tool_call_id": "call_2", "content": "B"},
    ]


async def test_results_go_back_in_the_order_of_the_calls(http: HttpAdapter):
    calls = [ToolCall(name, "web_search", {}) for name in ("one", "two")]

    body = await http.asked_with(
        user("Why?"),
        answer(*calls, by=http.id, reason="toolUse"),
        result("two", "2"),
        result("one", "1"),
    )

    assert answered_ids(body) == ["one", "two"]


async def test_what_the_user_says_after_results_comes_after_them(http: HttpAdapter):
    body = await http.asked_with(
        user("Why?"),
        answer(ToolCall("one", "web_search", {}), by=http.id, reason="toolUse"),
        result("one", "1"),
        user("Stop that."),
    )

    if http.api == "anthropic":
        assert [block["type"] for block in body["messages"][-1]["content"]] == ["tool_result", "text"]
    else:
        assert [one["role"] for one in body["messages"]] == ["user", "assistant", "tool", "user"]


# Histories that really happen, and that no API takes as they are ---------------------------------------------


def answered_ids(body: Any) -> list[str]:
    """Ids of all tool results in a request."""
    sent = body["messages"]
    if any(one["role"] == "tool" for one in sent):
        return [one["tool_call_id"] for one in sent if one["role"] == "tool"]
    blocks = [block for one in sent if isinstance(one["content"], list) for block in one["content"]]
    return [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]


ORPHAN = ToolCall("one", "web_search", {"query": "x"})


@pytest.mark.parametrize("after", [(), (user("Go on."),), ("answer", user("Go on."))], ids=["end", "user", "both"])
async def test_a_call_without_a_result_gets_an_error_result(http: HttpAdapter, after: tuple[Any, ...]):
    orphaned = answer(ORPHAN, by=http.id, reason="aborted")
    later = [answer(Text("Well."), by=http.id) if one == "answer" else one for one in after]

    body = await http.asked_with(user("Why?"), orphaned, *later)

    assert answered_ids(body) == ["one"]
    assert "No result" in json.dumps(body["messages"])


async def test_of_two_calls_only_the_orphan_gets_an_error_result(http: HttpAdapter):
    both = answer(ORPHAN, ToolCall("two", "web_search", {}), by=http.id, reason="aborted")

    body = await http.asked_with(user("Why?"), both, result("two", "Found it."))

    assert answered_ids(body) == ["one", "two"]
    assert json.dumps(body).count("No result") == 1
    assert "Found it." in json.dumps(body)


async def test_a_call_whose_arguments_were_cut_goes_back_whole_with_an_error_result(http: HttpAdapter):
    cut = ToolCall("one", "web_search", {}, invalid='{"query": "cổ')

    body = await http.asked_with(user("Why?"), answer(cut, by=http.id, reason="length"))

    assert answered_ids(body) == ["one"]
    assert "not valid JSON" in json.dumps(body)


async def test_a_result_without_its_call_is_left_out(http: HttpAdapter):
    body = await http.asked_with(result("gone", "Lost"), user("Why?"), result("gone", "Lost"), user("And?"))

    assert answered_ids(body) == []
    assert "Lost" not in json.dumps(body)


EMPTY_HISTORIES: dict[str, tuple[Message, ...]] = {
    "nothing": (),
    "an empty question": (user(""),),
    "whitespace": (user(" \n\t"),),
    "no parts": (UserMessage(()),),
    "an empty part beside a text": (UserMessage((Text(""), Text("Why?"))),),
    "an empty answer": (user("Why?"), answer(by="x/y"), user("And?")),
    "an answer of whitespace": (user("Why?"), answer(Text("  "), by="x/y"), user("And?")),
    "an answer at the end": (user("Why?"), answer(Text("Because."), by="x/y")),
    "an answer at the beginning": (answer(Text("Because."), by="x/y"), user("Why?")),
    "only an answer": (answer(Text("Because."), by="x/y"),),
    "empty thinking": (user("Why?"), answer(Thinking(""), by="x/y"), user("And?")),
    "two questions": (user("Why?"), user("And how?")),
    "two answers": (user("Why?"), answer(Text("A"), by="x/y"), answer(Text("B"), by="x/y"), user("And?")),
    "an empty result": (
        user("Why?"),
        answer(ORPHAN, by="x/y"),
        ToolResultMessage("one", "web_search", ()),
    ),
    "a result of whitespace": (user("Why?"), answer(ORPHAN, by="x/y"), result("one", " ")),
    "the same id twice": (
        user("Why?"),
        answer(ORPHAN, ORPHAN, by="x/y"),
        result("one", "1"),
        result("one", "2"),
        answer(ORPHAN, by="x/y"),
        result("one", "3"),
    ),
    "a tool with an impossible name": (
        user("Why?"),
        answer(ToolCall("one", "búsqueda web! " * 9, {}), by="x/y"),
        result("one", "1"),
    ),
    "a tool without a name": (user("Why?"), answer(ToolCall("", "", {}), by="x/y")),
    "a foreign block alone": (user("Why?"), answer(Foreign({"type": "of_tomorrow"}), by="x/y"), user("And?")),
}


@pytest.mark.parametrize("history", EMPTY_HISTORIES)
async def test_histories_with_nothing_in_them_are_mended(http: HttpAdapter, history: str):
    await http.asked_with(*EMPTY_HISTORIES[history])


@pytest.mark.parametrize(
    "content",
    [
        (Thinking("Hm.", signature="c2ln"),),
        (Thinking("", redacted="ZGF0YQ=="),),
        (Thinking("Hm.", details=({"type": "reasoning.text", "text": "Hm."},)),),
        (Thinking("Hm."),),
    ],
    ids=["signed", "redacted", "records", "unsigned"],
)
async def test_an_answer_that_was_stopped_while_it_thought_goes_back_in_a_form_that_is_taken(
    http: HttpAdapter, content: tuple[Block, ...]
):
    http.upstream.extensions = frozenset({"reasoning_details"})

    await http.asked_with(user("Why?"), answer(*content, by=http.id, reason="aborted"), user("Go on."))


LONG_ID = "call_" + "ab|c+/=é😀" * 50
OTHER_LONG_ID = LONG_ID[:-1] + "!"


async def test_foreign_ids_are_changed_the_same_way_on_both_sides(http: HttpAdapter):
    calls = [ToolCall(one, "web_search", {}) for one in (LONG_ID, OTHER_LONG_ID)]

    body = await http.asked_with(
        user("Why?"),
        answer(*calls, by="other/model"),
        result(OTHER_LONG_ID, "second"),
        result(LONG_ID, "first"),
    )

    first, second = answered_ids(body)
    assert first != second
    text = json.dumps(body)
    assert text.count(f'"{first}"') == text.count(f'"{second}"') == 2
    assert text.index("first") < text.index("second")


async def test_a_changed_id_is_the_same_in_every_request_so_that_caches_fit(http: HttpAdapter):
    history = (user("Why?"), answer(ToolCall(LONG_ID, "a", {}), by="other/model"), result(LONG_ID, "1"))

    once = await http.asked_with(*history)
    again = await http.asked_with(*history, answer(Text("So."), by="other/model"), user("And?"))

    assert answered_ids(once) == answered_ids(again)


async def test_unsigned_thinking_goes_back_to_anthropic_as_text(anthropic: HttpAdapter):
    thought = answer(Thinking("Hm."), Text("Yes."), by=anthropic.id)

    body = await anthropic.asked_with(user("Why?"), thought, user("And?"))

    assert body["messages"][1]["content"] == [{"type": "text", "text": "Hm."}, {"type": "text", "text": "Yes."}]


async def test_thinking_of_another_model_goes_to_anthropic_as_text_and_its_secrets_not_at_all(
    anthropic: HttpAdapter,
):
    thoughts = (
        Thinking("Hm.", signature="c2ln"),
        Thinking("", redacted="ZGF0YQ=="),
        Foreign({"type": "x", "blob": "secret"}),
    )

    body = await anthropic.asked_with(
        user("Why?"), answer(*thoughts, Text("Yes."), by="anthropic/another"), user("And?")
    )

    assert body["messages"][1]["content"] == [{"type": "text", "text": "Hm."}, {"type": "text", "text": "Yes."}]


async def test_thinking_is_not_put_into_the_mouth_of_a_chat_completions_model(openai: HttpAdapter):
    thought = answer(Thinking("Hm.", signature="c2ln"), Text("Yes."), by="anthropic/another")

    body = await openai.asked_with(user("Why?"), thought, user("And?"))

    assert body["messages"][1] == {"role": "assistant", "content": "Yes."}


async def test_signed_thinking_without_text_goes_back_as_it_is(anthropic: HttpAdapter):
    thought = answer(Thinking("", signature="c2ln"), Text("Yes."), by=anthropic.id)

    body = await anthropic.asked_with(user("Why?"), thought, user("And?"))

    assert body["messages"][1]["content"][0] == {"type": "thinking", "thinking": "", "signature": "c2ln"}


async def test_half_characters_never_reach_a_provider(http: HttpAdapter):
    half = "a\ud83db"
    body = await http.asked_with(
        user(half),
        answer(Text(half), ToolCall("one", "web_search", {half: [half]}), by=http.id, reason="toolUse"),
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
    first = message(await http.ask())

    events = await http.ask(Context("", (user("Why?"), first, result("one", "Found"))))

    assert isinstance(ending(events), Done)


async def test_whole_emoji_survive(http: HttpAdapter):
    body = await http.asked_with(user("🚀 👩‍👩‍👧"))

    assert "🚀 👩‍👩‍👧" in json.dumps(body, ensure_ascii=False)


async def test_images_go_to_models_that_see(http: HttpAdapter):
    body = await http.asked_with(UserMessage((Text("What is this?"), PICTURE)))

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
    asked = UserMessage((Text("What is this?"), PICTURE))
    made = answer(ToolCall("one", "web_search", {}), by=http.id, reason="toolUse")
    seen = ToolResultMessage("one", "web_search", (PICTURE,))

    body = await http.asked_with(asked, made, seen, profile=BLIND)

    assert "iVBORw" not in json.dumps(body)
    assert json.dumps(body).count("this model cannot see images") == 2


async def test_images_in_results_reach_models_that_see(http: HttpAdapter):
    calls = [ToolCall(one, "web_search", {}) for one in ("one", "two")]
    pictured = ToolResultMessage("one", "web_search", (PICTURE,))

    body = await http.asked_with(
        user("Why?"), answer(*calls, by=http.id, reason="toolUse"), pictured, result("two", "B")
    )

    assert answered_ids(body) == ["one", "two"]
    assert json.dumps(body).count("iVBORw==") == 1


async def test_a_conversation_of_many_turns_is_taken_with_at_most_four_cache_marks(anthropic: HttpAdapter):
    turns: list[Message] = []
    for number in range(50):
        made = ToolCall(f"call_{number}", "web_search", {"n": number})
        turns += [
            user(f"Question {number}"),
            answer(made, by=anthropic.id, reason="toolUse"),
            result(made.id, "Found"),
            answer(Text("Because."), by=anthropic.id),
        ]

    body = await anthropic.asked_with(*turns, user("Last"), system="Be brief.", tools=(SEARCH,))

    assert json.dumps(body).count("cache_control") == 3
    assert body["messages"][-1]["content"] == [{"type": "text", "text": "Last", **MARK}]


async def test_a_foreign_block_goes_back_to_its_own_model_unchanged(anthropic: HttpAdapter):
    block = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}}

    body = await anthropic.asked_with(user("Why?"), answer(Foreign(block), Text("Yes."), by=anthropic.id), user("And?"))

    assert body["messages"][1]["content"][0] == block


async def test_what_one_provider_said_can_be_continued_by_the_other(anthropic: HttpAdapter, openai: HttpAdapter):
    rich = (think("Hm.", signature="c2ln"), say("Look."), call("web_search", {"query": "x"}, id="toolu_1"))
    anthropic.script(reply(*rich, stop("toolUse")))
    first = message(await anthropic.ask())

    body = await openai.asked_with(user("Why?"), first, result("toolu_1", "Found"))
    anthropic.script(reply(say("So."), stop()))
    again = ending(await anthropic.ask(Context("", (user("Why?"), first, result("toolu_1", "Found")))))

    assert answered_ids(body) == ["toolu_1"]
    assert isinstance(again, Done)
