"""The history of a research turn: the plan, the work on its items, and the answer, which has the id of the turn."""

from msgspec import UNSET
from msgspec.structs import replace

from footnote.db.runs import messages_by_run, turns
from footnote.protocol.events import PlanBlock
from footnote.protocol.history import History, PastAssistantMessage, PastToolMessage
from footnote.protocol.messages import AssistantMessage, Text, ToolResultMessage, UserMessage
from footnote.sessions.store import Sessions
from footnote.sessions.turns import conversation, main_line
from sessions.research_turn import ANSWER, ITEMS, QUESTION, STEERING, research_messages
from sessions.turn_writer import TurnWriter, answer


def _responses(history: History) -> list[PastAssistantMessage]:
    return [message for message in history.messages if isinstance(message, PastAssistantMessage)]


async def test_the_plan_is_its_first_block_and_messages_of_items_name_their_item(
    sessions: Sessions, turn_writer: TurnWriter
) -> None:
    head = await sessions.create("ann", "researcher")
    await turn_writer.turn(head.id, QUESTION, *research_messages(), message_id="m1")
    history = await sessions.history("ann", head.id)

    responses = _responses(history)
    assert responses[0].content == (PlanBlock(ITEMS, (STEERING,)),)
    assert [(one.id, one.parent) for one in responses] == [
        ("m1-1", UNSET),
        ("m1-2", "q2"),
        ("m1-3", "q1"),
        ("m1-4", "q2"),
        ("m1-5", "q1"),
        ("m1-6", UNSET),
        ("m1", UNSET),
    ]
    results = [message for message in history.messages if isinstance(message, PastToolMessage)]
    assert [one.parent for one in results] == ["q2", "q1", UNSET]
    assert [source.number for group in history.workspace.sources for source in group.sources] == [2, 1]


async def test_a_turn_that_was_stopped_while_items_were_read_shows_its_files_and_id_outside_of_them(
    sessions: Sessions, turn_writer: TurnWriter
) -> None:
    head = await sessions.create("ann", "researcher")
    file = await sessions.workspace("ann", head.id).write("/notes.md", "Notes.", message_id="m1")
    await turn_writer.turn(
        head.id,
        QUESTION,
        *research_messages()[:-3],
        reason="aborted",
        attachments=(file,),
        message_id="m1",
    )

    responses = _responses(await sessions.history("ann", head.id))
    assert [one.id for one in responses] == ["m1", "m1-2", "m1-3", "m1-4", "m1-5"]
    assert [bool(one.attachments) for one in responses] == [True, False, False, False, False]


async def test_a_source_of_an_item_opens_by_its_number(sessions: Sessions, turn_writer: TurnWriter) -> None:
    head = await sessions.create("ann", "researcher")
    await turn_writer.turn(head.id, QUESTION, *research_messages())

    assert (await sessions.source("ann", head.id, 2)).url == "https://kitchen.example/pho"


async def test_the_next_question_is_answered_without_what_the_readers_of_items_wrote(
    sessions: Sessions, turn_writer: TurnWriter
) -> None:
    head = await sessions.create("ann", "researcher")
    turn = await turn_writer.turn(head.id, QUESTION, *research_messages())
    await turn_writer.turn(head.id, "And then?", answer("Then nothing."))

    stored = await turn_writer.database.read(turns(head.id))
    bodies = await turn_writer.database.read(messages_by_run([turn.run_id, stored[-1].run_id]))
    read = main_line(conversation(stored, bodies))

    plan, call, report, shown = read[1:5]
    assert [type(message) for message in read] == [
        UserMessage,
        AssistantMessage,
        AssistantMessage,
        ToolResultMessage,
        AssistantMessage,
        UserMessage,
        AssistantMessage,
    ]
    assert isinstance(plan, AssistantMessage)
    assert plan.text == ""
    assert isinstance(call, AssistantMessage)
    assert [one.name for one in call.calls] == ["write_file"]
    assert report.content == (Text("Wrote it."),)
    assert isinstance(shown, AssistantMessage)
    assert shown.text.startswith(ANSWER)
    assert main_line([replace(shown, parent="q1")]) == ()
