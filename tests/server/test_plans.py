"""The plan of a research run over HTTP: read, changed, steered and finished by its user alone, while it can be."""

from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import replace

from footnote.db.runs import Lease
from footnote.protocol.plans import MAX_PLAN_ITEMS, MAX_STEERING_LENGTH, PlanItem
from footnote.protocol.sessions import RunMode
from footnote.research.plan import PlanState
from footnote.sessions.plan_board import StoredPlan
from library.samples import TickingClock
from server.harness import ApiClient, ApiResponse, ServerHarness
from sessions.turn_writer import TurnWriter

ITEMS = (PlanItem("q1", "What is it?", "running"), PlanItem("q2", "What costs it?"), PlanItem("q3", "Who makes it?"))
LEASE_SECONDS = 1e10
"""Of a process that is alive, and lets the tests do its work."""


@dataclass
class ResearchRun:
    """A run that another process carries on, and the user's client."""

    me: ApiClient
    run_id: str
    board: StoredPlan

    async def get(self) -> ApiResponse:
        return await self.me.request("GET", f"/v2/runs/{self.run_id}/plan")

    async def change(self, *items: Any) -> ApiResponse:
        return await self.me.request("PATCH", f"/v2/runs/{self.run_id}/plan", {"items": list(items)})

    async def steer(self, content: str) -> ApiResponse:
        return await self.me.request("POST", f"/v2/runs/{self.run_id}/steer", {"content": content})

    async def finish(self) -> ApiResponse:
        return await self.me.request("POST", f"/v2/runs/{self.run_id}/finish")


async def _begin(server: ServerHarness, me: ApiClient, mode: RunMode = "research", **how: Any) -> ResearchRun:
    app = server.app
    turn_writer = TurnWriter(app._database, app.sessions, TickingClock())
    how = {"state": "running", "lease_seconds": LEASE_SECONDS, **how}
    turn = await turn_writer.turn(await me.create_session(), "What is it?", user_id=me.id, mode=mode, **how)
    return ResearchRun(me, turn.run_id, StoredPlan(app._database, Lease(turn.run_id, 0)))


async def _store(run: ResearchRun, **plan: Any) -> None:
    await run.board.change(lambda state: replace(state, **{"items": ITEMS, "phase": "investigating", **plan}))


@pytest.fixture
async def run(server: ServerHarness) -> ResearchRun:
    return await _begin(server, await server.add_user("ann"))


def _code(response: ApiResponse) -> tuple[int, str]:
    return response.status, response.json["error"]["code"]


async def test_a_plan_has_no_items_before_it_is_made_and_then_those_with_their_states(run: ResearchRun) -> None:
    assert (await run.get()).json == {"items": [], "steering": []}
    await _store(run, items=(*ITEMS, PlanItem("q4", "Who cares?", "failed", "Nobody.")), steering=("Be brief.",))

    assert (await run.get()).json == {
        "items": [
            {"id": "q1", "question": "What is it?", "status": "running"},
            {"id": "q2", "question": "What costs it?", "status": "pending"},
            {"id": "q3", "question": "Who makes it?", "status": "pending"},
            {"id": "q4", "question": "Who cares?", "status": "failed", "note": "Nobody."},
        ],
        "steering": ["Be brief."],
    }


async def test_pending_items_are_reordered_reworded_dropped_and_added_while_the_others_stay(run: ResearchRun) -> None:
    await _store(run)
    changed = await run.change({"id": "q3", "question": "Who makes it today?"}, {"question": "Is it safe?"})

    assert changed.status == 200
    by_id = {item["id"]: item for item in changed.json["items"]}
    assert by_id["q1"]["status"] == "running"
    assert by_id["q2"]["status"] == "dropped"
    assert by_id["q3"] == {"id": "q3", "question": "Who makes it today?", "status": "pending"}
    [new] = set(by_id) - {"q1", "q2", "q3"}
    assert by_id[new] == {"id": new, "question": "Is it safe?", "status": "pending"}
    assert changed.json == (await run.get()).json
    stored = await run.board.read()
    assert stored is not None
    assert [item.id for item in stored.items] == list(by_id)


