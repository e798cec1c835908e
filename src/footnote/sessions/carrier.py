"""Carries runs on, each in a task of its own, from wherever it stands to its end."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Literal

from msgspec import Struct

from footnote.agent.turn import Digest, Turn
from footnote.cancel import Cancelled
from footnote.db import runs as db
from footnote.db.engine import Database
from footnote.db.failures import DatabaseFailed, DatabaseRefused
from footnote.db.files import addresses_of
from footnote.db.turns import TurnRow, said_by, turns
from footnote.protocol.errors import FootnoteError, LimitReached, UsageError
from footnote.protocol.events import ErrorBody
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import Image, Message
from footnote.sessions.approvals import StoredApprovals
from footnote.sessions.branches import branch_to
from footnote.sessions.conversation import Enclosed, attached_to, conversation, resumed
from footnote.sessions.live import INTERNAL, LiveRun, RunHead, Slot
from footnote.sessions.log import RunLog
from footnote.sessions.measured import GIVEN_UP, measured
from footnote.sessions.store import Sessions
from footnote.sessions.wiring import Job, Wiring
from footnote.workspace.export import is_for_the_user
from footnote.workspace.files import Workspace
from footnote.workspace.pictures import is_picture, picture_of

MOST_PICTURES = 20
MOST_PICTURE_BYTES = 15_000_000
"""Of all images that a model is shown at once."""
TURN_SECONDS = 0.7
"""How often a run that waits for those of other replicas looks whether it is its turn."""
MAX_ADOPTIONS = 3
"""A run that was taken over so often without getting on is given up: it may be what ends the processes."""

log = logging.getLogger(__name__)


class GivenUp(FootnoteError):
    """A run that did not get on, however often it was taken over."""

    type = "given_up"


class RunLimits(Struct, frozen=True):
    """`per_user`: active ones; `at_once`: carried on, over all replicas, the others wait; `waiting`: those of this
    process; `approval_seconds`: how long a call waits for the user."""

    per_user: int = 20
    at_once: int = 100
    waiting: int = 1000
    approval_seconds: float = 86_400.0


class Carrier:
    """The live runs of this process."""

    def __init__(self, database: Database, sessions: Sessions, wiring: Wiring, limits: RunLimits) -> None:
        self.live: dict[str, LiveRun] = {}
        self.unsettled: dict[str, LiveRun] = {}
        """Those that have ended, and whose end could not be stored yet."""
        self.ended: Counter[str] = Counter()
        """Runs that ended here, by how."""
        self._database = database
        self._sessions = sessions
        self._wiring = wiring
        self._limits = limits
        self._slots = asyncio.Semaphore(limits.at_once)
        self._next = asyncio.Lock()
        self._settling = asyncio.Lock()

    def said(self, run_id: str) -> RunLog | None:
        """What this process has to say of a run, until all of it is stored."""
        live = self.live.get(run_id) or self.unsettled.get(run_id)
        return live.log if live else None

    @property
    def room(self) -> int:
        """How many more it takes over: what would wait long here is soon carried on by another process, if there is
        one."""
        return max(0, 2 * self._limits.at_once - len(self.live))

    def check_room(self) -> None:
        if len(self.live) >= self._limits.at_once + self._limits.waiting:
            raise LimitReached("The server has more questions than it can take. Ask again in a minute.", retry_after=30)

    def carry_on(self, live: LiveRun) -> None:
        self.live[live.head.id] = live
        live.task = asyncio.create_task(measured(live, self._carry), name=live.head.id)

    async def settle(self) -> None:
        """Stores the ends that are owed. One that cannot be stored yet does not hold up the others."""
        async with self._settling:  # each of them once, whoever else is at it
            for live in list(self.unsettled.values()):
                try:
                    await live.settle()
                except DatabaseFailed as error:
                    log.debug("The end of the run %s cannot be stored yet: %s", live.head.id, error.message)
                    continue
                except db.LeaseLost as error:
                    log.warning("%s", error.message)
                del self.unsettled[live.head.id]

    async def _carry(self, live: LiveRun) -> None:
        try:
            await self._to_its_end(live)
        except db.LeaseLost as error:
            log.warning("%s", error.message)
            live.is_lost = True
        finally:
            live.log.end(moved=live.is_lost)
            if self.live.get(live.head.id) is live:  # it may be carried on anew already
                del self.live[live.head.id]
            if live.is_unsettled:
                self.unsettled[live.head.id] = live
            if live.outcome is not None:
                self.ended[live.outcome] += 1
            live.ended.set()

    async def _to_its_end(self, live: LiveRun) -> None:
        try:
            async with self._turn(live):
                await self._answer(live)
        except Cancelled:
            await self._end_early(live, "aborted")
        except DatabaseRefused as error:
            live.drop_unkept()
            await self._end_early(live, "error", live.told(error))
        except DatabaseFailed as error:
            await live.give_up(error)
        except db.LeaseLost:
            raise
        except FootnoteError as error:
            await self._end_early(live, "error", live.told(error))
        except Exception:
            log.exception("The run %s failed.", live.head.id)
            await self._end_early(live, "error", INTERNAL)

    async def _end_early(
        self, live: LiveRun, reason: Literal["error", "aborted"], error: ErrorBody | None = None
    ) -> None:
        written: list[FileRecord] = []
        with suppress(DatabaseFailed):  # what this process saw of them is shown all the same
            written = await _written(self._sessions.workspace(live.head.user_id, live.head.session_id), live.head)
        await live.end_early(reason, error, written)

    @asynccontextmanager
    async def _turn(self, live: LiveRun) -> AsyncGenerator[None, None]:
        """Waits until it is this one's, here and, where there are others, among all replicas."""
        await live.cancel.wait(self._slots.acquire())
        live.slot = Slot(self._slots)
        try:
            if self._database.is_shared and not live.was_begun:
                await live.cancel.wait(self._turn_among_replicas(live.log.lease))
            live.has_turn = True
            yield
        finally:
            live.give_up_slot()

    async def _turn_among_replicas(self, lease: db.Lease) -> None:
        async with self._next:  # one of a replica asks, however many wait
            while not await self._database.write(db.take_turn(lease, self._limits.at_once)):  # noqa: ASYNC110 - others end runs
                await asyncio.sleep(TURN_SECONDS)

    async def _answer(self, live: LiveRun) -> None:
        head, found = live.head, live.found
        if found is not None:
            await self._count_adoption(live)
        workspace = self._sessions.workspace(head.user_id, head.session_id)
        messages, heard, digest = await self._messages(head, workspace)
        model = live.model or await live.cancel.wait(self._wiring.model(head.asked.agent_id, head.asked.model))
        live.model = model
        job = Job(head.user_id, head.asked.agent_id, head.asked.locale, heard, workspace)
        equipment = await live.cancel.wait(self._wiring.equip(job, model))
        turn = Turn(
            session_id=head.session_id,
            run_id=head.id,
            message_id=head.message_id,
            system=equipment.system,
            messages=messages,
            locale=head.asked.locale,
            max_tool_rounds=equipment.max_tool_rounds,
            thinking_budget=equipment.thinking_budget,
            digest=digest,
            resumed=resumed(found, await _written(workspace, head)) if found and live.was_followed else None,
        )
        await live.answer(turn, model, equipment, live.approver or self._stored_approvals(live))

    def _stored_approvals(self, live: LiveRun) -> StoredApprovals:
        """Of a run whose user is asked by an event, and decides by a request."""
        live.approvals = StoredApprovals(
            self._database, live.key_of, live.clock, self._limits.approval_seconds, waits=live.give_up_slot
        )
        return live.approvals

    def wake_approvals(self, run_id: str | None) -> None:
        """Somebody decided on a call of a run; None: nobody knows of which."""
        for live in list(self.live.values()):
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
        GIVEN_UP.add()
        raise GivenUp(
            "The server stopped each time while it worked on this answer, so the answer was given up. Ask the question "
            "in other words, or without its largest file; if it happens again, tell whoever runs this server."
        )

    async def _messages(
        self, head: RunHead, workspace: Workspace
    ) -> tuple[tuple[Message, ...], tuple[Message, ...], Digest | None]:
        """The conversation up to a run's question, with what is kept of its answer; what was said in all branches; and
        a summary of the beginning, where one was made."""
        every = await self._database.read(turns(head.session_id))
        said = await self._database.read(said_by(turn.run_id for turn in every))
        branch = branch_to(every, head.id)
        made = await self._database.read(db.digest_of(turn.run_id for turn in reversed(branch)))
        uploads = [file.id for turn in branch for file in attached_to(turn) if file.source == "upload"]
        addresses = await self._database.read(addresses_of(head.session_id, uploads)) if uploads else {}
        enclosed = Enclosed(await _pictures(branch, workspace), addresses)
        # In a thread: to decode a long session would hold up the event loop.
        messages = await asyncio.to_thread(conversation, branch, said, enclosed)
        heard = await asyncio.to_thread(conversation, every, said)
        return messages, heard, Digest(*made) if made else None


async def _pictures(branch: Sequence[TurnRow], workspace: Workspace) -> dict[str, Image]:
    """The images that came with the last questions, as many as a request can carry."""
    shown: dict[str, Image] = {}
    room = MOST_PICTURE_BYTES
    for file in (file for turn in reversed(branch) for file in attached_to(turn) if is_picture(file)):
        if file.id in shown or len(shown) >= MOST_PICTURES:
            continue
        try:
            picture = await picture_of(workspace, file)
        except UsageError:  # deleted since, too large, or of a kind that no model knows; its name is told all the same
            continue
        room -= len(picture.data)
        if room < 0:
            break
        shown[file.id] = picture
    return shown


async def _written(workspace: Workspace, head: RunHead) -> list[FileRecord]:
    """The files that a run has shown, or would have."""
    return [file for file in await workspace.written_by(head.message_id) if is_for_the_user(file)]
