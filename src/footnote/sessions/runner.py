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
from footnote.db.failures import DatabaseFailed
from footnote.db.turns import TurnRow
from footnote.language.guess import locale_of
from footnote.models.base import Model
from footnote.protocol.errors import Unknown
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import AssistantMessage, Message, UserMessage
from footnote.protocol.sessions import ACTIVE, Again, Approval, NewMessage, RunState, RunView, Started, locale_named
from footnote.protocol.times import written
from footnote.sessions import turns as stored
from footnote.sessions.asking import Asking
from footnote.sessions.carrier import Carrier, RunLimits
from footnote.sessions.conversation import attached_to
from footnote.sessions.following import follow
from footnote.sessions.hints import KEEPERS, ORPHANS, cancelling, deciding
from footnote.sessions.journal import Journal
from footnote.sessions.keeper import Keeper
from footnote.sessions.live import LiveRun, RunHead
from footnote.sessions.owners import LEASE_SECONDS, new_owner
from footnote.sessions.relays import Relays
from footnote.sessions.store import Sessions
from footnote.sessions.turns import Asked
from footnote.sessions.wiring import Wiring
from footnote.tools.approval import NOBODY, Approver

CANCEL_SECONDS = 3.0
"""How long a cancel waits to be able to say that the run has ended."""


