"""A client that follows a run to its end and a client that opens it later see the same."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

import msgspec
import pytest

from agent.turn_harness import answering_tool
from footnote.db.engine import Database
from footnote.models.base import Model
from footnote.models.scripted import ScriptedModel, ScriptedPause, call, fails, text, thinking
from footnote.protocol.events import BlockDelta, Event, MessageStop
from footnote.protocol.history import History, PastAssistantMessage
from footnote.protocol.plans import Budget
from footnote.protocol.sessions import NewMessage, RetryRequest, SessionChanges
from footnote.sessions.run import RunResources, RunSpec
from footnote.sessions.runner import Runner
from footnote.sessions.store import Sessions
from footnote.tools.base import Abilities, Tool
from footnote.tools.builtin.edit_file import edit_file
from footnote.tools.builtin.write_file import write_file
from footnote.tools.registry import Toolbox
from footnote.tools.wrappers import wrap_tool
from sessions.page_fold import fold_events, fold_history
from sessions.test_history import reading_tool


class FixedRunBuilder:
    """Builds every run with the same model and tools."""

    def __init__(self, replies: Sequence[Any], tools: Sequence[Tool]) -> None:
        self._model = ScriptedModel(replies)
        self._tools = [wrap_tool(tool) for tool in tools]

    async def model(self, agent_id: str, name: str | None) -> Model:
        assert agent_id == "researcher"
        assert name is None or name == self._model.id
        return self._model

    def research_budget(self, agent_id: str, wanted: Budget | None, template: str | None) -> Budget:
        raise AssertionError("no run here makes a plan")

    async def build(self, spec: RunSpec, model: Model) -> RunResources:
        assert model is self._model
        abilities = Abilities(spec.workspace)
        return RunResources("Be brief.", Toolbox.of(self._tools, abilities), abilities, 3, None)


@asynccontextmanager
async def open_runner(
    database: Database, sessions: Sessions, replies: Sequence[Any], *tools: Tool
) -> AsyncIterator[Runner]:
    runner = Runner(database, sessions, FixedRunBuilder(replies, tools))
    try:
        yield runner
    finally:
        await runner.close()


async def follow_events(runner: Runner, run_id: str, *, cancel_at: str | None = None) -> list[Event]:
    """All events of a run. `cancel_at`: cancels the run when this text was sent."""
    events: list[Event] = []
    async with aclosing(runner.follow(run_id)) as pieces:
        async for piece in pieces:
            for frame in piece.decode().split("\n\n"):
                data = [line.removeprefix("data: ") for line in frame.split("\n") if line.startswith("data: ")]
                events += [msgspec.json.decode(line, type=Event) for line in data]
            if cancel_at is not None and any(cancel_at in str(one) for one in events if isinstance(one, BlockDelta)):
                await runner.cancel("ann", run_id)
                cancel_at = None
    assert isinstance(events[-1], MessageStop)
    return events


def last_turn(history: History) -> tuple[str, list[dict[str, Any]]]:
    last_question = max(
        at for at, message in enumerate(history.messages) if type(message).__name__ == "PastUserMessage"
    )
    return fold_history(history.messages[last_question + 1 :])


WRITES = [
    [
        thinking("Let me ", "see."),
        text("I look."),
        call("look", {"a": 1}, id="c1"),
        call("write_file", {"file_path": "/a.md", "content": "one"}, id="c2"),
        call("none", {}, id="c3"),
    ],
    [call("edit_file", {"file_path": "/a.md", "old_string": "one", "new_string": "two"}, id="c4")],
    [text("The sky is blue because air scatters blue light most [1].", " See /a.md."), text("")],
]


async def test_a_turn_with_everything(database: Database, sessions: Sessions) -> None:
    head = await sessions.create("ann", "researcher")
    async with open_runner(database, sessions, WRITES, reading_tool(), write_file, edit_file) as runner:
        started = await runner.start("ann", head.id, NewMessage("Why is it so? Tell me.", locale="vi"))
        events = await follow_events(runner, started.run_id)
    history = await sessions.history("ann", head.id)
    assert last_turn(history) == fold_events(events)
    assert history.session.title == "Why is it so?"
    assert history.active_run is None
    [file] = history.workspace.workspace_files
    last = history.messages[-1]
    assert isinstance(last, PastAssistantMessage)
    assert (last.id, last.attachments) == (started.message_id, (file,))
    assert [group.query for group in history.workspace.sources] == ["sky"]
    assert (await sessions.source("ann", head.id, 1)).url == "https://a.example/sky"
    [found] = (await sessions.list("ann", query="scatters why")).sessions
    assert found.id == head.id


@pytest.mark.parametrize("reply", [[fails("No.")], [text("Half an ans"), fails("Cut.")]])
async def test_a_turn_that_failed(database: Database, sessions: Sessions, reply: Sequence[Any]) -> None:
    head = await sessions.create("ann", "researcher")
    async with open_runner(database, sessions, [[call("look", {}, id="c1")], reply], answering_tool("look")) as runner:
        started = await runner.start("ann", head.id, NewMessage("Why?"))
        events = await follow_events(runner, started.run_id)
    history = await sessions.history("ann", head.id)
    assert last_turn(history) == fold_events(events)
    assert (history.turns[0].state, history.turns[0].stop_reason) == ("failed", "error")


async def test_a_turn_that_was_cancelled(database: Database, sessions: Sessions) -> None:
    head = await sessions.create("ann", "researcher")
    reply = [thinking("Hm."), text("This came."), ScriptedPause(asyncio.Event()), text("This did not.")]
    async with open_runner(database, sessions, [reply]) as runner:
        started = await runner.start("ann", head.id, NewMessage("Why?"))
        events = await follow_events(runner, started.run_id, cancel_at="This came.")
    history = await sessions.history("ann", head.id)
    assert last_turn(history) == fold_events(events)
    assert (history.turns[0].state, history.turns[0].stop_reason) == ("cancelled", "aborted")
    assert [found.id for found in (await sessions.list("ann", query="this came")).sessions] == [head.id]


async def test_branches_each_show_what_was_streamed(database: Database, sessions: Sessions) -> None:
    head = await sessions.create("ann", "researcher")
    replies = [[text(f"Answer {number}.")] for number in range(4)]
    seen: dict[str, tuple[str, list[dict[str, Any]]]] = {}
    async with open_runner(database, sessions, replies) as runner:
        first = await runner.start("ann", head.id, NewMessage("Why?"))
        seen[first.message_id] = fold_events(await follow_events(runner, first.run_id))
        second = await runner.start("ann", head.id, NewMessage("And then?"))
        seen[second.message_id] = fold_events(await follow_events(runner, second.run_id))
        again = await runner.retry("ann", head.id, first.message_id, RetryRequest())
        seen[again.message_id] = fold_events(await follow_events(runner, again.run_id))
        edited = await runner.edit("ann", head.id, second.message_id, NewMessage("And when?"))
        seen[edited.message_id] = fold_events(await follow_events(runner, edited.run_id))
    for message_id, shown in seen.items():
        await sessions.change("ann", head.id, SessionChanges(head=message_id))
        history = await sessions.history("ann", head.id)
        at = next(at for at, message in enumerate(history.messages) if getattr(message, "id", "") == message_id)
        assert fold_history(history.messages[at : at + 1]) == shown
    turns = (await sessions.history("ann", head.id)).turns
    assert [turn.message_id for turn in turns] == [first.message_id, edited.message_id]
    assert turns[0].answers == (first.message_id, again.message_id)
    assert len(turns[1].questions) == 2
