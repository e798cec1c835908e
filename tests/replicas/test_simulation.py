"""The simulation behind docs/scale.md: it is deterministic, loses no follower, and behaves like a queue."""

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def bench() -> Any:
    """Imports the modules of the benchmark, which are not in a package."""

    class BenchModules:
        def __getattr__(self, name: str) -> ModuleType:
            return _module(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "bench"))
        known = set(sys.modules)
        yield BenchModules()
        for name in set(sys.modules) - known:
            del sys.modules[name]


def _module(name: str) -> ModuleType:
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / "bench" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture
def costs(bench: Any) -> Any:
    return bench.capacity_simulation.Costs(
        event=40e-6,
        delivery=20e-6,
        event_database=10e-6,
        adoption=15e-3,
        adoption_database=3e-3,
        follow=2e-3,
        follow_database=0.6e-3,
        beat_database=0.5e-3,
        flush_database=0.4e-3,
    )


def test_a_seed_gives_the_same_figures_and_another_one_others(bench: Any, costs: Any):
    deployment = bench.capacity_simulation.Deployment(10, 50)
    outcome = bench.capacity_simulation.deaths(deployment, costs, 2, seed=7)
    assert outcome == bench.capacity_simulation.deaths(deployment, costs, 2, seed=7)
    assert outcome != bench.capacity_simulation.deaths(deployment, costs, 2, seed=8)


def test_runs_go_on_after_the_lease_and_not_before(bench: Any, costs: Any):
    deployment = bench.capacity_simulation.Deployment(10, 50, claim_most=10)
    outcome = bench.capacity_simulation.deaths(deployment, costs, 1)
    assert deployment.lease - deployment.beat < outcome.adopted_half <= outcome.adopted_all
    slower = bench.capacity_simulation.deaths(replace(deployment, lease=30.0), costs, 1)
    assert slower.adopted_half > outcome.adopted_half + 20


def test_who_takes_all_at_once_is_alone_with_it_and_the_last_of_it_comes_later(bench: Any, costs: Any):
    deployment = bench.capacity_simulation.Deployment(10, 300)
    greedy = bench.capacity_simulation.deaths(deployment, costs, 1)
    fair = bench.capacity_simulation.deaths(replace(deployment, claim_most=20), costs, 1)
    assert greedy.most_taken == 300
    assert fair.most_taken < 100
    assert fair.busiest < greedy.busiest
    assert fair.adopted_all < greedy.adopted_all


def test_every_run_of_every_dead_machine_is_taken_over_once(bench: Any, costs: Any):
    storm = bench.capacity_simulation._Deaths(bench.capacity_simulation.Deployment(20, 30, followers=2), costs, 5, 1)
    storm.simulate()
    assert len(storm.adopted) == 5 * 30
    assert sum(machine.taken for machine in storm.machines) == 5 * 30
    assert sum(machine.runs for machine in storm.machines) == 20 * 30
    assert len(storm.back) == 5 * 30 * 2


def test_a_database_that_is_too_small_shows_in_late_signs_of_life(bench: Any, costs: Any):
    deployment = bench.capacity_simulation.Deployment(200, 20, claim_most=20)
    large = bench.capacity_simulation.deaths(replace(deployment, database_cores=32), costs, 20)
    small = bench.capacity_simulation.deaths(replace(deployment, database_cores=1), costs, 20)
    assert large.latest_beat < deployment.lease - deployment.beat < small.latest_beat
    assert large.database < 1 < small.database


def test_cells_lose_as_many_as_died_and_none_hears_of_another(bench: Any, costs: Any):
    deployment = bench.capacity_simulation.Deployment(100, 20, claim_most=20)
    hit = bench.capacity_simulation.cells(deployment, costs, 10, size=10)
    assert sum(lost for lost, _ in hit) == 10
    assert all(reached.most_taken <= lost * 20 for lost, reached in hit)


def test_an_upgrade_moves_runs_and_spreads_them_where_nobody_takes_all(bench: Any, costs: Any):
    deployment = bench.capacity_simulation.Deployment(10, 100)
    greedy = bench.capacity_simulation.upgrade(deployment, costs)
    fair = bench.capacity_simulation.upgrade(replace(deployment, claim_most=20), costs)
    assert 0 < fair.interrupted < 2
    assert fair.busiest < greedy.busiest


def test_the_pages_show_what_the_known_costs_give(bench: Any):
    figures = json.loads((ROOT / "bench" / "capacity.json").read_text())
    for path, text in bench.capacity.updated_pages(bench.capacity_report.sections(figures)).items():
        assert text == path.read_text(encoding="utf-8"), "run bench/capacity.py --known --write"
