"""kill -9 of a replica at any point of its runs: another one continues them, and nothing is lost or repeated."""

import asyncio
import random

import pytest

from replicas.cluster import Cluster, Replica
from replicas.load_generator import LoadGenerator
from replicas.scripted_work import ScriptedWork

KILLS = 3
RUNS = 6
MAX_PARALLEL = 5
"""The replica is killed when so many runs have sent text, and none has ended."""


@pytest.mark.slow
async def test_the_runs_of_a_killed_replica_are_carried_on_by_another_and_end_once(
    cluster: Cluster, work: ScriptedWork
):
    rng = random.Random(20261116)
    load = LoadGenerator(cluster, work)
    for kill in range(KILLS):
        victim, known = cluster.replicas[kill % 2], len(load.runs)
        work.may_end.clear()
        tasks = [
            asyncio.create_task(_ask_late(load, f"k{kill}n{number}", rng.uniform(0, 1.5), victim))
            for number in range(RUNS)
        ]
        await load.wait_until_started(known + MAX_PARALLEL)
        await victim.kill()
        work.may_end.set()
        await asyncio.gather(*tasks)
        await load.wait_for_all()
        await victim.start()
    await cluster.ready()
    await load.check()
    interrupted = sum(run.followers[0].folded.restarts > 0 for run in load.runs)
    assert interrupted > len(load.runs) / 2, "most of them were in the middle of something"
    assert len(load.runs) > load.refused, "a few may have asked too late"


async def _ask_late(load: LoadGenerator, name: str, seconds: float, victim: Replica) -> None:
    await asyncio.sleep(seconds)
    await load.ask(name, victim)


@pytest.mark.slow
async def test_a_replica_that_is_stopped_in_good_order_hands_its_runs_over(cluster: Cluster, work: ScriptedWork):
    first, second = cluster.replicas
    load = LoadGenerator(cluster, work)
    for number in range(4):
        assert await load.ask(f"s{number}", first)
    await load.wait_until_started(4)
    assert await first.stop() == 0
    await load.wait_for_all()
    await first.start()
    await load.check()
    assert all("Traceback" not in replica.stderr for replica in (first, second))


@pytest.mark.slow
async def test_a_replica_that_stood_still_and_wakes_up_changes_nothing_of_what_others_did(
    cluster: Cluster, work: ScriptedWork
):
    first, _ = cluster.replicas
    load = LoadGenerator(cluster, work)
    for number in range(4):
        assert await load.ask(f"p{number}", first, followers=2)
    await load.wait_until_started(8)
    first.pause()
    await load.wait_for_all()
    first.resume()
    await cluster.ready()
    await load.check()