class Runner:
    """All runs of this process."""

    def __init__(
        self,
        database: Database,
        sessions: Sessions,
        wiring: Wiring,
        limits: RunLimits = RunLimits(),  # noqa: B008 - frozen
        *,
        bus: Bus | None = None,
        lease_seconds: float = LEASE_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.bus = bus or LocalBus()
        self.journal = Journal(database, self.bus)
        self.carrier = Carrier(database, sessions, wiring, limits)
        self.relays = Relays(database, self.bus, self.carrier.said)
        self._database = database
        self._sessions = sessions
        self._wiring = wiring
        self._clock = clock
        self._is_closed = False
        self._owner = new_owner()
        self._asking = Asking(database, self._owner, most=limits.per_user, lease_seconds=lease_seconds, clock=clock)
        self._keeper = Keeper(
            database,
            self.carrier,
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
    ) -> Started:
        """`approver` decides on calls that need the user's word; None: they wait for `decide`.
        `RunActive`, `LimitReached`: not now. `Unknown`: no such session or file. `UsageError`: no such model."""
        session = await self._sessions.head(user_id, session_id)
        files = await self._files(user_id, session_id, new.attachments or ())
        model, asked = await self._asked(session.agent_id, new, new.content)
        head = await self._asking.ask(user_id, session_id, new, asked, files=files)
        return self._begin(head, model, approver)

    async def start_with(self, user_id: str, session_id: str, earlier: Sequence[Message], new: NewMessage) -> Started:
        """In a session that begins with what was said elsewhere: questions, each with what followed it."""
        session = await self._sessions.head(user_id, session_id)
        model, asked = await self._asked(session.agent_id, new, new.content)
        await self._asking.record(user_id, session_id, _turns_of(earlier), asked)
        head = await self._asking.ask(user_id, session_id, new, asked)
        return self._begin(head, model, NOBODY)  # a client of another API cannot be asked

    async def retry(self, user_id: str, session_id: str, message_id: str, again: Again) -> Started:
        """Another answer to the question that a message is, or is an answer to."""
        session = await self._sessions.head(user_id, session_id)
        turn = await self._asking.turn(user_id, session_id, message_id)
        question = stored.question.decode(turn.question).text
        model, asked = await self._asked(session.agent_id, again, question)
        return self._begin(await self._asking.ask_again(user_id, session_id, turn, asked), model, None)

    async def edit(self, user_id: str, session_id: str, message_id: str, new: NewMessage) -> Started:
        """Another question in the place of one: a branch. What followed the old one can still be shown."""
        session = await self._sessions.head(user_id, session_id)
        turn = await self._asking.turn(user_id, session_id, message_id)
        if new.attachments is None:
            files = await self._files_of(user_id, session_id, turn)
        else:
            files = await self._files(user_id, session_id, new.attachments)
        model, asked = await self._asked(session.agent_id, new, new.content)
        head = await self._asking.ask(user_id, session_id, new, asked, files=files, instead_of=turn)
        return self._begin(head, model, None)

    async def _files(self, user_id: str, session_id: str, paths: Sequence[str]) -> list[FileRecord]:
        workspace = self._sessions.workspace(user_id, session_id)
        records = [await workspace.record(path) for path in paths]
        return list({record.path: record for record in records}.values())

    async def _files_of(self, user_id: str, session_id: str, turn: TurnRow) -> list[FileRecord]:
        """Those that a question came with, without what was deleted since."""
        there = {record.path: record for record in await self._sessions.workspace(user_id, session_id).list()}
        return [there[file.path] for file in attached_to(turn) if file.path in there]

    async def _asked(self, agent_id: str, wish: NewMessage | Again, question: str) -> tuple[Model, Asked]:
        """Before anything is stored: a wish that cannot be granted leaves no trace. Where the client names no language
        of ours, the run has the language of its question."""
        self.carrier.check_room()
        model = await self._wiring.model(agent_id, wish.model)
        return model, Asked(agent_id, model.id, locale_named(wish.locale) or locale_of(question))

    def _begin(self, head: RunHead, model: Model, approver: Approver | None) -> Started:
        live = LiveRun(head, db.Lease(head.id, 0), self.journal, self._clock, model=model, approver=approver)
        self.carrier.carry_on(live)
        self._keeper.start()
        began_at = UNSET if head.began_at is None else written(head.began_at)
        return Started(head.id, head.session_id, head.message_id, head.question_id, began_at)

    # Looking, following, cancelling ------------------------------------------------------------------------

    async def view(self, user_id: str, run_id: str) -> RunView:
        row = await self._database.read(db.run(run_id))
        if row is None or row.user_id != user_id:
            raise Unknown("There is no such run.")
        ending = stored.ending.decode(row.ending) if row.ending else None
        return RunView(
            run_id=row.id,
            session_id=row.session_id,
            message_id=row.message_id,
            state=cast("RunState", row.state),
            model=stored.asked.decode(row.asked).model,
            created_at=written(row.created_at),
            ended_at=written(row.ended_at) if row.ended_at is not None else None,
            stop_reason=ending.stop_reason if ending else None,
            usage=ending.usage if ending else None,
            error=ending.error if ending else None,
        )

    def follow(self, run_id: str, after: int = 0, *, idle_seconds: float | None = None) -> AsyncGenerator[bytes, None]:
        """The events of a run after an id, from wherever they are, to its end; b"" after a while without any."""
        return follow(self._database, self.carrier.said, self.relays, run_id, after, idle_seconds)

    async def cancel(self, user_id: str, run_id: str) -> RunView:
        view = await self.view(user_id, run_id)
        if view.state not in ACTIVE:
            return view
        live = self.carrier.live.get(run_id)
        if live is not None:
            live.cancel.cancel()
        # Should its process end before the run does, the next one does not go on with it.
        await self._database.write(leases.want_cancel(run_id))
        if live is None:
            self.bus.publish(KEEPERS, cancelling(run_id))
        with suppress(TimeoutError):
            async with asyncio.timeout(CANCEL_SECONDS):
                await (live.ended.wait() if live is not None else self._end_elsewhere(run_id))
        return await self.view(user_id, run_id)

    async def decide(self, user_id: str, run_id: str, call_id: str, approval: Approval) -> RunView:
        """What the user says to a call that waits. `Unknown`: there is none; `Conflict`: it is too late."""
        note = (approval.note or "").strip() or None
        await self._database.write(approvals.decide(user_id, run_id, call_id, approval.decision, note, self._clock()))
        if run_id in self.carrier.live:
            self.carrier.wake_approvals(run_id)
        else:
            self.bus.publish(KEEPERS, deciding(run_id))
        return await self.view(user_id, run_id)

    async def _end_elsewhere(self, run_id: str) -> None:
        last = await self._database.read(db.last_event(run_id))
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
            if (live := self.carrier.live.get(run_id)) is not None:
                await live.ended.wait()

    async def stop_user(self, user_id: str) -> None:
        """Cancels all runs of a user."""
        active = await self._database.read(db.active_runs(user_id))
        await asyncio.gather(*(self.cancel(user_id, run_id) for run_id in active))

    # The life of the process -------------------------------------------------------------------------------

    async def adopt(self) -> None:
        """Takes over what other processes left unfinished: now, and from now on."""
        await self._keeper.adopt()

    async def close(self) -> None:
        """Runs that are not finished are left to the next start. Of a process that takes none over itself, they end.
        Once: who was interrupted in it does not try again."""
        if self._is_closed:
            return
        self._is_closed = True
        self._keeper.stop()
        self.relays.close()
        runs = list(self.carrier.live.values())
        tasks = [run.task for run in runs if run.task is not None]
        if tasks and not self._keeper.adopts:
            for run in runs:
                run.cancel.cancel()
            await asyncio.wait(tasks, timeout=CANCEL_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.journal.close()
        await self.carrier.settle()
        if runs:
            with suppress(DatabaseFailed):
                await self._database.write(leases.release(self._owner))
                self.bus.publish(KEEPERS, ORPHANS)


def _turns_of(messages: Sequence[Message]) -> list[tuple[str, list[AssistantMessage]]]:
    found: list[tuple[str, list[AssistantMessage]]] = []
    for message in messages:
        if isinstance(message, UserMessage):
            found.append((message.text, []))
        elif isinstance(message, AssistantMessage) and found:
            found[-1][1].append(message)
    return found
