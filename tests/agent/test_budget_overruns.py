"""A thousand budgets on a virtual clock: random limits, prices, models and tools, several loops in one budget. None is
overrun by more than a second or the price of one call, and each run has an answer."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec import UNSET

from agent.turn_harness import TurnHarness, TurnRecording, tool
from agent.virtual_clock import VirtualLoop, run_virtually
from footnote.agent.budget import RunBudget, with_updates
from footnote.agent.window import message_tokens, text_tokens, tool_tokens
from footnote.cancel import Cancelled, CancelScope
from footnote.models import errors
from footnote.models.accumulate import Accumulator
from footnote.models.base import Context, Options
from footnote.models.profiles import Price, Profile, ThinkingStyle
from footnote.protocol.events import ErrorEvent, TextBlock
from footnote.protocol.messages import Failure, Usage, call_ids, user_message
from footnote.protocol.plans import Budget
from footnote.protocol.stream import Start, StreamEvent
from footnote.protocol.tools import Progress, text_result
from footnote.tools.base import Outcome, ToolContext

BUDGETS = 1_000
MAX_ITEMS = 4
PIECE_SECONDS = 0.2


@dataclass
class Bill:
    """What the provider really charges, call by call."""

    calls: list[float] = field(default_factory=list[float])
    pages: int = 0


class OddModel:
    """Answers at random: at once or late or never, with tools or text, short or up to its limit."""

    id = "acme/odd"

    def __init__(self, dice: random.Random, bill: Bill) -> None:
        rate = 10 ** dice.uniform(-1, 1.3)
        price = Price(rate, rate * dice.choice([1, 4, 5]), None, dice.choice([None, rate * 1.25]))
        window = dice.choice([4_096, 32_768, 200_000])
        thinking: ThinkingStyle | None = dice.choice(["none", "budget", "adaptive", None])
        self.profile = Profile(window, dice.choice([512, 8_192, 64_000]), thinking, price=price)
        self._dice = dice
        self.bill = bill

    async def stream(
        self, context: Context, options: Options, cancel: CancelScope
    ) -> AsyncGenerator[StreamEvent, None]:
        dice = self._dice
        limit = min(options.max_tokens or 10**9, self.profile.max_output)
        estimate = text_tokens(context.system) + sum(map(message_tokens, context.messages)) + tool_tokens(context.tools)
        usage = Usage(input=int(estimate * dice.uniform(0.6, 1.2)), output=self._length(limit))
        fold = Accumulator(self.id, call_ids(context.messages))
        yield Start(self.id)
        try:
            await cancel.wait(asyncio.sleep(dice.choice([0, 0, 0, 0.5, 0.5, 3, 3, 20, 10_000])))
            if dice.random() < 0.1:
                raise ConnectionError
            if context.tools and dice.random() < 0.6:
                for number in range(dice.randint(1, 4)):
                    start = fold.open_call("", "look")
                    yield start
                    fold.append(start.index, f'{{"seconds": {dice.choice([0, 0, 1, 5, 60, 10_000])}, "n": {number}}}')
                    if end := fold.close(start.index):
                        yield end
            else:
                start = fold.open_text()
                yield start
                for _ in range(dice.choice([1, 5, 40])):
                    await cancel.wait(asyncio.sleep(PIECE_SECONDS))
                    if event := fold.append(start.index, "It is so. "):
                        yield event
        except (Cancelled, ConnectionError, GeneratorExit) as error:
            # What was not received may be billed all the same.
            self._charge(Usage(input=usage.input, output=dice.choice([0, limit])))
            if isinstance(error, GeneratorExit):
                raise
            failure = errors.ABORTED if isinstance(error, Cancelled) else Failure("connection_error", "Lost.")
            for event in fold.fail("aborted" if isinstance(error, Cancelled) else "error", failure):
                yield event
            return
        self._charge(usage)
        fold.usage = usage
        for event in fold.finish("stop", None):
            yield event

    def _length(self, limit: int) -> int:
        return self._dice.choice([min(limit, 200), limit // 2, limit])

    def _charge(self, usage: Usage) -> None:
        assert self.profile.price is not None
        self.bill.calls.append(self.profile.price.cost(usage))


def look_tool(dice: random.Random, model: OddModel, budget: RunBudget) -> Any:
    """Takes its time, reads pages as far as the budget allows, asks the model as a search does for its summary, and may
    not want to stop."""
    counted = budget.model(model)

    async def look(params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        model.bill.pages += budget.allow_pages(dice.randint(0, 8))
        yield Progress("reading", 0, None)
        try:
            await asyncio.sleep(params["seconds"])
            request = Context("", (user_message("Summarise it. " * dice.choice([1, 500])),))
            async with aclosing(counted.stream(request, Options(), CancelScope())) as events:
                async for _ in events:
                    pass
        except asyncio.CancelledError:
            if dice.random() < 0.3:
                await asyncio.sleep(30)  # it cleans up, and takes too long
            raise
        yield text_result("A tree. " * dice.choice([1, 500]))

    return tool("look", look)


@dataclass
class Case:
    limits: Budget
    items: int
    dice: random.Random

    @classmethod
    def draw(cls, seed: int) -> "Case":
        dice = random.Random(seed)
        seconds = round(10 ** dice.uniform(0, 2.5), 2) if dice.random() < 0.8 else UNSET
        usd = 10 ** dice.uniform(-4, 0.5) if dice.random() < 0.7 else UNSET
        pages = dice.randint(0, 30) if dice.random() < 0.5 else UNSET
        if seconds is UNSET:
            seconds = 500.0  # a model that hangs for ever would never end the run
        return cls(Budget(seconds, usd, pages), dice.choice([0, 0, 1, MAX_ITEMS]), dice)


@dataclass
class Ending:
    elapsed: float
    bill: Bill
    answer: str
    error: str | None
    spent_usd: float


async def carry_out(case: Case, loop: VirtualLoop) -> Ending:
    """Loops for items side by side, as a research run has them, and one that answers in the end."""
    bill, dice = Bill(), case.dice
    budget = RunBudget(case.limits, started_at=loop.time(), clock=loop.time)
    model = OddModel(dice, bill)

    async def play(own: RunBudget) -> TurnRecording:
        history = (user_message(dice.choice(["Why?", "How high is the Eiffel Tower? " * 200])),)
        thinking = dice.choice([None, 2_000, 16_000])
        settings = {"max_tool_rounds": dice.randint(1, 20), "thinking_budget": thinking}
        harness = TurnHarness(model, [look_tool(dice, model, own)], history, budget=own, settings=settings)
        recording = TurnRecording()
        async with aclosing(with_updates(harness.steps(), own)) as steps:
            async for step in steps:
                recording.steps.append(step)
        return recording

    await asyncio.gather(*(play(budget.for_item(dice.randint(0, 10))) for _ in range(case.items)))
    recording = await play(budget)
    budget.stop()
    answer = next((one.text for one in reversed(recording.blocks) if isinstance(one, TextBlock)), "")
    error = next((one.error.type for one in recording.events if isinstance(one, ErrorEvent)), None)
    return Ending(loop.time(), bill, answer, error, budget.spent.usd or 0.0)


@pytest.mark.parametrize("part", range(10))
def test_no_budget_is_overrun_and_every_run_has_an_answer(part: int):
    for seed in range(part * BUDGETS // 10, (part + 1) * BUDGETS // 10):
        case = Case.draw(seed)
        ending = run_virtually(lambda loop, case=case: carry_out(case, loop))
        limits, bill = case.limits, ending.bill

        assert limits.seconds is not UNSET
        assert ending.elapsed <= limits.seconds + 1, seed
        if limits.usd is not UNSET:
            assert sum(bill.calls) <= limits.usd + max(bill.calls, default=0.0), seed
            assert ending.spent_usd <= limits.usd + max(bill.calls, default=0.0), seed
        if limits.pages is not UNSET:
            assert bill.pages <= limits.pages, seed
        assert ending.answer.strip() or ending.error == "connection_error", seed
