"""Carries runs on, each in a task of its own, from wherever it stands to its end."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Literal

from msgspec import Struct

from footnote import tracing
from footnote.agent.turn import HistorySummary, Turn
from footnote.cancel import Cancelled
from footnote.db import runs as db
from footnote.db.engine import Database
from footnote.db.errors import DatabaseFailed, DatabaseRefused
from footnote.db.files import library_urls_by_file
from footnote.db.turns import TurnRow, messages_by_run, turns
from footnote.protocol.errors import FootnoteError, LimitReached, UsageError
from footnote.protocol.events import ErrorBody
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import Image, Message
from footnote.sessions.approvals import StoredApprovals
from footnote.sessions.conversation import AttachedFiles, attachments_of, conversation, resume_point
from footnote.sessions.event_log import RunLog
from footnote.sessions.run import INTERNAL_ERROR, LiveRun, RunHead, RunSlot
from footnote.sessions.run_spec import RunBuilder, RunSpec
from footnote.sessions.store import Sessions
from footnote.sessions.turns import branch_to
from footnote.tracing import SLOW_BUCKETS, EventCounter, Operation, TraceOrigin, TraceSpan
from footnote.workspace.export import is_user_facing
from footnote.workspace.files import Workspace
from footnote.workspace.images import is_image, load_image

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
    """Carries a run on, as one span. Of one that was taken over, whoever asked for it is long gone."""
    is_new = live.interrupted is None
    (RUNS_STARTED if is_new else RUNS_ADOPTED).add()
    caller = tracing.caller() if is_new else None
    with RUNS(origin=TraceOrigin(live.head.id, live.head.session_id, live.log.lease.fence, caller)) as span:
        try:
            await execute(live)
        finally:
            _annotate_span(span, live)
            LEASES_LOST.add(live.is_lost)


def _annotate_span(span: TraceSpan, live: LiveRun) -> None:
    """What came of it. It is `lost` to another process, or `left` to whoever carries it on."""
    head, closing = live.head, live.final_delta
    span.outcome = "lost" if live.is_lost else live.outcome or "left"
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
"""Of all images that a model is shown at once."""
SLOT_POLL_SECONDS = 0.7
"""How often a run that waits for those of other replicas looks whether it is its turn."""
MAX_ADOPTIONS = 3
"""A run that was taken over so often without getting on is given up: it may be what ends the processes."""

log = logging.getLogger(__name__)


class RunAbandoned(FootnoteError):
    """A run that did not get on, however often it was taken over."""

    type = "given_up"


class RunLimits(Struct, frozen=True):
    """`per_user`: active ones; `at_once`: carried on, over all replicas, the others wait; `waiting`: those of this
    process; `approval_seconds`: how long a call waits for the user."""

    max_per_user: int = 20
    max_running: int = 100
    max_queued: int = 1000
    approval_seconds: float = 86_400.0


class RunExecutor:
    """The live runs of this process."""

    def __init__(self, database: Database, sessions: Sessions, run_builder: RunBuilder, limits: RunLimits) -> None:
        self.live_runs: dict[str, LiveRun] = {}
        self.pending_endings: dict[str, LiveRun] = {}
        """Those that have ended, and whose end could not be stored yet."""
        self.outcome_counts: Counter[str] = Counter()
        """Runs that ended here, by how."""
        self._database = database
        self._sessions = sessions
        self._run_builder = run_builder
        self._limits = limits
        self._slots = asyncio.Semaphore(limits.max_running)
        self._slot_lock = asyncio.Lock()
        self._settle_lock = asyncio.Lock()

    def local_log(self, run_id: str) -> RunLog | None:
        """What this process has to say of a run, until all of it is stored."""
        live = self.live_runs.get(run_id) or self.pending_endings.get(run_id)
        return live.log if live else None

    @property
    def spare_capacity(self) -> int:
        """How many more it takes over: what would wait long here is soon carried on by another process, if there is
        one."""
        return max(0, 2 * self._limits.max_running - len(self.live_runs))

    def check_capacity(self) -> None:
        if len(self.live_runs) >= self._limits.max_running + self._limits.max_queued:
            raise LimitReached("The server has more questions than it can take. Ask again in a minute.", retry_after=30)

    def execute(self, live: LiveRun) -> None:
        self.live_runs[live.head.id] = live
        live.task = asyncio.create_task(measure_run(live, self._execute), name=live.head.id)

    async def store_pending_endings(self) -> None:
        """Stores the ends that are owed. One that cannot be stored yet does not hold up the others."""
        async with self._settle_lock:  # each of them once, whoever else is at it
            for live in list(self.pending_endings.values()):
                try:
                    await live.store_pending_ending()
                except DatabaseFailed as error:
                    log.debug("The end of the run %s cannot be stored yet: %s", live.head.id, error.message)
                    continue
                except db.LeaseLost as error:
                    log.warning("%s", error.message)
                del self.pending_endings[live.head.id]

    async def _execute(self, live: LiveRun) -> None:
        try:
            await self._run_to_end(live)
        except db.LeaseLost as error:
            log.warning("%s", error.message)
            live.is_lost = True
        finally:
            live.log.end(moved=live.is_lost)
            if self.live_runs.get(live.head.id) is live:  # it may be carried on anew already
                del self.live_runs[live.head.id]
            if live.has_pending_ending:
                self.pending_endings[live.head.id] = live
            if live.outcome is not None:
                self.outcome_counts[live.outcome] += 1
            live.ended.set()

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
        written: list[FileRecord] = []
        with suppress(DatabaseFailed):  # what this process saw of them is shown all the same
            written = await _written_files(self._sessions.workspace(live.head.user_id, live.head.session_id), live.head)
        await live.end_early(reason, error, written)

    @asynccontextmanager
    async def _run_slot(self, live: LiveRun) -> AsyncGenerator[None, None]:
        """Waits until it is this one's, here and, where there are others, among all replicas."""
        await live.cancel.wait(self._slots.acquire())
        live.slot = RunSlot(self._slots)
        try:
            if self._database.is_shared and not live.was_started:
                await live.cancel.wait(self._wait_for_shared_slot(live.log.lease))
            live.has_slot = True
            yield
        finally:
            live.release_slot()

    async def _wait_for_shared_slot(self, lease: db.Lease) -> None:
        async with self._slot_lock:  # one of a replica asks, however many wait
            while not await self._database.write(db.acquire_slot(lease, self._limits.max_running)):  # noqa: ASYNC110 - others end runs
                await asyncio.sleep(SLOT_POLL_SECONDS)

    async def _answer(self, live: LiveRun) -> None:
        head, found = live.head, live.interrupted
        if found is not None:
            await self._count_adoption(live)
        workspace = self._sessions.workspace(head.user_id, head.session_id)
        messages, heard, digest = await self._load_messages(head, workspace)
        model = live.model or await live.cancel.wait(self._run_builder.model(head.request.agent_id, head.request.model))
        live.model = model
        job = RunSpec(head.user_id, head.request.agent_id, head.request.locale, heard, workspace)
        equipment = await live.cancel.wait(self._run_builder.build(job, model))
        turn = Turn(
            session_id=head.session_id,
            run_id=head.id,
            message_id=head.message_id,
            system=equipment.system,
            messages=messages,
            locale=head.request.locale,
            max_tool_rounds=equipment.max_tool_rounds,
            thinking_budget=equipment.thinking_budget,
            summary=digest,
            resumed=resume_point(found, await _written_files(workspace, head)) if found and live.was_followed else None,
        )
        await live.answer(turn, model, equipment, live.approver or self._stored_approvals(live))

    def _stored_approvals(self, live: LiveRun) -> StoredApprovals:
        """Of a run whose user is asked by an event, and decides by a request."""
        live.approvals = StoredApprovals(
            self._database, live.call_key, live.clock, self._limits.approval_seconds, on_wait=live.release_slot
        )
        return live.approvals

    def wake_approvals(self, run_id: str | None) -> None:
        """Somebody decided on a call of a run; None: nobody knows of which."""
        for live in list(self.live_runs.values()):
            if live.approvals is not None and run_id in (None, live.head.id):
                live.approvals.wake()

    async def _count_adoption(self, live: LiveRun) -> None:
        """`GivenUp`: the server ended too often while it was at this run."""
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
            "in other words, or without its largest file; if it happens again, tell whoever runs this server."
        )

    async def _load_messages(
        self, head: RunHead, workspace: Workspace
    ) -> tuple[tuple[Message, ...], tuple[Message, ...], HistorySummary | None]:
        """The conversation up to a run's question, with what is kept of its answer; what was said in all branches; and
        a summary of the beginning, where one was made."""
        every = await self._database.read(turns(head.session_id))
        said = await self._database.read(messages_by_run(turn.run_id for turn in every))
        branch = branch_to(every, head.id)
        made = await self._database.read(db.latest_summary(turn.run_id for turn in reversed(branch)))
        uploads = [file.id for turn in branch for file in attachments_of(turn) if file.source == "upload"]
        addresses = await self._database.read(library_urls_by_file(head.session_id, uploads)) if uploads else {}
        enclosed = AttachedFiles(await _load_images(branch, workspace), addresses)
        # In a thread: to decode a long session would hold up the event loop.
        messages = await asyncio.to_thread(conversation, branch, said, enclosed)
        heard = await asyncio.to_thread(conversation, every, said)
        return messages, heard, HistorySummary(*made) if made else None


async def _load_images(branch: Sequence[TurnRow], workspace: Workspace) -> dict[str, Image]:
    """The images that came with the last questions, as many as a request can carry."""
    shown: dict[str, Image] = {}
    room = MAX_IMAGE_BYTES
    for file in (file for turn in reversed(branch) for file in attachments_of(turn) if is_image(file)):
        if file.id in shown or len(shown) >= MAX_IMAGES:
            continue
        try:
            picture = await load_image(workspace, file)
        except UsageError:  # deleted since, too large, or of a kind that no model knows; its name is told all the same
            continue
        room -= len(picture.data)
        if room < 0:
            break
        shown[file.id] = picture
    return shown


async def _written_files(workspace: Workspace, head: RunHead) -> list[FileRecord]:
    """The files that a run has shown, or would have."""
    return [file for file in await workspace.changed_files(head.message_id) if is_user_facing(file)]
