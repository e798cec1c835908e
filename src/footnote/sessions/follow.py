"""Following a run: what is stored of it, then what is said now, then its end, wherever it is carried on."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from types import TracebackType
from typing import Self

from footnote.db import runs as db
from footnote.db.engine import Database
from footnote.sessions.event_log import RunLog, events_after, gap_frame, restart_frame
from footnote.sessions.remote_logs import RemoteLog, RemoteLogs, RemoteRun

BATCH_ROWS = 50


async def follow(
    database: Database,
    local_log: Callable[[str], RunLog | None],
    remote_logs: RemoteLogs,
    run_id: str,
    after: int,
    idle_seconds: float | None,
) -> AsyncGenerator[bytes, None]:
    """The events of a run after an id, to its end. b"" stands for a while without any.

    `said` is the log of a run that is carried on here, `relays` have those of others.
    """
    with _RemoteSubscription(remote_logs, run_id) as hearing:
        while (row := await database.read(db.run(run_id))) is not None:
            own = local_log(run_id)
            has_ended = row.ended_at is not None
            run_log = own if own is not None or has_ended else await hearing.log()
            if after < row.pruned_to:
                yield gap_frame(after, row.pruned_to)
                after = row.pruned_to
            async with aclosing(_stored_frames(database, run_id, after, run_log.floor if run_log else None)) as pieces:
                async for piece, last_id in pieces:
                    yield piece
                    after = last_id
            # Only of the first and of the last word it is certain that nobody ever sent a higher id.
            if (own or has_ended) and after > (own.last_id if own else await database.read(db.last_event_id(run_id))):
                yield restart_frame()
                after = 0
                continue
            del row  # nobody waits with more in hand than is needed
            if run_log is None:
                return
            # To its end in this loop and no other: it is the one that thousands of followers wait in.
            while True:
                if piece := run_log.frames_after(after):
                    after = run_log.last_id
                    yield piece
                elif run_log.has_ended:
                    break
                elif not await run_log.wait_for_events(idle_seconds):
                    yield b""
            # Who has more than was ever said looks once more, and is told so.
            if not run_log.has_moved and after <= run_log.last_id:
                return


class _RemoteSubscription:
    """The relay of a run that is carried on elsewhere, joined when it is first needed, and left at the end."""

    __slots__ = ("_remote_logs", "_remote_run", "_run_id")

    def __init__(self, relays: RemoteLogs, run_id: str) -> None:
        self._remote_logs = relays
        self._run_id = run_id
        self._remote_run: RemoteRun | None = None

    def __enter__(self) -> Self:
        return self

    async def log(self) -> RemoteLog:
        if self._remote_run is None or self._remote_run.is_done:
            self._leave()
            self._remote_run = self._remote_logs.join(self._run_id)
        return await self._remote_run.log()

    def _leave(self) -> None:
        relay, self._remote_run = self._remote_run, None
        if relay is not None:
            self._remote_logs.leave(relay)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()


async def _stored_frames(
    database: Database, run_id: str, after: int, floor: int | None
) -> AsyncGenerator[tuple[bytes, int], None]:
    """Stored events after an id, up to those that a log has, with the last id of each piece."""
    if floor is not None and floor <= after:
        return
    while rows := await database.read(db.event_rows(run_id, after, BATCH_ROWS)):
        for row in rows:
            if floor is not None and row.first_id > floor:
                return
            yield events_after(row, after), row.last_id
            after = row.last_id
