"""Every fault of every part, with runs in progress that search, write files and are followed: nothing is lost,
nothing is doubled, and afterwards all is as it was.

`make test` takes some of them, `make faults` all.
"""

import asyncio

import pytest

from replicas.asking import LoadGenerator
from replicas.cluster import Cluster
from replicas.trouble import ALL, FAULTS, TARGETS, inject_fault
from replicas.work import ScriptedWork

USUAL = {
    ("cut", "replica"),
    ("kill", "database"),
    ("pause", "database"),
    ("slow disk", "database"),
    ("kill", "bus"),
    ("kill", "storage"),
}
LASTS = {"replica": 8.0, "database": 3.0, "bus": 3.0, "storage": 2.0}
"""A replica is away for longer than its leases last; the others for as long as a start takes on a busy machine."""
pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]


def _chosen() -> list[tuple[str, str]]:
    return [(fault, target) for target in TARGETS for fault in FAULTS if ALL or (fault, target) in USUAL]


@pytest.mark.parametrize(("fault", "target"), _chosen())
async def test_a_fault_loses_nothing_and_doubles_nothing(
    shared_cluster: Cluster, shared_work: ScriptedWork, fault: str, target: str
):
    crowd = LoadGenerator(shared_cluster, shared_work, uploads=True)
    try:
        await _work_through(crowd, fault, target)
        await crowd.wait_for_all()
        await crowd.check()
    finally:
        await crowd.close()


async def _work_through(crowd: LoadGenerator, fault: str, target: str) -> None:
    first, second = crowd.cluster.replicas
    name = f"{fault.replace(' ', '-')}-{target}"
    before = [
        await crowd.ask(f"{name}-b{number}", replica, followers=2) for number, replica in enumerate([first, second] * 2)
    ]
    assert all(before)
    await asyncio.sleep(0.5)
    async with inject_fault(crowd.cluster, fault, target):
        during = [asyncio.create_task(crowd.ask(f"{name}-d{number}", followers=2)) for number in range(4)]
        await asyncio.sleep(LASTS[target])
    await asyncio.gather(*during)
    after = [await crowd.ask(f"{name}-a{number}") for number in range(4)]
    assert all(after), "all is in order again"
