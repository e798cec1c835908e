from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from services import Services, missing

from backup.installations import EMBEDDED, SERVICES, Installation, create_installation


@pytest.fixture(scope="session")
def services() -> Iterator[Services]:
    if unavailable := missing():
        pytest.skip("\n".join(unavailable))
    with Services(durable=False) as running:
        yield running


NewInstallation = Callable[[str, str], Awaitable[Installation]]


@pytest.fixture
def new_installation(request: pytest.FixtureRequest, tmp_path: Path) -> NewInstallation:
    """`await new_installation("services", "a")`: a new installation of that kind, with that name."""

    async def make(kind: str, name: str) -> Installation:
        running = request.getfixturevalue("services") if kind == SERVICES else None
        return await create_installation(kind, tmp_path / name, running)

    return make


@pytest.fixture
async def source(new_installation: NewInstallation) -> Installation:
    return await new_installation(EMBEDDED, "source")


@pytest.fixture
async def target(new_installation: NewInstallation) -> Installation:
    return await new_installation(EMBEDDED, "target")
