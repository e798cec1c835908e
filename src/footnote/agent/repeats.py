"""A model that repeats a failing call is told to choose another way, instead of being let on for ever."""

from collections.abc import Sequence

from footnote.protocol.messages import AssistantMessage, Message, ToolCall, ToolResultMessage

REFUSED_AT = 3


def refusal(call: ToolCall, messages: Sequence[Message]) -> str | None:
    """Why `call` is not run again: its last tries failed in a row. None: it may run."""
    if _failures_in_a_row(call, messages) < REFUSED_AT - 1:
        return None
    return (
        f"Refused: this is the same call of {call.name} with the same arguments for the {REFUSED_AT}rd time in a row, "
        "and it failed each time. Do not repeat it. Change the arguments, use another tool, or answer with what you "
        "have and say what could not be done."
    )


def _failures_in_a_row(call: ToolCall, messages: Sequence[Message]) -> int:
    calls = {made.id: made for said in messages if isinstance(said, AssistantMessage) for made in said.calls}
    failures = 0
    for said in reversed(messages):
        if isinstance(said, ToolResultMessage):
            made = calls.get(said.tool_call_id)
            same = made is not None and made.name == call.name and made.arguments == call.arguments
            if not (same and said.is_error and made is not None and made.invalid == call.invalid):
                return failures
            failures += 1
        elif not isinstance(said, AssistantMessage):
            return failures
    return failures
