"""kill -9 at every step of a research run, and anywhere: the same report, and nothing is done twice."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from research.requests import Task
from research.research_runs import ResearchResult, check_shown, finish, start_research
from research.research_web import ResearchWeb
from research.scripted_model import ResearchModel
from runs.fold import FoldedTurn
from runs.server_process import SECONDS, ServerProcess
from upstream import Upstream, reply, stall
from upstream.server import Answer

POINTS: tuple[tuple[Task, int], ...] = (
    ("plan", 1),
    ("read", 1),
    ("read", 3),
    ("read", 6),
    ("read", 13),
    ("gaps", 1),
    ("section", 1),
    ("section", 2),
    ("summary", 1),
)
"""The requests at which the server is killed: each step has begun with all steps before it done."""
RUNS = 4
KILLS = 5
IN_FLIGHT_SECONDS = 3.0
"""A page that was requested so shortly before a kill may not have been stored."""


class Freezing:
    """Answers nothing from a request on, so that nothing is in flight but requests to the model when the server is
    killed."""

    def __init__(self, task: Task, number: int) -> None:
        self.is_over = False
        self._point = (task, number)
        self._received: Counter[Task] = Counter()
        self._held = 0
        self._changed = asyncio.Condition()

    def __call__(self, task: Task) -> Answer | None:
        if self.is_over:
            return None
        self._received[task] += 1
        wanted, number = self._point
        if self._held == 0 and (task != wanted or self._received[task] < number):
            return None
        self._held += 1
        return reply(stall())

    async def wait_until_held(self, folded: FoldedTurn, web: ResearchWeb, upstream: Upstream) -> None:
        """Waits until every reader waits for the model, and nothing else goes on."""
        async with asyncio.timeout(SECONDS):
            seen: tuple[int, ...] = ()
            while self._held < max(1, _readers(folded)) or seen != (seen := (len(upstream.requests), web.reads)):
                await asyncio.sleep(0.2)


def _readers(folded: FoldedTurn) -> int:
    return sum(item["status"] == "running" for item in folded.plans[-1]) if folded.plans else 0


class Killings:
    """One run in a home folder of its own, on servers that are killed."""

    def __init__(self, home: Path, upstream: Upstream, settings: Mapping[str, str]) -> None:
        home.mkdir()
        self.folded = FoldedTurn()
        self._home = home
        self._upstream = upstream
        self._settings = settings
        self._run_id = ""

    async def run_until_killed(self, reached: "asyncio.Future[None] | asyncio.Task[None]") -> None:
        process = await ServerProcess.start(self._home, self._upstream, **self._settings)
        async with process.client() as client:
            if not self._run_id:
                self._run_id = await start_research(client)
            following = asyncio.create_task(client.follow(self._run_id, self.folded))
            await reached
            await process.kill()
            await following

    async def run_to_the_end(self) -> ResearchResult:
        process = await ServerProcess.start(self._home, self._upstream, **self._settings)
        async with process.client() as client:
            if not self._run_id:
                self._run_id = await start_research(client)
            result = await finish(client, self._run_id, self.folded)
            await check_shown(client, result)
        assert await process.stop() == 0
        assert "Traceback" not in process.stderr
        return result


def _check_ended(result: ResearchResult, expected: ResearchResult) -> None:
    assert result.view["state"] == "done"
    assert result.plain_report == expected.plain_report
    assert [file["path"] for file in result.history["workspace"]["workspace_files"]] == ["/report.md"]
    writes = [message for message in result.history["messages"] if message.get("name") == "write_file"]
    assert len(writes) == 1
    assert [item["status"] for item in result.items] == ["done"] * 4
    assert result.folded.restarts > 0


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS, ids=lambda point: f"{point[0]}-{point[1]}")
async def test_a_run_that_is_killed_at_a_step_goes_on_with_it(
    tmp_path: Path, upstream: Upstream, point: tuple[Task, int]
):
    async with ResearchWeb(hangs=False) as web:
        model = ResearchModel()
        upstream.script(model)
        expected = await Killings(tmp_path / "whole", upstream, web.settings).run_to_the_end()
        reads, rounds, requests = web.reads, model.reader_rounds, model.requests
        web.read_at.clear()
        model.asked.clear()
        freezing = model.before = Freezing(*point)
        killings = Killings(tmp_path / "killed", upstream, web.settings)
        held = asyncio.ensure_future(freezing.wait_until_held(killings.folded, web, upstream))
        await killings.run_until_killed(held)
        freezing.is_over = True
        result = await killings.run_to_the_end()
        _check_ended(result, expected)
        assert (web.read_twice, web.reads) == ([], reads)
    assert model.reader_rounds == rounds, "no item was done twice"
    assert model.requests == requests
    assert result.view["usage"]["input_tokens"] == expected.view["usage"]["input_tokens"], "each answer is counted once"


class Counting:
    """Lets a run go on to a request by its number, counted over all tasks."""

    def __init__(self) -> None:
        self.received = 0
        self.reached = asyncio.Event()
        self.limit = 0

    def __call__(self, _: Task) -> Answer | None:
        self.received += 1
        if self.received >= self.limit:
            self.reached.set()
        return None


@pytest.mark.slow
async def test_a_run_that_is_killed_anywhere_again_and_again_comes_to_the_same_report(
    tmp_path: Path, upstream: Upstream
):
    rng = random.Random(20261119)
    async with ResearchWeb(hangs=False) as web:
        model = ResearchModel()
        upstream.script(model)
        expected = await Killings(tmp_path / "whole", upstream, web.settings).run_to_the_end()
        rounds, requests = model.reader_rounds, model.requests.total()
        for number in range(RUNS):
            web.read_at.clear()
            model.asked.clear()
            counting = model.before = Counting()
            killings = Killings(tmp_path / f"run-{number}", upstream, web.settings)
            killed_at: list[float] = []
            for limit in sorted(rng.sample(range(1, requests), KILLS)):
                counting.limit = max(limit, counting.received + 1)
                counting.reached.clear()
                await killings.run_until_killed(asyncio.ensure_future(_reached(counting, rng.uniform(0, 0.1))))
                killed_at.append(time.monotonic())
            result = await killings.run_to_the_end()
            _check_ended(result, expected)
            assert [url for url in web.read_twice if not _was_in_flight(web.read_at[url], killed_at)] == []
            again = model.reader_rounds - rounds
            assert again.total() <= 4 * KILLS, "only what was in flight is asked again"


async def _reached(counting: Counting, delay: float) -> None:
    async with asyncio.timeout(SECONDS):
        await counting.reached.wait()
    await asyncio.sleep(delay)


def _was_in_flight(times: list[float], killed_at: list[float]) -> bool:
    """Whether a kill came shortly after each request but the last one."""
    return all(any(0 <= kill - at <= IN_FLIGHT_SECONDS for kill in killed_at) for at in times[:-1])
