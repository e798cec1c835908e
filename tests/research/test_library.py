"""Research with the Python library: the example of the documentation, and what a program can do while a run goes on."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from footnote import App, Budget, Run
from footnote.protocol.errors import Conflict, UsageError
from footnote.protocol.events import BudgetUpdate, Event, PlanBlock, PlanUpdate
from footnote.protocol.plans import WantedItem
from research.barrage import FACTS, QUESTION, THEMES
from research.research_web import ResearchWeb
from research.scripted_model import ResearchModel
from shape.tree import ROOT
from upstream import Upstream

PAGE = ROOT / "docs" / "research.md"
SECONDS = 120


@pytest.fixture
def model(upstream: Upstream) -> ResearchModel:
    model = ResearchModel()
    upstream.script(model)
    return model


@pytest.fixture
async def environ(upstream: Upstream, tmp_path: Path) -> AsyncIterator[dict[str, str]]:
    async with ResearchWeb(hangs=False) as web:
        yield {
            "FOOTNOTE_HOME": str(tmp_path),
            "OPENAI_API_KEY": upstream.key or "",
            "FOOTNOTE_MODELS_PROVIDERS_OPENAI_BASE_URL": upstream.url,
            "FOOTNOTE_CITATIONS_MODEL": "off",
            **web.settings,
        }


@pytest.fixture
async def app(environ: dict[str, str], tmp_path: Path) -> AsyncIterator[App]:
    async with App.open(home=tmp_path, environ=environ) as app:
        yield app


async def report_of(run: Run) -> str:
    return (await run.workspace.read("/report.md")).decode()


async def test_the_example_of_the_documentation_runs(environ: dict[str, str], model: ResearchModel) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    example = example.replace("Compare SQLite and DuckDB for log files", QUESTION)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        example,
        env={**os.environ, **environ},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await asyncio.wait_for(process.communicate(), SECONDS)
    assert process.returncode == 0, output.decode()
    text = output.decode()
    assert re.search(r"BudgetUpdate\(budget=Budget\(seconds=600(?:\.0)?, usd=0\.5, pages=60\)", text)
    assert text.partition("\nMessageStop()\n")[2].startswith("# ")
    assert len(model.asked["plan"]) == 1


async def test_a_run_has_a_plan_and_writes_a_report(app: App, model: ResearchModel) -> None:
    run = await app.research(QUESTION)
    events = [event async for event in run.events()]
    assert [item.status for item in (await run.plan()).items] == ["done"] * len(model.plan)
    assert any(isinstance(event, BudgetUpdate) for event in events)
    report = await report_of(run)
    assert [fact.value for fact in FACTS if fact.value not in report] == []


async def test_a_program_drops_items_steers_and_finishes(app: App, model: ResearchModel) -> None:
    """All readers but the first one hang, so that some items wait until the program has decided."""
    model.hanging = frozenset(theme.keyword for theme in THEMES[1:])
    model.plan = [*(theme.question for theme in THEMES), *(f"{theme.question} Again." for theme in THEMES[1:])]
    run = await app.research(QUESTION)
    async with asyncio.timeout(SECONDS):
        async for event in run.events():
            if _is_settled(event) and not (before := await run.plan()).steering:
                begun = [item.id for item in before.items if item.status != "pending"]
                view = await run.change_plan(*(WantedItem(item_id) for item_id in begun))
                assert [item.status for item in view.items].count("dropped") >= 1
                assert (await run.steer("Only what is certain.")).steering == ("Only what is certain.",)
                await run.finish()
    plan = await run.plan()
    assert (plan.items[0].status, plan.items[-1].status, len(plan.items)) == ("done", "dropped", len(model.plan))
    assert THEMES[0].facts[0].value in await report_of(run)
    with pytest.raises(Conflict):
        await run.steer("Too late.")


async def test_finishing_writes_what_is_there(app: App, model: ResearchModel) -> None:
    model.hanging = frozenset({THEMES[1].keyword})
    run = await app.research(QUESTION)
    finished = False
    async with asyncio.timeout(SECONDS):
        async for event in run.events():
            if not finished and _is_settled(event):
                finished = True
                await run.finish()
    report = await report_of(run)
    assert THEMES[0].facts[0].value in report
    assert {item.status for item in (await run.plan()).items} != {"done"}


async def test_a_budget_is_kept_for_a_plain_question_too(app: App, model: ResearchModel) -> None:
    assert model.plan
    run = await app.ask(f"{QUESTION} In short.", budget=Budget(pages=1))
    updates = [event async for event in run.events() if isinstance(event, BudgetUpdate)]
    assert updates[-1].budget == Budget(pages=1)
    assert updates[-1].spent.pages <= 1


async def test_an_unknown_template_is_refused_before_anything_is_asked(app: App, model: ResearchModel) -> None:
    with pytest.raises(UsageError, match="novel"):
        await app.research(QUESTION, template="novel")
    with pytest.raises(UsageError):
        await app.research(QUESTION, template="../config")
    assert model.asked == {}


def _is_settled(event: Event) -> bool:
    """One item is done."""
    items = event.content_block.items if isinstance(getattr(event, "content_block", None), PlanBlock) else ()
    items = event.items if isinstance(event, PlanUpdate) else items
    return any(item.status == "done" for item in items)
