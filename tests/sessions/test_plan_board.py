"""The stored plan of a run: its owner and its user change it at the same time, and neither loses what the other did."""

import asyncio
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from footnote.db import leases
from footnote.db import progress as db
from footnote.db.engine import Database
from footnote.db.runs import Lease, LeaseLost, RunRow
from footnote.protocol.errors import Conflict, Unknown
from footnote.protocol.plans import PlanItem
from footnote.research.plan import PlanState
from footnote.sessions.plan_board import PlanChanging, StoredPlan
from loop_clock import advance_loop_clock
from sessions.turn_writer import TurnWriter

SECONDS = 10.0
"""How long a test waits for what it expects."""
MOMENT = 0.2


@pytest.fixture
async def lease(turn_writer: TurnWriter) -> Lease:
    session_id = await turn_writer.session()
    turn = await turn_writer.turn(session_id, "What is it?", state="running")
    return Lease(turn.run_id, 0)


@pytest.fixture
def board(database: Database, lease: Lease) -> StoredPlan:
    return StoredPlan(database, lease)


def _with_items(plan: PlanState, *questions: str) -> PlanState:
    first = len(plan.items) + 1
    return replace(
        plan, items=(*plan.items, *(PlanItem(f"q{n}", question) for n, question in enumerate(questions, first)))
    )


def _questions(plan: PlanState | None) -> list[str]:
    return [item.question for item in plan.items] if plan else []


async def _change_as_user(
    database: Database, run_id: str, change: Callable[[PlanState], PlanState], user_id: str = "ann"
) -> None:
    changing = PlanChanging(change)

    def changed(_: RunRow, stored: bytes | None) -> bytes:
        return changing(stored)

    await database.write(db.change_plan_for(user_id, run_id, changed))


async def test_a_plan_is_there_for_the_process_that_carries_on_the_run(
    database: Database, board: StoredPlan, lease: Lease
) -> None:
    assert await board.read() is None
    planned = await board.change(lambda plan: _with_items(plan, "A?", "B?"))

    assert _questions(planned) == ["A?", "B?"]
    assert await StoredPlan(database, lease).read() == planned


async def test_a_change_by_the_user_is_noticed_at_once_and_an_own_one_never(
    database: Database, board: StoredPlan, lease: Lease
) -> None:
    await board.change(lambda plan: _with_items(plan, "A?"))
    waiting = asyncio.create_task(board.wait_for_change())
    await board.change(lambda plan: _with_items(plan, "B?"))
    board.wake()
    await asyncio.sleep(MOMENT)
    assert not waiting.done()

    await _change_as_user(database, lease.run_id, lambda plan: replace(plan, is_finishing=True))
    board.wake()
    await asyncio.wait_for(waiting, SECONDS)
    found = await board.read()

    assert found is not None
    assert found.is_finishing
    assert _questions(found) == ["A?", "B?"]


async def test_a_change_that_the_owner_overtakes_is_noticed_all_the_same(
    database: Database, board: StoredPlan, lease: Lease
) -> None:
    await board.change(lambda plan: _with_items(plan, "A?"))
    await _change_as_user(database, lease.run_id, lambda plan: replace(plan, steering=("Leave out prices.",)))
    both = await board.change(lambda plan: _with_items(plan, "B?"))

    assert both.steering == ("Leave out prices.",)
    await asyncio.wait_for(board.wait_for_change(), SECONDS)


async def test_without_its_message_a_change_is_found_by_polling(
    database: Database, board: StoredPlan, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = asyncio.create_task(board.wait_for_change())
    await asyncio.sleep(MOMENT)
    await _change_as_user(database, lease.run_id, lambda plan: _with_items(plan, "A?"))
    assert not waiting.done()

    advance_loop_clock(monkeypatch, 5.0)
    await asyncio.wait_for(waiting, SECONDS)


async def test_of_changes_at_the_same_time_none_is_lost(database: Database, board: StoredPlan, lease: Lease) -> None:
    async with asyncio.TaskGroup() as group:
        for number in range(10):
            group.create_task(board.change(lambda plan, number=number: _with_items(plan, f"owner {number}")))
            group.create_task(
                _change_as_user(database, lease.run_id, lambda plan, number=number: _with_items(plan, f"user {number}"))
            )
    plan = await board.read()

    assert plan is not None
    assert sorted(_questions(plan)) == sorted(f"{who} {number}" for who in ("owner", "user") for number in range(10))
    assert len({item.id for item in plan.items}) == 20


async def test_who_has_lost_the_run_changes_nothing(database: Database, board: StoredPlan, lease: Lease) -> None:
    await board.change(lambda plan: _with_items(plan, "A?"))
    [run_id] = await database.write(leases.claim("another", ["me"], 60.0, 1e12, max_runs=1))
    assert run_id == lease.run_id

    with pytest.raises(LeaseLost):
        await board.change(lambda plan: _with_items(plan, "B?"))

    successor = StoredPlan(database, Lease(run_id, 1))
    assert _questions(await successor.read()) == ["A?"]
    assert _questions(await successor.change(lambda plan: _with_items(plan, "C?"))) == ["A?", "C?"]


async def test_a_change_that_is_refused_stores_nothing(database: Database, board: StoredPlan, lease: Lease) -> None:
    def refuse(_: PlanState) -> PlanState:
        raise Conflict("No.", code="plan_closed")

    await board.change(lambda plan: _with_items(plan, "A?"))
    with pytest.raises(Conflict):
        await _change_as_user(database, lease.run_id, refuse)

    assert _questions(await board.read()) == ["A?"]


async def test_nobody_changes_the_plan_of_somebody_else(database: Database, board: StoredPlan, lease: Lease) -> None:
    for user_id, run_id in (("ben", lease.run_id), ("ann", "run_none")):
        with pytest.raises(Unknown) as refused:
            await _change_as_user(database, run_id, lambda plan: _with_items(plan, "A?"), user_id)
        assert refused.value.code == "run_not_found"

    assert await board.read() is None


async def test_a_transaction_that_is_repeated_after_it_was_committed_changes_nothing_more(
    database: Database, board: StoredPlan, lease: Lease
) -> None:
    add = PlanChanging(lambda plan: _with_items(plan, "A?"))
    for _ in range(2):
        await database.write(db.change_plan(lease, add))

    assert _questions(await board.read()) == ["A?"]


async def test_the_plan_is_deleted_with_its_run(database: Database, turn_writer: TurnWriter) -> None:
    session_id = await turn_writer.session()
    turn = await turn_writer.turn(session_id, "What is it?", state="running")
    board = StoredPlan(database, Lease(turn.run_id, 0))
    await board.change(lambda plan: _with_items(plan, "A?"))

    await turn_writer.sessions.delete("ann", session_id)

    assert await board.read() is None
