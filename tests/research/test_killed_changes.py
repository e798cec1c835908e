"""kill -9 after the user changed the plan of a run: what the user wanted still holds afterwards."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from research.barrage import FACTS, ITEMS, THEMES
from research.research_runs import check_shown, finish, start_research
from research.research_web import ResearchWeb
from research.scripted_model import ResearchModel
from research.test_changing import STEERING, TWO_AT_ONCE
from research.test_killing import Freezing
from runs.fold import FoldedTurn
from runs.server_process import ServerProcess
from upstream import Upstream

CHANGES: dict[str, tuple[str, str, dict[str, Any] | None]] = {
    "edited": ("PATCH", "plan", {"items": [{"id": "q1"}, {"id": "q2"}, {"id": "q4"}]}),
    "finished": ("POST", "finish", None),
    "steered": ("POST", "steer", {"content": STEERING}),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
async def test_a_change_outlives_the_process_that_was_told_of_it(tmp_path: Path, upstream: Upstream, change: str):
    model = ResearchModel()
    freezing = model.before = Freezing("read", 4)
    upstream.script(model)
    folded = FoldedTurn()
    async with ResearchWeb(hangs=False) as web:
        settings = {**web.settings, **TWO_AT_ONCE}
        process = await ServerProcess.start(tmp_path, upstream, **settings)
        async with process.client() as client:
            run_id = await start_research(client)
            following = asyncio.create_task(client.follow(run_id, folded))
            await freezing.wait_until_held(folded, web, upstream)
            method, path, body = CHANGES[change]
            await client.json(method, f"/v2/runs/{run_id}/{path}", body)
            await process.kill()
            await following
        freezing.is_over = True
        process = await ServerProcess.start(tmp_path, upstream, **settings)
        async with process.client() as client:
            result = await finish(client, run_id, folded)
            await check_shown(client, result)
        assert await process.stop() == 0
        assert web.read_twice == []
    statuses = [item["status"] for item in result.items]
    told = [theme.keyword for theme in THEMES if any(fact.value in result.report for fact in theme.facts)]
    assert result.view["state"] == "done"
    match change:
        case "edited":
            assert statuses == ["done", "done", "dropped", "done"]
            assert told == ["construction", "electricity"]
        case "finished":
            assert statuses[2:] == ["dropped", "dropped"]
            assert all(question in result.unsettled for question in ITEMS[2:])
        case "steered":
            assert all(STEERING in asked.question for asked in model.asked["section"])
            assert [fact.value for fact in FACTS if fact.value not in result.report] == []
