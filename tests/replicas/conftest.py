import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from services import Services, missing

from replicas.cluster import Cluster, open_cluster
from replicas.fault_injection import ALL
from replicas.scripted_work import ScriptedWork, open_work
from replicas.shared_services import SharedServices, on_services, single_machine
from upstream import Upstream


@pytest.fixture(scope="session")
def services() -> Iterator[Services]:
    """Services for these tests alone, which break them."""
    if unavailable := missing():
        pytest.skip(" ".join(unavailable))
    with Services() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared_upstream() -> AsyncIterator[Upstream]:
    async with Upstream() as provider:
        yield provider
    assert provider.problems == []


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared_work(
    tmp_path_factory: pytest.TempPathFactory, shared_upstream: Upstream
) -> AsyncIterator[ScriptedWork]:
    async with open_work(tmp_path_factory.mktemp("work"), shared_upstream) as work:
        yield work


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared_cluster(
    tmp_path_factory: pytest.TempPathFactory, services: Services, shared_upstream: Upstream, shared_work: ScriptedWork
) -> AsyncIterator[Cluster]:
    """One cluster for all tests of a module; each test must leave it healthy."""
    shared_services = await on_services(services, f"replicas-{uuid.uuid4().hex[:12]}")
    folder = tmp_path_factory.mktemp("cluster")
    async with open_cluster(folder, shared_services, shared_upstream, **shared_work.settings) as cluster:
        yield cluster


@pytest.fixture
async def work(tmp_path: Path, upstream: Upstream) -> AsyncIterator[ScriptedWork]:
    async with open_work(tmp_path, upstream) as work:
        yield work


CONFIGURATIONS = ["services", "one machine"]


@pytest.fixture(params=CONFIGURATIONS if ALL else CONFIGURATIONS[: 1 if not missing() else 2])
async def shared_services(request: pytest.FixtureRequest, tmp_path: Path) -> SharedServices:
    """Services; a file and a folder instead where there are no services, and in addition where everything is tested."""
    if request.param == "one machine":
        return single_machine(tmp_path)
    return await on_services(request.getfixturevalue("services"), f"replicas-{uuid.uuid4().hex[:12]}")


@pytest.fixture
async def cluster(
    tmp_path: Path, shared_services: SharedServices, upstream: Upstream, work: ScriptedWork
) -> AsyncIterator[Cluster]:
    async with open_cluster(tmp_path, shared_services, upstream, **work.settings) as cluster:
        yield cluster
