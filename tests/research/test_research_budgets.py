"""Research within a budget: it ends in time and with a report, whatever hangs, and keeps to its money and pages."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from research.barrage import THEMES
from research.requests import Task
from research.research_runs import ResearchResult, research, run_client
from research.research_web import ResearchWeb
from research.scripted_model import ResearchModel
from server.harness import open_server
from upstream import ModelRequest, Upstream, reply, stall
from upstream.server import Answer

PRICES = json.dumps({"openai/m": {"price": {"input": 1.0, "output": 10.0}}})
MODEL = {"FOOTNOTE_MODELS_DEFAULT": "openai/m", "FOOTNOTE_MODELS_PROFILES": PRICES}
SLACK = 3.0
"""A second, and what a machine with other work needs beside it."""


async def run(
    model: Callable[[ModelRequest], Answer], upstream: Upstream, home: Path, **budget: Any
) -> tuple[ResearchResult, int]:
    """The run, and how many pages were requested for it."""
    upstream.script(model)
    async with (
        ResearchWeb() as web,
        open_server(home, upstream, **web.settings, **MODEL) as server,
        run_client(server) as client,
    ):
        return await research(client, budget=budget), web.reads


def hangs_in(*tasks: Task) -> Callable[[Task], Answer | None]:
    return lambda task: reply(stall()) if task in tasks else None


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        ResearchModel(hanging=frozenset(theme.keyword for theme in THEMES)),
        ResearchModel(before=hangs_in("plan")),
        ResearchModel(before=hangs_in("section")),
        ResearchModel(before=hangs_in("summary", "review")),
        ResearchModel(before=lambda _: reply(stall())),
    ],
    ids=["readers", "plan", "sections", "summary", "everything"],
)
async def test_a_run_whose_model_hangs_ends_in_time_with_a_report(
    model: ResearchModel, upstream: Upstream, tmp_path: Path
):
    result, _ = await run(model, upstream, tmp_path, seconds=12)

    assert result.view["state"] == "done", result.view
    assert result.view["spent"]["seconds"] <= 12 + SLACK
    assert result.answer
    assert result.report.startswith("# ")


@pytest.mark.slow
async def test_the_page_limit_is_kept_over_all_readers(upstream: Upstream, tmp_path: Path):
    result, reads = await run(ResearchModel(), upstream, tmp_path, pages=7)

    assert result.view["spent"]["pages"] == 7
    assert reads <= 7, "a host that cannot be reached counts, too"
    assert result.report


@pytest.mark.slow
@pytest.mark.parametrize("usd", [0.0, 0.01, 0.05])
async def test_the_money_is_kept_over_all_readers(usd: float, upstream: Upstream, tmp_path: Path):
    charged: list[float] = []
    model = ResearchModel()

    def expensive(request: ModelRequest) -> Answer:
        limit = request.body["max_completion_tokens"]
        charged.append((len(json.dumps(request.body)) / 4 + limit * 10) / 1_000_000)
        return model(request)

    result, _ = await run(expensive, upstream, tmp_path, usd=usd)

    assert result.view["state"] == "done", result.view
    assert result.view["spent"]["usd"] <= usd
    assert result.report
    assert max(charged, default=0.0) <= usd
