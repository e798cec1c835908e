"""One run in this process, a state machine: the steps of its turn become events, messages and at last an ending."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from itertools import chain
from typing import Literal, Protocol, Self

from msgspec import UNSET, Struct
from msgspec.structs import replace

from footnote.agent.budget import RunBudget, with_updates
from footnote.agent.loop import run as run_turn
from footnote.agent.turn import (
    CallBegun,
    CallEnded,
    Checkpoint,
    HistorySummarised,
    MessageCompleted,
    PlanChanged,
    ProgressMade,
    Turn,
)
from footnote.agent.turn_state import TurnState
from footnote.cancel import CancelScope
from footnote.db import approvals, progress
from footnote.db import runs as db
from footnote.db import sessions as index
from footnote.db.errors import DatabaseFailed
from footnote.db.script import Script, Steps, script
from footnote.models.base import Model
from footnote.protocol import format_time
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.errors import FootnoteError
from footnote.protocol.events import (
    ApprovalRequired,
    BlockDelta,
    BudgetUpdate,
    ErrorBody,
    Event,
    MessageDelta,
    MessageStart,
    MessageStop,
    PlanUpdate,
    RoundRestart,
    TurnStopReason,
)
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import AssistantMessage, Message, Plan, ToolCall
from footnote.protocol.plans import Budget
from footnote.protocol.sessions import RunMode, RunState
from footnote.protocol.tools import Locale
from footnote.research.context import ResearchContext, ResearchSetup
from footnote.research.replay import closed_items
from footnote.research.run import run as run_research
from footnote.research.run_plan import PLAN_BLOCK
from footnote.research.templates import Template
from footnote.sessions.approvals import StoredApprovals
from footnote.sessions.event_log import RunLog
from footnote.sessions.journal import Journal
from footnote.sessions.plan_board import StoredPlan
from footnote.sessions.turns import (
    RunEnding,
    RunRequest,
    encode,
    main_line,
    message_decoder,
    request_decoder,
    resume_point,
    stored_plan,
    unshown_items,
)
from footnote.text.search_terms import index_terms
from footnote.tools.approval import Approver
from footnote.tools.base import Abilities, FileProofs
from footnote.tools.registry import Toolbox
from footnote.workspace.files import Workspace


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What the resources of a run depend on. `all_messages` are those of all branches of the session: a source has the
    same number in each of them. With `closing`, a run waits for nothing any more that it can do without."""

    user_id: str
    agent_id: str
    locale: Locale
    all_messages: tuple[Message, ...]
    workspace: Workspace
    proofs: FileProofs | None = None
    mode: RunMode = "answer"
    template: str | None = None
    question: str = ""
    closing: CancelScope = field(default_factory=CancelScope)


@dataclass(frozen=True, slots=True)
class ResearchLimits:
    """How a plan is made and read for."""

    max_questions: int
    at_once: int
    template: Template


@dataclass(frozen=True, slots=True)
class RunResources:
    """What a turn is run with. `responder`: who answers instead of the model of the run; None: nobody. `research`: how
    a plan is made and read for; None: the run answers in one turn of the loop."""

    system: str
    toolbox: Toolbox
    abilities: Abilities
    max_tool_rounds: int
    thinking_budget: int | None
    responder: Model | None = None
    repairs_files: bool = False
    research: ResearchLimits | None = None


class RunBuilder(Protocol):
    async def model(self, agent_id: str, wanted: str | None) -> Model:
        """The model that answers. `UsageError`: there is no such agent or model."""
        ...

    def research_budget(self, agent_id: str, wanted: Budget | None, template: str | None) -> Budget:
        """The budget of a research run: what the user does not limit has the limits of the agent. `UsageError`: there
        is no such template."""
        ...

    async def build(self, spec: RunSpec, model: Model) -> RunResources: ...


_RUN_STATES: dict[TurnStopReason, RunState] = {"error": "failed", "aborted": "cancelled"}
INTERNAL_ERROR = ErrorBody(
    "internal_error",
    "Something went wrong that should not. The server's log says where.",
    retryable=True,
    code="run_failed",
)


class RunPhase(Enum):
    """Where a run stands in this process. The row in the database has a state of its own, for everybody."""

    QUEUED = "queued"
    """It waits for a slot."""
    RUNNING = "running"
    CLOSING = "closing"
    """Its turn is closed, and the end is being stored."""
    UNSETTLED = "unsettled"
    """It has ended, its followers know, and the end could not be stored yet."""
    ENDED = "ended"
    LOST = "lost"
    """Another process has the lease, or the run was deleted."""
    LEFT = "left"
    """This process stopped before the end. The next one that adopts the run goes on with it."""


