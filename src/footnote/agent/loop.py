"""The loop: ask the model, carry out what it asks for, ask again, until it has answered.

Everything that happens is yielded: events for whoever follows the turn, `Kept` messages for whoever stores it.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

from msgspec.structs import replace

from footnote.agent.calls import BROKEN_OFF, CUT, MAX_CALLS, WITHHELD, Calls
from footnote.agent.ledger import Ledger
from footnote.agent.round import Round
from footnote.agent.turn import Indexes, Step, Turn
from footnote.agent.window import Window
from footnote.cancel import CancelScope
from footnote.models.base import Context, Model
from footnote.models.failures import NO_TOOLS, OVERFLOW
from footnote.protocol.events import TurnStopReason
from footnote.protocol.messages import AssistantMessage
from footnote.tools.approval import NOBODY, Approver
from footnote.tools.base import Abilities, ToolContext
from footnote.tools.registry import Toolbox
from footnote.tracing import SLOW, Work

log = logging.getLogger(__name__)

USED_UP = (
    "No tool can be called any more in this turn: all its rounds of tool calls are used up. Answer now with what you "
    "have, and say what could not be found out or done."
)
"""The last words of the system prompt in the last round, which has no tools. A model that is not told so promises to
look further, or writes a call as text."""

ROUNDS = Work("round", "Rounds of runs: one response of a model, and its calls.", span="round", classes=SLOW)


async def run(
    turn: Turn,
    model: Model,
    toolbox: Toolbox,
    abilities: Abilities,
    cancel: CancelScope,
    approver: Approver = NOBODY,
) -> AsyncGenerator[Step, None]:
    """One turn, from the question to the last word of the answer."""
    ledger, window = Ledger(turn, model), Window(turn, model)
    indexes = Indexes(turn.resumed.blocks if turn.resumed else 0)
    title = partial(toolbox.title, locale=turn.locale)
    yield ledger.start()
    message = ledger.interrupted()
    while True:
        with ROUNDS() as span:
            earlier = ledger.rounds - (message is not None)
            span.note({"footnote.round": earlier + 1})
            withheld = len(toolbox) > 0 and earlier >= turn.max_tool_rounds
            tools = Toolbox.empty() if withheld else toolbox

            if message is None:
                context, summary = await window.context(ledger.messages, tools.specs, cancel)
                context = _told(context, used_up=withheld and earlier > 0)
                for step in ledger.keep_summary(summary):
                    yield step
                response = Round(model, indexes, title, abilities.sources)
                async with aclosing(response.events(context, window.options, cancel)) as events:
                    async for event in events:
                        yield event
                if response.refusal == OVERFLOW and window.tighten():
                    continue
                if response.refusal == NO_TOOLS and context.tools:
                    log.warning("%s does not take tools: it answers without them.", model.id)
                    toolbox = Toolbox.empty()
                    continue
                message = response.message
                window.learn(message.usage)
                yield ledger.keep(message, indexes.count)
            if not message.calls:
                break

            of_call = partial(_context_of_call, turn, abilities)
            calls = Calls(ledger.open_calls(message), tools, indexes, of_call, approver)
            refused = _why_refused(message, withheld=withheld)
            too_many = frozenset(call.id for call in message.calls[MAX_CALLS:])
            steps = calls.steps(ledger.messages, cancel, refused=refused, too_many=too_many, resumed=turn.resumed)
            async with aclosing(steps):
                async for step in steps:
                    yield step
            for step in ledger.keep_answers(calls, indexes):
                yield step
            if cancel.cancelled or withheld or message.stop_reason in ("error", "aborted"):
                break
            message = None
    for event in ledger.end(_ending(message, cancel, withheld=withheld), indexes, window.report):
        yield event


def _told(context: Context, *, used_up: bool) -> Context:
    return replace(context, system=f"{context.system}\n\n{USED_UP}".strip()) if used_up else context


def _why_refused(message: AssistantMessage, *, withheld: bool) -> str | None:
    """Why the calls of this response are answered without being carried out. None: they are wanted."""
    if message.stop_reason in ("error", "aborted"):
        return BROKEN_OFF
    if message.stop_reason == "length":
        return CUT
    return WITHHELD if withheld else None


def _ending(message: AssistantMessage, cancel: CancelScope, *, withheld: bool) -> TurnStopReason:
    """How the turn ended, by its last response. A stop that came after the last word changes nothing."""
    match message.stop_reason:
        case "error" | "aborted" as reason:
            return reason
        case _ if message.calls and cancel.cancelled:
            return "aborted"
        case "length" if not message.calls:
            return "length"
        case _ if withheld:
            return "max_rounds"
        case _:
            return "stop"


def _context_of_call(turn: Turn, abilities: Abilities, call_id: str) -> ToolContext:
    return ToolContext(abilities, call_id, turn.message_id, turn.locale)
