"""One run while it is carried on: what the loop hands up becomes events, messages and, at last, an ending."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing
from functools import partial
from typing import Literal

from msgspec import UNSET, Struct
from msgspec.structs import replace

from footnote.agent.loop import run as run_turn
from footnote.agent.turn import CallBegun, CallEnded, Digested, Kept, Note, Step, Turn
from footnote.cancel import CancelScope
from footnote.db import approvals
from footnote.db import runs as db
from footnote.db import sessions as index
from footnote.db.failures import DatabaseFailed
from footnote.db.script import Script, Steps, script
from footnote.language.search_terms import index_terms
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
from footnote.protocol.times import written
from footnote.sessions.approvals import StoredApprovals
from footnote.sessions.conversation import results_of
from footnote.sessions.journal import Journal
from footnote.sessions.log import RunLog
from footnote.sessions.open_calls import OpenCalls
from footnote.sessions.turns import Asked, Ending, encode, said
from footnote.sessions.wiring import Equipment
from footnote.tools.approval import Approver
from footnote.web_search.boundary import unwrapped

log = logging.getLogger(__name__)

_STATES: dict[TurnStopReason, RunState] = {"error": "failed", "aborted": "cancelled"}
INTERNAL = ErrorBody(
    "internal_error", "Something went wrong that should not. The server's log says where.", retryable=True
)


class RunHead(Struct, frozen=True):
    """What a run is, from its beginning to its end."""

    id: str
    session_id: str
    user_id: str
    question_id: str
    message_id: str
    asked: Asked
    began_at: float | None = None
    """None: known only to the process that began it."""


class Slot:
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
        found: db.Interrupted | None = None,
    ) -> None:
        """`approver` decides on its calls; None: the user is asked by an event. `found`: what another process left of
        it."""
        self.head = head
        self.model = model
        self.approver = approver
        self.approvals: StoredApprovals | None = None
        """Those that its calls may wait for."""
        self.slot: Slot | None = None
        self.found = found
        self.log = RunLog(lease, found.last_id if found else 0)
        self.cancel = CancelScope()
        self.has_turn = False
        """It waits no more for those that were there before it."""
        self.ended = asyncio.Event()
        self.task: asyncio.Task[None] | None = None
        self.is_lost = False
        """Another process carries it on, or it was deleted."""
        self._journal = journal
        self.clock = clock
        self._kept = len(found.messages) if found else 0
        self._responses: list[AssistantMessage] = []
        self._calls = OpenCalls()
        self._blocks = found.messages[-1].blocks if found and found.messages else 0
        self._closing: MessageDelta | None = None
        self._error: ErrorBody | None = None
        self._attachments: tuple[FileRecord, ...] = ()
        """The files that were shown."""
        self._written: dict[str, FileRecord] = {}
        """What its calls wrote, by path."""
        self._unkept: Callable[[], Script[None]] | None = None
        """What could not be stored, and ends the run by that."""
        self._unanswered: list[Callable[[], Script[None]]] = []
        """Results of calls that the run ended before, to be stored with its end."""
        self._owed: Callable[[], Script[None]] | None = None
        if found is not None:
            self._remember(found)

    def _remember(self, found: db.Interrupted) -> None:
        messages: list[Message] = [said.decode(message.body) for message in found.messages]
        self._responses = [message for message in messages if isinstance(message, AssistantMessage)]
        self._calls.remember(messages, results_of(found))

    @property
    def was_followed(self) -> bool:
        """Somebody may have seen events of it before this process took it over."""
        return self.found is not None and self.found.last_id > 0

    @property
    def was_begun(self) -> bool:
        """By the process from which this one took it over."""
        return self.found is not None and self.found.row.state in ("running", "waiting")

    @property
    def outcome(self) -> RunState | None:
        """How it ended. None: it was broken off, or another process carries it on."""
        return None if self._closing is None else _STATES.get(self._closing.delta.stop_reason, "done")

    @property
    def closing(self) -> MessageDelta | None:
        """Its ending, as it is told."""
        return self._closing

    @property
    def is_unsettled(self) -> bool:
        """It has ended, and that could not be stored yet."""
        return self._owed is not None

    def key_of(self, call: ToolCall) -> approvals.CallKey:
        head = self.head
        return approvals.CallKey(head.id, head.session_id, head.user_id, head.asked.agent_id, call.id, call.name)

    def give_up_slot(self) -> None:
        """Others may be carried on: this run has ended, or waits for a person, and goes on beside them after that."""
        if self.slot is not None:
            self.slot.release()

    # The turn ----------------------------------------------------------------------------------------------

    async def answer(self, turn: Turn, model: Model, equipment: Equipment, approver: Approver) -> None:
        steps = run_turn(turn, model, equipment.toolbox, equipment.abilities, self.cancel, approver)
        await self._take_all(steps)

    async def _take_all(self, steps: AsyncGenerator[Step, None]) -> None:
        add, run_log = self._journal.add, self.log
        async with aclosing(steps):
            async for step in steps:
                if isinstance(step, BlockDelta):
                    add(run_log, step)
                elif isinstance(step, Note):
                    self._calls.note(step)
                    self._unkept = self._storing(step)
                    await self._journal.write(run_log, self._unkept)
                    self._unkept = None
                else:
                    await self._take(step)

    def _storing(self, note: Note) -> Callable[[], Script[None]]:
        lease = self.log.lease
        match note:
            case Kept(message, blocks):
                if isinstance(message, AssistantMessage):
                    self._responses.append(message)
                return self._keeping(message, blocks)
            case CallBegun(call_id):
                return partial(db.begin_call, lease, call_id)
            case CallEnded(call_id, result):
                self._written |= {file.path: file for file in result.files}
                return partial(db.end_call, lease, call_id, encode(result))
            case Digested(digest):
                return partial(db.keep_digest, lease, digest.upto, digest.text)

    def _keeping(self, message: AssistantMessage | ToolResultMessage, blocks: int) -> Callable[[], Script[None]]:
        dated = replace(message, timestamp=written(self.clock()))
        kept = db.KeptMessage(self._kept, blocks, encode(dated))
        self._kept += 1
        return partial(db.keep, self.log.lease, kept)

    async def _take(self, event: Event) -> None:
        match event:
            case MessageStart() | RoundRestart():
                # Stored before anybody sees it: whoever comes back finds a log that begins as theirs did.
                await self._journal.write(self.log, partial(db.set_running, self.log.lease), event)
            case ApprovalRequired():
                # With the state of the run: whoever sees the question can answer it.
                requiring = partial(approvals.require, self.log.lease, event.tool_use_id, event.name, self.clock())
                await self._journal.write(self.log, requiring, event)
            case MessageDelta():
                self._closing = event
            case MessageStop():
                await self._end()
            case _:
                if isinstance(event, ErrorEvent):
                    self._error = event.error
                elif isinstance(event, BlockStart):
                    self._blocks = event.index + 1
                    self._calls.see(event)
                    if isinstance(event.content_block, AttachmentsBlock):
                        self._attachments = event.content_block.files
                elif isinstance(event, ToolStatus):
                    self._calls.see(event)
                self._journal.add(self.log, event)

    # The end -----------------------------------------------------------------------------------------------

    async def _end(self) -> None:
        """Stored before it is said: who sees the end of a run finds it in the history, and can ask again."""
        assert self._closing is not None  # noqa: S101 - every turn says how it ended before it stops
        try:
            await self._journal.write(self.log, await self._finishing(), self._closing, MessageStop())
        except DatabaseFailed as error:
            await self.give_up(error)

    async def _finishing(self) -> Callable[[], Script[None]]:
        assert self._closing is not None  # noqa: S101 - see above
        reason = self._closing.delta.stop_reason
        ending = Ending(stop_reason=reason, usage=self._closing.usage, error=self._error, attachments=self._attachments)
        terms = await index_terms("\n\n".join(response.text for response in self._responses))
        now = self.clock()
        self._closing = replace(self._closing, timestamp=written(now))
        return partial(self._finish, _STATES.get(reason, "done"), encode(ending), terms, now)

    @script
    def _finish(self, state: RunState, ending: bytes, terms: str, now: float) -> Steps[None]:
        if self._unkept is not None:
            yield from self._unkept()
        for keeping in self._unanswered:
            yield from keeping()
        yield from db.finish(self.log.lease, state, ending, now)
        yield from index.enter(self.head.session_id, self.head.message_id, terms)

    async def end_early(
        self, reason: Literal["error", "aborted"], error: ErrorBody | None = None, written: Iterable[FileRecord] = ()
    ) -> None:
        """Ends a run that could not end by itself: what is open is closed, what it wrote shown, and the reason said.
        `written`: what is known of that from the workspace, also of calls before a crash."""
        self._written |= {file.path: file for file in written}
        for event in self._last_words(reason, error):
            self._journal.add(self.log, event)
        await self._end()

    def told(self, error: FootnoteError) -> ErrorBody:
        """What whoever asked learns of an error: the person at the machine itself, all of it."""
        message = error.message if self.head.user_id == LOCAL_USER else error.told
        return ErrorBody(error.type, message, error.retryable)

    def drop_unkept(self) -> None:
        """What the database does not take, and never will, is not tried again with the end."""
        self._unkept = None

    async def give_up(self, error: DatabaseFailed) -> None:
        """The end cannot be stored. Who follows is told so; it is stored as soon as it can be."""
        words = self._last_words("error", self.told(error))
        self._owed = await self._finishing()
        for event in (*words, self._closing, MessageStop()):
            if event is not None:
                self.log.add(event)

    def _last_words(self, reason: Literal["error", "aborted"], error: ErrorBody | None) -> list[Event]:
        words: list[Event] = []
        head = self.head
        if self.log.is_empty and self.was_followed:
            words.append(RoundRestart(self._blocks))
        elif self.log.is_empty:
            message = MessageHead(head.message_id, "assistant", head.id, head.session_id, head.asked.model)
            words.append(MessageStart(message))
        if self.log.open_block is not None:
            words.append(BlockStop(self.log.open_block))
        words += self._answers()
        words += self._files()
        if error is not None:
            self._error = error
            words.append(ErrorEvent(error))
        usage = self._closing.usage if self._closing else self._spent()
        context = self._closing.context if self._closing else ContextReport(0, 0)
        self._closing = MessageDelta(Delta(reason), usage, context)
        return words

    def _answers(self) -> Iterator[Event]:
        """Every call gets its result, as it does in a turn that ends by itself."""
        for call, result, shown in self._calls.close():
            if not shown:
                status = "error" if result.is_error else "success"
                images = result.images or UNSET
                block = ToolResultBlock(call.id, call.name, status, unwrapped(result.text), result.artifact, images)
                yield from self._calls.left_to_tell(call, result)
                yield BlockStart(self._blocks, block)
                yield BlockStop(self._blocks)
                self._blocks += 1
            message = ToolResultMessage(
                call.id, call.name, result.content, result.is_error, result.artifact, result.images
            )
            self._unanswered.append(self._keeping(message, self._blocks))

    def _files(self) -> Iterator[Event]:
        """At the end, as in a turn that ends by itself, which may have shown them before it was broken off."""
        if self._written and not self._attachments:
            self._attachments = tuple(self._written.values())
            yield BlockStart(self._blocks, AttachmentsBlock(self._attachments))
            yield BlockStop(self._blocks)
            self._blocks += 1

    def _spent(self) -> TurnUsage:
        """What the responses used that are kept: more is not known of a run that did not end by itself."""
        price = self.model.profile.price if self.model else None
        usages = [response.usage for response in self._responses]
        return TurnUsage.of(sum(usages, Usage()), None if price is None else sum(map(price.of, usages)))

    async def settle(self) -> None:
        """Stores an end that is owed. `DatabaseFailed`: not yet."""
        if self._owed is not None:
            await self._journal.write(self.log, self._owed, patience=0)
            self._owed = None
