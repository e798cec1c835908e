"""Which job is next. Each kind of job has a queue of its own, so that crawling, uploads and conversions cannot starve
each other; in a queue, users take turns, so that no user can starve another."""

import asyncio
from asyncio import Future
from collections import OrderedDict, deque

from msgspec import Struct

from footnote.protocol.errors import LimitReached
from footnote.tracing import SLOW_BUCKETS, EventCounter, Operation

RETRY_AFTER = 30.0

WAITS = Operation("document_job_wait", "Waits of jobs for their turn in the sandbox.", "kind", buckets=SLOW_BUCKETS)
REFUSED = EventCounter("document_job_refused", "Jobs that were refused because too many were waiting.", "kind")


class QueueLimits(Struct, frozen=True):
    """`max_waiting` counts the jobs of all users, `max_waiting_per_user` those of one. `task`: what its jobs do, as in
    "waiting to be converted"."""

    task: str
    max_running: int
    max_waiting_per_user: int
    max_waiting: int


class JobQueue:
    """The jobs of one kind: a few run, the others wait."""

    def __init__(self, kind: str, limits: QueueLimits) -> None:
        self._kind = kind
        self._limits = limits
        self._running = 0
        self._waiting: OrderedDict[str, deque[Future[None]]] = OrderedDict()
        """By user. The user whose turn is next stands first."""
        REFUSED.add(0, kind)

    @property
    def running(self) -> int:
        return self._running

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    async def acquire(self, user: str, *, force: bool = False) -> None:
        """Waits for a turn. `LimitReached`: this user, or all together, have too many jobs waiting. `force`: without
        those limits, for a job that had its turn already."""
        if self._running < self._limits.max_running:
            self._running += 1
            return
        if not force:
            self._check(user)
        turn: Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(turn)
        with WAITS(self._kind):
            try:
                await turn
            except BaseException:
                if turn.done() and not turn.cancelled():
                    # The turn came at the moment at which the job was given up.
                    self.release()
                else:
                    self._remove_waiter(user, turn)
                raise

    def release(self) -> None:
        """Hands the turn to the next user who waits."""
        self._running -= 1
        while self._waiting and self._running < self._limits.max_running:
            user, turns = next(iter(self._waiting.items()))
            turn = turns.popleft()
            if turns:
                self._waiting.move_to_end(user)
            else:
                del self._waiting[user]
            if not turn.done():
                self._running += 1
                turn.set_result(None)

    def _check(self, user: str) -> None:
        limits = self._limits
        own = len(self._waiting.get(user, ()))
        if own >= limits.max_waiting_per_user:
            REFUSED.add(1, self._kind)
            raise LimitReached(
                f"{own} files of yours are waiting to be {limits.task} already: wait until one of them is done, then "
                "try again.",
                retry_after=RETRY_AFTER,
            )
        if self.waiting >= limits.max_waiting:
            REFUSED.add(1, self._kind)
            raise LimitReached(
                f"Too many files are waiting to be {limits.task}: try again later.", retry_after=RETRY_AFTER
            )

    def _remove_waiter(self, user: str, turn: Future[None]) -> None:
        turns = self._waiting.get(user)
        if turns is None or turn not in turns:
            return
        turns.remove(turn)
        if not turns:
            del self._waiting[user]
