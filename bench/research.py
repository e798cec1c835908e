"""Research: four readers at once against the slowest of them, and one of four that hangs against its limit.

    .venv/bin/python bench/research.py            about two minutes
    .venv/bin/python bench/research.py --quick    with shorter waits

A real server, the web of tests/research over HTTP, and a scripted model that waits before each answer. Measured is the
time from the first item that runs to the last one that has ended, as a follower of the run sees it. The reference runs
beside: the slowest item alone in its plan, in alternation with all four.
"""

import argparse
import asyncio
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from report import FAIL, NO_BAR, PASS, Table, conclude

from research.barrage import THEMES
from research.research_runs import start_research
from research.research_web import ResearchWeb
from research.scripted_model import ResearchModel
from runs.fold import FoldedTurn
from runs.server_process import RunClient, ServerProcess
from upstream import Upstream

MAX_RATIO = 1.4
ROUNDS = 3
SLOWEST_SECONDS = 2.0
"""How long the slowest reader waits before each of its answers; the others a quarter, a half and three quarters."""
LIMIT_SECONDS = 30.0
LOOKING_SHARE = 0.8
"""At 70 % of the time nothing more is begun, and a tenth of it later the last readers are stopped."""
AGENT = "researcher"


class PlanWatch(FoldedTurn):
    """Notes when the first item began to run, and when the last one had ended."""

    began = ended_items = 0.0

    def _plan_update(self, event: dict[str, Any]) -> None:
        super()._plan_update(event)
        statuses = {item["status"] for item in event["items"]}
        if "running" in statuses:
            self.began = self.began or time.perf_counter()
        if self.began and not statuses & {"running", "pending"}:
            self.ended_items = time.perf_counter()

    @property
    def seconds(self) -> float:
        return self.ended_items - self.began


async def investigate(client: RunClient, **fields: Any) -> PlanWatch:
    """A run to its end."""
    watch = PlanWatch()
    run_id = await start_research(client, **fields)
    while not watch.ended:
        await client.follow(run_id, watch)
    return watch


async def in_new_server(upstream: Upstream, at_once: int, **fields: Any) -> PlanWatch:
    """A run on a server with an empty home, so that no page is known already."""
    agents = [{"id": AGENT, "webSearch": {"enabled": True}, "research": {"atOnce": at_once}}]
    with tempfile.TemporaryDirectory() as home:
        async with ResearchWeb(hangs=False) as web:
            settings = {**web.settings, "FOOTNOTE_AGENTS": json.dumps(agents)}
            process = await ServerProcess.start(Path(home), upstream, **settings)
            try:
                async with process.client() as client:
                    return await investigate(client, **fields)
            finally:
                await process.stop()


async def side_by_side(rounds: int, slowest: float) -> Sequence[tuple[str, ...]]:
    """All four at once, the slowest alone, and, for comparison, one after the other."""
    slow = {theme.keyword: slowest * (at + 1) / len(THEMES) for at, theme in enumerate(THEMES)}
    seconds: dict[str, list[float]] = {"together": [], "alone": [], "in turn": []}
    async with Upstream() as upstream:
        model = ResearchModel(slow=slow)
        upstream.script(model)
        questions = [theme.question for theme in THEMES]
        for number in range(rounds):
            for name, plan, at_once in (("alone", questions[-1:], 1), ("together", questions, 4)):
                model.plan = plan
                seconds[name].append((await in_new_server(upstream, at_once)).seconds)
            if number == 0:
                seconds["in turn"].append((await in_new_server(upstream, 1)).seconds)
    ratios = [one / other for one, other in zip(seconds["together"], seconds["alone"], strict=True)]
    ratio = statistics.median(ratios)
    alone = statistics.median(seconds["alone"])
    return (
        (
            "four readers at once",
            f"{statistics.median(seconds['together']):.1f}",
            f"the slowest alone: {alone:.1f}",
            f"{ratio:.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
            f"≤ {MAX_RATIO} x",
            PASS if ratio <= MAX_RATIO else FAIL,
        ),
        (
            "the same, one after the other",
            f"{seconds['in turn'][0]:.1f}",
            "",
            f"{seconds['in turn'][0] / alone:.2f}",
            *NO_BAR,
        ),
    )


async def with_one_hanging(limit: float) -> tuple[str, ...]:
    async with Upstream() as upstream:
        upstream.script(ResearchModel(hanging=frozenset({THEMES[-1].keyword})))
        watch = await in_new_server(upstream, 4, budget={"seconds": limit})
    statuses = [item["status"] for item in watch.plans[-1]]
    ratio = watch.seconds / (LOOKING_SHARE * limit)
    passed = ratio <= MAX_RATIO and statuses == ["done"] * 3 + ["failed"]
    return (
        "one of four never answers",
        f"{watch.seconds:.1f}",
        f"its limit: {LOOKING_SHARE * limit:.1f}",
        f"{ratio:.2f}",
        f"≤ {MAX_RATIO} x",
        PASS if passed else FAIL,
    )


async def measure(*, quick: bool) -> Table:
    rows = [
        *await side_by_side(1 if quick else ROUNDS, SLOWEST_SECONDS / (4 if quick else 1)),
        await with_one_hanging(LIMIT_SECONDS / (2 if quick else 1)),
    ]
    columns = ("investigating", "seconds", "reference", "ratio", "bar", "")
    return Table("Research: readers side by side", columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="once, with shorter waits")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a bar is missed")
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()} {platform.machine()}\n")
    conclude([asyncio.run(measure(quick=arguments.quick))], strict=arguments.strict)


if __name__ == "__main__":
    main()
