"""More than two replicas: the remaining ones share the runs of the others, and all can be restarted in turn."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from replicas.cluster import Cluster, open_cluster
from replicas.fault_injection import ALL
from replicas.load_generator import LoadGenerator
from replicas.scripted_work import ScriptedWork
from replicas.shared_services import SharedServices
from upstream import Upstream

REPLICAS = 5
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not ALL, reason="`make faults` takes the long ones")]


@pytest.fixture
async def many(
    tmp_path: Path, shared_services: SharedServices, upstream: Upstream, work: ScriptedWork
) -> AsyncIterator[Cluster]:
    async with open_cluster(tmp_path, shared_services, upstream, count=REPLICAS, **work.settings) as cluster:
        yield cluster


async def test_those_that_are_left_share_the_runs_of_two_that_are_killed_at_once(many: Cluster, work: ScriptedWork):
    load = LoadGenerator(many, work)
    victims = many.replicas[:2]
    for number in range(4):
        for replica in many.replicas:
            assert await load.ask(f"m{number}-{many.replicas.index(replica)}", replica, followers=2)
    await asyncio.gather(*(victim.kill() for victim in victims))
    await load.wait_for_all()
    for victim in victims:
        await victim.start()
    await many.ready()
    await load.check()
    restarts = [run.followers[0].folded.restarts for run in load.runs]
    assert sum(restarts) >= 4, "most of the eight were in the middle of something"
    assert max(restarts) == 1, "nobody took over from one that lives"


async def test_each_is_started_anew_in_its_turn_while_questions_come(many: Cluster, work: ScriptedWork):
    load = LoadGenerator(many, work)
    for number, replica in enumerate(many.replicas):
        for other in range(3):
            assert await load.ask(f"r{number}-{other}", followers=2)
        assert await replica.stop() == 0
        assert await load.ask(f"r{number}-meanwhile", followers=2)
        await replica.start()
        await replica.ready()
    await load.wait_for_all()
    await load.check()
    assert load.refused == 0
    assert all("Traceback" not in replica.stderr for replica in many.replicas)
