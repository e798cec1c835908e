"""The tool calls of one round: prepare them, execute them in parallel, return their results in call order."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from msgspec import UNSET, to_builtins
from msgspec.structs import replace

from footnote.agent.turn import CallBegun, CallEnded, Resumed, Turn
from footnote.cancel import Cancelled, CancelScope
from footnote.models.accumulate import MAX_ARGUMENTS
from footnote.models.wire import dumps
from footnote.protocol.errors import FootnoteError, ToolFailed
from footnote.protocol.events import (
    ApprovalReason,
    ApprovalRequired,
    BlockStart,
    BlockStop,
    Event,
    ToolProgress,
    ToolResultBlock,
    ToolStatus,
)
from footnote.protocol.messages import AssistantMessage, Message, Text, ToolCall, ToolResultMessage, UserMessage
from footnote.protocol.tools import Progress, ToolResult, error_result, text_result
from footnote.text.boundary import unwrap_web_text
from footnote.tools.approval import Approver
from footnote.tools.base import Abilities, Tool, ToolContext
from footnote.tools.registry import Toolbox
from footnote.tracing import SLOW_BUCKETS, Operation

log = logging.getLogger(__name__)

CALLS = Operation(
    "tool_call", "Calls of tools that were carried out.", "tool", span="execute_tool", buckets=SLOW_BUCKETS
)

MAX_PARALLEL = 8
MAX_CALLS = 32
"""Limit for the executed calls of one round."""
CLEANUP_SECONDS = 2.0
"""How long a cancelled tool may take to clean up before it is abandoned."""

CLOSING_SECONDS = 0.5
"""The same where looking things up ends because an answer is due."""

STOPPED = "Stopped on request before this call finished; it may or may not have had its effect."
NOT_STARTED = "Stopped on request before this call began."
STOPPED_FOR_ANSWER = (
    "Stopped before this call finished, because the answer is due now; it may or may not have had its effect."
)
NOT_STARTED_FOR_ANSWER = "Not executed: the answer is due now."
RESPONSE_BROKEN_OFF = "Not executed: the answer broke off before this call could be carried out."
OUTPUT_LIMIT_REACHED = (
    "Not executed: the response reached its output limit, so that this call may be incomplete. "
    "Make the call again, with less content in it; a long file can be written in several calls."
)
ROUNDS_USED_UP = "Not executed: this turn has used all its rounds of tool calls. Answer with what is known."
INTERRUPTED = (
    "The server was restarted while this call was carried out; it may or may not have had its effect. Find out which "
    "before you make it again."
)
TOO_MANY_CALLS = (
    f"Not executed: a response may ask for {MAX_CALLS} calls at most, and this one asked for more. Make those that you "
    "still need in the next response."
)
NOT_JSON = "Not executed: the arguments are not a JSON object. They began with: {start}"
TOO_LONG = (
    f"Not executed: the arguments have more than {MAX_ARGUMENTS:,} characters. Make the call again with less in it; a "
    "long file can be written in several calls."
)

CallStep: TypeAlias = Event | CallBegun | CallEnded


@dataclass(slots=True)
class _RunningCall:
    """The state of one call. `result` is set at once if the call cannot be executed."""

    call: ToolCall
    tool: Tool | None = None
    params: Any = None
    result: ToolResult | None = None
    has_started: bool = False
    may_start: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once `CallBegun` is stored, for a call that waited for approval; for others it is stored before the batch."""
    duplicates: "list[_RunningCall]" = field(default_factory=list["_RunningCall"])
    """Equal calls of the same response: they get the result of this one."""
    is_duplicate: bool = False


class _StopNotes(NamedTuple):
    """What the model reads of calls that were stopped while they were carried out, and of those before that."""

    stopped: str
    not_started: str

    @classmethod
    def of(cls, cancel: CancelScope) -> "_StopNotes":
        """`cancel`: the scope of the turn. If it was not cancelled, only the calls were stopped."""
        if cancel.is_cancelled:
            return cls(STOPPED, NOT_STARTED)
        return cls(STOPPED_FOR_ANSWER, NOT_STARTED_FOR_ANSWER)


_Feed: TypeAlias = asyncio.Queue[tuple[_RunningCall, Event | CallBegun | ToolResult]]


