"""Faults of a replica, the database, the bus and the storage, each as a context manager that repairs it at its end."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from replicas.cluster import Cluster, Replica
from replicas.slow_disk import process_tree, slow_disk

ALL = os.environ.get("REPLICA_FAULTS") == "all"
"""`make faults`: every fault, however long it takes."""
FAULTS = ("kill", "pause", "cut", "hole", "slow disk")
TARGETS = ("replica", "database", "bus", "storage")
DELAY_SECONDS = 0.1
"""How much longer each writing call to a slow disk takes."""
NETWORK_CALLS = "write,sendto,sendmsg,writev"
"""The slow calls of Redis, which writes nothing to disk: those that send data."""


@asynccontextmanager
async def inject_fault(cluster: Cluster, fault: str, target: str) -> AsyncIterator[None]:
    """The fault lasts while the block runs. The target `replica` is the first one."""
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
            # Cut off from the balancer and from every service, while the process itself works.
            replica.backend.is_drained = True
            replica.backend.drop()
            for link in replica.links.values():
                (link.cut if fault == "cut" else link.blackhole)()
            yield
            for link in replica.links.values():
                await link.repair()
            replica.backend.is_drained = False
        case _:
            async with slow_disk(
                [replica.process.pid], seconds=DELAY_SECONDS, calls="openat,fsync,rename,pwrite64,fdatasync"
            ):
                yield


@asynccontextmanager
async def _service_fault(cluster: Cluster, fault: str, target: str) -> AsyncIterator[None]:
    service = cluster.shared_services.services[target]
    links = [replica.links[target] for replica in cluster.replicas]
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
            for link in links:
                (link.cut if fault == "cut" else link.blackhole)()
            yield
            for link in links:
                await link.repair()
        case _:
            calls = {"calls": NETWORK_CALLS} if target == "bus" else {}
            async with slow_disk(process_tree(service.pid or 0), seconds=DELAY_SECONDS, **calls):
                yield
