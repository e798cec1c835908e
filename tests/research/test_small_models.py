"""Research without a model, and with one that is small or cannot call tools: a plan by rule, and honest reports."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from research.barrage import FACTS, SUBJECT
from research.research_runs import ResearchResult, check_shown, research, run_client
from research.research_web import ResearchWeb
from research.scripted_model import ResearchModel
from research.test_whole_run import research_server
from runs.server_process import RunClient
from server.harness import open_server
from upstream import Upstream

QUESTION = (
    "When was the construction of the Saltmouth tidal barrage completed, how much electricity does the Saltmouth tidal "
    "barrage produce, and what does the Saltmouth tidal barrage mean for wildlife?"
)
GUIDED = {"FOOTNOTE_MODELS_DEFAULT": "openai/tiny-1.5b"}


@asynccontextmanager
async def _without_a_model(home: Path) -> AsyncIterator[tuple[RunClient, ResearchWeb]]:
    async with (
        ResearchWeb(hangs=False) as web,
        open_server(home, **web.settings) as server,
        run_client(server) as client,
    ):
        yield client, web


def _check_honest(result: ResearchResult) -> None:
    assert result.view["state"] == "done"
    assert result.items
    assert {item["status"] for item in result.items} == {"done"}
    assert result.statements("unsupported") == result.statements("contradicted") == []
    assert result.hidden_traps() == []
    assert len([fact for fact in FACTS if fact.value in result.report]) >= 6
    assert SUBJECT in result.answer


async def test_without_a_model_the_report_consists_of_quotations(tmp_path: Path):
    async with _without_a_model(tmp_path) as (client, web):
        result = await research(client, QUESTION)
        await check_shown(client, result)
        assert web.read_twice == []
    _check_honest(result)
    assert len(result.items) >= 2


@pytest.mark.parametrize("locale", ["vi", "zh"])
async def test_without_a_model_it_speaks_the_language_of_its_user(tmp_path: Path, locale: str):
    async with _without_a_model(tmp_path) as (client, _):
        result = await research(client, QUESTION, locale=locale)
    english = {"Not settled", "Sources", "Note"}
    assert [word for word in english if f"## {word}" in result.report] == []


async def test_a_small_model_writes_from_what_was_looked_up_for_it(tmp_path: Path, upstream: Upstream):
    model = ResearchModel()
    async with research_server(tmp_path, upstream, model, **GUIDED) as (client, _):
        result = await research(client, QUESTION)
        await check_shown(client, result)
    _check_honest(result)
    assert all(not asked.tools for asked in model.asked["read"])


async def test_a_model_that_cannot_call_tools_is_given_what_was_looked_up(tmp_path: Path, upstream: Upstream):
    model = ResearchModel(calls_tools=False)
    async with research_server(tmp_path, upstream, model) as (client, _):
        result = await research(client)
        await check_shown(client, result)
    _check_honest(result)


async def test_a_small_model_that_only_chatters_leaves_quotations(tmp_path: Path, upstream: Upstream):
    chatter: dict[Any, str] = dict.fromkeys(("plan", "gaps", "read", "section", "summary"), "I am happy to help.")
    async with research_server(tmp_path, upstream, ResearchModel(texts=chatter), **GUIDED) as (client, _):
        result = await research(client, QUESTION)
    _check_honest(result)
