"""What the built-in reader takes from the conversation, and how its replies stream and stop."""

from agent.stage import Stage
from footnote.cancel import CancelScope
from footnote.models.base import Context, Options
from footnote.models.profiles import Price
from footnote.models.reader import Reader
from footnote.models.reader.words import WORDS
from footnote.protocol.events import TextBlock, ToolResultBlock
from footnote.protocol.messages import AssistantMessage, Message, Text, ToolCall, ToolResultMessage, Usage, user
from footnote.protocol.stream import Done, Start, TextDelta, TextEnd, ToolCallDelta
from footnote.protocol.tools import ToolSpec
from footnote.tools.base import Abilities
from footnote.tools.builtin.write_file import write_file
from footnote.workspace.in_memory import workspace_in_memory
from matrix.adapters import ending, listen, message
from models.reading import (
    HANOI,
    NOTE,
    QUESTION,
    RIVER,
    SEARCH_SCHEMA,
    calls,
    found,
    history,
    last_text,
    play,
    searching,
    source,
)

# The conversation ------------------------------------------------------------------------------------------------


async def test_a_follow_up_gets_the_words_of_the_turn_before_and_of_the_page_that_was_cited():
    titled = found((4, HANOI), sources=(source(3, title="Elsewhere"), source(4, title="Hanoi – Encyclopedia")))
    search = searching(titled)
    first = await play(QUESTION, tools=(search,))

    await play(QUESTION, *first.kept, "How many people live there?", tools=(search,))

    assert search.arguments[-1] == {
        "query": "Hanoi capital Vietnam How many people live there?",
        "prompt": "How many people live there?",
    }


async def test_it_goes_on_where_another_model_answered_before():
    call = ToolCall("c1", "web_search", {"query": "Eiffel Tower height"})
    artifact = found((2, "330 m."), sources=(source(2, title="Eiffel Tower"),)).artifact
    before: tuple[Message, ...] = (
        user("How tall is the Eiffel Tower?"),
        AssistantMessage((call,), "toolUse", "anthropic/claude"),
        ToolResultMessage("c1", "web_search", (Text("330 m."),), artifact=artifact),
        AssistantMessage((Text("It is 330 m tall [2]."),), "stop", "anthropic/claude"),
        user("Thanks!"),
        AssistantMessage((Text("You are welcome."),), "stop", "anthropic/claude"),
    )
    search = searching(found((3, HANOI)))

    played = await play(*before, "When was it built?", tools=(search,))

    assert search.arguments == [{"query": "Eiffel Tower height When was it built?", "prompt": "When was it built?"}]
    assert last_text(played) == f"{WORDS['en'].passage}\n\n> {HANOI} [3]\n\n{NOTE}"


async def test_a_question_that_was_answered_without_a_search_can_be_leaned_on():
    before = (user("Who painted Guernica?"), AssistantMessage((Text("Picasso."),), "stop", "openai/gpt"))
    search = searching(found((1, HANOI)))

    await play(*before, "and when?", tools=(search,))

    assert search.arguments[0]["query"] == "painted Guernica when?"


async def test_a_report_on_what_was_just_asked_is_a_report_on_that():
    abilities = Abilities(workspace_in_memory())
    tools = (searching(found((1, HANOI))), write_file)
    first = await play("history of Hanoi", tools=tools, abilities=abilities)

    second = await play("history of Hanoi", *first.kept, "Write a report about it", tools=tools, abilities=abilities)

    assert [arguments.get("query") or arguments["file_path"] for _, arguments in calls(second)] == [
        "history of Hanoi",
        "/history-of-hanoi.md",
    ]


async def test_a_report_without_a_word_on_its_topic_is_on_what_was_last_looked_for():
    search = searching(found((1, HANOI)))
    first = await play("history of Hanoi", tools=(search,))

    await play("history of Hanoi", *first.kept, "Write a report", tools=(search,))

    assert search.arguments[-1] == {"query": "history of Hanoi", "prompt": "history of Hanoi"}


# The stream ------------------------------------------------------------------------------------------------------


def asked(text: str, *tools: ToolSpec) -> Context:
    return Context("", (user(text),), tools)


WEB_SEARCH = ToolSpec("web_search", "Searches.", SEARCH_SCHEMA)


async def test_an_answer_streams_in_small_pieces_that_add_up_to_it():
    events = await listen(Reader(), asked("你是谁？"))

    pieces = [event.delta for event in events if isinstance(event, TextDelta)]
    (whole,) = [event.content for event in events if isinstance(event, TextEnd)]
    assert events[0] == Start("footnote/reader")
    assert "".join(pieces) == whole == message(events).text
    assert len(pieces) > 5
    assert max(map(len, pieces)) < 40


async def test_a_call_stops_for_tools_with_arguments_that_stream():
    events = await listen(Reader(), asked("x" * 500, WEB_SEARCH))

    end = ending(events)
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
    model = Reader()
    first, second = await listen(model, asked("hi")), await listen(model, asked("hi"))

    assert first == second
    assert (message(first).usage, model.profile.price) == (Usage(), Price(input=0.0, output=0.0))


async def test_cancelled_before_it_begins_it_says_nothing():
    scope = CancelScope()
    scope.cancel()

    events = [event async for event in Reader().stream(asked("hi"), Options(), scope)]

    assert (message(events).stop_reason, message(events).content) == ("aborted", ())


async def test_stopped_anywhere_it_ends_at_once_and_keeps_what_was_said():
    tools = [searching(found((1, HANOI), (2, RIVER))).tool, write_file]
    whole = await Stage(Reader(), tools, history("Write a report on Hanoi"), Abilities(workspace_in_memory())).play()
    for steps in range(1, len(whole.steps)):
        stage = Stage(Reader(), tools, history("Write a report on Hanoi"), Abilities(workspace_in_memory()))
        stopped = await stage.play(stop_after=steps)
        assert whole.text.startswith(stopped.text)
        assert len(stopped.steps) <= steps + 12
        assert stopped.stop_reason in ("aborted", "stop")


async def test_results_of_a_stopped_search_are_not_taken_for_an_answer():
    call = ToolCall("c1", "web_search", {"query": "x"})
    before = (
        user("What is x?"),
        AssistantMessage((call,), "toolUse", "footnote/reader"),
        ToolResultMessage("c1", "web_search", (Text("Stopped on request."),), is_error=True),
    )

    played = await play(*before, tools=(searching(found((1, HANOI))),))

    assert calls(played) == []
    assert [type(block) for block in played.blocks] == [TextBlock]
    assert "- Stopped on request." in last_text(played)
    assert not any(isinstance(block, ToolResultBlock) for block in played.blocks)
