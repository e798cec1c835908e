"""The phases of a run in a process, and the legal transitions between them."""

import time

import pytest

from footnote.bus.base import LocalBus
from footnote.db.engine import Database
from footnote.db.runs import Lease
from footnote.sessions.journal import Journal
from footnote.sessions.run import LEGAL_MOVES, IllegalMove, LiveRun, RunHead, RunPhase
from footnote.sessions.turns import RunRequest

WAYS: dict[RunPhase, tuple[RunPhase, ...]] = {
    RunPhase.QUEUED: (),
    RunPhase.RUNNING: (RunPhase.RUNNING,),
    RunPhase.CLOSING: (RunPhase.RUNNING, RunPhase.CLOSING),
    RunPhase.UNSETTLED: (RunPhase.RUNNING, RunPhase.CLOSING, RunPhase.UNSETTLED),
    RunPhase.ENDED: (RunPhase.RUNNING, RunPhase.CLOSING, RunPhase.ENDED),
    RunPhase.LOST: (RunPhase.LOST,),
    RunPhase.LEFT: (RunPhase.LEFT,),
}
"""The shortest usual way into each phase."""

ALLOWED = {
    ("queued", "running"),
    ("queued", "closing"),  # cancelled, or refused, before it had a slot
    ("queued", "lost"),
    ("queued", "left"),
    ("running", "closing"),
    ("running", "lost"),
    ("running", "left"),
    ("closing", "closing"),  # closing the run failed
    ("closing", "unsettled"),
    ("closing", "ended"),
    ("closing", "lost"),
    ("closing", "left"),
    ("unsettled", "ended"),
    ("unsettled", "lost"),
}


async def run_in(phase: RunPhase, database: Database) -> LiveRun:
    head = RunHead("run_1", "session_1", "local", "msg_1", "msg_2", RunRequest("a", "footnote/reader", "en"), 0.0)
    run = LiveRun(head, Lease("run_1", 0), Journal(database, LocalBus()), time.time)
    for step in WAYS[phase]:
        run.move(step)
    return run


def test_the_table_has_every_phase_and_allows_just_these_moves():
    assert set(LEGAL_MOVES) == set(RunPhase)
    assert {(before.value, after.value) for before, moves in LEGAL_MOVES.items() for after in moves} == ALLOWED


@pytest.mark.parametrize("before", RunPhase)
async def test_a_run_takes_the_moves_of_the_table_and_refuses_all_others(before: RunPhase):
    async with Database.in_memory() as database:
        for after in RunPhase:
            run = await run_in(before, database)
            if (before.value, after.value) in ALLOWED:
                run.move(after)
                assert run.phase is after
            else:
                with pytest.raises(IllegalMove, match=f"cannot be {after.value}: it is {before.value}"):
                    run.move(after)
                assert run.phase is before


async def test_a_run_is_active_until_it_has_ended_or_this_process_has_let_go_of_it():
    async with Database.in_memory() as database:
        active = {phase for phase in RunPhase if (await run_in(phase, database)).is_active}

    assert active == {RunPhase.QUEUED, RunPhase.RUNNING, RunPhase.CLOSING}
