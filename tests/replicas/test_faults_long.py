"""A database that is away for longer than runs wait for it, and than leases last."""

import asyncio

import pytest

from replicas.cluster import Cluster
from replicas.fault_injection import ALL, inject_fault
from replicas.load_generator import LoadGenerator
from replicas.scripted_work import ScriptedWork

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
    load = LoadGenerator(shared_cluster, shared_work, allowed_states=("done", "failed"))
    try:
        first, second = shared_cluster.replicas
        for number, replica in enumerate([first, second] * 2):
            assert await load.ask(f"long-{fault}-{number}", replica, followers=2)
        await load.wait_until_started(8)
        async with inject_fault(shared_cluster, fault, "database"):
            await asyncio.sleep(AWAY_SECONDS)
        await load.wait_for_all()
        await load.check()
        assert await load.ask(f"after-{fault}"), "all is in order again"
        await load.wait_for_all()
        await load.check()
    finally:
        await load.close()
