import pytest

from footnote.db.engine import Database
from footnote.library import Library
from footnote.sessions.store import Sessions
from footnote.storage.memory import MemoryStorage
from footnote.workspace.blobs import Blobs
from library.pages import Clock
from sessions.fixtures import clock, database, library
from sessions.stored import TurnWriter

__all__ = ["clock", "database", "library"]


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
def desk(database: Database, sessions: Sessions, clock: Clock) -> TurnWriter:
    return TurnWriter(database, sessions, clock)
