"""A research run that its user changes, ends early or cancels, and one whose model or search engine fails."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from research.barrage import FACTS, ITEMS, THEMES
from research.research_runs import ResearchResult, check_shown, finish, start_research
from research.scripted_model import ResearchModel
from research.test_whole_run import research_server
from runs.fold import FoldedTurn
from runs.server_process import SECONDS, RunClient
from upstream import Upstream, status
from upstream.server import Answer

TWO_AT_ONCE = {"FOOTNOTE_AGENTS": json.dumps([{"id": "a", "webSearch": {"enabled": True}, "research": {"atOnce": 2}}])}
STEERING = "Write for fishermen, and look into the plans."


class StartedRun:
    """A run that goes on, and is followed."""

    def __init__(self, client: RunClient, run_id: str) -> None:
        self.client = client
        self.path = f"/v2/runs/{run_id}"
        self.folded = FoldedTurn()
        self._run_id = run_id
        self._following = asyncio.create_task(client.follow(run_id, self.folded))

    @classmethod
    async def start(cls, client: RunClient, **fields: Any) -> "StartedRun":
        return cls(client, await start_research(client, **fields))

    async def wait_for(self, condition: Callable[[list[str]], bool]) -> None:
        """Waits until the statuses of the items fulfil the condition."""
        async with asyncio.timeout(SECONDS):
            while not (self.folded.plans and condition([item["status"] for item in self.folded.plans[-1]])):
                await asyncio.sleep(0.02)

    async def result(self) -> ResearchResult:
        await self._following
        result = await finish(self.client, self._run_id, self.folded)
        await check_shown(self.client, result)
        return result


def _facts_in(text: str, *keywords: str) -> list[str]:
    themes = [theme for theme in THEMES if theme.keyword in keywords]
    return [fact.value for theme in themes for fact in theme.facts if fact.value in text]


async def test_the_plan_can_be_edited_while_its_first_items_are_read(tmp_path: Path, upstream: Upstream):
    go_on = asyncio.Event()
    model = ResearchModel(plan=ITEMS[:3], held={"construction": go_on, "electricity": go_on})
    async with research_server(tmp_path, upstream, model, **TWO_AT_ONCE) as (client, _):
        run = await StartedRun.start(client)
        await run.wait_for(lambda statuses: statuses == ["running", "running", "pending"])
        plan = await client.json("GET", f"{run.path}/plan")
        begun = [{"id": item["id"]} for item in plan["items"][:2]]
        changed = await client.json("PATCH", f"{run.path}/plan", {"items": [*begun, {"question": ITEMS[3]}]})
        assert {item["question"]: item["status"] for item in changed["items"]} == {
            ITEMS[0]: "running",
            ITEMS[1]: "running",
            ITEMS[2]: "dropped",
            ITEMS[3]: "pending",
        }
        go_on.set()
        result = await run.result()
    assert {item["question"]: item["status"] for item in result.items} == {
        ITEMS[0]: "done",
        ITEMS[1]: "done",
        ITEMS[2]: "dropped",
        ITEMS[3]: "done",
    }
    assert model.reader_rounds["wildlife", 0] == 0
    assert len(_facts_in(result.report, "construction", "electricity")) == 8
    assert _facts_in(result.report, "wildlife") == []
    assert ITEMS[2] in result.unsettled


async def test_a_run_that_is_finished_early_reports_what_it_has(tmp_path: Path, upstream: Upstream):
    model = ResearchModel(hanging=frozenset({"wildlife", "plans"}))
    async with research_server(tmp_path, upstream, model) as (client, _):
        run = await StartedRun.start(client)
        await run.wait_for(lambda statuses: statuses[:2] == ["done", "done"])
        async with asyncio.timeout(SECONDS):
            view = await client.json("POST", f"{run.path}/finish")
            result = await run.result()
    assert view["state"] == "running"
    assert result.view["state"] == "done"
    assert len(_facts_in(result.report, "construction", "electricity")) == 8
    assert all(question in result.unsettled for question in ITEMS[2:])
    assert len(model.asked.get("gaps", ())) == 0


async def test_what_the_user_says_while_the_run_goes_on_is_heard(tmp_path: Path, upstream: Upstream):
    go_on = asyncio.Event()
    held = {theme.keyword: go_on for theme in THEMES[:3]}
    model = ResearchModel(plan=ITEMS[:3], steered=ITEMS[3:], held=held)
    async with research_server(tmp_path, upstream, model) as (client, _):
        run = await StartedRun.start(client)
        await run.wait_for(lambda statuses: statuses == ["running"] * 3)
        view = await client.json("POST", f"{run.path}/steer", {"content": STEERING})
        assert view["steering"] == [STEERING]
        await run.wait_for(lambda statuses: len(statuses) == 4)
        go_on.set()
        result = await run.result()
    assert [item["question"] for item in result.items] == list(ITEMS)
    assert [item["status"] for item in result.items] == ["done"] * 4
    assert all(STEERING in asked.question for asked in model.asked["section"])
    assert result.folded.blocks_by_item[None][0]["steering"] == [STEERING]


async def test_a_cancelled_run_stops_its_readers_and_keeps_what_they_found(tmp_path: Path, upstream: Upstream):
    model = ResearchModel(hanging=frozenset({"plans"}))
    async with research_server(tmp_path, upstream, model) as (client, _):
        run = await StartedRun.start(client)
        await run.wait_for(lambda statuses: statuses == ["done"] * 3 + ["running"])
        await client.json("POST", f"{run.path}/cancel")
        result = await run.result()
        hanging = next(one for one in upstream.requests if ITEMS[3] in str(one.body) and "Look up" in str(one.body))
        await asyncio.wait_for(hanging.connection.closed.wait(), SECONDS)
    assert result.view["state"] == "cancelled"
    assert result.folded.stop_reason == "aborted"
    assert not {item["status"] for item in result.items} & {"running", "pending"}


async def test_a_model_that_fails_after_the_reading_leaves_a_report_of_quotations(tmp_path: Path, upstream: Upstream):
    model = ResearchModel()

    def fail_from_now_on(task: str) -> Answer | None:
        if task == "gaps":
            model.outage = status(401, "The key has expired.")
        return None

    model.before = fail_from_now_on
    async with research_server(tmp_path, upstream, model) as (client, _):
        result = await (await StartedRun.start(client)).result()
    assert result.view["state"] == "done"
    assert [fact.value for fact in FACTS if fact.value not in result.report] == []
    assert result.hidden_traps() == []


async def test_a_model_that_never_answers_fails_the_run_and_says_why(tmp_path: Path, upstream: Upstream):
    model = ResearchModel(outage=status(401, "The key has expired."))
    async with research_server(tmp_path, upstream, model) as (client, _):
        result = await (await StartedRun.start(client)).result()
    assert result.view["state"] == "failed"
    assert result.folded.error is not None
    assert "401" in result.folded.error["message"]
    assert {item["status"] for item in result.items} == {"failed"}


async def test_without_a_search_engine_the_report_says_that_nothing_was_found(tmp_path: Path, upstream: Upstream):
    async with research_server(tmp_path, upstream, ResearchModel()) as (client, web):
        web.search.fails = True
        result = await (await StartedRun.start(client)).result()
        assert web.reads == 0
    assert result.view["state"] == "done"
    assert _facts_in(result.report, *(theme.keyword for theme in THEMES)) == []
    assert result.statements("supported") == result.statements("unsupported") == []
    assert all(question in result.unsettled for question in ITEMS)