async def test_a_run_is_told_something_before_and_while_items_are_looked_up(run: ResearchRun) -> None:
    assert (await run.steer("Leave out prices.")).json == {"items": [], "steering": ["Leave out prices."]}
    await _store(run)

    assert (await run.steer("Only Europe.")).json["steering"] == ["Leave out prices.", "Only Europe."]


async def test_a_run_is_finished_once_however_often_that_is_wanted(run: ResearchRun) -> None:
    await _store(run)
    first, second = await run.finish(), await run.finish()

    assert (first.status, second.status) == (200, 200)
    assert (first.json["run_id"], first.json["state"], first.json["mode"]) == (run.run_id, "running", "research")
    plan = await run.board.read()
    assert plan == PlanState(ITEMS, is_finishing=True, phase="investigating")


async def test_a_run_can_be_finished_before_it_has_a_plan_and_one_without_a_plan_too(
    run: ResearchRun, server: ServerHarness
) -> None:
    ordinary = await _begin(server, run.me, "answer")
    for one in (run, ordinary):
        assert (await one.finish()).status == 200
        assert await one.board.read() == PlanState(is_finishing=True)


async def test_once_the_report_is_written_only_finishing_is_no_error(run: ResearchRun) -> None:
    await _store(run, phase="writing")

    assert _code(await run.change()) == (409, "plan_closed")
    assert _code(await run.steer("Stop!")) == (409, "plan_closed")
    assert (await run.finish()).status == 200
    assert (await run.get()).status == 200


async def test_a_plan_that_is_not_made_yet_cannot_be_changed(run: ResearchRun) -> None:
    assert _code(await run.change({"question": "Why?"})) == (409, "plan_not_made")


async def test_the_plan_of_a_run_that_has_ended_can_be_read_and_no_longer_changed(
    server: ServerHarness, run: ResearchRun
) -> None:
    ended = await _begin(server, run.me, state="done")
    await _store(ended)

    assert [item["id"] for item in (await ended.get()).json["items"]] == ["q1", "q2", "q3"]
    assert _code(await ended.change()) == (409, "run_ended")
    assert _code(await ended.steer("Why?")) == (409, "run_ended")
    finished = await ended.finish()
    assert (finished.status, finished.json["state"]) == (200, "done")
    assert await ended.board.read() == PlanState(ITEMS, phase="investigating")


async def test_a_run_that_is_no_research_has_no_plan(server: ServerHarness, run: ResearchRun) -> None:
    ordinary = await _begin(server, run.me, "answer")

    assert _code(await ordinary.get()) == (409, "plan_missing")
    assert _code(await ordinary.change()) == (409, "plan_missing")
    assert _code(await ordinary.steer("Why?")) == (409, "plan_missing")


async def test_somebody_else_finds_no_such_run(server: ServerHarness, run: ResearchRun) -> None:
    await _store(run)
    other = ResearchRun(await server.add_user("ben"), run.run_id, run.board)

    for response in (await other.get(), await other.change(), await other.steer("Hm."), await other.finish()):
        assert _code(response) == (404, "run_not_found")
    plan = await run.board.read()
    assert plan == PlanState(ITEMS, phase="investigating")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("plan", {}),
        ("plan", {"items": [{"id": "q2", "colour": "red"}]}),
        ("plan", {"items": [{"id": "q2", "status": "asleep"}]}),
        ("plan", {"items": [{"id": "none"}]}),
        ("plan", {"items": [{"id": "q2"}, {"id": "q2"}]}),
        ("plan", {"items": [{"question": "x" * 501}]}),
        ("plan", {"items": [{"question": ""}]}),
        ("plan", {"items": [{"id": f"q{number}"} for number in range(101)]}),
        ("plan", {"items": [{"question": f"Why {number}?"} for number in range(MAX_PLAN_ITEMS + 1)]}),
        ("steer", {}),
        ("steer", {"content": ""}),
        ("steer", {"content": " \n"}),
        ("steer", {"content": "x" * (MAX_STEERING_LENGTH + 1)}),
    ],
)
async def test_what_is_not_understood_changes_nothing(run: ResearchRun, path: str, body: Any) -> None:
    await _store(run)
    method = "PATCH" if path == "plan" else "POST"
    response = await run.me.request(method, f"/v2/runs/{run.run_id}/{path}", body)

    assert (response.status, response.error) == (400, "invalid_request")
    assert await run.board.read() == PlanState(ITEMS, phase="investigating")
