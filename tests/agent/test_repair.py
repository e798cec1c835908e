"""The repair of files: one round after the answer, with what does not hold in the files that the turn wrote."""

from typing import Any

import pytest

from agent.turn_harness import TurnHarness, TurnRecording
from footnote.agent.turn import Resumed
from footnote.cancel import CancelScope
from footnote.evidence.proof import count_verdicts
from footnote.evidence.second_look import SecondLook
from footnote.models.profiles import Profile
from footnote.models.scripted import ScriptedModel, call, fails, text
from footnote.protocol.files import FileCitations
from footnote.protocol.messages import AssistantMessage, Text, ToolCall, ToolResultMessage, Usage, user_message
from footnote.protocol.sources import Citation
from footnote.tools.base import Abilities, ReviewedFile
from footnote.tools.registry import builtin_tools
from footnote.workspace.files import Workspace
from workspace.in_memory import in_memory_workspace

FALSE, TRUE = "It was invented in Hanoi [1].", "It was invented in Uppsala [1]."
REPAIRING = {"repairs_files": True}


class HanoiProofs:
    """Judges every line of a file: those about Hanoi do not hold. A second look uses tokens."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def judge(self, path: str, max_seconds: float) -> FileCitations | None:
        content = await self._workspace.read_text(path)
        found: list[Citation] = []
        start = 0
        for line in content.splitlines():
            verdict = "unsupported" if "Hanoi" in line else "supported"
            found.append(Citation("[1]", 1, start, start + len(line), verdict))
            start += len(line) + 1
        version = (await self._workspace.versions(path))[0].number
        return FileCitations(path, version, count_verdicts(found), tuple(found))

    async def review(self, path: str, second_look: SecondLook | None, cancel: CancelScope) -> ReviewedFile | None:
        proof = await self.judge(path, 0)
        return None if proof is None else ReviewedFile(proof, Usage(input=100, output=1))


def _abilities() -> Abilities:
    workspace = in_memory_workspace()
    return Abilities(workspace, proofs=HanoiProofs(workspace))


def _write(content: str = FALSE) -> Any:
    return call("write_file", {"file_path": "/a.md", "content": f"{content}\n"}, id="w1")


def _edit(new: str = TRUE, call_id: str = "e1") -> Any:
    return call("edit_file", {"file_path": "/a.md", "old_string": FALSE, "new_string": new}, id=call_id)


async def _play(model: ScriptedModel, abilities: Abilities, **more: Any) -> TurnRecording:
    return await TurnHarness(model, builtin_tools(), abilities=abilities, **{"settings": REPAIRING, **more}).play()


async def _content(abilities: Abilities) -> str:
    assert abilities.workspace is not None
    return await abilities.workspace.read_text("/a.md")


async def test_a_model_that_has_answered_is_asked_once_to_correct_its_file():
    model, abilities = ScriptedModel([[_write()], [text("Here it is.")], [_edit()]]), _abilities()
    recording = await _play(model, abilities)
    assert await _content(abilities) == f"{TRUE}\n"
    assert recording.stop_reason == "stop"
    asked = model.contexts[-1]
    assert [tool.name for tool in asked.tools] == ["write_file", "edit_file"]
    *before, note = asked.messages
    assert isinstance(before[-1], AssistantMessage)
    assert before[-1].text == "Here it is."
    assert f"/a.md\n- unsupported (its page does not say it): {FALSE}" in note.text
    assert not any("note of Footnote" in message.text for message in recording.stored_messages)
    assert recording.end.usage.input_tokens == 3 * 10 + 100, "the round and the review are counted"


@pytest.mark.parametrize(
    ("replies", "left"),
    [
        ([[text("I stand by it.")]], FALSE),
        ([[_edit("It was invented in Hanoi, they say [1].")]], "It was invented in Hanoi, they say [1]."),
        ([[call("web_search", {"query": "Hanoi"}, id="s1")]], FALSE),
        ([[fails("overloaded_error")]], FALSE),
    ],
    ids=["refuses", "stays wrong", "searches", "fails"],
)
async def test_there_is_one_round_whatever_the_model_does_with_it(replies: list[Any], left: str):
    model, abilities = ScriptedModel([[_write()], [text("Here it is.")], *replies]), _abilities()
    recording = await _play(model, abilities)
    assert await _content(abilities) == f"{left}\n"
    assert recording.stop_reason == "stop"
    assert len(model.contexts) == 3


async def test_nothing_is_asked_where_nothing_is_wrong_or_nobody_may_repair():
    for content, settings in ((TRUE, REPAIRING), (FALSE, {})):
        model = ScriptedModel([[_write(content)], [text("Here it is.")]])
        await _play(model, _abilities(), settings=settings)
        assert len(model.contexts) == 2


async def test_a_turn_that_ran_out_of_rounds_or_whose_model_failed_is_not_repaired():
    model = ScriptedModel([[_write()], [text("Here it is.")]])
    recording = await _play(model, _abilities(), settings={**REPAIRING, "max_tool_rounds": 1})
    assert (recording.stop_reason, len(model.contexts)) == ("max_rounds", 2)
    model = ScriptedModel([[_write()], [fails("overloaded_error")]])
    recording = await _play(model, _abilities())
    assert (recording.stop_reason, len(model.contexts)) == ("error", 2)


async def _written() -> Abilities:
    abilities = _abilities()
    assert abilities.workspace is not None
    await abilities.workspace.write("/a.md", f"{FALSE}\n", message_id="m1", call_id="w1")
    return abilities


def _answered(*more: Any) -> tuple[Any, ...]:
    return (
        user_message("Why?"),
        AssistantMessage((ToolCall("w1", "write_file", {"file_path": "/a.md", "content": FALSE}),), "toolUse", "m"),
        ToolResultMessage("w1", "write_file", (Text("Wrote it."),)),
        AssistantMessage((Text("Here it is."),), "stop", "m"),
        *more,
    )


async def test_a_turn_that_was_killed_before_its_repair_is_repaired():
    abilities = await _written()
    assert abilities.workspace is not None
    resumed = Resumed(blocks=3, files=(await abilities.workspace.record("/a.md"),))
    model = ScriptedModel([[_edit()]])
    recording = await _play(model, abilities, history=_answered(), settings={**REPAIRING, "resumed": resumed})
    assert (await _content(abilities), recording.stop_reason) == (f"{TRUE}\n", "stop")


async def test_a_turn_that_was_killed_in_its_repair_goes_on_with_its_calls_and_asks_nobody():
    abilities = await _written()
    edit = ToolCall("e1", "edit_file", {"file_path": "/a.md", "old_string": FALSE, "new_string": TRUE})
    repair = AssistantMessage((edit,), "toolUse", "m")
    settings = {**REPAIRING, "resumed": Resumed(blocks=4)}
    recording = await _play(ScriptedModel([]), abilities, history=_answered(repair), settings=settings)
    assert (await _content(abilities), recording.stop_reason) == (f"{TRUE}\n", "stop")

    result = ToolResultMessage("e1", "edit_file", (Text("Changed it."),))
    settings = {**REPAIRING, "resumed": Resumed(blocks=5)}
    recording = await _play(ScriptedModel([]), abilities, history=_answered(repair, result), settings=settings)
    assert (recording.stop_reason, recording.stored_messages) == ("stop", [])


async def test_a_guided_model_with_tools_is_asked_as_it_is():
    profile = Profile(style="guided", billions=14)
    assert profile.keeps_tools
    abilities = await _written()
    assert abilities.workspace is not None
    resumed = Resumed(blocks=3, files=(await abilities.workspace.record("/a.md"),))
    model = ScriptedModel([[_edit()]], profile=profile)
    await _play(model, abilities, history=_answered(), settings={**REPAIRING, "resumed": resumed})
    assert await _content(abilities) == f"{TRUE}\n"