LEGAL_MOVES: dict[RunPhase, frozenset[RunPhase]] = {
    RunPhase.QUEUED: frozenset({RunPhase.RUNNING, RunPhase.CLOSING, RunPhase.LOST, RunPhase.LEFT}),
    RunPhase.RUNNING: frozenset({RunPhase.CLOSING, RunPhase.LOST, RunPhase.LEFT}),
    # A closing that fails is repeated, with its failure as the error.
    RunPhase.CLOSING: frozenset({RunPhase.CLOSING, RunPhase.UNSETTLED, RunPhase.ENDED, RunPhase.LOST, RunPhase.LEFT}),
    RunPhase.UNSETTLED: frozenset({RunPhase.ENDED, RunPhase.LOST}),
    RunPhase.ENDED: frozenset(),
    RunPhase.LOST: frozenset(),
    RunPhase.LEFT: frozenset(),
}
"""From each phase, the phases that may follow it."""


class IllegalMove(RuntimeError):
    """A mistake in this program: a run was moved to a phase that cannot follow its present one."""


class RunHead(Struct, frozen=True):
    """The facts of a run that never change."""

    id: str
    session_id: str
    user_id: str
    question_id: str
    message_id: str
    request: RunRequest
    created_at: float

    @classmethod
    def from_row(cls, row: db.RunRow) -> Self:
        request = request_decoder.decode(row.asked)
        return cls(row.id, row.session_id, row.user_id, row.question_id, row.message_id, request, row.created_at)


class RunSlot:
    """One of the slots for runs that are executed at the same time."""

    def __init__(self, slots: asyncio.Semaphore) -> None:
        self._slots: asyncio.Semaphore | None = slots

    def release(self) -> None:
        """Has an effect once, however often it is called."""
        if self._slots is not None:
            self._slots.release()
            self._slots = None


