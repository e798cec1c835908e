"""Where the second look has its place in a turn: the order of its events, and what remains of a turn that broke off."""

import json
from typing import Any

from agent.turn_harness import TurnHarness, answering_tool
from evidence.samples import sources_of
from footnote.agent.turn import Resumed
from footnote.evidence.second_look import SecondLook
from footnote.models.profiles import Price, Profile
from footnote.models.scripted import ScriptedModel, call, fails, text, thinking
from footnote.protocol.events import BlockDelta, BlockStop, CitationsGrowth, MessageDelta
from footnote.protocol.messages import AssistantMessage, Text, Usage
from footnote.protocol.sources import Verdict
from footnote.tools.base import Abilities

PAGE = "The council approved the bridge in March after a debate of nine hours. People of the old quarter feared noise."
DOUBTFUL = "Locals worried that the noise would keep them awake. [1]"
PROOF = text(json.dumps([{"id": 1, "verdict": "supports", "quotation": "People of the old quarter feared noise."}]))


def harness(model: ScriptedModel, reviewer: ScriptedModel, **more: Any) -> TurnHarness:
    abilities = Abilities(sources=sources_of(PAGE), second_look=SecondLook(reviewer))
    return TurnHarness(model, [answering_tool("look")], abilities=abilities, **more)


def verdicts(events: list[Any]) -> list[list[Verdict]]:
    deltas = (event.delta for event in events if isinstance(event, BlockDelta))
    return [[one.verdict for one in delta.citations] for delta in deltas if isinstance(delta, CitationsGrowth)]


async def test_only_the_last_text_of_the_last_response_is_reviewed():
    model = ScriptedModel([[text(DOUBTFUL), call("look", {})], [text(DOUBTFUL), thinking("Hm."), text(DOUBTFUL)]])
    reviewer = ScriptedModel([[PROOF]])
    recording = await harness(model, reviewer).play()
    assert verdicts(recording.events) == [["unsupported"], ["unsupported"], ["unsupported"], ["supported"]]
    assert len(reviewer.contexts) == 1
    stored = [message for message in recording.stored_messages if isinstance(message, AssistantMessage)]
    blocks = [block for block in stored[-1].content if isinstance(block, Text)]
    assert [one.verdict for block in blocks for one in block.citations] == ["unsupported", "supported"]


async def test_a_review_that_changes_nothing_sends_nothing():
    for answer in ([text("[]")], [fails("No.")], []):
        recording = await harness(ScriptedModel([[text(DOUBTFUL)]]), ScriptedModel([answer])).play()
        assert verdicts(recording.events) == [["unsupported"]]
        assert recording.stop_reason == "stop"


async def test_a_response_that_failed_is_not_reviewed():
    reviewer = ScriptedModel([[PROOF]])
    recording = await harness(ScriptedModel([[text(DOUBTFUL), fails("Cut.")]]), reviewer).play()
    assert (recording.stop_reason, reviewer.contexts) == ("error", [])


async def test_its_tokens_count_for_the_turn_at_the_price_of_its_model():
    profile = Profile(price=Price(input=1.0, output=1.0))
    model = ScriptedModel([[text(DOUBTFUL)]], profile=profile, usage=Usage(input=100, output=10))
    dear = Profile(price=Price(input=10.0, output=10.0))
    reviewer = ScriptedModel([[PROOF]], profile=dear, usage=Usage(input=200, output=20))
    recording = await harness(model, reviewer).play()
    usage = recording.end.usage
    assert (usage.input_tokens, usage.output_tokens) == (300, 30)
    assert usage.cost == (110 * 1.0 + 220 * 10.0) / 1e6

    unpriced = ScriptedModel([[PROOF]])
    recording = await harness(ScriptedModel([[text(DOUBTFUL)]], profile=profile), unpriced).play()
    assert recording.end.usage.cost is None


async def test_a_turn_that_breaks_off_during_the_review_is_closed_and_can_be_taken_over():
    steps: list[Any] = []
    broken = harness(ScriptedModel([[text(DOUBTFUL)]]), ScriptedModel([[PROOF]]))
    running = broken.steps()
    async for step in running:
        steps.append(step)
        if isinstance(step, BlockDelta) and isinstance(step.delta, CitationsGrowth):
            break
    await running.aclose()
    assert not any(isinstance(step, BlockStop | MessageDelta) for step in steps)

    resumed = harness(
        ScriptedModel([[text(DOUBTFUL)]]), ScriptedModel([[PROOF]]), settings={"resumed": Resumed(blocks=0)}
    )
    recording = await resumed.play()
    assert verdicts(recording.events) == [["unsupported"], ["supported"]]
    assert len(recording.stored_messages) == 1
