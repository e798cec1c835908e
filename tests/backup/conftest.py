from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from services import Services, missing

from backup.places import EMBEDDED, SERVICES, Place, new_place


@pytest.fixture(scope="session")
def services() -> Iterator[Services]:
    if lacking := missing():
        pytest.skip("\n".join(lacking))
    with Services(durable=False) as running:
        yield running


NewPlace = Callable[[str, str], Awaitable[Place]]


@pytest.fixture
def place_of(request: pytest.FixtureRequest, tmp_path: Path) -> NewPlace:
    """`await place_of("services", "a")`: a new one of that kind, with that name."""

    async def make(kind: str, name: str) -> Place:
        running = request.getfixturevalue("services") if kind == SERVICES else None
        return await new_place(kind, tmp_path / name, running)

    return make


@pytest.fixture
async def here(place_of: NewPlace) -> Place:
    return await place_of(EMBEDDED, "here")


@pytest.fixture
async def there(place_of: NewPlace) -> Place:
    return await place_of(EMBEDDED, "there")
