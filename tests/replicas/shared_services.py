"""The services that the replicas of a cluster share: a database, a bus and a storage. Each replica reaches each service
through a link of its own, which can be cut."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg
from service_process import HOST, Service
from services import Services


@dataclass(frozen=True)
class SharedServices:
    """`settings`: returns the settings of a replica, given the port for each service."""

    settings: Callable[[Mapping[str, int]], dict[str, str]]
    services: Mapping[str, Service] = field(default_factory=dict[str, Service])


def single_machine(folder: Path) -> SharedServices:
    """A SQLite file and a folder, which several processes can share without any service."""
    settings = {
        "FOOTNOTE_DATABASE_URL": f"sqlite:{folder / 'footnote.db'}",
        "FOOTNOTE_STORAGE_URL": f"local:{folder / 'files'}",
    }
    return SharedServices(lambda _: settings)


async def on_services(services: Services, name: str, *, bus: str | None = None) -> SharedServices:
    """Creates an empty database and a bucket prefix of this name. `bus`: the URL of another bus than Redis."""
    connection = await asyncpg.connect(services.postgres.url("postgres"))
    try:
        await connection.execute(f'CREATE DATABASE "{name}"')
    finally:
        await connection.close()
    addresses = {
        "FOOTNOTE_DATABASE_URL": services.postgres.url(name),
        "FOOTNOTE_BUS_URL": services.redis.url() if bus is None else bus,
        "FOOTNOTE_STORAGE_URL": services.s3.url(name),
    }
    named = {"database": services.postgres, "bus": services.redis, "storage": services.s3}

    def settings(ports: Mapping[str, int]) -> dict[str, str]:
        found = dict(addresses)
        for service, port in ports.items():
            old, new = f"{HOST}:{named[service].port}", f"{HOST}:{port}"
            found = {variable: address.replace(old, new) for variable, address in found.items()}
        return {**found, **services.s3.environ}

    return SharedServices(settings, named)
