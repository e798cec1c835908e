"""The calls of one round: prepare, execute side by side, answer in the order in which they were asked for."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from msgspec import UNSET, to_builtins

from footnote.agent import repeats
from footnote.agent.turn import CallBegun, CallEnded, Resumed
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
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import Message, ToolCall, ToolResultMessage
from footnote.protocol.tools import Progress, ToolResult, failed
from footnote.tools.approval import Approver
from footnote.tools.base import Tool, ToolContext
from footnote.tools.registry import Toolbox
from footnote.tracing import SLOW, Work
from footnote.web_search.boundary import unwrapped

log = logging.getLogger(__name__)

CALLS = Work("tool_call", "Calls of tools that were carried out.", "tool", span="execute_tool", classes=SLOW)

AT_ONCE = 8
MAX_CALLS = 32
"""Calls of one round that are carried out."""
LAST_WORDS_SECONDS = 2.0
"""How long a cancelled tool may take to clean up before it is left behind."""

STOPPED = "Stopped on request before this call finished; it may or may not have had its effect."
NOT_BEGUN = "Stopped on request before this call began."
BROKEN_OFF = "Not executed: the answer broke off before this call could be carried out."
CUT = (
    "Not executed: the response reached its output limit, so that this call may be incomplete. "
    "Make the call again, with less content in it; a long file can be written in several calls."
)
WITHHELD = "Not executed: this turn has used all its rounds of tool calls. Answer with what is known."
INTERRUPTED = (
    "The server was restarted while this call was carried out; it may or may not have had its effect. Find out which "
    "before you make it again."
)
TOO_MANY = (
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
class _Call:
    """One call on its way: `result` is set at once when it cannot be executed."""

    call: ToolCall
    tool: Tool | None = None
    params: Any = None
    result: ToolResult | None = None
    begun: bool = False
    may_begin: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once it is stored that the call begins, where that is not stored before the whole batch."""
    same: "list[_Call]" = field(default_factory=list["_Call"])
    """Calls of the same response that ask for the same: they are answered by this one."""
    is_answered_by_another: bool = False


_Feed: TypeAlias = asyncio.Queue[tuple[_Call, Event | CallBegun | ToolResult]]


