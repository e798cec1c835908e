"""Whole research runs over HTTP: a web with wrong and dead pages, and a model that does what it is asked."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from research.barrage import FACTS, ITEMS
from research.research_runs import check_shown, research, run_client
from research.research_web import ResearchWeb
from research.scripted_model import LIE, NOT_JSON, ResearchModel
from runs.server_process import RunClient
from server.harness import open_server
from upstream import Upstream


@asynccontextmanager
async def research_server(
    home: Path, upstream: Upstream, model: ResearchModel, *, hangs: bool = False, **settings: str
) -> AsyncIterator[tuple[RunClient, ResearchWeb]]:
    upstream.script(model)
    async with (
        ResearchWeb(hangs=hangs) as web,
        open_server(home, upstream, **{**web.settings, **settings}) as server,
        run_client(server) as client,
    ):
        yield client, web


async def test_the_report_has_every_fact_and_hides_no_contradiction(tmp_path: Path, upstream: Upstream):
    model = ResearchModel()
    async with research_server(tmp_path, upstream, model, hangs=True) as (client, web):
        result = await research(client)
        await check_shown(client, result)
        assert web.read_twice == []
        dead = [web.refused_host, web.hanging_host]
    assert result.view["state"] == "done"
    assert [fact.value for fact in FACTS if fact.value not in result.report] == []
    assert [item["status"] for item in result.items] == ["done"] * 4
    assert [item["question"] for item in result.items] == list(ITEMS)
    assert result.hidden_traps() == []
    assert result.statements("contradicted") == result.statements("unsupported") == []
    assert [host for host in dead if host.partition(":")[0] not in result.unsettled] == []
    assert any(fact.value in result.answer for fact in FACTS)
    assert len({one["number"] for one in result.proof["citations"]}) > 3


async def test_the_events_of_items_have_their_parent_and_the_plan_is_updated(tmp_path: Path, upstream: Upstream):
    async with research_server(tmp_path, upstream, ResearchModel()) as (client, _):
        result = await research(client)
    folded, ids = result.folded, [item["id"] for item in result.items]
    assert set(folded.blocks_by_item) == {None, *ids}
    assert [block["type"] for block in folded.blocks_by_item[None]] == [
        "plan",
        "tool_use",
        "tool_result",
        "text",
        "attachments",
    ]
    for id_ in ids:
        kinds = [block["type"] for block in folded.blocks_by_item[id_]]
        assert kinds == ["tool_use", "tool_result"] * 3 + ["text"]
    states = [[item["status"] for item in plan] for plan in folded.plans]
    assert states[0] == ["pending"] * 4
    assert ["running"] * 4 in states
    assert states[-1] == ["done"] * 4
    assert folded.spent["pages"] > 10
    assert folded.spent["seconds"] > 0
    assert result.view["usage"]["cost"] == pytest.approx(folded.spent["usd"])


async def test_an_item_that_the_model_adds_after_reading_is_read_as_well(tmp_path: Path, upstream: Upstream):
    model = ResearchModel(plan=ITEMS[:2], gaps=ITEMS[2:3])
    async with research_server(tmp_path, upstream, model) as (client, _):
        result = await research(client)
    assert [item["question"] for item in result.items] == list(ITEMS[:3])
    assert [fact.value for fact in FACTS if fact.value not in result.report] == []
    assert len(model.asked["gaps"]) == 1


@pytest.mark.parametrize("pages", [3, 9])
async def test_no_more_pages_are_read_than_the_budget_allows(tmp_path: Path, upstream: Upstream, pages: int):
    async with research_server(tmp_path, upstream, ResearchModel()) as (client, web):
        result = await research(client, budget={"pages": pages})
        assert 0 < web.reads <= pages
    assert result.view["state"] == "done"
    assert result.folded.spent["pages"] <= pages
    assert result.report


async def test_what_the_writer_invents_is_in_no_report(tmp_path: Path, upstream: Upstream):
    async with research_server(tmp_path, upstream, ResearchModel(lies=True)) as (client, _):
        result = await research(client)
    assert LIE not in " ".join(result.statements("supported"))
    assert result.statements("unsupported") == result.statements("contradicted") == []
    assert [fact.value for fact in FACTS if fact.value not in result.report] == []


async def test_one_hanging_reader_costs_its_own_item_only(tmp_path: Path, upstream: Upstream):
    async with research_server(tmp_path, upstream, ResearchModel(hanging=frozenset({"plans"}))) as (client, _):
        result = await research(client, budget={"seconds": 20})
    assert [item["status"] for item in result.items] == ["done"] * 3 + ["failed"]
    assert result.items[-1]["note"]
    assert ITEMS[-1] in result.unsettled
    assert [fact.value for fact in FACTS if fact.value not in result.report] == []


@pytest.mark.parametrize("kind", ["looping", "rambling"])
async def test_a_reader_that_never_comes_to_an_end_is_ended(tmp_path: Path, upstream: Upstream, kind: str):
    model = ResearchModel(**{kind: frozenset({"plans"})})
    async with research_server(tmp_path, upstream, model) as (client, _):
        result = await research(client, budget={"seconds": 20})
    assert [item["status"] for item in result.items][:3] == ["done"] * 3
    assert [fact.value for fact in FACTS if fact.value not in result.report] == []
    assert model.reader_rounds["plans", 0] == 1


@pytest.mark.parametrize("text", [NOT_JSON, "", "[]", '{"items": [{"no": 1}]}'])
async def test_a_plan_that_cannot_be_read_is_made_by_rule(tmp_path: Path, upstream: Upstream, text: str):
    model = ResearchModel(texts={"plan": text, "gaps": text})
    async with research_server(tmp_path, upstream, model) as (client, _):
        result = await research(client)
    assert result.view["state"] == "done"
    assert result.items
    assert result.report
