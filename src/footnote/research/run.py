"""A research run: plan, investigate, look for gaps, write, repair, answer.

Each step stores its outcome before the next one begins, and a step whose outcome is stored does nothing: a run that
another process adopts goes through the same steps. The outcomes are the plan, the messages of the items, the sections,
the call that writes the report, and the answer.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from functools import partial

from msgspec.structs import replace

from footnote.agent.turn import Step
from footnote.protocol.events import ErrorBody
from footnote.protocol.messages import AssistantMessage
from footnote.protocol.plans import MAX_PLAN_ITEMS, PlanItem
from footnote.research.answer import answer, repair_report
from footnote.research.context import ResearchContext
from footnote.research.investigate import Investigation
from footnote.research.plan import PlanState, add_items
from footnote.research.plan_requests import (
    gaps_request,
    parse_gaps,
    parse_plan,
    plan_request,
    reader_prompt,
    reader_question,
    steer_request,
    steered,
)
from footnote.research.plan_rules import plan_by_rule
from footnote.research.reader import ItemReader, ReaderSetup
from footnote.research.replay import replayed_blocks
from footnote.research.write import write_report

MIN_GAP_ITEMS = 2
"""How many items may be added for gaps, however many the plan has."""


async def run(context: ResearchContext) -> AsyncGenerator[Step, None]:
    """Runs one turn, from the question to the end of the answer."""
    state = context.state
    yield state.start()
    for step in _shown_again(context):
        yield step
    error: ErrorBody | None = None
    for phase in (make_plan, investigate, fill_gaps, write_report, repair_report, answer):
        async with aclosing(phase(context)) as steps:
            async for step in steps:
                state.observe(step)
                yield step
        error = _fatal_error(context)
        if error is not None or context.cancel.is_cancelled:
            break
    reason = "error" if error else "aborted" if context.cancel.is_cancelled else "stop"
    for step in state.close(reason, error, context.window.report):
        yield step


def _shown_again(context: ResearchContext) -> Iterator[Step]:
    """After a crash, the work of the items, unless what came after it is stored and shown."""
    if context.state.turn.resumed is not None and context.write_call is None:
        for item_id, messages in context.records:
            yield from replayed_blocks(messages, context.state.indexes, item_id)


def _fatal_error(context: ResearchContext) -> ErrorBody | None:
    """The error of the readers, if it left nothing to report on."""
    items = context.plan.state.items
    if context.write_call is not None or not context.records.errors or any(item.status == "done" for item in items):
        return None
    return None if context.findings() else context.records.errors[0]


# Plan ------------------------------------------------------------------------------------------------------


async def make_plan(context: ResearchContext) -> AsyncGenerator[Step, None]:
    setup, plan = context.setup, context.plan
    if await plan.load(context.plan_message):
        _count_ended_items(context)
        for step in plan.steps():
            yield step
        return
    made = await _planned_questions(context)
    change = partial(_planned, made=made, max_items=setup.max_questions, template=setup.template.name)
    for step in await plan.change(change):
        yield step


async def _planned_questions(context: ResearchContext) -> tuple[Sequence[str], int]:
    """By the model; by rule where there is none, or where it is too small or gives no plan. And how many messages of
    the user they go by."""
    question, template, max_items = context.setup.question, context.setup.template, context.setup.max_questions
    if not context.is_by_rule:
        steering = context.plan.state.steering
        request = plan_request(question, max_items=max_items, template=template, steering=steering, today=context.today)
        reply = await context.ask(*request)
        if questions := parse_plan(reply.text, max_items=max_items):
            return questions, len(steering)
    return plan_by_rule(question, max_items=max_items, template=template, locale=context.locale), 0


def _planned(plan: PlanState, made: tuple[Sequence[str], int], max_items: int, template: str) -> PlanState:
    questions, heard = made
    planned = add_items(plan, questions, max_items=max_items)
    return replace(planned, template=template, phase="investigating", heard=heard)


def _count_ended_items(context: ResearchContext) -> None:
    """Counts what items have used that ended before a crash. The others count it themselves."""
    price = context.model.profile.price
    for item in context.plan.state.items:
        for message in context.records.of(item) if item.status not in ("pending", "running") else ():
            if isinstance(message, AssistantMessage):
                context.state.record_usage(message.usage, price.cost(message.usage) if price else None)


# Investigate -----------------------------------------------------------------------------------------------


async def investigate(context: ResearchContext) -> AsyncGenerator[Step, None]:
    """Reads for the items that are pending, or were running before a crash."""
    setup = context.setup
    if context.plan.state.phase == "writing":
        return
    investigation = Investigation(
        context.plan,
        context.budget,
        partial(_reader, context),
        partial(_revised, context),
        at_once=setup.at_once,
        locale=context.locale,
    )
    async with aclosing(investigation.steps(context.cancel)) as steps:
        async for step in steps:
            yield step
    for reader in investigation.ended:
        context.records.keep(reader.item, reader.messages, reader.error)
        context.state.record_usage(*reader.usage)


def _reader(context: ResearchContext, item: PlanItem) -> ItemReader:
    turn, template = context.state.turn, context.setup.template
    is_guided = context.is_by_rule or context.model.profile.is_guided
    # A guided model has its look-ups made by rule, from its question as it is.
    prompt = item.question if is_guided else reader_question(context.setup.question, item, context.plan.state)
    system = turn.system if is_guided else f"{turn.system}\n\n{reader_prompt(context.locale, template)}"
    setup = ReaderSetup(
        turn,
        context.model,
        context.toolbox,
        context.abilities,
        context.approver,
        context.state.indexes,
        context.call_ids,
    )
    return ItemReader(item, prompt, system, setup, context.records.of(item))


async def _revised(context: ResearchContext, plan: PlanState) -> Callable[[PlanState], PlanState]:
    """How the plan changes because of what the user has just said."""
    if context.is_by_rule:
        return partial(add_items, questions=plan.steering[-1:], max_items=MAX_PLAN_ITEMS)
    findings = await asyncio.to_thread(context.findings)
    reply = await context.ask(*steer_request(context.setup.question, plan, findings))
    return partial(steered, text=reply.text, max_items=MAX_PLAN_ITEMS)


# Gaps ------------------------------------------------------------------------------------------------------


async def fill_gaps(context: ResearchContext) -> AsyncGenerator[Step, None]:
    """Once, the model sees all statements, and may add items."""
    setup, plan = context.setup, context.plan.state
    if plan.phase == "writing" or context.is_by_rule or context.budget.is_closing or plan.is_finishing:
        return
    if plan.phase != "filling":
        findings = await asyncio.to_thread(context.findings)
        max_new = max(MIN_GAP_ITEMS, setup.max_questions - len(plan.items))
        request = gaps_request(setup.question, plan, findings, max_new=max_new, template=setup.template)
        reply = await context.ask(*request)
        questions = parse_gaps(reply.text, max_new=max_new)
        change = partial(_filling, questions=questions, heard=len(plan.steering))
        for step in await context.plan.change(change):
            yield step
    async with aclosing(investigate(context)) as steps:
        async for step in steps:
            yield step


def _filling(plan: PlanState, questions: Sequence[str], heard: int) -> PlanState:
    return replace(add_items(plan, questions, max_items=MAX_PLAN_ITEMS), phase="filling", heard=heard)