class Calls:
    """Carries out the calls of one response. After `steps` is exhausted, `results` are all there, in call order."""

    def __init__(
        self,
        calls: Sequence[ToolCall],
        toolbox: Toolbox,
        numbering: Iterator[int],
        context: Callable[[str], ToolContext],
        approver: Approver,
    ) -> None:
        self.results: list[tuple[ToolCall, ToolResult]] = []
        self._pending = [_Call(call) for call in calls]
        self._toolbox = toolbox
        self._numbering = numbering
        self._context = context
        self._approver = approver

    @property
    def messages(self) -> list[ToolResultMessage]:
        return [
            ToolResultMessage(
                call.id, call.name, result.content, result.is_error, result.artifact, images=result.images
            )
            for call, result in self.results
        ]

    @property
    def files(self) -> tuple[FileRecord, ...]:
        return tuple(file for _, result in self.results for file in result.files)

    async def steps(
        self,
        history: Sequence[Message],
        cancel: CancelScope,
        *,
        refused: str | None = None,
        too_many: frozenset[str] = frozenset(),
        resumed: Resumed | None = None,
    ) -> AsyncGenerator[CallStep, None]:
        """Everything that happens until each call is answered. `refused`: why none of them is executed. `too_many`: the
        ids of those that are more than a response may ask for."""
        for pending in self._pending:
            if refused is not None or pending.call.id in too_many:
                pending.result = failed(refused or TOO_MANY)
            else:
                self._remember(pending, resumed)
            if pending.result is None:
                self._prepare(pending, history)
            if pending.result is not None:
                for status in _life(pending.call, pending.result):
                    yield status
        self._pair()
        for batch in self._batches():
            for pending in batch:
                if pending.tool is not None and not pending.tool.idempotent and not pending.tool.approval:
                    yield CallBegun(pending.call.id)
            async with aclosing(self._execute(batch, cancel)) as steps:
                async for step in steps:
                    yield step
        for step in self._stopped():
            yield step
        for event in self._answer():
            yield event

    # Prepare ---------------------------------------------------------------------------------------------

    def _prepare(self, pending: _Call, history: Sequence[Message]) -> None:
        call = pending.call
        tool = self._toolbox.get(call.name)
        if call.invalid is not None:
            is_too_long = len(call.invalid) > MAX_ARGUMENTS
            pending.result = failed(TOO_LONG if is_too_long else NOT_JSON.format(start=call.invalid[:200]))
        elif tool is None:
            known = ", ".join(self._toolbox.names) or "none"
            pending.result = failed(f"There is no tool called {call.name!r}. Tools that exist: {known}.")
        elif reason := repeats.refusal(call, history):
            pending.result = failed(reason)
        else:
            try:
                pending.tool, pending.params = tool, tool.parse(call.arguments)
                pending.result = repeats.earlier_result(call, tool, history, self._toolbox)
            except ToolFailed as error:
                pending.result = failed(error.message)
            except Exception:  # the types of a plugin are foreign code
                log.exception("The arguments of %s could not be read.", call.name)
                pending.result = failed(f"The arguments of {call.name} could not be read.")

    def _remember(self, pending: _Call, resumed: Resumed | None) -> None:
        """What came of this call before a crash: it is not carried out a second time, whether its tool is still there
        or not."""
        if resumed is None:
            return
        if pending.call.id in resumed.finished:
            pending.result = resumed.finished[pending.call.id]
        elif pending.call.id in resumed.begun:
            tool = self._toolbox.get(pending.call.name)
            if tool is None or not tool.idempotent:
                pending.result = failed(INTERRUPTED)

    def _pair(self) -> None:
        """Of calls that ask for the same, the first is carried out for all of them."""
        to_do = [pending for pending in self._pending if pending.result is None]
        changes = any(repeats.may_change(pending.tool) for pending in to_do)
        firsts: dict[bytes, _Call] = {}
        for pending in to_do:
            reuse = pending.tool.reuse if pending.tool is not None else "never"
            if reuse == "always" or (reuse == "until_change" and not changes):
                first = firsts.setdefault(dumps((pending.call.name, pending.call.arguments)), pending)
                if first is not pending:
                    first.same.append(pending)
                    pending.is_answered_by_another = True

    def _batches(self) -> Iterator[list[_Call]]:
        """Calls that may run together: an exclusive one has a batch of its own."""
        together: list[_Call] = []
        for pending in self._pending:
            if pending.result is not None or pending.is_answered_by_another:
                continue
            if pending.tool is not None and pending.tool.exclusive:
                yield from ([together] if together else [])
                yield [pending]
                together = []
            elif pending.tool is not None:
                together.append(pending)
        if together:
            yield together

    # Execute ---------------------------------------------------------------------------------------------

    async def _execute(self, batch: list[_Call], cancel: CancelScope) -> AsyncGenerator[CallStep, None]:
        feed: _Feed = asyncio.Queue()
        slots = asyncio.Semaphore(AT_ONCE)
        tasks = [asyncio.create_task(self._work(pending, feed, slots)) for pending in batch]
        try:
            while any(pending.result is None for pending in batch):
                pending, step = await cancel.wait(feed.get())
                if not isinstance(step, ToolResult):
                    yield step
                    if isinstance(step, CallBegun):
                        pending.may_begin.set()
                    continue
                pending.result = step
                yield CallEnded(pending.call.id, step)
                yield ToolStatus(pending.call.id, "error" if step.is_error else "done")
                for same in pending.same:
                    same.result = repeats.twice_in_one(step)
                    yield CallEnded(same.call.id, same.result)
                    for status in _life(same.call, same.result):
                        yield status
                for event in self._answer():
                    yield event
        except Cancelled:
            for task in tasks:
                task.cancel()  # nothing begins any more
            for step in _last_words(batch, feed):
                yield step
        finally:
            for task in tasks:
                task.cancel()
            _, stubborn = await asyncio.wait(tasks, timeout=LAST_WORDS_SECONDS)
            _left_behind.update(stubborn)
            for task in stubborn:
                task.add_done_callback(_left_behind.discard)

    async def _work(self, pending: _Call, feed: _Feed, slots: asyncio.Semaphore) -> None:
        call, tool = pending.call, pending.tool
        assert tool is not None  # noqa: S101 - only prepared calls come here
        result = failed(f"{call.name} ended without a result.")
        try:
            # Before it takes a slot: the other calls do not wait until the user has decided.
            refusal = await self._refusal(pending, tool, feed) if tool.approval else None
            if refusal is not None:
                self._run_begins(pending, feed)
                result = failed(refusal)
                return
            async with slots:
                self._run_begins(pending, feed)
                result = await self._result(pending, tool, feed) or result
        except ToolFailed as error:
            result = failed(error.message)
        except FootnoteError as error:
            result = failed(error.told)
        finally:
            # Also after an accident: a call without a result would be waited for without end.
            feed.put_nowait((pending, result))

    async def _refusal(self, pending: _Call, tool: Tool, feed: _Feed) -> str | None:
        """Asks the user, and says why the call is not made; None: it is, and that it begins is stored. A call that
        still waits has not begun, so that it is asked for again after a crash and not taken for one that had its
        effect."""
        call = ToolCall(pending.call.id, tool.name, to_builtins(pending.params))
        decision = await self._approver.decision(call, tool.title(self._context(call.id).locale))
        if decision is None:
            reasons = (ApprovalReason("setting"),)
            feed.put_nowait((pending, ApprovalRequired(call.id, call.name, call.arguments, reasons)))
            decision = await self._approver.answer(call)
        if decision.refusal is None and not tool.idempotent:
            feed.put_nowait((pending, CallBegun(call.id)))
            await pending.may_begin.wait()
        return decision.refusal

    def _run_begins(self, pending: _Call, feed: _Feed) -> None:
        pending.begun = True
        feed.put_nowait((pending, ToolStatus(pending.call.id, "running")))

    async def _result(self, pending: _Call, tool: Tool, feed: _Feed) -> ToolResult | None:
        call, result = pending.call, None
        with CALLS(call.name) as span:
            span.note({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call.name})
            span.outcome = "error"
            async for step in tool.run(pending.params, self._context(call.id)):
                if isinstance(step, Progress):
                    progress = ToolProgress(call.id, step.stage, step.done, step.total, step.label)
                    feed.put_nowait((pending, progress))
                else:
                    result = step
            span.outcome = "error" if result is None or result.is_error else "ok"
        return result

    def _stopped(self) -> Iterator[CallStep]:
        """Those that waited for a call that was stopped."""
        for pending in self._pending:
            if pending.result is None:
                pending.result = failed(NOT_BEGUN)
                yield from _life(pending.call, pending.result)

    # Answer ----------------------------------------------------------------------------------------------

    def _answer(self) -> Iterator[Event]:
        """The results that are next in call order, as blocks."""
        while len(self.results) < len(self._pending):
            pending = self._pending[len(self.results)]
            if pending.result is None:
                return
            call, result = pending.call, pending.result
            self.results.append((call, result))
            status = "error" if result.is_error else "success"
            index = next(self._numbering)
            images = result.images or UNSET
            block = ToolResultBlock(call.id, call.name, status, unwrapped(result.text), result.artifact, images)
            yield BlockStart(index, block)
            yield BlockStop(index)


def _last_words(batch: list[_Call], feed: _Feed) -> Iterator[Event]:
    """The ends of calls that were stopped. What was finished at this moment is finished, though nobody has looked
    yet."""
    unfinished = [pending for pending in batch if pending.result is None]
    while not feed.empty():
        pending, step = feed.get_nowait()
        if isinstance(step, ToolResult):
            pending.result = step
        elif isinstance(step, ToolStatus | ToolProgress):
            yield step
    for pending in unfinished:
        result = pending.result = pending.result or failed(STOPPED if pending.begun else NOT_BEGUN)
        yield from _life(pending.call, result, begun=pending.begun)


def _life(call: ToolCall, result: ToolResult, *, begun: bool = False) -> Iterator[ToolStatus]:
    """What is left to tell of a call that has its result. Also one that was never carried out is `running` before it
    is an error: there is one order of states, and a client may insist on it."""
    if not begun:
        yield ToolStatus(call.id, "running")
    yield ToolStatus(call.id, "error" if result.is_error else "done")


_left_behind: set[asyncio.Task[None]] = set()
"""Tools that would not stop in time. Somebody has to hold them, or they vanish in the middle of what they do."""
