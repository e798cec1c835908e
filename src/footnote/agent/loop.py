"""The loop: ask the model, carry out what it asks for, ask again, until it has answered.

Everything that happens is yielded: events for whoever follows the turn, `Kept` messages for whoever stores it.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

from msgspec.structs import replace

from footnote.agent.calls import MAX_CALLS, OUTPUT_LIMIT_REACHED, RESPONSE_BROKEN_OFF, ROUNDS_USED_UP, Calls
from footnote.agent.round import Round
from footnote.agent.turn import Indexes, Step, Turn
from footnote.agent.turn_state import TurnState
from footnote.agent.window import Window
from footnote.cancel import CancelScope
from footnote.models.base import Context, Model
from footnote.models.errors import CONTEXT_OVERFLOW, TOOLS_UNSUPPORTED
from footnote.protocol.events import TurnStopReason
from footnote.protocol.messages import AssistantMessage
from footnote.tools.approval import NO_APPROVER, Approver
from footnote.tools.base import Abilities, ToolContext
from footnote.tools.registry import Toolbox
from footnote.tracing import SLOW_BUCKETS, Operation

log = logging.getLogger(__name__)

TOOLS_USED_UP = (
    "No tool can be called any more in this turn: all its rounds of tool calls are used up. Answer now with what you "
    "have, and say what could not be found out or done."
)
"""The last words of the system prompt in the last round, which has no tools. A model that is not told so promises to
look further, or writes a call as text."""

ROUNDS = Operation(
    "round", "Rounds of runs: one response of a model, and its calls.", span="round", buckets=SLOW_BUCKETS
)


async def run(
    turn: Turn,
    model: Model,
    toolbox: Toolbox,
    abilities: Abilities,
    cancel: CancelScope,
    approver: Approver = NO_APPROVER,
) -> AsyncGenerator[Step, None]:
    """One turn, from the question to the last word of the answer."""
    ledger, window = TurnState(turn, model), Window(turn, model)
    indexes = Indexes(turn.resumed.blocks if turn.resumed else 0)
    title = partial(toolbox.title, locale=turn.locale)
    yield ledger.start()
    message = ledger.interrupted_response()
    while True:
        with ROUNDS() as span:
            earlier = ledger.rounds - (message is not None)
            span.set_attributes({"footnote.round": earlier + 1})
            withheld = len(toolbox) > 0 and earlier >= turn.max_tool_rounds
            tools = Toolbox.empty() if withheld else toolbox

            if message is None:
                context, summary = await window.context(ledger.messages, tools.specs, cancel)
                context = _add_used_up_note(context, used_up=withheld and earlier > 0)
                for step in ledger.record_summary(summary):
                    yield step
                response = Round(model, indexes, title, abilities.sources)
                async with aclosing(response.events(context, window.options, cancel)) as events:
                    async for event in events:
                        yield event
                if response.refusal == CONTEXT_OVERFLOW and window.shrink():
                    continue
                if response.refusal == TOOLS_UNSUPPORTED and context.tools:
                    log.warning("%s does not take tools: it answers without them.", model.id)
                    toolbox = Toolbox.empty()
                    continue
                message = response.message
                window.calibrate(message.usage)
                yield ledger.append_message(message, indexes.count)
            if not message.calls:
                break

            of_call = partial(_context_of_call, turn, abilities)
            calls = Calls(ledger.open_calls(message), tools, indexes, of_call, approver)
            refused = _refusal_reason(message, withheld=withheld)
            too_many = frozenset(call.id for call in message.calls[MAX_CALLS:])
            steps = calls.steps(ledger.messages, cancel, refusal=refused, too_many=too_many, resumed=turn.resumed)
            async with aclosing(steps):
                async for step in steps:
                    yield step
            for step in ledger.append_results(calls, indexes):
                yield step
            if cancel.is_cancelled or withheld or message.stop_reason in ("error", "aborted"):
                break
            message = None
    for event in ledger.end(_stop_reason(message, cancel, withheld=withheld), indexes, window.report):
        yield event


def _add_used_up_note(context: Context, *, used_up: bool) -> Context:
    return replace(context, system=f"{context.system}\n\n{TOOLS_USED_UP}".strip()) if used_up else context


def _refusal_reason(message: AssistantMessage, *, withheld: bool) -> str | None:
    """Why the calls of this response are answered without being carried out. None: they are wanted."""
    if message.stop_reason in ("error", "aborted"):
        return RESPONSE_BROKEN_OFF
    if message.stop_reason == "length":
        return OUTPUT_LIMIT_REACHED
    return ROUNDS_USED_UP if withheld else None


def _stop_reason(message: AssistantMessage, cancel: CancelScope, *, withheld: bool) -> TurnStopReason:
    """How the turn ended, by its last response. A stop that came after the last word changes nothing."""
    match message.stop_reason:
        case "error" | "aborted" as reason:
            return reason
        case _ if message.calls and cancel.is_cancelled:
            return "aborted"
        case "length" if not message.calls:
            return "length"
        case _ if withheld:
            return "max_rounds"
        case _:
            return "stop"


def _context_of_call(turn: Turn, abilities: Abilities, call_id: str) -> ToolContext:
    return ToolContext(abilities, call_id, turn.message_id, turn.locale)
