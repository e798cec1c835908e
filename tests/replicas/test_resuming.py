"""Streams that are cut off anywhere go on at whichever replica the balancer picks, byte for byte."""

import asyncio
import random

import pytest

from replicas.asking import Crowd, replay
from replicas.cluster import PATIENCE, Cluster
from replicas.following import Follower
from replicas.work import Work


@pytest.mark.slow
async def test_who_is_cut_off_at_any_byte_goes_on_at_another_replica(cluster: Cluster, work: Work):
    chance = random.Random(20261116)
    crowd = Crowd(cluster, work)
    for number, replica in enumerate(cluster.replicas):
        told = await crowd.ask(f"r{number}", replica, followers=0)
        assert told is not None
        listeners = [Follower(each.url, told.run_id, crowd.seen, silence=PATIENCE) for each in cluster.replicas]
        cut_off = [Follower(cluster.url, told.run_id, crowd.seen) for _ in range(4)]
        told.followers += [*listeners, *cut_off]
        await asyncio.gather(
            *(one.to_the_end() for one in listeners),
            *(one.to_the_end(lambda: chance.randrange(1, 3000)) for one in cut_off),
        )
        async with cluster.client() as client:
            stored = await replay(client, told.run_id)
        assert [one.connections for one in listeners] == [1, 1], "nobody was cut off who did not want to be"
        assert all(one.connections > 3 for one in cut_off)
        assert {one.stream for one in told.followers} == {stored}
    await crowd.check()
    assert all(backend.taken > 10 for backend in cluster.balancer.backends)


@pytest.mark.slow
async def test_who_was_cut_off_by_the_balancer_loses_nothing(cluster: Cluster, work: Work):
    crowd = Crowd(cluster, work)
    for number in range(6):
        assert await crowd.ask(f"d{number}", followers=2)
    ending = asyncio.create_task(crowd.all_ended())
    while not ending.done():
        for backend in cluster.balancer.backends:
            backend.drop()
            await asyncio.sleep(0.3)
    await ending
    await crowd.check()
    assert sum(one.connections for told in crowd.told for one in told.followers) > 24
