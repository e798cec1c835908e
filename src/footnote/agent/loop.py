"""The loop: ask the model, execute the tool calls of its response, ask again, until it has answered.

Everything that happens is yielded: events for the clients that follow the turn, checkpoints for the caller to store.
The caller passes in the state of the turn, so that it can close a turn whose loop was broken off.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

from msgspec.structs import replace

from footnote.agent.answer_by_rule import answering
from footnote.agent.budget import RunBudget
from footnote.agent.calls import (
    OUTPUT_LIMIT_REACHED,
    RESPONSE_BROKEN_OFF,
    ROUNDS_USED_UP,
    Calls,
    context_of_call,
    refused_calls,
)
from footnote.agent.guided import GuidedModel
from footnote.agent.look_ups import LookUps
from footnote.agent.repair import FileRepair
from footnote.agent.round import Round
from footnote.agent.turn import Step, Turn
from footnote.agent.turn_state import TurnState
from footnote.agent.window import Window
from footnote.cancel import CancelScope
from footnote.evidence.sources import Sources
from footnote.models.base import Context, Model
from footnote.models.errors import CONTEXT_OVERFLOW, TOOLS_UNSUPPORTED
from footnote.protocol.events import ErrorBody, TurnStopReason
from footnote.protocol.messages import AssistantMessage
from footnote.tools.approval import NO_APPROVER, Approver
from footnote.tools.base import Abilities
from footnote.tools.registry import Toolbox
from footnote.tracing import SLOW_BUCKETS, Operation

TOOLS_USED_UP = (
    "No tool can be called any more in this turn: all its rounds of tool calls are used up. Answer now with what you "
    "have, and say what could not be found out or done."
)
"""The end of the system prompt in the last round, which has no tools. Without this note, models promise to search
further, or write a call as text."""
ANSWER_DUE = (
    "No tool can be called any more in this turn: the answer is due now. Answer at once and briefly with what you "
    "have, and say what could not be found out or done."
)
"""The same where the budget of the run, or its user, ends looking things up."""

ROUNDS = Operation(
    "round", "Rounds of runs: one response of a model, and its calls.", span="round", buckets=SLOW_BUCKETS
)


async def run(
    state: TurnState,
    model: Model,
    toolbox: Toolbox,
    abilities: Abilities,
    cancel: CancelScope,
    approver: Approver = NO_APPROVER,
    budget: RunBudget | None = None,
) -> AsyncGenerator[Step, None]:
    """Runs one turn, from the question to the end of the answer. Its calls of models are counted here."""
    turn, budget = state.turn, budget or RunBudget()
    model, abilities = budget.model(model), budget.limit(abilities)
    window, title = Window(turn, model), partial(toolbox.title, locale=turn.locale)
    responder = GuidedModel(model, abilities.sources) if model.profile.is_guided else model
    yield state.start()
    repair = FileRepair(state, window, model, toolbox, abilities, approver)
    message, withheld = state.interrupted_response(), False
    while not repair.has_begun:
        with ROUNDS() as span:
            earlier = len(state.responses) - (message is not None)
            span.set_attributes({"footnote.round": earlier + 1})
            withheld = len(toolbox) > 0 and _is_last_round(earlier, turn, budget, is_resumed=message is not None)
            tools = Toolbox.empty() if withheld else toolbox

            if message is None:
                context, summary = await window.context(state.messages, await tools.offered_specs(abilities), cancel)
                context = _with_last_note(context, budget, earlier) if withheld else context
                for step in state.record_summary(summary):
                    yield step
                response = Round(answering(responder, budget), state.indexes, title, abilities, state.messages)
                async with aclosing(response.events(context, window.options, cancel)) as events:
                    async for event in events:
                        state.observe(event)
                        yield event
                if response.refusal == CONTEXT_OVERFLOW and window.shrink():
                    continue
                if response.refusal == TOOLS_UNSUPPORTED and context.tools:
                    responder = GuidedModel(model, abilities.sources)
                    continue
                message = response.message
                window.calibrate(message.usage)
                yield state.append_response(message, response.review)
            if not message.calls:
                break

            of_call = partial(context_of_call, turn, abilities)
            calls = Calls(state.open_calls(), tools, state.indexes, of_call, approver, budget.calls_scope)
            refused = refused_calls(message, _refusal_reason(message, withheld=withheld))
            async with aclosing(calls.steps(state.messages, cancel, refused=refused, resumed=turn.resumed)) as steps:
                async for step in steps:
                    state.observe(step)
                    yield step
            for step in state.append_results(calls):
                yield step
            if cancel.is_cancelled or withheld or message.stop_reason in ("error", "aborted"):
                break
            message = None
    async with aclosing(_end(state, repair, window, abilities.sources, cancel, budget, withheld=withheld)) as steps:
        async for step in steps:
            yield step


async def _end(
    state: TurnState,
    repair: FileRepair,
    window: Window,
    sources: Sources,
    cancel: CancelScope,
    budget: RunBudget,
    *,
    withheld: bool,
) -> AsyncGenerator[Step, None]:
    """The steps after the answer: its files are repaired, and the turn is closed."""
    answer = repair.answer
    reason = _stop_reason(answer, cancel, used_up=withheld and not budget.is_closing)
    if reason == "stop" and not budget.end_scope.is_cancelled:
        with CancelScope.linked_to(cancel, budget.end_scope) as scope:
            async with aclosing(repair.steps(scope)) as steps:
                async for step in steps:
                    state.observe(step)
                    yield step
    unsourced = reason == "stop" and await asyncio.to_thread(_is_unsourced, state, answer, sources)
    for step in state.close(reason, _error(answer, reason), window.report, unsourced=unsourced):
        yield step


def _is_unsourced(state: TurnState, answer: AssistantMessage, sources: Sources) -> bool:
    return LookUps.of(state.messages).is_unsourced(answer.text, sources)


def _is_last_round(earlier: int, turn: Turn, budget: RunBudget, *, is_resumed: bool) -> bool:
    """Whether a response gets no tools, so that it is the answer. One from before a crash had its tools."""
    return earlier >= turn.max_tool_rounds or (budget.is_closing and not is_resumed)


def _with_last_note(context: Context, budget: RunBudget, earlier: int) -> Context:
    note = ANSWER_DUE if budget.is_closing else TOOLS_USED_UP if earlier > 0 else ""
    return replace(context, system=f"{context.system}\n\n{note}".strip()) if note else context


def _refusal_reason(message: AssistantMessage, *, withheld: bool) -> str | None:
    """Why the calls of this response are answered without being executed. None: they are executed."""
    if message.stop_reason in ("error", "aborted"):
        return RESPONSE_BROKEN_OFF
    if message.stop_reason == "length":
        return OUTPUT_LIMIT_REACHED
    return ROUNDS_USED_UP if withheld else None


def _stop_reason(message: AssistantMessage, cancel: CancelScope, *, used_up: bool) -> TurnStopReason:
    """How the turn ended, by its last response. A cancel after the end of that response changes nothing."""
    match message.stop_reason:
        case "error" | "aborted" as reason:
            return reason
        case _ if message.calls and cancel.is_cancelled:
            return "aborted"
        case "length" if not message.calls:
            return "length"
        case _ if used_up:
            return "max_rounds"
        case _:
            return "stop"


def _error(message: AssistantMessage, reason: TurnStopReason) -> ErrorBody | None:
    failure = message.failure
    if reason != "error" or failure is None:
        return None
    return ErrorBody.from_failure(failure)
