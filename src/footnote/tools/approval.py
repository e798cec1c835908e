"""The approval of calls that need it: who decides, and what the model reads after a refusal."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from msgspec import Struct

from footnote.protocol.messages import ToolCall

Approve: TypeAlias = Callable[[ToolCall, str], Awaitable[bool]]
"""Asks the user at once about a call, with its title; true: approved."""


class Decision(Struct, frozen=True):
    """`refusal`: what the model reads in the place of a result; None: the call is approved."""

    refusal: str | None = None


ALLOWED = Decision()


class Approver(Protocol):
    """Decides on the calls of one run."""

    async def decision(self, call: ToolCall, title: str) -> Decision | None:
        """A decision that exists, or is made at once. None: an event asks the user, and `wait_for_decision` waits."""
        ...

    async def wait_for_decision(self, call: ToolCall) -> Decision:
        """Waits for a decision on a call whose event was sent."""
        ...


class NoApprover:
    """Refuses because there is no user to ask, which is not the same as a denial."""

    async def decision(self, call: ToolCall, title: str) -> Decision | None:  # noqa: ARG002 - there is no user to read it
        return await self.wait_for_decision(call)

    async def wait_for_decision(self, call: ToolCall) -> Decision:
        return Decision(
            f"Nobody could be asked: {call.name} needs the approval of the user for each call, and there is no way to"
            " ask for it here. The call was not made, and nobody declined it. Do not try it again; tell the user so,"
            " and go on without it."
        )


NO_APPROVER = NoApprover()


class LocalApprover:
    """Asks the user of this process, such as the one at the terminal."""

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
