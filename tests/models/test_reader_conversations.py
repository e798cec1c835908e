"""What the reader takes from the conversation, and how its answers stream and stop."""

from agent.turn_harness import TurnHarness
from footnote.cancel import CancelScope
from footnote.models.base import Context, Options
from footnote.models.profiles import Price
from footnote.models.reader import ReaderModel
from footnote.models.reader.messages import MESSAGES
from footnote.protocol.events import TextBlock, ToolResultBlock
from footnote.protocol.messages import AssistantMessage, Message, Text, ToolCall, ToolResultMessage, Usage, user_message
from footnote.protocol.stream import Done, Start, TextDelta, TextEnd, ToolCallDelta
from footnote.protocol.tools import ToolSpec
from footnote.tools.base import Abilities
from footnote.tools.builtin.write_file import write_file
from matrix.adapters import collect_events, final_message, last_event
from models.reader_harness import (
    HANOI,
    NOTE,
    QUESTION,
    RIVER,
    SEARCH_SCHEMA,
    history,
    last_text,
    play_turn,
    search_result,
    search_tool,
    source,
    tool_calls,
)
from workspace.in_memory import in_memory_workspace

# The conversation ------------------------------------------------------------------------------------------------


async def test_a_follow_up_gets_the_words_of_the_turn_before_and_of_the_page_that_was_cited():
    titled = search_result((4, HANOI), sources=(source(3, title="Elsewhere"), source(4, title="Hanoi – Encyclopedia")))
    search = search_tool(titled)
    first = await play_turn(QUESTION, tools=(search,))

    await play_turn(QUESTION, *first.stored_messages, "How many people live there?", tools=(search,))

    assert search.arguments[-1] == {
        "query": "Hanoi capital Vietnam How many people live there?",
        "prompt": "How many people live there?",
    }


async def test_it_goes_on_where_another_model_answered_before():
    call = ToolCall("c1", "web_search", {"query": "Eiffel Tower height"})
    artifact = search_result((2, "330 m."), sources=(source(2, title="Eiffel Tower"),)).artifact
    before: tuple[Message, ...] = (
        user_message("How tall is the Eiffel Tower?"),
        AssistantMessage((call,), "toolUse", "anthropic/claude"),
        ToolResultMessage("c1", "web_search", (Text("330 m."),), artifact=artifact),
        AssistantMessage((Text("It is 330 m tall [2]."),), "stop", "anthropic/claude"),
        user_message("Thanks!"),
        AssistantMessage((Text("You are welcome."),), "stop", "anthropic/claude"),
    )
    search = search_tool(search_result((3, HANOI)))

    recording = await play_turn(*before, "When was it built?", tools=(search,))

    assert search.arguments == [{"query": "Eiffel Tower height When was it built?", "prompt": "When was it built?"}]
    assert last_text(recording) == f"{MESSAGES['en'].passage}\n\n> {HANOI} [3]\n\n{NOTE}"


async def test_a_question_that_was_answered_without_a_search_can_be_leaned_on():
    before = (user_message("Who painted Guernica?"), AssistantMessage((Text("Picasso."),), "stop", "openai/gpt"))
    search = search_tool(search_result((1, HANOI)))

    await play_turn(*before, "and when?", tools=(search,))

    assert search.arguments[0]["query"] == "painted Guernica when?"


async def test_a_report_on_what_was_just_asked_is_a_report_on_that():
    abilities = Abilities(in_memory_workspace())
    tools = (search_tool(search_result((1, HANOI))), write_file)
    first = await play_turn("history of Hanoi", tools=tools, abilities=abilities)

    second = await play_turn(
        "history of Hanoi", *first.stored_messages, "Write a report about it", tools=tools, abilities=abilities
    )

    assert [arguments.get("query") or arguments["file_path"] for _, arguments in tool_calls(second)] == [
        "history of Hanoi",
        "/history-of-hanoi.md",
    ]


async def test_a_report_without_a_word_on_its_topic_is_on_what_was_last_looked_for():
    search = search_tool(search_result((1, HANOI)))
    first = await play_turn("history of Hanoi", tools=(search,))

    await play_turn("history of Hanoi", *first.stored_messages, "Write a report", tools=(search,))

    assert search.arguments[-1] == {"query": "history of Hanoi", "prompt": "history of Hanoi"}


# The stream ------------------------------------------------------------------------------------------------------


def question_of(text: str, *tools: ToolSpec) -> Context:
    return Context("", (user_message(text),), tools)


WEB_SEARCH = ToolSpec("web_search", "Searches.", SEARCH_SCHEMA)


async def test_an_answer_streams_in_small_pieces_that_add_up_to_it():
    events = await collect_events(ReaderModel(), question_of("你是谁？"))

    pieces = [event.delta for event in events if isinstance(event, TextDelta)]
    (whole,) = [event.content for event in events if isinstance(event, TextEnd)]
    assert events[0] == Start("footnote/reader")
    assert "".join(pieces) == whole == final_message(events).text
    assert len(pieces) > 5
    assert max(map(len, pieces)) < 40


async def test_a_call_stops_for_tools_with_arguments_that_stream():
    events = await collect_events(ReaderModel(), question_of("x" * 500, WEB_SEARCH))

    end = last_event(events)
    (call,) = end.message.calls
    pieces = [event.delta for event in events if isinstance(event, ToolCallDelta)]
    assert isinstance(end, Done)
    assert (end.reason, call.name, call.arguments) == (
        "toolUse",
        "web_search",
        {"query": "x" * 200, "prompt": "x" * 500},
    )
    assert len(pieces) > 2


async def test_it_is_free_and_keeps_nothing_between_two_requests():
    model = ReaderModel()
    first, second = await collect_events(model, question_of("hi")), await collect_events(model, question_of("hi"))

    assert first == second
    assert (final_message(first).usage, model.profile.price) == (Usage(), Price(input=0.0, output=0.0))


async def test_cancelled_before_it_begins_it_says_nothing():
    scope = CancelScope()
    scope.cancel()

    events = [event async for event in ReaderModel().stream(question_of("hi"), Options(), scope)]

    assert (final_message(events).stop_reason, final_message(events).content) == ("aborted", ())


async def test_stopped_anywhere_it_ends_at_once_and_keeps_what_was_said():
    tools = [search_tool(search_result((1, HANOI), (2, RIVER))).tool, write_file]
    whole = await TurnHarness(
        ReaderModel(), tools, history("Write a report on Hanoi"), Abilities(in_memory_workspace())
    ).play()
    for steps in range(1, len(whole.steps)):
        harness = TurnHarness(
            ReaderModel(), tools, history("Write a report on Hanoi"), Abilities(in_memory_workspace())
        )
        stopped = await harness.play(stop_after=steps)
        assert whole.text.startswith(stopped.text)
        assert len(stopped.steps) <= steps + 12
        assert stopped.stop_reason in ("aborted", "stop")


async def test_results_of_a_stopped_search_are_not_taken_for_an_answer():
    call = ToolCall("c1", "web_search", {"query": "x"})
    before = (
        user_message("What is x?"),
        AssistantMessage((call,), "toolUse", "footnote/reader"),
        ToolResultMessage("c1", "web_search", (Text("Stopped on request."),), is_error=True),
    )

    recording = await play_turn(*before, tools=(search_tool(search_result((1, HANOI))),))

    assert tool_calls(recording) == []
    assert [type(block) for block in recording.blocks] == [TextBlock]
    assert "- Stopped on request." in last_text(recording)
    assert not any(isinstance(block, ToolResultBlock) for block in recording.blocks)
