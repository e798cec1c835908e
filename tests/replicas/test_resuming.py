"""Event streams that are cut anywhere continue at any replica, byte for byte."""

import asyncio
import random

import pytest

from replicas.cluster import TIMEOUT, Cluster
from replicas.load_generator import LoadGenerator, replay
from replicas.run_follower import Follower
from replicas.scripted_work import ScriptedWork


@pytest.mark.slow
async def test_who_is_cut_off_at_any_byte_goes_on_at_another_replica(cluster: Cluster, work: ScriptedWork):
    rng = random.Random(20261116)
    load = LoadGenerator(cluster, work)
    for number, replica in enumerate(cluster.replicas):
        run = await load.ask(f"r{number}", replica, followers=0)
        assert run is not None
        listeners = [Follower(each.url, run.run_id, load.seen_frames, silence=TIMEOUT) for each in cluster.replicas]
        cut_off = [Follower(cluster.url, run.run_id, load.seen_frames) for _ in range(4)]
        run.followers += [*listeners, *cut_off]
        await asyncio.gather(
            *(one.follow_to_end() for one in listeners),
            *(one.follow_to_end(lambda: rng.randrange(1, 3000)) for one in cut_off),
        )
        async with cluster.client() as client:
            stored = await replay(client, run.run_id)
        assert [one.connections for one in listeners] == [1, 1], "nobody was cut off who did not want to be"
        assert all(one.connections > 3 for one in cut_off)
        assert {one.stream for one in run.followers} == {stored}
    await load.check()
    assert all(backend.connection_count > 10 for backend in cluster.balancer.backends)


@pytest.mark.slow
async def test_who_was_cut_off_by_the_balancer_loses_nothing(cluster: Cluster, work: ScriptedWork):
    load = LoadGenerator(cluster, work)
    for number in range(6):
        assert await load.ask(f"d{number}", followers=2)
    ending = asyncio.create_task(load.wait_for_all())
    while not ending.done():
        for backend in cluster.balancer.backends:
            backend.drop()
            await asyncio.sleep(0.3)
    await ending
    await load.check()
    assert sum(one.connections for run in load.runs for one in run.followers) > 24
