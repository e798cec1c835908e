"""What the user says while the plan is still being made."""

import asyncio
import json
from pathlib import Path

from research.barrage import ITEMS
from research.research_runs import finish, run_client, start_research
from research.research_web import ResearchWeb
from research.scripted_model import ResearchModel
from runs.fold import FoldedTurn
from server.harness import open_server
from upstream import Upstream, hold, reply, say, stop

STEERING = "Look into the animals, too."


async def test_what_is_said_while_the_plan_is_made_changes_it_once_it_is_there(
    tmp_path: Path, upstream: Upstream
) -> None:
    go_on = asyncio.Event()
    planned = reply(hold(go_on), say(json.dumps({"items": ITEMS[:2]})), stop())
    model = ResearchModel(steered=ITEMS[2:3], before=lambda task: planned if task == "plan" else None)
    upstream.script(model)
    async with (
        ResearchWeb(hangs=False) as web,
        open_server(tmp_path, upstream, **web.settings) as server,
        run_client(server) as client,
    ):
        run_id = await start_research(client)
        await upstream.wait_received(1)
        said = await client.json("POST", f"/v2/runs/{run_id}/steer", {"content": STEERING})
        go_on.set()
        result = await finish(client, run_id, FoldedTurn())

    assert said == {"items": [], "steering": [STEERING]}
    assert {item["question"]: item["status"] for item in result.items} == dict.fromkeys(ITEMS[:3], "done")
    assert model.requests["steer"] == 1
