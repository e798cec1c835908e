"""Whether a call may be made that needs the user's word: who decides, and what the model is told of a no."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from msgspec import Struct

from footnote.protocol.messages import ToolCall

Approve: TypeAlias = Callable[[ToolCall, str], Awaitable[bool]]
"""Asks the user here and now: the call and its title in, the decision out."""


class Decision(Struct, frozen=True):
    """`refusal`: what the model is told of a call that may not be made; None: it may."""

    refusal: str | None = None


ALLOWED = Decision()


class Approver(Protocol):
    """Decides on the calls of one run."""

    async def decision(self, call: ToolCall, title: str) -> Decision | None:
        """What is decided already, or at once. None: the user has to be told of it by an event, and `answer` waits."""
        ...

    async def wait_for_decision(self, call: ToolCall) -> Decision:
        """Waits for a decision on a call whose event was sent."""
        ...


class NoApprover:
    """Nobody can be asked, which is not the same as a no."""

    async def decision(self, call: ToolCall, title: str) -> Decision | None:  # noqa: ARG002 - nobody reads it
        return await self.wait_for_decision(call)

    async def wait_for_decision(self, call: ToolCall) -> Decision:
        return Decision(
            f"Nobody could be asked: {call.name} needs the approval of the user for each call, and there is no way to"
            " ask for it here. The call was not made, and nobody declined it. Do not try it again; tell the user so,"
            " and go on without it."
        )


NO_APPROVER = NoApprover()


class LocalApprover:
    """Somebody in front of this process is asked, such as the person at the terminal."""

    def __init__(self, approve: Approve) -> None:
        self._approve = approve

    async def decision(self, call: ToolCall, title: str) -> Decision | None:
        return ALLOWED if await self._approve(call, title) else declined_decision(call.name)

    async def wait_for_decision(self, call: ToolCall) -> Decision:
        return await NO_APPROVER.wait_for_decision(call)


def make_approver(approve: Approve | None) -> Approver:
    return NO_APPROVER if approve is None else LocalApprover(approve)


def declined_decision(tool: str, note: str | None = None) -> Decision:
    reason = f" The user says: {note}" if note else ""
    return Decision(
        f"The user declined this call of {tool}. Do not try it again; go on without it, or ask the user what to do"
        f" instead.{reason}"
    )


def unanswered_decision(tool: str) -> Decision:
    return Decision(
        f"Nobody answered: the user was asked whether this call of {tool} may be made, and did not decide in time. The"
        " call was not made, and nobody declined it. Do not try it again; tell the user so, and go on without it."
    )
