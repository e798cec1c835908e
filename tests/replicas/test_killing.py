"""kill -9 of a replica at any point of its runs: another one goes on with them, and nothing is lost or done twice."""

import asyncio
import random

import pytest

from replicas.asking import LoadGenerator
from replicas.cluster import TIMEOUT, Cluster, Replica
from replicas.work import ScriptedWork

KILLS = 3
RUNS = 6
MAX_PARALLEL = 5
"""So many of them have said something when their replica is killed, and none has ended."""


@pytest.mark.slow
async def test_the_runs_of_a_killed_replica_are_carried_on_by_another_and_end_once(
    cluster: Cluster, work: ScriptedWork
):
    chance = random.Random(20261116)
    crowd = LoadGenerator(cluster, work)
    for kill in range(KILLS):
        victim, known = cluster.replicas[kill % 2], len(crowd.runs)
        work.may_end.clear()
        asked = [
            asyncio.create_task(_ask_late(crowd, f"k{kill}n{number}", chance.uniform(0, 1.5), victim))
            for number in range(RUNS)
        ]
        await _wait_until_started(crowd, known + MAX_PARALLEL)
        await victim.kill()
        work.may_end.set()
        await asyncio.gather(*asked)
        await crowd.wait_for_all()
        await victim.start()
    await cluster.ready()
    await crowd.check()
    interrupted = sum(told.followers[0].folded.restarts > 0 for told in crowd.runs)
    assert interrupted > len(crowd.runs) / 2, "most of them were in the middle of something"
    assert len(crowd.runs) > crowd.refused, "a few may have asked too late"


async def _wait_until_started(crowd: LoadGenerator, count: int) -> None:
    """So many runs have said something."""
    async with asyncio.timeout(TIMEOUT):
        while sum(bool(one.folded.blocks) for told in crowd.runs for one in told.followers) < count:
            await asyncio.sleep(0.01)


async def _ask_late(crowd: LoadGenerator, name: str, seconds: float, victim: Replica) -> None:
    await asyncio.sleep(seconds)
    await crowd.ask(name, victim)


@pytest.mark.slow
async def test_a_replica_that_is_stopped_in_good_order_hands_its_runs_over(cluster: Cluster, work: ScriptedWork):
    first, second = cluster.replicas
    crowd = LoadGenerator(cluster, work)
    for number in range(4):
        assert await crowd.ask(f"s{number}", first)
    await _wait_until_started(crowd, 4)
    assert await first.stop() == 0
    await crowd.wait_for_all()
    await first.start()
    await crowd.check()
    assert all("Traceback" not in replica.stderr for replica in (first, second))


@pytest.mark.slow
async def test_a_replica_that_stood_still_and_wakes_up_changes_nothing_of_what_others_did(
    cluster: Cluster, work: ScriptedWork
):
    first, _ = cluster.replicas
    crowd = LoadGenerator(cluster, work)
    for number in range(4):
        assert await crowd.ask(f"p{number}", first, followers=2)
    await _wait_until_started(crowd, 8)
    first.pause()
    await crowd.wait_for_all()
    first.resume()
    await cluster.ready()
    await crowd.check()
