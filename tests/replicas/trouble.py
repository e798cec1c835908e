"""What can happen to a replica, the database, the bus and the storage, each as a block that ends with all in order."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from replicas.cluster import Cluster, Replica
from replicas.slow_disk import process_tree, slow_disk

ALL = os.environ.get("REPLICA_FAULTS") == "all"
"""`make faults`: everything, however long it takes."""
FAULTS = ("kill", "pause", "cut", "hole", "slow disk")
TARGETS = ("replica", "database", "bus", "storage")
DELAY_SECONDS = 0.1
"""Seconds that a call takes which writes to a slow disk."""
NETWORK_CALLS = "write,sendto,sendmsg,writev"
"""What is slow of a program that keeps nothing on a disk: whatever it says."""


@asynccontextmanager
async def inject_fault(cluster: Cluster, fault: str, target: str) -> AsyncIterator[None]:
    """It is there while the block runs. With `replica` it is the first one."""
    if target == "replica":
        async with _replica_fault(cluster.replicas[0], fault):
            yield
    else:
        async with _service_fault(cluster, fault, target):
            yield
    await cluster.ready()


@asynccontextmanager
async def _replica_fault(replica: Replica, fault: str) -> AsyncIterator[None]:
    match fault:
        case "kill":
            await replica.kill()
            yield
            await replica.start()
        case "pause":
            replica.pause()
            yield
            replica.resume()
        case "cut" | "hole":
            # From the balancer and from every service: alone in the world, and in good health.
            replica.backend.is_drained = True
            replica.backend.drop()
            for line in replica.links.values():
                (line.cut if fault == "cut" else line.blackhole)()
            yield
            for line in replica.links.values():
                await line.repair()
            replica.backend.is_drained = False
        case _:
            async with slow_disk(
                [replica.process.pid], seconds=DELAY_SECONDS, calls="openat,fsync,rename,pwrite64,fdatasync"
            ):
                yield


@asynccontextmanager
async def _service_fault(cluster: Cluster, fault: str, target: str) -> AsyncIterator[None]:
    service = cluster.ground.services[target]
    lines = [replica.links[target] for replica in cluster.replicas]
    match fault:
        case "kill":
            await asyncio.to_thread(service.kill)
            yield
            await asyncio.to_thread(service.start)
        case "pause":
            service.pause()
            yield
            service.go_on()
        case "cut" | "hole":
            for line in lines:
                (line.cut if fault == "cut" else line.blackhole)()
            yield
            for line in lines:
                await line.repair()
        case _:
            calls = {"calls": NETWORK_CALLS} if target == "bus" else {}
            async with slow_disk(process_tree(service.pid or 0), seconds=DELAY_SECONDS, **calls):
                yield
