from collections.abc import Iterator
from pathlib import Path

import pytest

from footnote.net.client import Net
from footnote.storage import open_storage
from footnote.storage.base import Storage
from footnote.storage.local import LocalStorage, MemoryStorage
from storage.seaweed import Seaweed, seaweed


@pytest.fixture(scope="session")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seaweed]:
    with seaweed(tmp_path_factory.mktemp("seaweed")) as server:
        yield server


@pytest.fixture(params=["local", "memory", pytest.param("s3", marks=pytest.mark.slow)])
def storage(request: pytest.FixtureRequest, tmp_path: Path, net: Net) -> Storage:
    """Each kind of storage; all tests share the bucket, and use new places in it."""
    if request.param == "local":
        return LocalStorage(tmp_path / "files")
    if request.param == "memory":
        return MemoryStorage()
    server: Seaweed = request.getfixturevalue("bucket")
    return open_storage(server.url, tmp_path, server.environ, net)
