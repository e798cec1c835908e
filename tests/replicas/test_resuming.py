"""Streams that are cut off anywhere go on at whichever replica the balancer picks, byte for byte."""

import asyncio
import random

import pytest

from replicas.asking import LoadGenerator, replay
from replicas.cluster import TIMEOUT, Cluster
from replicas.following import Follower
from replicas.work import ScriptedWork


@pytest.mark.slow
async def test_who_is_cut_off_at_any_byte_goes_on_at_another_replica(cluster: Cluster, work: ScriptedWork):
    chance = random.Random(20261116)
    crowd = LoadGenerator(cluster, work)
    for number, replica in enumerate(cluster.replicas):
        told = await crowd.ask(f"r{number}", replica, followers=0)
        assert told is not None
        listeners = [Follower(each.url, told.run_id, crowd.seen_frames, silence=TIMEOUT) for each in cluster.replicas]
        cut_off = [Follower(cluster.url, told.run_id, crowd.seen_frames) for _ in range(4)]
        told.followers += [*listeners, *cut_off]
        await asyncio.gather(
            *(one.follow_to_end() for one in listeners),
            *(one.follow_to_end(lambda: chance.randrange(1, 3000)) for one in cut_off),
        )
        async with cluster.client() as client:
            stored = await replay(client, told.run_id)
        assert [one.connections for one in listeners] == [1, 1], "nobody was cut off who did not want to be"
        assert all(one.connections > 3 for one in cut_off)
        assert {one.stream for one in told.followers} == {stored}
    await crowd.check()
    assert all(backend.connection_count > 10 for backend in cluster.balancer.backends)


@pytest.mark.slow
async def test_who_was_cut_off_by_the_balancer_loses_nothing(cluster: Cluster, work: ScriptedWork):
    crowd = LoadGenerator(cluster, work)
    for number in range(6):
        assert await crowd.ask(f"d{number}", followers=2)
    ending = asyncio.create_task(crowd.wait_for_all())
    while not ending.done():
        for backend in cluster.balancer.backends:
            backend.drop()
            await asyncio.sleep(0.3)
    await ending
    await crowd.check()
    assert sum(one.connections for told in crowd.runs for one in told.followers) > 24
