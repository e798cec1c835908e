"""Budgets: what a run may use of time, money and pages, and that it answers in any case."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from agent.turn_harness import TurnHarness, TurnRecording, answering_tool, tool
from footnote.agent.budget import RunBudget, check_price_known, with_updates
from footnote.agent.loop import ANSWER_DUE
from footnote.agent.spending import BUDGET_USED_UP
from footnote.cancel import CancelScope
from footnote.models.base import Context, Options
from footnote.models.profiles import Price, Profile
from footnote.models.scripted import ScriptedModel, ScriptedPause, call, fails, text
from footnote.protocol.errors import UsageError
from footnote.protocol.events import BudgetUpdate, MessageDelta
from footnote.protocol.messages import Failure, Usage, user_message
from footnote.protocol.plans import Budget, Spent
from footnote.protocol.stream import Done, Failed, StreamEvent
from footnote.protocol.tools import Progress
from footnote.tools.base import Outcome, ToolContext

PRICED = Profile(price=Price(input=1.0, output=10.0), max_output=10_000, thinking="none")
REQUEST = Context("", (user_message("Why?"),))


@dataclass
class RecordingModel:
    """Passes requests on to a script, and records their options."""

    script: ScriptedModel
    options: list[Options] = field(default_factory=list[Options])
    id: str = "footnote/scripted"

    @property
    def profile(self) -> Profile:
        return self.script.profile

    async def stream(
        self, context: Context, options: Options, cancel: CancelScope
    ) -> AsyncGenerator[StreamEvent, None]:
        self.options.append(options)
        async for event in self.script.stream(context, options, cancel):
            yield event


def priced(*replies: Any, usage: Usage | None = None, profile: Profile = PRICED) -> RecordingModel:
    return RecordingModel(ScriptedModel(replies, profile=profile, usage=usage))


async def last_event(model: Any, options: Options = Options()) -> Done | Failed:  # noqa: B008 - frozen
    events = [event async for event in model.stream(REQUEST, options, CancelScope())]
    assert isinstance(events[-1], Done | Failed)
    return events[-1]


# Money ---------------------------------------------------------------------------------------------------------------


async def test_without_limits_a_model_stays_as_it_is():
    model = priced([text("Hi")])

    assert RunBudget().model(model) is model


async def test_what_a_call_has_used_is_counted_by_its_price():
    budget = RunBudget(Budget(usd=1.0))
    await last_event(budget.model(priced([text("Hi")], usage=Usage(input=100_000, output=20_000))))

    assert budget.spent.usd == pytest.approx(0.1 + 0.2)


async def test_a_call_may_write_only_what_the_money_pays_for():
    model = priced([text("Hi")], [text("Hi")])
    budget = RunBudget(Budget(usd=0.04))
    budget.close()
    await last_event(budget.model(model))

    [options] = model.options
    assert options.max_tokens is not None
    assert 3_900 < options.max_tokens < 4_000, "0.04 dollars pay for 4,000 tokens of output, and a little input"


async def test_a_call_that_does_not_fit_is_not_begun():
    model = priced([text("Hi")])
    budget = RunBudget(Budget(usd=0.001))
    last = await last_event(budget.model(model))

    assert last.message.failure == BUDGET_USED_UP
    assert (model.options, budget.spent.usd) == ([], 0.0)


async def test_while_things_are_looked_up_a_call_leaves_money_for_others():
    model = priced([text("Hi")])
    await last_event(RunBudget(Budget(usd=0.20)).model(model))

    [options] = model.options
    assert options.max_tokens is not None
    assert 4_900 < options.max_tokens < 5_000, "a quarter of the money"


async def test_thinking_is_a_part_of_what_a_call_may_write():
    thinking = replace(PRICED, thinking="budget", max_output=32_000)
    model = priced([text("Hi")], [text("Hi")], profile=thinking)
    await last_event(RunBudget(Budget(usd=0.30)).model(model), Options(thinking_budget=8_000))
    await last_event(RunBudget(Budget(usd=0.10)).model(model), Options(thinking_budget=8_000))

    first, second = model.options
    assert first.max_tokens is not None
    assert (first.thinking_budget, second.thinking_budget) == (first.max_tokens - 4_096, None)


async def test_several_calls_at_once_fit_together():
    """Each of them waits for the others if only one of them fits."""
    gate = asyncio.Event()
    replies = [[ScriptedPause(gate), text("Hi")] for _ in range(4)]
    model = priced(*replies, usage=Usage(input=10, output=100))
    budget = RunBudget(Budget(usd=0.012))
    budget.close()
    calls = [asyncio.create_task(last_event(budget.model(model))) for _ in range(4)]
    for _ in range(20):
        await asyncio.sleep(0)
    begun = len(model.options)
    gate.set()
    ends = await asyncio.gather(*calls)

    assert begun == 1, "the first has reserved nearly all of the money"
    assert [type(end) for end in ends] == [Done] * 4
    assert budget.spent.usd == pytest.approx(4 * 0.00101)


async def test_a_call_that_was_broken_off_counts_as_its_estimate():
    budget = RunBudget(Budget(usd=1.0))
    await last_event(
        budget.model(priced([text("It is"), fails("The connection was lost.")])), Options(max_tokens=1_000)
    )

    assert budget.spent.usd == pytest.approx(0.01, rel=0.01)


async def test_a_call_that_the_provider_refused_costs_nothing():
    refused = replace(fails(), failure=Failure("api_error", "No such key.", status=401))
    budget = RunBudget(Budget(usd=1.0))
    await last_event(budget.model(priced([refused])))

    assert budget.spent.usd == 0.0


async def test_a_call_that_is_left_counts_as_its_estimate():
    budget = RunBudget(Budget(usd=1.0))
    stream = budget.model(priced([text("Hi", "there")])).stream(REQUEST, Options(max_tokens=1_000), CancelScope())
    await anext(stream)
    await stream.aclose()

    assert budget.spent.usd == pytest.approx(0.01, rel=0.01)


async def test_seven_tenths_of_the_money_end_looking_things_up():
    budget = RunBudget(Budget(usd=1.0))
    model = budget.model(priced(*[[text("Hi")]] * 3, usage=Usage(output=30_000)))
    closing: list[bool] = []
    for _ in range(3):
        await last_event(model)
        closing.append(budget.is_closing)

    assert closing == [False, False, True]


async def test_what_was_reserved_at_a_crash_counts_for_the_process_that_goes_on():
    stored: list[bytes] = []

    async def store(spent: bytes) -> None:
        stored.append(spent)

    budget = RunBudget(Budget(usd=1.0, pages=9), store=store)
    budget.allow_pages(4)
    stream = budget.model(priced([text("Hi")])).stream(REQUEST, Options(max_tokens=50_000), CancelScope())
    await anext(stream)
    successor = RunBudget(Budget(usd=1.0, pages=9))
    successor.restore(stored[-1])
    await stream.aclose()

    assert len(stored) == 1, "before the call was begun"
    assert successor.spent.usd == pytest.approx(0.1, rel=0.01)
    assert (successor.spent.pages, successor.allow_pages(9)) == (4, 5)


def test_money_is_no_limit_for_a_model_whose_price_is_not_known():
    with pytest.raises(UsageError) as caught:
        check_price_known(ScriptedModel([]), Budget(usd=1.0))

    assert caught.value.code == "budget_needs_price"
    check_price_known(ScriptedModel([]), Budget(seconds=1.0))
    check_price_known(priced(), Budget(usd=1.0))


# Pages ---------------------------------------------------------------------------------------------------------------


async def test_pages_are_counted_for_an_item_and_for_the_whole():
    budget = RunBudget(Budget(pages=10))
    first, second, third = budget.for_item(4), budget.for_item(4), budget.for_item(4)

    assert [item.allow_pages(6) for item in (first, second, third)] == [4, 4, 2]
    assert (budget.spent.pages, budget.allow_pages(1), third.allow_pages(1)) == (10, 0, 0)


async def test_closing_an_item_leaves_the_others_and_closing_the_whole_closes_all():
    budget = RunBudget(Budget(pages=10))
    first, second = budget.for_item(5), budget.for_item(5)
    first.close()
    assert (first.is_closing, second.is_closing, budget.is_closing) == (True, False, False)
    budget.close()
    assert (second.is_closing, budget.for_item(1).is_closing) == (True, True)


# The turn ------------------------------------------------------------------------------------------------------------


async def play(harness: TurnHarness) -> TurnRecording:
    assert harness.budget is not None
    recording = TurnRecording()
    async for step in with_updates(harness.steps(), harness.budget):
        recording.steps.append(step)
    return recording


async def test_a_tool_that_hangs_is_stopped_and_the_model_answers_without_tools():
    async def hang(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        yield Progress("reading", 0, None)
        await asyncio.Event().wait()

    model = ScriptedModel([[call("hang", {}, id="c1"), call("fine", {}, id="c2")], [text("It is so.")]])
    harness = TurnHarness(model, [tool("hang", hang), answering_tool("fine")], budget=RunBudget(Budget(seconds=0.3)))
    recording = await play(harness)

    assert (recording.text, recording.stop_reason) == ("It is so.", "stop")
    assert recording.statuses("c1") == ["pending", "running", "error"]
    assert recording.statuses("c2") == ["pending", "running", "done"]
    assert model.contexts[-1].tools == ()
    assert model.contexts[-1].system.endswith(ANSWER_DUE)


async def test_a_model_that_hangs_is_answered_for_by_code():
    model = ScriptedModel([[ScriptedPause(asyncio.Event()), text("never")]])
    recording = await play(TurnHarness(model, budget=RunBudget(Budget(seconds=0.2))))

    assert recording.text.startswith("*The budget of this question was used up")
    assert (recording.stop_reason, recording.end.delta.unsourced) == ("stop", UNSET), "it states no facts"


async def test_what_a_model_has_written_when_the_time_is_over_is_the_answer():
    model = ScriptedModel([[text("It is so"), ScriptedPause(asyncio.Event()), text("never")]])
    recording = await play(TurnHarness(model, budget=RunBudget(Budget(seconds=0.2))))

    assert (recording.text, recording.stop_reason) == ("It is so", "length")


async def test_the_note_about_the_budget_is_in_the_language_of_the_question():
    model = ScriptedModel([[ScriptedPause(asyncio.Event())]])
    history = (user_message("Tháp Eiffel cao bao nhiêu mét?"),)
    recording = await play(TurnHarness(model, history=history, budget=RunBudget(Budget(seconds=0.1))))

    assert recording.text.startswith("*Ngân sách")


async def test_a_turn_that_is_closed_early_is_answered_without_tools():
    budget = RunBudget()
    budget.close()
    model = ScriptedModel([[text("At once.")]])
    recording = await TurnHarness(model, [answering_tool("look")], budget=budget).play()

    assert (recording.text, recording.stop_reason) == ("At once.", "stop")
    assert model.contexts[0].tools == ()


async def test_a_model_that_only_calls_tools_when_the_answer_is_due_is_answered_for():
    budget = RunBudget(Budget(pages=3))
    budget.close()
    model = ScriptedModel([[call("look", {}, id="c1")]])
    recording = await play(TurnHarness(model, [answering_tool("look")], budget=budget))

    assert recording.text
    assert recording.statuses("c1") == ["pending", "running", "error"]
    assert recording.stop_reason == "stop"


async def test_a_user_who_stops_gets_no_answer_by_rule():
    model = ScriptedModel([[ScriptedPause(asyncio.Event())]])
    harness = TurnHarness(model, budget=RunBudget(Budget(seconds=60)))
    recording = await harness.play(stop_after=1)

    assert (recording.text, recording.stop_reason) == ("", "aborted")


async def test_what_was_spent_is_told_and_at_last_before_the_end():
    budget = RunBudget(Budget(usd=1.0, pages=5))
    model = ScriptedModel([[text("It ", "is ", "so.")]], profile=PRICED, usage=Usage(output=1_000))
    recording = await play(TurnHarness(model, budget=budget))
    updates = [event for event in recording.events if isinstance(event, BudgetUpdate)]
    last = max(at for at, event in enumerate(recording.events) if isinstance(event, BudgetUpdate))

    assert updates[0].spent == Spent(updates[0].spent.seconds, 0.0, 0)
    assert updates[-1].spent.usd == pytest.approx(0.01)
    assert len(updates) == 2, "at most one a second between them"
    assert isinstance(recording.events[last + 1], MessageDelta)
