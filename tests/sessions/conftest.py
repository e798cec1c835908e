from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from footnote.db.engine import Database
from footnote.library import Library
from footnote.sessions.store import Sessions
from footnote.storage.memory import MemoryStorage
from footnote.workspace.blobs import Blobs
from library.pages import Clock
from sessions.stored import Desk, add_user


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database.open("sqlite:footnote.db", tmp_path) as opened:
        await opened.write(add_user("ann"))
        await opened.write(add_user("ben"))
        yield opened


@pytest.fixture
def library(database: Database, clock: Clock) -> Library:
    return Library(database, clock=clock)


@pytest.fixture
def storage() -> MemoryStorage:
    return MemoryStorage()


@pytest.fixture
def blobs(database: Database, storage: MemoryStorage, clock: Clock) -> Blobs:
    return Blobs(database, storage, clock=clock)


@pytest.fixture
def sessions(database: Database, library: Library, blobs: Blobs, clock: Clock) -> Sessions:
    return Sessions(database, library, blobs, clock=clock)


@pytest.fixture
def desk(database: Database, sessions: Sessions, clock: Clock) -> Desk:
    return Desk(database, sessions, clock)
