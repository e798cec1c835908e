"""A research run on one replica, whose user changes, steers and finishes it on another, also when the first is gone."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bus.buses import SECONDS
from bus.pair import PairedReplica, open_pair
from bus.test_pairs import CONFIGURATIONS, settings_of
from research.barrage import ITEMS
from research.research_runs import check_shown, finish, start_research
from research.research_web import ResearchWeb
from research.scripted_model import ResearchModel
from runs.fold import FoldedTurn
from upstream import Upstream

pytestmark = pytest.mark.slow

AGENT = {"id": "a", "webSearch": {"enabled": True}, "research": {"atOnce": 2}}
NEW = "Who owns the Saltmouth tidal barrage?"
STEERED = "Who runs the Saltmouth tidal barrage?"
STEERING = "Leave out prices."
AT_ONCE_SECONDS = 4.0
"""Without a message on the bus, a run would look for changes every five seconds."""


@asynccontextmanager
async def replicas(
    home: Path, upstream: Upstream, model: ResearchModel, settings: dict[str, str]
) -> AsyncIterator[tuple[PairedReplica, PairedReplica]]:
    upstream.script(model)
    async with ResearchWeb(hangs=False) as web:
        agents = {"FOOTNOTE_AGENTS": json.dumps([AGENT])}
        async with open_pair(home, upstream, **{**web.settings, **agents, **settings}) as pair:
            yield pair


@pytest.fixture(params=CONFIGURATIONS)
def shared_services(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    return settings_of(request, tmp_path, request.param)


async def _wait_for_plan(folded: FoldedTurn, condition: Callable[[dict[str, str]], bool]) -> None:
    """Waits until the statuses of the items, by their questions, fulfil the condition."""
    async with asyncio.timeout(SECONDS):
        while not (folded.plans and condition({item["question"]: item["status"] for item in folded.plans[-1]})):
            await asyncio.sleep(0.02)


def _requests_for(model: ResearchModel, *questions: str) -> int:
    """How often readers of these items have asked the model."""
    openings = tuple(f"Look up: {question}" for question in questions)
    return sum(asked.messages[0].text.startswith(openings) for asked in model.asked["read"])


async def test_a_run_is_changed_steered_and_finished_at_the_other_replica(
    upstream: Upstream, tmp_path: Path, shared_services: dict[str, str]
) -> None:
    model = ResearchModel(plan=ITEMS[:3], hanging=frozenset({"construction", "electricity"}))
    async with replicas(tmp_path, upstream, model, shared_services) as (one, two):
        run_id = await start_research(one.client)
        path, folded = f"/v2/runs/{run_id}", FoldedTurn()
        following = asyncio.create_task(two.client.follow(run_id, folded))
        await _wait_for_plan(folded, lambda items: list(items.values()) == ["running", "running", "pending"])

        began = time.monotonic()
        kept = [{"id": item["id"]} for item in folded.plans[-1][:2]]
        changed = await two.client.json("PATCH", f"{path}/plan", {"items": [*kept, {"question": NEW}]})
        await _wait_for_plan(folded, lambda items: items.get(NEW) == "pending" and items[ITEMS[2]] == "dropped")
        is_at_once = time.monotonic() - began < AT_ONCE_SECONDS
        assert await one.client.json("GET", f"{path}/plan") == changed

        await two.client.json("POST", f"{path}/steer", {"content": STEERING})
        async with asyncio.timeout(SECONDS):
            while folded.blocks[0].get("steering") != [STEERING]:
                await asyncio.sleep(0.02)
        assert (await two.client.json("POST", f"{path}/finish"))["state"] == "running"
        await following
        result = await finish(two.client, run_id, folded)

    assert result.view["state"] == "done"
    statuses = {item["question"]: item["status"] for item in result.items}
    assert statuses[NEW] == statuses[ITEMS[2]] == "dropped"
    assert NEW in result.unsettled
    assert model.reader_rounds["wildlife", 0] == 0
    if shared_services["FOOTNOTE_BUS_URL"] != "local:":
        assert is_at_once


async def test_what_the_user_changes_while_nobody_carries_on_the_run_holds_at_its_next_owner(
    upstream: Upstream, tmp_path: Path, shared_services: dict[str, str]
) -> None:
    model = ResearchModel(plan=ITEMS, hanging=frozenset({"wildlife", "plans"}))
    async with replicas(tmp_path, upstream, model, shared_services) as (one, two):
        run_id = await start_research(one.client)
        path, folded = f"/v2/runs/{run_id}", FoldedTurn()
        following = asyncio.create_task(two.client.follow(run_id, folded))
        await _wait_for_plan(folded, lambda items: list(items.values()) == ["done", "done", "running", "running"])
        requests = _requests_for(model, *ITEMS[:2])
        await one.process.kill()

        model.hanging, model.steered = frozenset(), (STEERED,)
        plan = await two.client.json("POST", f"{path}/steer", {"content": STEERING})
        kept = [{"id": item["id"]} for item in plan["items"]]
        await two.client.json("PATCH", f"{path}/plan", {"items": [*kept, {"question": NEW}]})
        await following
        result = await finish(two.client, run_id, folded)

    assert result.view["state"] == "done"
    assert {item["question"]: item["status"] for item in result.items} == dict.fromkeys((*ITEMS, NEW, STEERED), "done")
    assert result.folded.blocks_by_item[None][0]["steering"] == [STEERING]
    assert _requests_for(model, *ITEMS[:2]) == requests


async def test_a_run_that_was_finished_while_nobody_carried_it_on_is_written_by_its_next_owner(
    upstream: Upstream, tmp_path: Path, shared_services: dict[str, str]
) -> None:
    model = ResearchModel(plan=ITEMS, hanging=frozenset({"wildlife", "plans"}))
    async with replicas(tmp_path, upstream, model, shared_services) as (one, two):
        run_id = await start_research(one.client)
        folded = FoldedTurn()
        following = asyncio.create_task(two.client.follow(run_id, folded))
        await _wait_for_plan(folded, lambda items: list(items.values()) == ["done", "done", "running", "running"])
        await one.process.kill()
        view: dict[str, Any] = await two.client.json("POST", f"/v2/runs/{run_id}/finish")
        await following
        result = await finish(two.client, run_id, folded)

    assert view["state"] == "running"
    assert result.view["state"] == "done"
    assert not {item["status"] for item in result.items} & {"pending", "running"}
    assert len(model.asked.get("gaps", ())) == 0
    assert "14 March 2009" in result.report


async def test_a_run_that_was_cancelled_while_nobody_carried_it_on_ends_with_no_item_that_goes_on(
    upstream: Upstream, tmp_path: Path, shared_services: dict[str, str]
) -> None:
    model = ResearchModel(plan=ITEMS, hanging=frozenset({"wildlife", "plans"}))
    async with replicas(tmp_path, upstream, model, shared_services) as (one, two):
        run_id = await start_research(one.client)
        folded = FoldedTurn()
        following = asyncio.create_task(two.client.follow(run_id, folded))
        await _wait_for_plan(folded, lambda items: list(items.values()) == ["done", "done", "running", "running"])
        await one.process.kill()
        await two.client.json("POST", f"/v2/runs/{run_id}/cancel")
        await following
        result = await finish(two.client, run_id, folded)
        plan = await two.client.json("GET", f"/v2/runs/{run_id}/plan")
        await check_shown(two.client, result)

    assert (result.view["state"], result.folded.stop_reason) == ("cancelled", "aborted")
    assert [item["status"] for item in result.items] == ["done", "done", "dropped", "dropped"]
    assert plan["items"] == result.items == result.history["messages"][1]["content"][0]["items"]
    assert {item for item in result.folded.blocks_by_item if item} >= {"q1", "q2"}
    assert set(result.folded.statuses.values()) <= {"done", "error"}