class Calls:
    """Executes the calls of one response. After `steps` is exhausted, `results` has all of them, in call order."""

    def __init__(
        self,
        calls: Sequence[ToolCall],
        toolbox: Toolbox,
        numbering: Iterator[int],
        context: Callable[[str], ToolContext],
        approver: Approver,
        closing: CancelScope | None = None,
    ) -> None:
        """`closing` stops the calls, and not the turn."""
        self.results: list[tuple[ToolCall, ToolResult]] = []
        self._pending = [_RunningCall(call) for call in calls]
        self._toolbox = toolbox
        self._numbering = numbering
        self._context = context
        self._approver = approver
        self._closing = closing or CancelScope()

    async def steps(
        self,
        history: Sequence[Message],
        cancel: CancelScope,
        *,
        refused: Mapping[str, str],
        resumed: Resumed | None = None,
    ) -> AsyncGenerator[CallStep, None]:
        """Everything that happens until each call has a result. `refused`: see `refused_calls`."""
        for pending in self._pending:
            if pending.call.id in refused:
                pending.result = error_result(refused[pending.call.id])
            else:
                self._restore(pending, resumed)
            if pending.result is None:
                self._prepare(pending, history)
            if pending.result is not None:
                for status in _remaining_statuses(pending.call, pending.result):
                    yield status
        self._pair_duplicates()
        for batch in self._batches():
            for pending in batch:
                if pending.tool is not None and not pending.tool.idempotent and not pending.tool.approval:
                    yield CallBegun(pending.call.id)
            async with aclosing(self._execute(batch, cancel)) as steps:
                async for step in steps:
                    yield step
        for step in self._stop_waiting(_StopNotes.of(cancel)):
            yield step
        for event in self._emit_results():
            yield event

    # Prepare ---------------------------------------------------------------------------------------------

    def _prepare(self, pending: _RunningCall, history: Sequence[Message]) -> None:
        call = pending.call
        tool = self._toolbox.get(call.name)
        if call.invalid is not None:
            is_too_long = len(call.invalid) > MAX_ARGUMENTS
            pending.result = error_result(TOO_LONG if is_too_long else NOT_JSON.format(start=call.invalid[:200]))
        elif tool is None:
            known = ", ".join(self._toolbox.names) or "none"
            pending.result = error_result(f"There is no tool called {call.name!r}. Tools that exist: {known}.")
        elif reason := repeat_refusal(call, history):
            pending.result = error_result(reason)
        else:
            try:
                pending.tool, pending.params = tool, tool.parse(call.arguments)
                pending.result = earlier_result(call, tool, history, self._toolbox)
            except ToolFailed as error:
                pending.result = error_result(error.message)
            except Exception:  # the types of a plugin are foreign code
                log.exception("The arguments of %s could not be read.", call.name)
                pending.result = error_result(f"The arguments of {call.name} could not be read.")

    def _restore(self, pending: _RunningCall, resumed: Resumed | None) -> None:
        """Takes the result from before a crash: the call is not executed a second time, even if its tool is gone."""
        if resumed is None:
            return
        if pending.call.id in resumed.results:
            pending.result = resumed.results[pending.call.id]
        elif pending.call.id in resumed.started_calls:
            tool = self._toolbox.get(pending.call.name)
            if tool is None or not tool.idempotent:
                pending.result = error_result(INTERRUPTED)

    def _pair_duplicates(self) -> None:
        """Of equal calls, the first is executed for all of them."""
        to_execute = [pending for pending in self._pending if pending.result is None]
        changes = any(may_change_state(pending.tool) for pending in to_execute)
        firsts: dict[bytes, _RunningCall] = {}
        for pending in to_execute:
            reuse = pending.tool.reuse if pending.tool is not None else "never"
            if reuse == "always" or (reuse == "until_change" and not changes):
                first = firsts.setdefault(dumps((pending.call.name, pending.call.arguments)), pending)
                if first is not pending:
                    first.duplicates.append(pending)
                    pending.is_duplicate = True

    def _batches(self) -> Iterator[list[_RunningCall]]:
        """Calls that may run together: an exclusive one has a batch of its own."""
        batch: list[_RunningCall] = []
        for pending in self._pending:
            if pending.result is not None or pending.is_duplicate:
                continue
            if pending.tool is not None and pending.tool.exclusive:
                yield from ([batch] if batch else [])
                yield [pending]
                batch = []
            elif pending.tool is not None:
                batch.append(pending)
        if batch:
            yield batch

    # Execute ---------------------------------------------------------------------------------------------

    async def _execute(self, batch: list[_RunningCall], cancel: CancelScope) -> AsyncGenerator[CallStep, None]:
        feed: _Feed = asyncio.Queue()
        slots = asyncio.Semaphore(MAX_PARALLEL)
        tasks = [asyncio.create_task(self._run_call(pending, feed, slots)) for pending in batch]
        try:
            with CancelScope.linked_to(cancel, self._closing) as scope:
                while any(pending.result is None for pending in batch):
                    pending, step = await scope.wait(feed.get())
                    if not isinstance(step, ToolResult):
                        yield step
                        if isinstance(step, CallBegun):
                            pending.may_start.set()
                        continue
                    pending.result = step
                    yield CallEnded(pending.call.id, step)
                    yield ToolStatus(pending.call.id, "error" if step.is_error else "done")
                    for duplicate in pending.duplicates:
                        duplicate.result = duplicate_result(step)
                        yield CallEnded(duplicate.call.id, duplicate.result)
                        for status in _remaining_statuses(duplicate.call, duplicate.result):
                            yield status
                    for event in self._emit_results():
                        yield event
        except Cancelled:
            for task in tasks:
                task.cancel()  # no further call starts
            for step in _drain_stopped(batch, feed, _StopNotes.of(cancel)):
                yield step
        finally:
            for task in tasks:
                task.cancel()
            is_due = self._closing.is_cancelled and not cancel.is_cancelled
            _, unfinished = await asyncio.wait(tasks, timeout=CLOSING_SECONDS if is_due else CLEANUP_SECONDS)
            _abandoned_tasks.update(unfinished)
            for task in unfinished:
                task.add_done_callback(_abandoned_tasks.discard)

    async def _run_call(self, pending: _RunningCall, feed: _Feed, slots: asyncio.Semaphore) -> None:
        call, tool = pending.call, pending.tool
        assert tool is not None  # noqa: S101 - only prepared calls come here
        result = error_result(f"{call.name} ended without a result.")
        try:
            # Before it takes a slot: other calls do not wait for the user's decision.
            refusal = await self._ask_approval(pending, tool, feed) if tool.approval else None
            if refusal is not None:
                self._mark_running(pending, feed)
                result = error_result(refusal)
                return
            async with slots:
                self._mark_running(pending, feed)
                result = await self._result(pending, tool, feed) or result
        except ToolFailed as error:
            result = error_result(error.message)
        except FootnoteError as error:
            result = error_result(error.public_message)
        finally:
            # Also after an unexpected exception: the loop above waits until each call has a result.
            feed.put_nowait((pending, result))

    async def _ask_approval(self, pending: _RunningCall, tool: Tool, feed: _Feed) -> str | None:
        """Why the user refuses the call; None: it is approved, and `CallBegun` is stored. A call that still waits has
        not started: after a crash the user is asked again, and the call does not count as one that may have had an
        effect."""
        call = ToolCall(pending.call.id, tool.name, to_builtins(pending.params))
        decision = await self._approver.decision(call, tool.title(self._context(call.id).locale))
        if decision is None:
            reasons = (ApprovalReason("setting"),)
            feed.put_nowait((pending, ApprovalRequired(call.id, call.name, call.arguments, reasons)))
            decision = await self._approver.wait_for_decision(call)
        if decision.refusal is None and not tool.idempotent:
            feed.put_nowait((pending, CallBegun(call.id)))
            await pending.may_start.wait()
        return decision.refusal

    def _mark_running(self, pending: _RunningCall, feed: _Feed) -> None:
        pending.has_started = True
        feed.put_nowait((pending, ToolStatus(pending.call.id, "running")))

    async def _result(self, pending: _RunningCall, tool: Tool, feed: _Feed) -> ToolResult | None:
        call, result = pending.call, None
        with CALLS(call.name) as span:
            span.set_attributes({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call.name})
            span.outcome = "error"
            async for step in tool.run(pending.params, self._context(call.id)):
                if isinstance(step, Progress):
                    progress = ToolProgress(call.id, step.stage, step.done, step.total, step.label)
                    feed.put_nowait((pending, progress))
                else:
                    result = step
            span.outcome = "error" if result is None or result.is_error else "ok"
        return result

    def _stop_waiting(self, notes: _StopNotes) -> Iterator[CallStep]:
        """Fails the calls that did not start because another was stopped."""
        for pending in self._pending:
            if pending.result is None:
                pending.result = error_result(notes.not_started)
                yield from _remaining_statuses(pending.call, pending.result)

    # Answer ----------------------------------------------------------------------------------------------

    def _emit_results(self) -> Iterator[Event]:
        """The results that are next in call order, as blocks of the turn."""
        while len(self.results) < len(self._pending):
            pending = self._pending[len(self.results)]
            if pending.result is None:
                return
            call, result = pending.call, pending.result
            self.results.append((call, result))
            index = next(self._numbering)
            yield BlockStart(index, result_block(call, result))
            yield BlockStop(index)


