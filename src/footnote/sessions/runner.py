"""Runs: they belong to the server and not to a connection, and outlive both.

    queued → running (⇄ waiting) → done | failed | cancelled

A run is one task here, and one row in the database with a lease. Whoever follows it reads its log.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from typing import cast

from msgspec import UNSET

from footnote.bus.base import Bus
from footnote.bus.local import LocalBus
from footnote.db import approvals, leases
from footnote.db import runs as db
from footnote.db.engine import Database
from footnote.db.errors import DatabaseFailed
from footnote.db.turns import TurnRow
from footnote.models.base import Model
from footnote.protocol.errors import Unknown
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import AssistantMessage, Message, UserMessage
from footnote.protocol.sessions import (
    ACTIVE,
    Approval,
    NewMessage,
    RetryRequest,
    RunState,
    RunView,
    StartedRun,
    parse_locale,
)
from footnote.protocol.times import format_time
from footnote.sessions import turns as stored
from footnote.sessions.bus_messages import ORPHANS_MESSAGE, SUPERVISORS_TOPIC, cancel_message, decision_message
from footnote.sessions.conversation import attachments_of
from footnote.sessions.executor import RunExecutor, RunLimits
from footnote.sessions.follow import follow
from footnote.sessions.journal import Journal
from footnote.sessions.remote_logs import RemoteLogs
from footnote.sessions.run import LiveRun, RunHead
from footnote.sessions.run_spec import RunBuilder
from footnote.sessions.store import Sessions
from footnote.sessions.submit import RunSubmitter
from footnote.sessions.supervisor import LEASE_SECONDS, RunSupervisor, new_owner
from footnote.sessions.turns import RunRequest
from footnote.text.languages import detect_locale
from footnote.tools.approval import NO_APPROVER, Approver

CANCEL_SECONDS = 3.0
"""How long a cancel waits to be able to say that the run has ended."""


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
        lease_seconds: float = LEASE_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.bus = bus or LocalBus()
        self.journal = Journal(database, self.bus)
        self.executor = RunExecutor(database, sessions, run_builder, limits)
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

    # Asking ------------------------------------------------------------------------------------------------

    async def start(
        self, user_id: str, session_id: str, new: NewMessage, *, approver: Approver | None = None
    ) -> StartedRun:
        """`approver` decides on calls that need the user's word; None: they wait for `decide`.
        `RunActive`, `LimitReached`: not now. `Unknown`: no such session or file. `UsageError`: no such model."""
        session = await self._sessions.head(user_id, session_id)
        files = await self._load_files(user_id, session_id, new.attachments or ())
        model, asked = await self._build_request(session.agent_id, new, new.content)
        head = await self._submitter.submit(user_id, session_id, new, asked, files=files)
        return self._start_run(head, model, approver)

    async def start_with_history(
        self, user_id: str, session_id: str, earlier: Sequence[Message], new: NewMessage
    ) -> StartedRun:
        """In a session that begins with what was said elsewhere: questions, each with what followed it."""
        session = await self._sessions.head(user_id, session_id)
        model, asked = await self._build_request(session.agent_id, new, new.content)
        await self._submitter.record(user_id, session_id, _turns_of(earlier), asked)
        head = await self._submitter.submit(user_id, session_id, new, asked)
        return self._start_run(head, model, NO_APPROVER)  # a client of another API cannot be asked

    async def retry(self, user_id: str, session_id: str, message_id: str, again: RetryRequest) -> StartedRun:
        """Another answer to the question that a message is, or is an answer to."""
        session = await self._sessions.head(user_id, session_id)
        turn = await self._submitter.find_turn(user_id, session_id, message_id)
        question = stored.question_decoder.decode(turn.question).text
        model, asked = await self._build_request(session.agent_id, again, question)
        return self._start_run(await self._submitter.resubmit(user_id, session_id, turn, asked), model, None)

    async def edit(self, user_id: str, session_id: str, message_id: str, new: NewMessage) -> StartedRun:
        """Another question in the place of one: a branch. What followed the old one can still be shown."""
        session = await self._sessions.head(user_id, session_id)
        turn = await self._submitter.find_turn(user_id, session_id, message_id)
        if new.attachments is None:
            files = await self._load_attachments(user_id, session_id, turn)
        else:
            files = await self._load_files(user_id, session_id, new.attachments)
        model, asked = await self._build_request(session.agent_id, new, new.content)
        head = await self._submitter.submit(user_id, session_id, new, asked, files=files, instead_of=turn)
        return self._start_run(head, model, None)

    async def _load_files(self, user_id: str, session_id: str, paths: Sequence[str]) -> list[FileRecord]:
        workspace = self._sessions.workspace(user_id, session_id)
        records = [await workspace.record(path) for path in paths]
        return list({record.path: record for record in records}.values())

    async def _load_attachments(self, user_id: str, session_id: str, turn: TurnRow) -> list[FileRecord]:
        """Those that a question came with, without what was deleted since."""
        there = {record.path: record for record in await self._sessions.workspace(user_id, session_id).list()}
        return [there[file.path] for file in attachments_of(turn) if file.path in there]

    async def _build_request(
        self, agent_id: str, options: NewMessage | RetryRequest, question: str
    ) -> tuple[Model, RunRequest]:
        """Before anything is stored: a wish that cannot be granted leaves no trace. Where the client names no language
        of ours, the run has the language of its question."""
        self.executor.check_capacity()
        model = await self._run_builder.model(agent_id, options.model)
        return model, RunRequest(agent_id, model.id, parse_locale(options.locale) or detect_locale(question))

    def _start_run(self, head: RunHead, model: Model, approver: Approver | None) -> StartedRun:
        live = LiveRun(head, db.Lease(head.id, 0), self.journal, self._clock, model=model, approver=approver)
        self.executor.execute(live)
        self._supervisor.start()
        began_at = UNSET if head.began_at is None else format_time(head.began_at)
        return StartedRun(head.id, head.session_id, head.message_id, head.question_id, began_at)

    # Looking, following, cancelling ------------------------------------------------------------------------

    async def view(self, user_id: str, run_id: str) -> RunView:
        row = await self._database.read(db.run(run_id))
        if row is None or row.user_id != user_id:
            raise Unknown("There is no such run.")
        ending = stored.ending_decoder.decode(row.ending) if row.ending else None
        return RunView(
            run_id=row.id,
            session_id=row.session_id,
            message_id=row.message_id,
            state=cast("RunState", row.state),
            model=stored.request_decoder.decode(row.asked).model,
            created_at=format_time(row.created_at),
            ended_at=format_time(row.ended_at) if row.ended_at is not None else None,
            stop_reason=ending.stop_reason if ending else None,
            usage=ending.usage if ending else None,
            error=ending.error if ending else None,
        )

    def follow(self, run_id: str, after: int = 0, *, idle_seconds: float | None = None) -> AsyncGenerator[bytes, None]:
        """The events of a run after an id, from wherever they are, to its end; b"" after a while without any."""
        return follow(self._database, self.executor.local_log, self.remote_logs, run_id, after, idle_seconds)

    async def cancel(self, user_id: str, run_id: str) -> RunView:
        view = await self.view(user_id, run_id)
        if view.state not in ACTIVE:
            return view
        live = self.executor.live_runs.get(run_id)
        if live is not None:
            live.cancel.cancel()
        # Should its process end before the run does, the next one does not go on with it.
        await self._database.write(leases.request_cancel(run_id))
        if live is None:
            self.bus.publish(SUPERVISORS_TOPIC, cancel_message(run_id))
        with suppress(TimeoutError):
            async with asyncio.timeout(CANCEL_SECONDS):
                await (live.ended.wait() if live is not None else self._wait_for_remote_end(run_id))
        return await self.view(user_id, run_id)

    async def decide(self, user_id: str, run_id: str, call_id: str, approval: Approval) -> RunView:
        """What the user says to a call that waits. `Unknown`: there is none; `Conflict`: it is too late."""
        note = (approval.note or "").strip() or None
        await self._database.write(
            approvals.store_decision(user_id, run_id, call_id, approval.decision, note, self._clock())
        )
        if run_id in self.executor.live_runs:
            self.executor.wake_approvals(run_id)
        else:
            self.bus.publish(SUPERVISORS_TOPIC, decision_message(run_id))
        return await self.view(user_id, run_id)

    async def _wait_for_remote_end(self, run_id: str) -> None:
        last = await self._database.read(db.last_event_id(run_id))
        async with aclosing(self.follow(run_id, last)) as pieces:
            async for _ in pieces:
                pass

    async def stop_session(self, user_id: str, session_id: str) -> None:
        """Cancels the run of a session, if there is one, and waits for its end: if it is carried on elsewhere, for a
        while. That other process finds the run deleted then, and lets go of it."""
        await self._sessions.head(user_id, session_id)
        run_id = await self._database.read(db.active_run(session_id))
        if run_id is not None:
            await self.cancel(user_id, run_id)
            if (live := self.executor.live_runs.get(run_id)) is not None:
                await live.ended.wait()

    async def stop_user(self, user_id: str) -> None:
        """Cancels all runs of a user."""
        active = await self._database.read(db.active_runs(user_id))
        await asyncio.gather(*(self.cancel(user_id, run_id) for run_id in active))

    # The life of the process -------------------------------------------------------------------------------

    async def adopt(self) -> None:
        """Takes over what other processes left unfinished: now, and from now on."""
        await self._supervisor.adopt()

    async def close(self) -> None:
        """Runs that are not finished are left to the next start. Of a process that takes none over itself, they end.
        Once: who was interrupted in it does not try again."""
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


def _turns_of(messages: Sequence[Message]) -> list[tuple[str, list[AssistantMessage]]]:
    found: list[tuple[str, list[AssistantMessage]]] = []
    for message in messages:
        if isinstance(message, UserMessage):
            found.append((message.text, []))
        elif isinstance(message, AssistantMessage) and found:
            found[-1][1].append(message)
    return found
