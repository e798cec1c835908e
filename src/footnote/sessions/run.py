"""One run while it is carried on: what the loop hands up becomes events, messages and, at last, an ending."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing
from functools import partial
from typing import Literal

from msgspec import UNSET, Struct
from msgspec.structs import replace

from footnote.agent.calls import INTERRUPTED, RESPONSE_BROKEN_OFF
from footnote.agent.loop import run as run_turn
from footnote.agent.turn import CallBegun, CallEnded, Checkpoint, HistorySummarised, MessageCompleted, Step, Turn
from footnote.cancel import CancelScope
from footnote.db import approvals
from footnote.db import runs as db
from footnote.db import sessions as index
from footnote.db.errors import DatabaseFailed
from footnote.db.script import Script, Steps, script
from footnote.models.base import Model
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.errors import FootnoteError
from footnote.protocol.events import (
    ApprovalRequired,
    AttachmentsBlock,
    BlockDelta,
    BlockStart,
    BlockStop,
    ContextReport,
    Delta,
    ErrorBody,
    ErrorEvent,
    Event,
    MessageDelta,
    MessageHead,
    MessageStart,
    MessageStop,
    RoundRestart,
    ToolResultBlock,
    ToolStatus,
    TurnStopReason,
    TurnUsage,
)
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import AssistantMessage, Message, ToolCall, ToolResultMessage, Usage
from footnote.protocol.sessions import RunState
from footnote.protocol.times import format_time
from footnote.protocol.tools import ToolResult, failed
from footnote.sessions.approvals import StoredApprovals
from footnote.sessions.conversation import call_results
from footnote.sessions.event_log import RunLog
from footnote.sessions.journal import Journal
from footnote.sessions.run_spec import RunResources
from footnote.sessions.turns import RunEnding, RunRequest, encode, message_decoder
from footnote.text.search_terms import index_terms
from footnote.tools.approval import Approver
from footnote.web_search.boundary import unwrap_web_text


class OpenCalls:
    """What is known of them, from the steps of the run or from what another process left."""

    def __init__(self) -> None:
        self._open: dict[str, ToolCall] = {}
        self._results: dict[str, ToolResult] = {}
        self._started: set[str] = set()
        self._shown: set[str] = set()
        self._sent_statuses: set[ToolStatus] = set()

    def restore(self, messages: list[Message], calls: dict[str, ToolResult | None]) -> None:
        """What was kept before a crash. A call without a result was begun."""
        for message in messages:
            self._track(message)
        self._started.update(calls)
        self._results.update({call_id: result for call_id, result in calls.items() if result is not None})

    def handle_checkpoint(self, note: Checkpoint) -> None:
        match note:
            case MessageCompleted(message):
                self._track(message)
            case CallBegun(call_id):
                self._started.add(call_id)
            case CallEnded(call_id, result):
                self._results[call_id] = result
            case _:
                pass

    def handle_event(self, event: Event) -> None:
        if isinstance(event, BlockStart) and isinstance(event.content_block, ToolResultBlock):
            self._shown.add(event.content_block.tool_use_id)
        elif isinstance(event, ToolStatus):
            self._sent_statuses.add(event)

    def close(self) -> list[tuple[ToolCall, ToolResult, bool]]:
        """Each call that is open, in order, with its result, and whether that was shown already."""
        closed = [(call, self._result_of(call.id), call.id in self._shown) for call in self._open.values()]
        self._open = {}
        return closed

    def unsent_statuses(self, call: ToolCall, result: ToolResult) -> list[ToolStatus]:
        """The states that a call goes through before its result, without those that were told."""
        states = (ToolStatus(call.id, "running"), ToolStatus(call.id, "error" if result.is_error else "done"))
        return [state for state in states if state not in self._sent_statuses]

    def _track(self, message: Message) -> None:
        if isinstance(message, AssistantMessage):
            self._open = {call.id: call for call in message.calls}
        elif isinstance(message, ToolResultMessage):
            self._open.pop(message.tool_call_id, None)

    def _result_of(self, call_id: str) -> ToolResult:
        return self._results.get(call_id) or failed(INTERRUPTED if call_id in self._started else RESPONSE_BROKEN_OFF)


log = logging.getLogger(__name__)

_RUN_STATES: dict[TurnStopReason, RunState] = {"error": "failed", "aborted": "cancelled"}
INTERNAL_ERROR = ErrorBody(
    "internal_error", "Something went wrong that should not. The server's log says where.", retryable=True
)


class RunHead(Struct, frozen=True):
    """What a run is, from its beginning to its end."""

    id: str
    session_id: str
    user_id: str
    question_id: str
    message_id: str
    request: RunRequest
    began_at: float | None = None
    """None: known only to the process that began it."""


class RunSlot:
    """One of the places of runs that are carried on at once."""

    def __init__(self, slots: asyncio.Semaphore) -> None:
        self._slots: asyncio.Semaphore | None = slots

    def release(self) -> None:
        """Once, however often it is called."""
        if self._slots is not None:
            self._slots.release()
            self._slots = None


class LiveRun:
    """Carries on one run. `events` of it are said through its log and stored through the journal."""

    def __init__(
        self,
        head: RunHead,
        lease: db.Lease,
        journal: Journal,
        clock: Callable[[], float],
        *,
        model: Model | None = None,
        approver: Approver | None = None,
        interrupted: db.InterruptedRun | None = None,
    ) -> None:
        """`approver` decides on its calls; None: the user is asked by an event. `found`: what another process left of
        it."""
        self.head = head
        self.model = model
        self.approver = approver
        self.approvals: StoredApprovals | None = None
        """Those that its calls may wait for."""
        self.slot: RunSlot | None = None
        self.interrupted = interrupted
        self.log = RunLog(lease, interrupted.last_id if interrupted else 0)
        self.cancel = CancelScope()
        self.has_slot = False
        """It waits no more for those that were there before it."""
        self.ended = asyncio.Event()
        self.task: asyncio.Task[None] | None = None
        self.is_lost = False
        """Another process carries it on, or it was deleted."""
        self._journal = journal
        self.clock = clock
        self._message_count = len(interrupted.messages) if interrupted else 0
        self._responses: list[AssistantMessage] = []
        self._calls = OpenCalls()
        self._blocks = interrupted.messages[-1].blocks if interrupted and interrupted.messages else 0
        self._final_delta: MessageDelta | None = None
        self._error: ErrorBody | None = None
        self._attachments: tuple[FileRecord, ...] = ()
        """The files that were shown."""
        self._written_files: dict[str, FileRecord] = {}
        """What its calls wrote, by path."""
        self._failed_write: Callable[[], Script[None]] | None = None
        """What could not be stored, and ends the run by that."""
        self._pending_results: list[Callable[[], Script[None]]] = []
        """Results of calls that the run ended before, to be stored with its end."""
        self._pending_ending: Callable[[], Script[None]] | None = None
        if interrupted is not None:
            self._restore(interrupted)

    def _restore(self, interrupted: db.InterruptedRun) -> None:
        messages: list[Message] = [message_decoder.decode(message.body) for message in interrupted.messages]
        self._responses = [message for message in messages if isinstance(message, AssistantMessage)]
        self._calls.restore(messages, call_results(interrupted))

    @property
    def was_followed(self) -> bool:
        """Somebody may have seen events of it before this process took it over."""
        return self.interrupted is not None and self.interrupted.last_id > 0

    @property
    def was_started(self) -> bool:
        """By the process from which this one took it over."""
        return self.interrupted is not None and self.interrupted.row.state in ("running", "waiting")

    @property
    def outcome(self) -> RunState | None:
        """How it ended. None: it was broken off, or another process carries it on."""
        return None if self._final_delta is None else _RUN_STATES.get(self._final_delta.delta.stop_reason, "done")

    @property
    def final_delta(self) -> MessageDelta | None:
        """Its ending, as it is told."""
        return self._final_delta

    @property
    def has_pending_ending(self) -> bool:
        """It has ended, and that could not be stored yet."""
        return self._pending_ending is not None

    def call_key(self, call: ToolCall) -> approvals.CallKey:
        head = self.head
        return approvals.CallKey(head.id, head.session_id, head.user_id, head.request.agent_id, call.id, call.name)

    def release_slot(self) -> None:
        """Others may be carried on: this run has ended, or waits for a person, and goes on beside them after that."""
        if self.slot is not None:
            self.slot.release()

    # The turn ----------------------------------------------------------------------------------------------

    async def answer(self, turn: Turn, model: Model, equipment: RunResources, approver: Approver) -> None:
        steps = run_turn(turn, model, equipment.toolbox, equipment.abilities, self.cancel, approver)
        await self._handle_steps(steps)

    async def _handle_steps(self, steps: AsyncGenerator[Step, None]) -> None:
        add, run_log = self._journal.append, self.log
        async with aclosing(steps):
            async for step in steps:
                if isinstance(step, BlockDelta):
                    add(run_log, step)
                elif isinstance(step, Checkpoint):
                    self._calls.handle_checkpoint(step)
                    self._failed_write = self._checkpoint_script(step)
                    await self._journal.write(run_log, self._failed_write)
                    self._failed_write = None
                else:
                    await self._handle_event(step)

    def _checkpoint_script(self, note: Checkpoint) -> Callable[[], Script[None]]:
        lease = self.log.lease
        match note:
            case MessageCompleted(message, blocks):
                if isinstance(message, AssistantMessage):
                    self._responses.append(message)
                return self._message_script(message, blocks)
            case CallBegun(call_id):
                return partial(db.start_call, lease, call_id)
            case CallEnded(call_id, result):
                self._written_files |= {file.path: file for file in result.files}
                return partial(db.store_call_result, lease, call_id, encode(result))
            case HistorySummarised(digest):
                return partial(db.store_summary, lease, digest.upto, digest.text)

    def _message_script(self, message: AssistantMessage | ToolResultMessage, blocks: int) -> Callable[[], Script[None]]:
        dated = replace(message, timestamp=format_time(self.clock()))
        kept = db.StoredMessage(self._message_count, blocks, encode(dated))
        self._message_count += 1
        return partial(db.store_message, self.log.lease, kept)

    async def _handle_event(self, event: Event) -> None:
        match event:
            case MessageStart() | RoundRestart():
                # Stored before anybody sees it: whoever comes back finds a log that begins as theirs did.
                await self._journal.write(self.log, partial(db.set_running, self.log.lease), event)
            case ApprovalRequired():
                # With the state of the run: whoever sees the question can answer it.
                requiring = partial(
                    approvals.require_approval, self.log.lease, event.tool_use_id, event.name, self.clock()
                )
                await self._journal.write(self.log, requiring, event)
            case MessageDelta():
                self._final_delta = event
            case MessageStop():
                await self._end()
            case _:
                if isinstance(event, ErrorEvent):
                    self._error = event.error
                elif isinstance(event, BlockStart):
                    self._blocks = event.index + 1
                    self._calls.handle_event(event)
                    if isinstance(event.content_block, AttachmentsBlock):
                        self._attachments = event.content_block.files
                elif isinstance(event, ToolStatus):
                    self._calls.handle_event(event)
                self._journal.append(self.log, event)

    # The end -----------------------------------------------------------------------------------------------

    async def _end(self) -> None:
        """Stored before it is said: who sees the end of a run finds it in the history, and can ask again."""
        assert self._final_delta is not None  # noqa: S101 - every turn says how it ended before it stops
        try:
            await self._journal.write(self.log, await self._finish_script(), self._final_delta, MessageStop())
        except DatabaseFailed as error:
            await self.end_unstored(error)

    async def _finish_script(self) -> Callable[[], Script[None]]:
        assert self._final_delta is not None  # noqa: S101 - see above
        reason = self._final_delta.delta.stop_reason
        ending = RunEnding(
            stop_reason=reason, usage=self._final_delta.usage, error=self._error, attachments=self._attachments
        )
        terms = await index_terms("\n\n".join(response.text for response in self._responses))
        now = self.clock()
        self._final_delta = replace(self._final_delta, timestamp=format_time(now))
        return partial(self._finish, _RUN_STATES.get(reason, "done"), encode(ending), terms, now)

    @script
    def _finish(self, state: RunState, ending: bytes, terms: str, now: float) -> Steps[None]:
        if self._failed_write is not None:
            yield from self._failed_write()
        for keeping in self._pending_results:
            yield from keeping()
        yield from db.finish_run(self.log.lease, state, ending, now)
        yield from index.index_part(self.head.session_id, self.head.message_id, terms)

    async def end_early(
        self,
        reason: Literal["error", "aborted"],
        error: ErrorBody | None = None,
        written_files: Iterable[FileRecord] = (),
    ) -> None:
        """Ends a run that could not end by itself: what is open is closed, what it wrote shown, and the reason said.
        `written`: what is known of that from the workspace, also of calls before a crash."""
        self._written_files |= {file.path: file for file in written_files}
        for event in self._closing_events(reason, error):
            self._journal.append(self.log, event)
        await self._end()

    def error_body(self, error: FootnoteError) -> ErrorBody:
        """What whoever asked learns of an error: the person at the machine itself, all of it."""
        message = error.message if self.head.user_id == LOCAL_USER else error.public_message
        return ErrorBody(error.type, message, error.retryable)

    def drop_failed_write(self) -> None:
        """What the database does not take, and never will, is not tried again with the end."""
        self._failed_write = None

    async def end_unstored(self, error: DatabaseFailed) -> None:
        """The end cannot be stored. Who follows is told so; it is stored as soon as it can be."""
        words = self._closing_events("error", self.error_body(error))
        self._pending_ending = await self._finish_script()
        for event in (*words, self._final_delta, MessageStop()):
            if event is not None:
                self.log.append(event)

    def _closing_events(self, reason: Literal["error", "aborted"], error: ErrorBody | None) -> list[Event]:
        words: list[Event] = []
        head = self.head
        if self.log.is_empty and self.was_followed:
            words.append(RoundRestart(self._blocks))
        elif self.log.is_empty:
            message = MessageHead(head.message_id, "assistant", head.id, head.session_id, head.request.model)
            words.append(MessageStart(message))
        if self.log.open_block is not None:
            words.append(BlockStop(self.log.open_block))
        words += self._result_events()
        words += self._attachment_events()
        if error is not None:
            self._error = error
            words.append(ErrorEvent(error))
        usage = self._final_delta.usage if self._final_delta else self._known_usage()
        context = self._final_delta.context if self._final_delta else ContextReport(0, 0)
        self._final_delta = MessageDelta(Delta(reason), usage, context)
        return words

    def _result_events(self) -> Iterator[Event]:
        """Every call gets its result, as it does in a turn that ends by itself."""
        for call, result, shown in self._calls.close():
            if not shown:
                status = "error" if result.is_error else "success"
                images = result.images or UNSET
                block = ToolResultBlock(
                    call.id, call.name, status, unwrap_web_text(result.text), result.artifact, images
                )
                yield from self._calls.unsent_statuses(call, result)
                yield BlockStart(self._blocks, block)
                yield BlockStop(self._blocks)
                self._blocks += 1
            message = ToolResultMessage(
                call.id, call.name, result.content, result.is_error, result.artifact, result.images
            )
            self._pending_results.append(self._message_script(message, self._blocks))

    def _attachment_events(self) -> Iterator[Event]:
        """At the end, as in a turn that ends by itself, which may have shown them before it was broken off."""
        if self._written_files and not self._attachments:
            self._attachments = tuple(self._written_files.values())
            yield BlockStart(self._blocks, AttachmentsBlock(self._attachments))
            yield BlockStop(self._blocks)
            self._blocks += 1

    def _known_usage(self) -> TurnUsage:
        """What the responses used that are kept: more is not known of a run that did not end by itself."""
        price = self.model.profile.price if self.model else None
        usages = [response.usage for response in self._responses]
        return TurnUsage.of(sum(usages, Usage()), None if price is None else sum(map(price.cost, usages)))

    async def store_pending_ending(self) -> None:
        """Stores an end that is owed. `DatabaseFailed`: not yet."""
        if self._pending_ending is not None:
            await self._journal.write(self.log, self._pending_ending, retry_seconds=0)
            self._pending_ending = None
