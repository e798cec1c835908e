"""What can happen to a replica, the database, the bus and the storage, each as a block that ends with all in order."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from replicas.cluster import Cluster, Replica
from replicas.slow_disk import family, slow_disk

ALL = os.environ.get("REPLICA_FAULTS") == "all"
"""`make faults`: everything, however long it takes."""
FAULTS = ("kill", "pause", "cut", "hole", "slow disk")
TARGETS = ("replica", "database", "bus", "storage")
SLOW = 0.1
"""Seconds that a call takes which writes to a slow disk."""
NOT_A_DISK = "write,sendto,sendmsg,writev"
"""What is slow of a program that keeps nothing on a disk: whatever it says."""


@asynccontextmanager
async def trouble(cluster: Cluster, fault: str, target: str) -> AsyncIterator[None]:
    """It is there while the block runs. With `replica` it is the first one."""
    if target == "replica":
        async with _of_replica(cluster.replicas[0], fault):
            yield
    else:
        async with _of_service(cluster, fault, target):
            yield
    await cluster.ready()


@asynccontextmanager
async def _of_replica(replica: Replica, fault: str) -> AsyncIterator[None]:
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
            replica.backend.is_out = True
            replica.backend.drop()
            for line in replica.lines.values():
                (line.cut if fault == "cut" else line.hole)()
            yield
            for line in replica.lines.values():
                await line.mend()
            replica.backend.is_out = False
        case _:
            async with slow_disk([replica.process.pid], seconds=SLOW, calls="openat,fsync,rename,pwrite64,fdatasync"):
                yield


@asynccontextmanager
async def _of_service(cluster: Cluster, fault: str, target: str) -> AsyncIterator[None]:
    service = cluster.ground.services[target]
    lines = [replica.lines[target] for replica in cluster.replicas]
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
                (line.cut if fault == "cut" else line.hole)()
            yield
            for line in lines:
                await line.mend()
        case _:
            calls = {"calls": NOT_A_DISK} if target == "bus" else {}
            async with slow_disk(family(service.pid or 0), seconds=SLOW, **calls):
                yield
