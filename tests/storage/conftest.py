from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from footnote.net.client import Net
from footnote.storage.base import Storage
from footnote.storage.factory import open_storage
from footnote.storage.local import LocalStorage
from footnote.storage.memory import MemoryStorage
from storage.seaweed import Seaweed, seaweed


@pytest.fixture(scope="session")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seaweed]:
    with seaweed(tmp_path_factory.mktemp("seaweed")) as server:
        yield server


@pytest.fixture
async def net() -> AsyncIterator[Net]:
    async with Net() as net:
        yield net


@pytest.fixture(params=["local", "memory", pytest.param("s3", marks=pytest.mark.slow)])
def storage(request: pytest.FixtureRequest, tmp_path: Path, net: Net) -> Storage:
    """One of each kind; the bucket is shared by all tests, so that places are made anew in each."""
    if request.param == "local":
        return LocalStorage(tmp_path / "files")
    if request.param == "memory":
        return MemoryStorage()
    server: Seaweed = request.getfixturevalue("bucket")
    return open_storage(server.url, tmp_path, server.environ, net)