def refused_calls(message: AssistantMessage, reason: str | None) -> dict[str, str]:
    """Why calls of a response are not executed, by their ids: all of them for this reason; None: those above the limit
    of one response."""
    if reason is not None:
        return {call.id: reason for call in message.calls}
    return {call.id: TOO_MANY_CALLS for call in message.calls[MAX_CALLS:]}


def context_of_call(turn: Turn, abilities: Abilities, call_id: str) -> ToolContext:
    return ToolContext(abilities, call_id, turn.message_id, turn.locale)


def _drain_stopped(batch: list[_RunningCall], feed: _Feed, notes: _StopNotes) -> Iterator[Event]:
    """Ends the calls of a cancelled batch. A result that is already in the feed still counts."""
    unfinished = [pending for pending in batch if pending.result is None]
    while not feed.empty():
        pending, step = feed.get_nowait()
        if isinstance(step, ToolResult):
            pending.result = step
        elif isinstance(step, ToolStatus | ToolProgress):
            yield step
    for pending in unfinished:
        result = pending.result = pending.result or error_result(
            notes.stopped if pending.has_started else notes.not_started
        )
        yield from _remaining_statuses(pending.call, result, has_started=pending.has_started)


def _remaining_statuses(call: ToolCall, result: ToolResult, *, has_started: bool = False) -> tuple[ToolStatus, ...]:
    """The statuses that a call with a result has not been through yet."""
    return final_statuses(call, result)[has_started:]


