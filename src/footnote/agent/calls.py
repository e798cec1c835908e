"""The calls of one round: prepare, execute side by side, answer in the order in which they were asked for."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeAlias

from footnote.agent import repeats
from footnote.agent.turn import CallBegun, CallEnded, Resumed
from footnote.cancel import Cancelled, CancelScope
from footnote.protocol.errors import ToolFailed
from footnote.protocol.events import BlockStart, BlockStop, Event, ToolProgress, ToolResultBlock, ToolStatus
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import Message, ToolCall, ToolResultMessage
from footnote.protocol.tools import Progress, ToolResult, failed
from footnote.tools.base import Tool, ToolContext
from footnote.tools.registry import Toolbox
from footnote.tracing import SLOW, Work

log = logging.getLogger(__name__)

CALLS = Work("tool_call", "Calls of tools that were carried out.", "tool", span="execute_tool", classes=SLOW)

AT_ONCE = 8
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
NOT_JSON = "Not executed: the arguments are not a JSON object. They began with: {start}"


CallStep: TypeAlias = Event | CallBegun | CallEnded


@dataclass(slots=True)
class _Call:
    """One call on its way: `result` is set at once when it cannot be executed."""

    call: ToolCall
    tool: Tool | None = None
    params: Any = None
    result: ToolResult | None = None
    begun: bool = False


_Feed: TypeAlias = asyncio.Queue[tuple[_Call, Event | ToolResult]]


class Calls:
    """Carries out the calls of one response. After `steps` is exhausted, `results` are all there, in call order."""

    def __init__(
        self,
        calls: Sequence[ToolCall],
        toolbox: Toolbox,
        numbering: Iterator[int],
        context: Callable[[str], ToolContext],
    ) -> None:
        self.results: list[tuple[ToolCall, ToolResult]] = []
        self._pending = [_Call(call) for call in calls]
        self._toolbox = toolbox
        self._numbering = numbering
        self._context = context

    @property
    def messages(self) -> list[ToolResultMessage]:
        return [
            ToolResultMessage(call.id, call.name, result.content, result.is_error, result.artifact)
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
        resumed: Resumed | None = None,
    ) -> AsyncGenerator[CallStep, None]:
        """Everything that happens until each call is answered. `refused`: why none of them is executed."""
        for pending in self._pending:
            if refused is not None:
                pending.result = failed(refused)
            else:
                self._remember(pending, resumed)
            if pending.result is None:
                self._prepare(pending, history)
            if pending.result is not None:
                for status in _life(pending.call, pending.result):
                    yield status
        for batch in self._batches():
            for pending in batch:
                if pending.tool is not None and not pending.tool.idempotent:
                    yield CallBegun(pending.call.id)
            async with aclosing(self._execute(batch, cancel)) as steps:
                async for step in steps:
                    yield step
        for event in self._answer():
            yield event

    # Prepare ---------------------------------------------------------------------------------------------

    def _prepare(self, pending: _Call, history: Sequence[Message]) -> None:
        call = pending.call
        tool = self._toolbox.get(call.name)
        if call.invalid is not None:
            pending.result = failed(NOT_JSON.format(start=call.invalid[:200]))
        elif tool is None:
            known = ", ".join(self._toolbox.names) or "none"
            pending.result = failed(f"There is no tool called {call.name!r}. Tools that exist: {known}.")
        elif reason := repeats.refusal(call, history):
            pending.result = failed(reason)
        else:
            try:
                pending.tool, pending.params = tool, tool.parse(call.arguments)
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

    def _batches(self) -> Iterator[list[_Call]]:
        """Calls that may run together: an exclusive one has a batch of its own."""
        together: list[_Call] = []
        for pending in self._pending:
            if pending.result is not None:
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
                    continue
                pending.result = step
                yield CallEnded(pending.call.id, step)
                yield ToolStatus(pending.call.id, "error" if step.is_error else "done")
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
        async with slots:
            pending.begun = True
            feed.put_nowait((pending, ToolStatus(call.id, "running")))
            with CALLS(call.name) as span:
                span.note({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call.name})
                try:
                    async for step in tool.run(pending.params, self._context(call.id)):
                        if isinstance(step, Progress):
                            progress = ToolProgress(call.id, step.stage, step.done, step.total, step.label)
                            feed.put_nowait((pending, progress))
                        else:
                            result = step
                except ToolFailed as error:
                    result = failed(error.message)
                finally:
                    # Also after an accident: a call without a result would be waited for without end.
                    feed.put_nowait((pending, result))
                span.outcome = "error" if result.is_error else "ok"

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
            yield BlockStart(index, ToolResultBlock(call.id, call.name, status, result.text, result.artifact))
            yield BlockStop(index)


def _last_words(batch: list[_Call], feed: _Feed) -> Iterator[Event]:
    """The ends of calls that were stopped. What was finished at this moment is finished, though nobody has looked
    yet."""
    unfinished = [pending for pending in batch if pending.result is None]
    while not feed.empty():
        pending, step = feed.get_nowait()
        if isinstance(step, ToolResult):
            pending.result = step
        else:
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
