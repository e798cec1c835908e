"""A research run whose plan is changed at one replica while another one works on it, which is then killed."""

import asyncio
from pathlib import Path

import pytest

from replicas.cluster import open_cluster
from replicas.shared_services import SharedServices
from research.barrage import ITEMS, THEMES
from research.research_runs import check_shown, finish, start_research
from research.research_web import ResearchWeb
from research.scripted_model import ResearchModel
from research.test_changing import TWO_AT_ONCE
from research.test_killing import Freezing
from runs.fold import FoldedTurn
from upstream import Upstream


@pytest.mark.slow
async def test_another_replica_goes_on_with_the_plan_as_its_user_changed_it(
    tmp_path: Path, shared_services: SharedServices, upstream: Upstream
):
    model = ResearchModel()
    freezing = model.before = Freezing("read", 4)
    upstream.script(model)
    folded = FoldedTurn()
    async with (
        ResearchWeb(hangs=False) as web,
        open_cluster(tmp_path, shared_services, upstream, **web.settings, **TWO_AT_ONCE) as cluster,
    ):
        first, second = cluster.replicas
        async with first.client() as client, second.client() as other:
            run_id = await start_research(client)
            following = asyncio.create_task(client.follow(run_id, folded))
            await freezing.wait_until_held(folded, web, upstream)
            plan = {"items": [{"id": "q4"}]}
            await other.json("PATCH", f"/v2/runs/{run_id}/plan", plan)
            await first.kill()
            await following
            freezing.is_over = True
            result = await finish(other, run_id, folded)
            await check_shown(other, result)
        assert web.read_twice == []
    assert result.view["state"] == "done"
    assert {item["question"]: item["status"] for item in result.items} == dict(
        zip(ITEMS, ("done", "done", "dropped", "done"), strict=True)
    )
    told = [theme.keyword for theme in THEMES if any(fact.value in result.report for fact in theme.facts)]
    assert told == ["construction", "electricity"]
    assert all(times == 1 for times in model.reader_rounds.values())