def final_statuses(call: ToolCall, result: ToolResult) -> tuple[ToolStatus, ToolStatus]:
    """The statuses after `pending`. A call that was never executed is `running` before it is an error too: there is one
    order of statuses, and a client may insist on it."""
    return ToolStatus(call.id, "running"), ToolStatus(call.id, "error" if result.is_error else "done")


def result_block(call: ToolCall, result: ToolResult) -> ToolResultBlock:
    """The result as users see it."""
    status = "error" if result.is_error else "success"
    images = result.images or UNSET
    return ToolResultBlock(call.id, call.name, status, unwrap_web_text(result.text), result.artifact, images)


def result_message(call: ToolCall, result: ToolResult) -> ToolResultMessage:
    """The result as the model reads it."""
    return ToolResultMessage(call.id, call.name, result.content, result.is_error, result.artifact, images=result.images)


_abandoned_tasks: set[asyncio.Task[None]] = set()
"""Tasks of tools that did not stop in time. Without a reference, asyncio may collect a task while it runs."""


# Repeated calls ------------------------------------------------------------------------------------------

MAX_REPEATS = 3
REPEATED_NOTE = Text(
    "[You made this very call before in this turn. Nothing was done again: this is the result that you have already. "
    "Go on with it, or make another call.]"
)
DUPLICATE_NOTE = (
    "This very call stands twice in your response. It was carried out once: its result is that of the first of them."
)


def repeat_refusal(call: ToolCall, messages: Sequence[Message]) -> str | None:
    """Why `call` is not executed again: its last attempts failed in a row. None: it may be."""
    if _consecutive_failures(call, messages) < MAX_REPEATS - 1:
        return None
    return (
        f"Refused: this is the same call of {call.name} with the same arguments for the {MAX_REPEATS}rd time in a row, "
        "and it failed each time. Do not repeat it. Change the arguments, use another tool, or answer with what you "
        "have and say what could not be done."
    )


def earlier_result(call: ToolCall, tool: Tool, messages: Sequence[Message], toolbox: Toolbox) -> ToolResult | None:
    """The result of the same call earlier in this turn, with a note; None: the call is to be executed."""
    if tool.reuse == "never":
        return None
    calls = _calls_by_id(messages)
    for message in reversed(messages):
        if isinstance(message, UserMessage):
            return None
        if not isinstance(message, ToolResultMessage):
            continue
        earlier = calls.get(message.tool_call_id)
        if earlier is not None and is_same_call(earlier, call) and not message.is_error:
            content = (*(part for part in message.content if part != REPEATED_NOTE), REPEATED_NOTE)
            return ToolResult(content, artifact=message.artifact, images=message.images)
        if tool.reuse == "until_change" and may_change_state(toolbox.get(message.tool_name)):
            return None
    return None


def duplicate_result(result: ToolResult) -> ToolResult:
    """The result of a duplicate call in a response: a note in place of a success, but the same error."""
    return replace(result, files=(), usage=None) if result.is_error else text_result(DUPLICATE_NOTE)


def is_same_call(one: ToolCall, other: ToolCall) -> bool:
    return one.name == other.name and one.arguments == other.arguments and one.invalid == other.invalid


def may_change_state(tool: Tool | None) -> bool:
    return tool is None or tool.reuse == "never"


def _calls_by_id(messages: Sequence[Message]) -> dict[str, ToolCall]:
    return {call.id: call for message in messages if isinstance(message, AssistantMessage) for call in message.calls}


def _consecutive_failures(call: ToolCall, messages: Sequence[Message]) -> int:
    calls = _calls_by_id(messages)
    failures = 0
    for message in reversed(messages):
        if isinstance(message, ToolResultMessage):
            earlier = calls.get(message.tool_call_id)
            if earlier is None or not is_same_call(earlier, call) or not message.is_error:
                return failures
            failures += 1
        elif not isinstance(message, AssistantMessage):
            return failures
    return failures
