"""Every fault of every part, with runs in progress that search, write files and are followed: nothing is lost or
doubled, and the cluster is healthy afterwards.

`make test` runs some of them, `make faults` all.
"""

import asyncio

import pytest

from replicas.cluster import Cluster
from replicas.fault_injection import ALL, FAULTS, TARGETS, inject_fault
from replicas.load_generator import LoadGenerator
from replicas.scripted_work import ScriptedWork

USUAL = {
    ("cut", "replica"),
    ("kill", "database"),
    ("pause", "database"),
    ("slow disk", "database"),
    ("kill", "bus"),
    ("kill", "storage"),
}
LASTS = {"replica": 8.0, "database": 3.0, "bus": 3.0, "storage": 2.0}
"""A replica is away for longer than its leases; services for as long as a start takes on a busy machine."""
pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]


def _chosen() -> list[tuple[str, str]]:
    return [(fault, target) for target in TARGETS for fault in FAULTS if ALL or (fault, target) in USUAL]


@pytest.mark.parametrize(("fault", "target"), _chosen())
async def test_a_fault_loses_nothing_and_doubles_nothing(
    shared_cluster: Cluster, shared_work: ScriptedWork, fault: str, target: str
):
    load = LoadGenerator(shared_cluster, shared_work, uploads=True)
    try:
        await _work_through(load, fault, target)
        await load.wait_for_all()
        await load.check()
    finally:
        await load.close()


async def _work_through(load: LoadGenerator, fault: str, target: str) -> None:
    first, second = load.cluster.replicas
    name = f"{fault.replace(' ', '-')}-{target}"
    before = [
        await load.ask(f"{name}-b{number}", replica, followers=2) for number, replica in enumerate([first, second] * 2)
    ]
    assert all(before)
    await load.wait_until_started(2 * len(before))
    async with inject_fault(load.cluster, fault, target):
        during = [asyncio.create_task(load.ask(f"{name}-d{number}", followers=2)) for number in range(4)]
        await asyncio.sleep(LASTS[target])
    await asyncio.gather(*during)
    after = [await load.ask(f"{name}-a{number}") for number in range(4)]
    assert all(after), "all is in order again"