class LiveRun:
    """One run in this process. Its events go to its log and, through the journal, to the database.

    queued → running → closing → ended; see `LEGAL_MOVES` for what may go wrong on the way.
    """

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
        """`approver` decides on its calls; None: the user is asked by an event. `interrupted`: what another process
        stored of the run."""
        self.head = head
        self.model = model
        self.approver = approver
        self.approvals: StoredApprovals | None = None
        """The decisions that its calls may wait for."""
        self.plan_board: StoredPlan | None = None
        """The plan of it, which its user may change."""
        self.interrupted = interrupted
        self.log = RunLog(lease, interrupted.last_id if interrupted else 0)
        self.cancel = CancelScope()
        self.clock = clock
        self.budget = RunBudget(
            head.request.budget or Budget(), started_at=head.created_at, clock=clock, store=self._store_spent
        )
        self.slot: RunSlot | None = None
        self.task: asyncio.Task[None] | None = None
        self._phase = RunPhase.QUEUED
        self._journal = journal
        self._message_count = len(interrupted.messages) if interrupted else 0
        self._plan_message = stored_plan(interrupted) if interrupted else None
        self._turn: TurnState | None = None
        self._unstored: list[Callable[[], Script[None]]] = []
        """Writes that failed, or came too late: they are part of the transaction that ends the run."""
        self._ending: Callable[[], Script[None]] | None = None
        """The transaction that ends an unsettled run."""

    @property
    def phase(self) -> RunPhase:
        return self._phase

    def move(self, phase: RunPhase) -> None:
        if phase not in LEGAL_MOVES[self._phase]:
            raise IllegalMove(f"The run {self.head.id} cannot be {phase.value}: it is {self._phase.value}.")
        self._phase = phase

    @property
    def is_active(self) -> bool:
        """It has not ended, and is executed here."""
        return self._phase in (RunPhase.QUEUED, RunPhase.RUNNING, RunPhase.CLOSING)

    async def wait(self) -> None:
        """Until this process is done with it."""
        if self.task is not None:
            await asyncio.wait({self.task})

    @property
    def was_followed(self) -> bool:
        """Clients may have seen events of it before this process adopted it."""
        return self.interrupted is not None and self.interrupted.last_id > 0

    @property
    def was_started(self) -> bool:
        """The process that this one adopted it from had a slot for it."""
        return self.interrupted is not None and self.interrupted.row.state in ("running", "waiting")

    @property
    def final_delta(self) -> MessageDelta | None:
        """The event that tells how it ended. None: it has not ended here."""
        has_ended = self._phase in (RunPhase.ENDED, RunPhase.UNSETTLED)
        return self._turn.final_delta if self._turn is not None and has_ended else None

    @property
    def outcome(self) -> RunState | None:
        """How it ended. None: it has not ended here."""
        return None if self.final_delta is None else _RUN_STATES.get(self.final_delta.delta.stop_reason, "done")

    def call_key(self, call: ToolCall) -> approvals.CallKey:
        head = self.head
        return approvals.CallKey(head.id, head.session_id, head.user_id, head.request.agent_id, call.id, call.name)

    def release_slot(self) -> None:
        """Lets another run start: this one has ended, or waits for a person and goes on without a slot after that."""
        if self.slot is not None:
            self.slot.release()

    # The turn ----------------------------------------------------------------------------------------------

    async def answer(
        self,
        turn: Turn,
        model: Model,
        resources: RunResources,
        approver: Approver,
        research: ResearchSetup | None = None,
    ) -> None:
        """`research`: for a run that makes a plan."""
        self.model = model
        state = self._turn = TurnState(turn, model.id, model.profile.price)
        toolbox, abilities = resources.toolbox, resources.abilities
        if research is None:
            steps = run_turn(state, model, toolbox, abilities, self.cancel, approver, self.budget)
        else:
            context = ResearchContext(state, model, toolbox, abilities, self.cancel, approver, research)
            steps = run_research(context)
        if self.budget.is_limited:
            steps = with_updates(steps, self.budget)
        append, run_log = self._journal.append, self.log
        async with aclosing(steps):
            async for step in steps:
                if isinstance(step, BlockDelta):
                    append(run_log, step)
                elif isinstance(step, Checkpoint):
                    self._unstored = [self._checkpoint_script(step)]
                    await self._journal.write(run_log, self._unstored[0])
                    self._unstored = []
                else:
                    await self._handle_event(step)

    def _checkpoint_script(self, checkpoint: Checkpoint) -> Callable[[], Script[None]]:
        lease = self.log.lease
        match checkpoint:
            case MessageCompleted():
                return self._message_script(checkpoint)
            case CallBegun(call_id):
                return partial(db.start_call, lease, call_id)
            case CallEnded(call_id, result):
                return partial(db.store_call_result, lease, call_id, encode(result))
            case HistorySummarised(summary):
                return partial(db.store_summary, lease, summary.upto, summary.text)
            case PlanChanged(message):
                return self._plan_script(message)
            case ProgressMade(made):
                return partial(progress.store_progress, lease, made)

    def _message_script(self, completed: MessageCompleted) -> Callable[[], Script[None]]:
        dated = replace(completed.message, timestamp=format_time(self.clock()))
        row = db.StoredMessage(self._message_count, completed.blocks, encode(dated))
        self._message_count += 1
        return partial(db.store_message, self.log.lease, row)

    def _plan_script(self, message: AssistantMessage) -> Callable[[], Script[None]]:
        """The plan is the first message of its run, and its first block."""
        self._message_count = max(1, self._message_count)
        self._plan_message = message
        dated = replace(message, timestamp=format_time(self.clock()))
        return partial(progress.replace_message, self.log.lease, db.StoredMessage(0, 1, encode(dated)))

    async def _handle_event(self, event: Event) -> None:
        match event:
            case MessageStart() | RoundRestart():
                # Stored before it is sent: a client that reconnects finds a log that begins as its own did.
                await self._journal.write(self.log, partial(db.set_running, self.log.lease), event)
            case ApprovalRequired():
                # In one transaction with the state of the run: a client that sees the question can decide on it.
                requiring = partial(
                    approvals.require_approval, self.log.lease, event.tool_use_id, event.name, self.clock()
                )
                await self._journal.write(self.log, requiring, event)
            case BudgetUpdate():
                storing = partial(progress.store_spent, self.log.lease, self.budget.to_store())
                await self._journal.write(self.log, storing, event)
            case MessageDelta():
                pass  # sent with the end
            case MessageStop():
                self.move(RunPhase.CLOSING)
                await self._end()
            case _:
                self._journal.append(self.log, event)

    async def _store_spent(self, spent: bytes) -> None:
        await self._journal.write(self.log, partial(progress.store_spent, self.log.lease, spent))

    # The end -----------------------------------------------------------------------------------------------

    async def _end(self) -> None:
        """Stored before it is sent: a client that sees the end of a run finds it in the history, and can ask again."""
        try:
            ending, final_delta = await self._prepare_ending()
            await self._journal.write(self.log, ending, final_delta, MessageStop())
        except DatabaseFailed as error:
            await self.end_unstored(error)
        else:
            self.move(RunPhase.ENDED)

    async def end_early(
        self,
        reason: Literal["error", "aborted"],
        error: ErrorBody | None = None,
        written_files: Iterable[FileRecord] = (),
    ) -> None:
        """Ends a run whose turn did not end by itself. `written_files`: what the workspace has of this run, also from
        calls before a crash."""
        plan = await self._stopped_plan()
        for event in (*self._close_turn(reason, error, written_files), *plan):
            self._journal.append(self.log, event)
        await self._end()

    async def _stopped_plan(self) -> tuple[PlanUpdate, ...]:
        """The plan of a research run, in which no item goes on any more. Stored with the end."""
        board, shown = self.plan_board, self._plan_message
        plan = await board.stop(self.head.request.locale) if board and shown else None
        if plan is None or shown is None:
            return ()
        self._unstored.append(self._plan_script(replace(shown, content=(Plan(plan.items, plan.steering),))))
        return (PlanUpdate(PLAN_BLOCK, plan.items, plan.steering or UNSET),)

    async def end_unstored(self, error: DatabaseFailed) -> None:
        """Tells the followers that the run has ended and could not be stored; it is stored as soon as it can be."""
        events = self._close_turn("error", self.error_body(error))
        self._ending, final_delta = await self._prepare_ending()
        for event in (*events, final_delta, MessageStop()):
            self.log.append(event)
        self.move(RunPhase.UNSETTLED)

    def _close_turn(
        self, reason: Literal["error", "aborted"], error: ErrorBody | None, written_files: Iterable[FileRecord] = ()
    ) -> list[Event]:
        """The events before the last two, which tell the end itself. Results of open calls are stored with the end."""
        if self._phase is RunPhase.LOST:
            raise db.LeaseLost(self.head.id)
        self.move(RunPhase.CLOSING)
        items = unshown_items(self.interrupted) if self._turn is None else {}
        turn = self._turn = self._turn or self._unstarted_turn()
        turn.add_files(written_files)
        events: list[Event] = [turn.start()] if self.log.is_empty else []
        for step in chain(closed_items(turn, items, reason), turn.close(reason, error)):
            if isinstance(step, MessageCompleted):
                self._unstored.append(self._message_script(step))
            elif not isinstance(step, Checkpoint | MessageDelta | MessageStop):
                events.append(step)
        return events

    def _unstarted_turn(self) -> TurnState:
        """Of a run that ends before its turn could start: what another process stored of it, if there was one."""
        head, found = self.head, self.interrupted
        messages = main_line(message_decoder.decode(message.body) for message in found.messages) if found else ()
        resumed = resume_point(found, ()) if found and self.was_followed else None
        turn = Turn(head.session_id, head.id, head.message_id, "", messages, resumed=resumed)
        return TurnState(turn, head.request.model, self.model.profile.price if self.model else None)

    async def _prepare_ending(self) -> tuple[Callable[[], Script[None]], MessageDelta]:
        """The transaction that ends the run, and the event that tells how it ended."""
        turn = self._turn
        assert turn is not None and turn.final_delta is not None  # noqa: S101, PT018 - only a closed turn comes here
        delta = turn.final_delta
        reason = delta.delta.stop_reason
        ending = RunEnding(
            stop_reason=reason,
            usage=delta.usage,
            error=turn.error,
            attachments=turn.attachments,
            unsourced=delta.delta.unsourced is True,
            spent=self.budget.spent if self.budget.is_limited else None,
        )
        self.budget.stop()
        terms = await index_terms("\n\n".join(response.text for response in turn.responses))
        now = self.clock()
        finish = partial(self._finish, _RUN_STATES.get(reason, "done"), encode(ending), terms, now)
        return finish, replace(delta, timestamp=format_time(now))

    @script
    def _finish(self, state: RunState, ending: bytes, terms: str, now: float) -> Steps[None]:
        for write in self._unstored:
            yield from write()
        yield from db.finish_run(self.log.lease, state, ending, now)
        yield from index.index_part(self.head.session_id, self.head.message_id, terms)

    async def store_ending(self) -> None:
        """Stores the end of an unsettled run. `DatabaseFailed`: not yet."""
        assert self._ending is not None  # noqa: S101 - an unsettled run has one
        await self._journal.write(self.log, self._ending, retry_seconds=0)
        self.move(RunPhase.ENDED)

    def drop_failed_write(self) -> None:
        """A write that the database refuses, and always will, is not part of the end."""
        self._unstored = []

    def error_body(self, error: FootnoteError) -> ErrorBody:
        """An error as the user sees it: the person at this machine sees all of it."""
        message = error.message if self.head.user_id == LOCAL_USER else error.public_message
        return ErrorBody.from_error(error, message)
