"""Following a run: what is stored of it, then what is said now, then its end."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from footnote.db import runs as db
from footnote.db.engine import Database
from footnote.sessions.log import RunLog, events_after, from_the_start, gap

ROWS_AT_ONCE = 50
LOOK_SECONDS = 0.25
"""How often a run that is carried on elsewhere is looked at."""


async def follow(
    database: Database, said: Callable[[str], RunLog | None], run_id: str, after: int, idle_seconds: float | None
) -> AsyncGenerator[bytes, None]:
    """The events of a run after an id, to its end. b"" stands for a while without any."""
    silent_since = time.monotonic()
    while (row := await database.read(db.run(run_id))) is not None:
        run_log = said(run_id)
        if after < row.pruned_to:
            yield gap(after, row.pruned_to)
            after = row.pruned_to
        before = run_log.first_id if run_log else None
        async with aclosing(_stored(database, run_id, after, before)) as pieces:
            async for piece, last_id in pieces:
                yield piece
                after, silent_since = last_id, time.monotonic()
        last = run_log.last_id if run_log else await database.read(db.last_event(run_id))
        has_ended = row.ended_at is not None
        if after > last and (run_log or has_ended):
            yield from_the_start()
            after = 0
            continue
        del row  # nobody waits with more in hand than is needed
        if run_log is not None:
            # To its end in this loop and no other: it is the one that thousands of followers wait in.
            while True:
                if piece := run_log.after(after):
                    after = run_log.last_id
                    yield piece
                elif run_log.ended:
                    return
                elif not await run_log.news(idle_seconds):
                    yield b""
        if has_ended:
            return
        # Its owner is another process, or gone: the next one will go on.
        if idle_seconds is not None and time.monotonic() - silent_since > idle_seconds:
            yield b""
            silent_since = time.monotonic()
        await asyncio.sleep(LOOK_SECONDS)


async def _stored(
    database: Database, run_id: str, after: int, before: int | None
) -> AsyncGenerator[tuple[bytes, int], None]:
    """Stored events after an id, and before what a live log has, with the last id of each piece."""
    if before is not None and before <= after + 1:
        return
    while rows := await database.read(db.events(run_id, after, ROWS_AT_ONCE)):
        for row in rows:
            if before is not None and row.first_id >= before:
                return
            yield events_after(row, after), row.last_id
            after = row.last_id
