"""The loop: ask the model, carry out what it asks for, ask again, until it has answered.

Everything that happens is yielded: events for whoever follows the turn, `Kept` messages for whoever stores it.
"""

import logging
from collections.abc import AsyncIterator
from functools import partial

from footnote.agent.calls import CUT, STOPPED, WITHHELD, Calls
from footnote.agent.ledger import Ledger
from footnote.agent.round import Numbering, Round
from footnote.agent.turn import Step, Turn
from footnote.agent.window import Window
from footnote.cancel import CancelScope
from footnote.models.base import Model
from footnote.models.failures import NO_TOOLS, OVERFLOW
from footnote.protocol.events import TurnStopReason
from footnote.protocol.messages import AssistantMessage
from footnote.tools.base import Abilities, ToolContext
from footnote.tools.registry import Toolbox

log = logging.getLogger(__name__)


async def run(
    turn: Turn, model: Model, toolbox: Toolbox, abilities: Abilities, cancel: CancelScope
) -> AsyncIterator[Step]:
    """One turn, from the question to the last word of the answer."""
    ledger, window, numbering = Ledger(turn, model), Window(turn, model), Numbering(turn.first_index)
    title = partial(toolbox.title, locale=turn.locale)
    yield ledger.start()
    while True:
        withheld = len(toolbox) > 0 and ledger.rounds >= turn.max_tool_rounds
        tools = Toolbox.empty() if withheld else toolbox

        context = await window.context(ledger.messages, tools.specs, cancel)
        for step in window.news(ledger):
            yield step
        response = Round(model, numbering, title)
        async for event in response.events(context, window.options, cancel):
            yield event
        if (mended := _second_chance(response.refusal, window, toolbox)) is not None:
            toolbox = mended
            continue
        message = response.message
        window.learn(message.usage)
        yield ledger.keep(message)
        if not message.calls:
            break

        calls = Calls(message.calls, tools, numbering, partial(_told, turn, abilities))
        async for event in calls.events(ledger.messages, cancel, refused=_unwanted(message, withheld=withheld)):
            yield event
        for step in ledger.keep_answers(calls):
            yield step
        if cancel.cancelled or withheld or message.stop_reason in ("error", "aborted"):
            break
    for event in ledger.end(_ending(message, cancel, withheld=withheld), numbering, window.report):
        yield event


def _second_chance(refusal: str | None, window: Window, toolbox: Toolbox) -> Toolbox | None:
    """The tools to ask again with after a refusal that can be mended; None: there was none, or it cannot."""
    if refusal == OVERFLOW and window.tighten():
        return toolbox
    if refusal == NO_TOOLS and len(toolbox):
        log.warning("The model does not take tools: it answers without them.")
        return Toolbox.empty()
    return None


def _unwanted(message: AssistantMessage, *, withheld: bool) -> str | None:
    """Why the calls of this response are answered without being carried out. None: they are wanted."""
    if message.stop_reason in ("error", "aborted"):
        return STOPPED
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
        case _ if withheld:
            return "max_rounds"
        case "length":
            return "length"
        case _:
            return "stop"


def _told(turn: Turn, abilities: Abilities, call_id: str) -> ToolContext:
    return ToolContext(abilities, call_id, turn.message_id, turn.locale)
