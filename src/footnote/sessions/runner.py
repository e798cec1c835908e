"""Runs, which belong to the server and not to a connection: a run goes on when its client disconnects.

    queued → running (⇄ waiting) → done | failed | cancelled

A run is one task in this process and one row in the database with a lease. Clients follow it by reading its event log.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress

from msgspec import Struct

from footnote.agent.budget import check_price_known
from footnote.bus.base import Bus, LocalBus
from footnote.db import approvals, leases
from footnote.db import runs as db
from footnote.db.engine import Database
from footnote.db.errors import DatabaseFailed
from footnote.db.progress import run_with_spent
from footnote.db.runs import TurnRow
from footnote.models.base import Model
from footnote.protocol import format_time
from footnote.protocol.errors import Unknown
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import AssistantMessage, Message, UserMessage
from footnote.protocol.plans import Budget, PlanChanges, PlanView, Steering
from footnote.protocol.sessions import (
    ACTIVE,
    Approval,
    NewMessage,
    RetryRequest,
    RunMode,
    RunView,
    StartedRun,
    parse_locale,
)
from footnote.sessions import turns as stored
from footnote.sessions.bus_messages import (
    ORPHANS_MESSAGE,
    SUPERVISORS_TOPIC,
    cancel_message,
    decision_message,
    plan_message,
)
from footnote.sessions.executor import RunExecutor, RunLimits
from footnote.sessions.file_citations import FileCitationChecker
from footnote.sessions.follow import RemoteLogs, follow
from footnote.sessions.journal import Journal
from footnote.sessions.plan_board import UserPlans
from footnote.sessions.run import LiveRun, RunBuilder, RunHead
from footnote.sessions.store import Sessions
from footnote.sessions.submitter import RunSubmitter, SubmittedRun
from footnote.sessions.supervisor import LEASE_SECONDS, RunSupervisor, new_owner
from footnote.sessions.turns import RunRequest, attachments_of
from footnote.text.languages import detect_locale
from footnote.tools.approval import NO_APPROVER, Approver

CANCEL_SECONDS = 3.0
"""How long a request to cancel waits for the end of the run, which it returns."""


class RunKind(Struct, frozen=True):
    """How a question is answered. `template`: that of the report of a research run."""

    mode: RunMode = "answer"
    budget: Budget | None = None
    template: str | None = None


class Runner:
    """All runs of this process."""

    def __init__(
        self,
        database: Database,
        sessions: Sessions,
        run_builder: RunBuilder,
        limits: RunLimits = RunLimits(),  # noqa: B008 - frozen
        *,
        bus: Bus | None = None,
        file_citations: FileCitationChecker | None = None,
        lease_seconds: float = LEASE_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`file_citations` judges the files that runs write; None: they are not judged."""
        self.bus = bus or LocalBus()
        self.journal = Journal(database, self.bus)
        self.executor = RunExecutor(database, sessions, run_builder, limits, file_citations)
        self.remote_logs = RemoteLogs(database, self.bus, self.executor.local_log)
        self._database = database
        self._sessions = sessions
        self._run_builder = run_builder
        self._clock = clock
        self._is_closed = False
        self._owner = new_owner()
        self._submitter = RunSubmitter(
            database, self._owner, max_active=limits.max_per_user, lease_seconds=lease_seconds, clock=clock
        )
        self._plans = UserPlans(database)
        self._supervisor = RunSupervisor(
            database,
            self.executor,
            self.journal,
            self.bus,
            self._owner,
            lease_seconds=lease_seconds,
            clean_up=sessions.clean_up,
            clock=clock,
        )

    # Starting a run ----------------------------------------------------------------------------------------

    async def start(
        self,
        user_id: str,
        session_id: str,
        new: NewMessage,
        *,
        agent_id: str | None = None,
        approver: Approver | None = None,
        mode: RunMode = "answer",
    ) -> StartedRun:
        """Stores a question and starts its run. `agent_id` None: the agent of the session. `approver` decides on calls
        that need the user's approval; without one they wait for `decide`. `mode`: how the question is answered; another
        answer to it, and to a changed form of it, keeps the mode.

        `RunActive`, `LimitReached`: not now. `Unknown`: no such session or file. `UsageError`: no such model."""
        session = await self._sessions.head(user_id, session_id)
        if (same := await self._submitter.find_submitted(user_id, session_id, new.client_id)) is not None:
            return _to_started_run(same)
        files = await self._load_files(user_id, session_id, new.attachments or ())
        kind = RunKind(new.mode or mode, new.budget, new.template)
        model, asked = await self._build_request(agent_id or session.agent_id, new, new.content, kind)
        submitted = await self._submitter.submit(user_id, session_id, new, asked, files=files)
        return self._start_run(submitted, model, approver)

    async def start_with_history(
        self, user_id: str, session_id: str, earlier: Sequence[Message], new: NewMessage
    ) -> StartedRun:
        """Starts a run in a session that begins with a conversation from elsewhere."""
        session = await self._sessions.head(user_id, session_id)
        model, asked = await self._build_request(session.agent_id, new, new.content, RunKind())
        await self._submitter.record(user_id, session_id, _turns_of(earlier), asked)
        submitted = await self._submitter.submit(user_id, session_id, new, asked)
        return self._start_run(submitted, model, NO_APPROVER)  # a client of another API cannot be asked

    async def retry(self, user_id: str, session_id: str, message_id: str, again: RetryRequest) -> StartedRun:
        """Another answer to a question. `message_id` is the question or an answer to it."""
        session = await self._sessions.head(user_id, session_id)
        turn = await self._submitter.find_turn(user_id, session_id, message_id)
        question = stored.question_decoder.decode(turn.question).text
        model, asked = await self._build_request(session.agent_id, again, question, _kind_of(turn))
        return self._start_run(await self._submitter.resubmit(user_id, session_id, turn, asked), model, None)

    async def edit(self, user_id: str, session_id: str, message_id: str, new: NewMessage) -> StartedRun:
        """Asks a changed question as a new branch; the old branch can still be shown."""
        session = await self._sessions.head(user_id, session_id)
        if (same := await self._submitter.find_submitted(user_id, session_id, new.client_id)) is not None:
            return _to_started_run(same)
        turn = await self._submitter.find_turn(user_id, session_id, message_id)
        if new.attachments is None:
            files = await self._load_attachments(user_id, session_id, turn)
        else:
            files = await self._load_files(user_id, session_id, new.attachments)
        before = _kind_of(turn)
        kind = RunKind(new.mode or before.mode, new.budget or before.budget, new.template or before.template)
        model, asked = await self._build_request(session.agent_id, new, new.content, kind)
        submitted = await self._submitter.submit(user_id, session_id, new, asked, files=files, instead_of=turn)
        return self._start_run(submitted, model, None)

    async def _load_files(self, user_id: str, session_id: str, paths: Sequence[str]) -> list[FileRecord]:
        workspace = self._sessions.workspace(user_id, session_id)
        records = [await workspace.record(path) for path in paths]
        return list({record.path: record for record in records}.values())

    async def _load_attachments(self, user_id: str, session_id: str, turn: TurnRow) -> list[FileRecord]:
        """The attachments of a question, without those that were deleted since."""
        there = {record.path: record for record in await self._sessions.workspace(user_id, session_id).list()}
        return [there[file.path] for file in attachments_of(turn) if file.path in there]

    async def _build_request(
        self, agent_id: str, options: NewMessage | RetryRequest, question: str, kind: RunKind
    ) -> tuple[Model, RunRequest]:
        """Called before anything is stored, so that a request that is refused leaves no trace. Without a supported
        locale of the client, the run has the language of its question."""
        self.executor.check_capacity()
        model = await self._run_builder.model(agent_id, options.model)
        budget = kind.budget
        if kind.mode == "research":
            budget = self._run_builder.research_budget(agent_id, budget, kind.template)
        if budget is not None:
            check_price_known(model, budget)
        locale = parse_locale(options.locale) or detect_locale(question)
        return model, RunRequest(agent_id, model.id, locale, kind.mode, budget, kind.template)

    def _start_run(self, submitted: SubmittedRun, model: Model, approver: Approver | None) -> StartedRun:
        head = submitted.head
        if submitted.is_new:
            live = LiveRun(head, db.Lease(head.id, 0), self.journal, self._clock, model=model, approver=approver)
            self.executor.execute(live)
            self._supervisor.start()
        return _to_started_run(head)

    # Reading, following, cancelling ------------------------------------------------------------------------

    async def view(self, user_id: str, run_id: str) -> RunView:
        row, spent = await self._database.read(run_with_spent(run_id))
        if row is None or row.user_id != user_id:
            raise Unknown("There is no such run.", code="run_not_found")
        return stored.run_view(row, spent)

    def follow(self, run_id: str, after: int = 0, *, idle_seconds: float | None = None) -> AsyncGenerator[bytes, None]:
        """The events of a run after an id, from the live log, another replica or the database, to its end; b"" after
        `idle_seconds` without any."""
        return follow(self._database, self.executor.local_log, self.remote_logs, run_id, after, idle_seconds)

    async def cancel(self, user_id: str, run_id: str) -> RunView:
        view = await self.view(user_id, run_id)
        if view.state not in ACTIVE:
            return view
        live = self.executor.live_runs.get(run_id)
        if live is not None:
            live.cancel.cancel()
        # If the process of the run dies first, its successor ends the run instead of resuming it.
        await self._database.write(leases.request_cancel(run_id))
        if live is None:
            self.bus.publish(SUPERVISORS_TOPIC, cancel_message(run_id))
        with suppress(TimeoutError):
            async with asyncio.timeout(CANCEL_SECONDS):
                await (live.wait() if live is not None else self._wait_for_remote_end(run_id))
        return await self.view(user_id, run_id)

    async def decide(self, user_id: str, run_id: str, call_id: str, approval: Approval) -> RunView:
        """Stores the user's decision on a waiting call. `Unknown`: there is no such call; `Conflict`: it is too
        late."""
        note = (approval.note or "").strip() or None
        await self._database.write(
            approvals.store_decision(user_id, run_id, call_id, approval.decision, note, self._clock())
        )
        if run_id in self.executor.live_runs:
            self.executor.wake_approvals(run_id)
        else:
            self.bus.publish(SUPERVISORS_TOPIC, decision_message(run_id))
        return await self.view(user_id, run_id)

    async def plan(self, user_id: str, run_id: str) -> PlanView:
        return await self._plans.view(user_id, run_id)

    async def change_plan(self, user_id: str, run_id: str, changes: PlanChanges) -> PlanView:
        """Drops, adds, changes and orders items that have not begun."""
        plan = await self._plans.edit(user_id, run_id, changes)
        self._wake_plan(run_id)
        return plan

    async def steer(self, user_id: str, run_id: str, steering: Steering) -> PlanView:
        """Tells a research run something while it goes on."""
        plan = await self._plans.steer(user_id, run_id, steering)
        self._wake_plan(run_id)
        return plan

    async def finish(self, user_id: str, run_id: str) -> RunView:
        """Makes a run answer with what it has, without looking anything else up."""
        if (view := await self.view(user_id, run_id)).state not in ACTIVE:
            return view
        await self._plans.finish(user_id, run_id)
        self._wake_plan(run_id)
        return await self.view(user_id, run_id)

    def _wake_plan(self, run_id: str) -> None:
        if run_id in self.executor.live_runs:
            self.executor.wake_plans(run_id)
        else:
            self.bus.publish(SUPERVISORS_TOPIC, plan_message(run_id))

    async def _wait_for_remote_end(self, run_id: str) -> None:
        last = await self._database.read(db.last_event_id(run_id))
        async with aclosing(self.follow(run_id, last)) as pieces:
            async for _ in pieces:
                pass

    async def stop_session(self, user_id: str, session_id: str) -> None:
        """Cancels the active run of a session and waits for its end; for a run of another process, up to
        `CANCEL_SECONDS`. That process finds the run deleted later, and stops it."""
        await self._sessions.head(user_id, session_id)
        run_id = await self._database.read(db.active_run(session_id))
        if run_id is not None:
            await self.cancel(user_id, run_id)
            if (live := self.executor.live_runs.get(run_id)) is not None:
                await live.wait()

    async def stop_user(self, user_id: str) -> None:
        """Cancels all runs of a user."""
        active = await self._database.read(db.active_runs(user_id))
        await asyncio.gather(*(self.cancel(user_id, run_id) for run_id in active))

    # The life of the process -------------------------------------------------------------------------------

    async def adopt(self) -> None:
        """Adopts the unfinished runs of dead processes, now and from now on."""
        await self._supervisor.adopt()

    async def close(self) -> None:
        """Leaves unfinished runs to the next start of the server; in a process that adopts no runs, such as the command
        line, it cancels them. A second call does nothing, also if the first one was interrupted."""
        if self._is_closed:
            return
        self._is_closed = True
        self._supervisor.stop()
        self.remote_logs.close()
        runs = list(self.executor.live_runs.values())
        tasks = [run.task for run in runs if run.task is not None]
        if tasks and not self._supervisor.adopts_orphans:
            for run in runs:
                run.cancel.cancel()
            await asyncio.wait(tasks, timeout=CANCEL_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.journal.close()
        await self.executor.store_pending_endings()
        if runs:
            with suppress(DatabaseFailed):
                await self._database.write(leases.release(self._owner))
                self.bus.publish(SUPERVISORS_TOPIC, ORPHANS_MESSAGE)


def _to_started_run(head: RunHead) -> StartedRun:
    return StartedRun(head.id, head.session_id, head.message_id, head.question_id, format_time(head.created_at))


def _kind_of(turn: TurnRow) -> RunKind:
    asked = stored.request_decoder.decode(turn.asked)
    return RunKind(asked.mode, asked.budget, asked.template)


def _turns_of(messages: Sequence[Message]) -> list[tuple[str, list[AssistantMessage]]]:
    found: list[tuple[str, list[AssistantMessage]]] = []
    for message in messages:
        if isinstance(message, UserMessage):
            found.append((message.text, []))
        elif isinstance(message, AssistantMessage) and found:
            found[-1][1].append(message)
    return found
