"""Executes runs, each in a task of its own, from its start or from where it was interrupted to its end."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Literal

from msgspec import Struct

from footnote import tracing
from footnote.agent.turn import HistorySummary, Turn
from footnote.cancel import Cancelled, CancelScope
from footnote.db import progress
from footnote.db import runs as db
from footnote.db.engine import Database
from footnote.db.errors import DatabaseFailed, DatabaseRefused
from footnote.db.files import library_urls_by_file
from footnote.db.runs import TurnRow, messages_by_run, turns
from footnote.protocol.errors import FootnoteError, LimitReached, UsageError
from footnote.protocol.events import ErrorBody
from footnote.protocol.files import FileRecord, split_attachments
from footnote.protocol.messages import Image, Message, UserMessage
from footnote.research.context import ResearchSetup
from footnote.sessions.approvals import StoredApprovals
from footnote.sessions.event_log import RunLog
from footnote.sessions.file_citations import FileCitationChecker, SessionProofs
from footnote.sessions.plan_board import StoredPlan
from footnote.sessions.run import (
    INTERNAL_ERROR,
    LiveRun,
    ResearchLimits,
    RunBuilder,
    RunHead,
    RunPhase,
    RunSlot,
    RunSpec,
)
from footnote.sessions.store import Sessions
from footnote.sessions.turns import (
    AttachedFiles,
    attachments_of,
    branch_to,
    conversation,
    item_messages,
    main_line,
    resume_point,
    unanswered_results,
)
from footnote.tracing import SLOW_BUCKETS, EventCounter, Operation, TraceOrigin, TraceSpan
from footnote.workspace.export import is_user_facing
from footnote.workspace.files import Workspace, is_image, load_image

RUNS = Operation(
    "run", "Runs that were carried on here, each until it ended or was left.", span="run", buckets=SLOW_BUCKETS
)
RUNS_STARTED = EventCounter("runs_started", "Runs that began here.")
RUNS_ADOPTED = EventCounter("runs_adopted", "Runs that were taken over from another process.")
RUNS_GIVEN_UP = EventCounter(
    "runs_given_up", "Runs that were taken over again and again without getting on, and ended with an error."
)
LEASES_LOST = EventCounter(
    "leases_lost", "Runs that were carried on here until they were another process's, or deleted."
)


async def measure_run(live: LiveRun, execute: Callable[[LiveRun], Awaitable[None]]) -> None:
    """Executes a run as one trace span. Only a new run has a caller: an adopted one belongs to no request."""
    is_new = live.interrupted is None
    (RUNS_STARTED if is_new else RUNS_ADOPTED).add()
    caller = tracing.caller() if is_new else None
    with RUNS(origin=TraceOrigin(live.head.id, live.head.session_id, live.log.lease.fence, caller)) as span:
        try:
            await execute(live)
        finally:
            _annotate_span(span, live)
            LEASES_LOST.add(live.phase is RunPhase.LOST)


def _annotate_span(span: TraceSpan, live: LiveRun) -> None:
    """The outcome is how the run ended, or the phase in which this process stopped executing it: `lost` or `left`."""
    head, closing = live.head, live.final_delta
    span.outcome = live.outcome or live.phase.value
    span.set_attributes(
        {
            "footnote.run.id": head.id,
            "footnote.session.id": head.session_id,
            "footnote.agent.id": head.request.agent_id,
            "footnote.fence": live.log.lease.fence,
            "gen_ai.request.model": head.request.model,
        }
    )
    if closing is not None:
        span.set_attributes(
            {
                "footnote.stop_reason": closing.delta.stop_reason,
                "gen_ai.usage.input_tokens": closing.usage.input_tokens,
                "gen_ai.usage.output_tokens": closing.usage.output_tokens,
            }
        )


MAX_IMAGES = 20
MAX_IMAGE_BYTES = 15_000_000
"""The size of all images of one request."""
SLOT_POLL_SECONDS = 0.7
"""How often a run polls for a slot while runs of other replicas have them all."""
MAX_ADOPTIONS = 3
"""A run that was adopted so often without progress is given up: it may be what kills the processes."""

log = logging.getLogger(__name__)


class RunAbandoned(FootnoteError):
    """The run made no progress over several adoptions."""

    type = "given_up"


class RunLimits(Struct, frozen=True):
    """`max_per_user`: active runs of a user. `max_running`: runs with a slot, over all replicas; the others are queued.
    `max_queued`: of this process. `approval_seconds`: how long a call waits for the user."""

    max_per_user: int = 20
    max_running: int = 100
    max_queued: int = 1000
    approval_seconds: float = 86_400.0


class RunExecutor:
    """The live runs of this process."""

    def __init__(
        self,
        database: Database,
        sessions: Sessions,
        run_builder: RunBuilder,
        limits: RunLimits,
        file_citations: FileCitationChecker | None = None,
    ) -> None:
        self.live_runs: dict[str, LiveRun] = {}
        self.pending_endings: dict[str, LiveRun] = {}
        """Ended runs whose end could not be stored yet."""
        self.outcome_counts: Counter[str] = Counter()
        """The number of runs that ended in this process, by outcome."""
        self._database = database
        self._sessions = sessions
        self._run_builder = run_builder
        self._limits = limits
        self._file_citations = file_citations
        self._slots = asyncio.Semaphore(limits.max_running)
        self._slot_lock = asyncio.Lock()
        self._settle_lock = asyncio.Lock()

    def local_log(self, run_id: str) -> RunLog | None:
        """The log of a run that this process executes, or whose end it has not stored yet."""
        live = self.live_runs.get(run_id) or self.pending_endings.get(run_id)
        return live.log if live else None

    @property
    def spare_capacity(self) -> int:
        """How many more runs this process adopts. Runs that would wait long here are left to other processes."""
        return max(0, 2 * self._limits.max_running - len(self.live_runs))

    def check_capacity(self) -> None:
        if len(self.live_runs) >= self._limits.max_running + self._limits.max_queued:
            raise LimitReached(
                "The server has more questions than it can take. Ask again in a minute.",
                retry_after=30,
                code="server_busy",
            )

    def execute(self, live: LiveRun) -> None:
        self.live_runs[live.head.id] = live
        live.task = asyncio.create_task(measure_run(live, self._execute), name=live.head.id)

    async def store_pending_endings(self) -> None:
        """Stores the ends of unsettled runs. One that cannot be stored yet does not hold up the others."""
        async with self._settle_lock:  # each of them once, also with two concurrent callers
            for live in list(self.pending_endings.values()):
                try:
                    await live.store_ending()
                except DatabaseFailed as error:
                    log.debug("The end of the run %s cannot be stored yet: %s", live.head.id, error.message)
                    continue
                except db.LeaseLost as error:
                    log.warning("%s", error.message)
                    live.move(RunPhase.LOST)
                del self.pending_endings[live.head.id]

    async def _execute(self, live: LiveRun) -> None:
        try:
            await self._run_to_end(live)
        except db.LeaseLost as error:
            log.warning("%s", error.message)
            if live.is_active:
                live.move(RunPhase.LOST)
        finally:
            if live.is_active:
                live.move(RunPhase.LEFT)
            live.log.end(moved=live.phase is RunPhase.LOST)
            if self.live_runs.get(live.head.id) is live:  # it may have been adopted again already
                del self.live_runs[live.head.id]
            if live.phase is RunPhase.UNSETTLED:
                self.pending_endings[live.head.id] = live
            if live.outcome is not None:
                self.outcome_counts[live.outcome] += 1

    async def _run_to_end(self, live: LiveRun) -> None:
        try:
            async with self._run_slot(live):
                await self._answer(live)
        except Cancelled:
            await self._end_early(live, "aborted")
        except DatabaseRefused as error:
            live.drop_failed_write()
            await self._end_early(live, "error", live.error_body(error))
        except DatabaseFailed as error:
            await live.end_unstored(error)
        except db.LeaseLost:
            raise
        except FootnoteError as error:
            await self._end_early(live, "error", live.error_body(error))
        except Exception:
            log.exception("The run %s failed.", live.head.id)
            await self._end_early(live, "error", INTERNAL_ERROR)

    async def _end_early(
        self, live: LiveRun, reason: Literal["error", "aborted"], error: ErrorBody | None = None
    ) -> None:
        if live.head.request.mode == "research" and live.plan_board is None:
            live.plan_board = StoredPlan(self._database, live.log.lease)
        written: list[FileRecord] = []
        with suppress(DatabaseFailed):  # their events of this process are shown all the same
            written = await _written_files(self._sessions.workspace(live.head.user_id, live.head.session_id), live.head)
        await live.end_early(reason, error, written)

    @asynccontextmanager
    async def _run_slot(self, live: LiveRun) -> AsyncGenerator[None, None]:
        try:
            await self._take_slot(live)
            live.move(RunPhase.RUNNING)
            yield
        finally:
            live.release_slot()

    async def _take_slot(self, live: LiveRun) -> None:
        """Waits for a slot of this process and, where replicas share the database, of all of them. A run whose time is
        over goes on without: it needs no model any more to be answered."""
        live.budget.start()
        with CancelScope.linked_to(live.cancel, live.budget.end_scope) as scope:
            try:
                await scope.wait(self._slots.acquire())
                live.slot = RunSlot(self._slots)
                if self._database.is_shared and not live.was_started:
                    await scope.wait(self._wait_for_shared_slot(live.log.lease))
            except Cancelled:
                if live.cancel.is_cancelled:
                    raise

    async def _wait_for_shared_slot(self, lease: db.Lease) -> None:
        async with self._slot_lock:  # one run of this process polls, however many wait
            while not await self._database.write(db.acquire_slot(lease, self._limits.max_running)):  # noqa: ASYNC110 - others end runs
                await asyncio.sleep(SLOT_POLL_SECONDS)

    async def _answer(self, live: LiveRun) -> None:
        head, found = live.head, live.interrupted
        if found is not None:
            await self._count_adoption(live)
            live.budget.restore((await self._database.read(progress.run_progress(head.id))).spent)
        workspace = self._sessions.workspace(head.user_id, head.session_id)
        messages, all_messages, summary = await self._load_messages(head, workspace)
        model = live.model or await live.cancel.wait(self._run_builder.model(head.request.agent_id, head.request.model))
        live.model = model
        request = head.request
        proofs = self._file_citations and SessionProofs(self._file_citations, head.user_id, head.session_id)
        spec = RunSpec(
            head.user_id,
            request.agent_id,
            request.locale,
            all_messages if found is None else (*all_messages, *unanswered_results(found)),
            workspace,
            proofs,
            request.mode,
            request.template,
            _question(messages),
            live.budget.search_scope,
        )
        resources = await live.cancel.wait(self._run_builder.build(spec, model))
        turn = Turn(
            session_id=head.session_id,
            run_id=head.id,
            message_id=head.message_id,
            system=resources.system,
            messages=messages,
            locale=request.locale,
            max_tool_rounds=resources.max_tool_rounds,
            thinking_budget=resources.thinking_budget,
            repairs_files=resources.repairs_files,
            summary=summary,
            resumed=resume_point(found, await _written_files(workspace, head)) if found and live.was_followed else None,
        )
        approver = live.approver or self._stored_approvals(live)
        research = await self._research(live, resources.research, spec.question) if resources.research else None
        async with self._finishing_on_request(live):
            await live.answer(turn, resources.responder or model, resources, approver, research)

    async def _research(self, live: LiveRun, limits: ResearchLimits, question: str) -> ResearchSetup:
        board = live.plan_board = StoredPlan(self._database, live.log.lease)
        stored = await self._database.read(progress.run_progress(live.head.id))
        return ResearchSetup(
            question,
            board,
            live.budget,
            limits.template,
            limits.max_questions,
            limits.at_once,
            item_messages(live.interrupted) if live.interrupted else {},
            stored.progress,
        )

    @asynccontextmanager
    async def _finishing_on_request(self, live: LiveRun) -> AsyncGenerator[None, None]:
        """Makes an ordinary run answer with what it has once its user wants that. A research run looks for changes of
        its plan itself."""
        if live.plan_board is not None:
            yield
            return
        board = live.plan_board = StoredPlan(self._database, live.log.lease)

        async def close_budget() -> None:
            await board.wait_until_finishing()
            live.budget.close()

        if live.interrupted is not None and (plan := await board.read()) is not None and plan.is_finishing:
            live.budget.close()
        watch = asyncio.create_task(close_budget())
        try:
            yield
        finally:
            watch.cancel()

    def _stored_approvals(self, live: LiveRun) -> StoredApprovals:
        """The approver of a run whose user is asked by an event, and decides by a request."""
        live.approvals = StoredApprovals(
            self._database,
            live.call_key,
            live.clock,
            self._limits.approval_seconds,
            on_wait=live.release_slot,
            closing=live.budget.search_scope,
        )
        return live.approvals

    def wake_approvals(self, run_id: str | None) -> None:
        """Makes waiting calls look for a decision, in one run or, with None, in all."""
        for live in list(self.live_runs.values()):
            if live.approvals is not None and run_id in (None, live.head.id):
                live.approvals.wake()

    def wake_plans(self, run_id: str | None) -> None:
        """Makes a run look for changes of its plan by its user, or, with None, all runs."""
        for live in list(self.live_runs.values()):
            if live.plan_board is not None and run_id in (None, live.head.id):
                live.plan_board.wake()

    async def _count_adoption(self, live: LiveRun) -> None:
        """`RunAbandoned`: processes ended too often while they executed this run."""
        if await self._database.write(db.count_adoption(live.log.lease)) < MAX_ADOPTIONS:
            return
        facts = {"run_id": live.head.id, "session_id": live.head.session_id}
        log.error(
            "The run %s was taken over %d times without getting on, and is given up: it may be what ended the server.",
            live.head.id,
            MAX_ADOPTIONS,
            extra=facts,
        )
        RUNS_GIVEN_UP.add()
        raise RunAbandoned(
            "The server stopped each time while it worked on this answer, so the answer was given up. Ask the question "
            "in other words, or without its largest file; if it happens again, tell whoever runs this server.",
            code="run_abandoned",
        )

    async def _load_messages(
        self, head: RunHead, workspace: Workspace
    ) -> tuple[tuple[Message, ...], tuple[Message, ...], HistorySummary | None]:
        """The branch up to a run's question, with the stored part of its answer; the messages of all branches; and the
        latest summary of the beginning, if there is one."""
        every = await self._database.read(turns(head.session_id))
        bodies = await self._database.read(messages_by_run(turn.run_id for turn in every))
        branch = branch_to(every, head.id)
        summary = await self._database.read(db.latest_summary(turn.run_id for turn in reversed(branch)))
        uploads = [file.id for turn in branch for file in attachments_of(turn) if file.source == "upload"]
        addresses = await self._database.read(library_urls_by_file(head.session_id, uploads)) if uploads else {}
        files = AttachedFiles(await _load_images(branch, workspace), addresses)
        # In a thread: to decode a long session would hold up the event loop.
        messages = main_line(await asyncio.to_thread(conversation, branch, bodies, files))
        all_messages = await asyncio.to_thread(conversation, every, bodies)
        return messages, all_messages, HistorySummary(*summary) if summary else None


def _question(messages: Sequence[Message]) -> str:
    """The last question, without the names of its attachments."""
    asked = next((message for message in reversed(messages) if isinstance(message, UserMessage)), None)
    return split_attachments(asked.text)[0].strip() if asked else ""


async def _load_images(branch: Sequence[TurnRow], workspace: Workspace) -> dict[str, Image]:
    """The images that are attached to the last questions, as many as fit into a request."""
    images: dict[str, Image] = {}
    room = MAX_IMAGE_BYTES
    for file in (file for turn in reversed(branch) for file in attachments_of(turn) if is_image(file)):
        if file.id in images or len(images) >= MAX_IMAGES:
            continue
        try:
            image = await load_image(workspace, file)
        except UsageError:  # deleted, too large, or of an unsupported type: the question still names the file
            continue
        room -= len(image.data)
        if room < 0:
            break
        images[file.id] = image
    return images


async def _written_files(workspace: Workspace, head: RunHead) -> list[FileRecord]:
    """The files that a run has written for the user."""
    return [file for file in await workspace.changed_files(head.message_id) if is_user_facing(file)]
