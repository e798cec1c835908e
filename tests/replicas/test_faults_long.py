"""A database that is away for longer than a run waits for it, and than leases last."""

import asyncio

import pytest

from replicas.asking import LoadGenerator
from replicas.cluster import Cluster
from replicas.trouble import ALL, inject_fault
from replicas.work import ScriptedWork

AWAY_SECONDS = 20.0
pytestmark = [
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(not ALL, reason="`make faults` takes the long ones"),
]


@pytest.mark.parametrize("fault", ["kill", "cut", "hole"])
async def test_a_run_that_could_not_wait_any_longer_has_ended_for_everybody(
    shared_cluster: Cluster, shared_work: ScriptedWork, fault: str
):
    crowd = LoadGenerator(shared_cluster, shared_work, allowed_states=("done", "failed"))
    try:
        first, second = shared_cluster.replicas
        for number, replica in enumerate([first, second] * 2):
            assert await crowd.ask(f"long-{fault}-{number}", replica, followers=2)
        await asyncio.sleep(0.5)
        async with inject_fault(shared_cluster, fault, "database"):
            await asyncio.sleep(AWAY_SECONDS)
        await crowd.wait_for_all()
        await crowd.check()
        assert await crowd.ask(f"after-{fault}"), "all is in order again"
        await crowd.wait_for_all()
        await crowd.check()
    finally:
        await crowd.close()
