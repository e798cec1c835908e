"""Runs are limited over all replicas together."""

import asyncio

from footnote.db import runs
from footnote.db.engine import Database
from footnote.db.script import Steps, script, sql
from postgresql.test_together import _add_users, new_run, question


@script
def running() -> Steps[list[str]]:
    rows = yield sql("SELECT id FROM run WHERE state = 'running' ORDER BY number")
    return [run_id for (run_id,) in rows]


async def test_the_oldest_go_first_and_no_more_than_there_may_be(database: Database, other: Database) -> None:
    await _add_users(database, 6)
    for number in range(6):
        await database.write(runs.create_run(new_run(number, f"session_{number}"), question(number), max_active=100))
    leases = [runs.Lease(f"run_{number}", 0) for number in range(6)]

    async def acquire_slots() -> list[bool]:
        replicas = (database, other) * 3
        return list(
            await asyncio.gather(
                *(one.write(runs.acquire_slot(lease, 2)) for one, lease in zip(replicas, leases, strict=True))
            )
        )

    assert await acquire_slots() == [True, True, False, False, False, False]
    assert await acquire_slots() == [True, True, False, False, False, False], "who has a turn keeps it"
    await database.write(runs.finish_run(leases[0], "done", b"{}", 1.0))
    assert await other.write(runs.acquire_slot(leases[5], 2)) is False
    assert await other.write(runs.acquire_slot(leases[2], 2)) is True
    assert await database.read(running()) == ["run_1", "run_2"]
