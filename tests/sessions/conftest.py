import pytest

from footnote.db.engine import Database
from footnote.storage.local import MemoryStorage
from footnote.workspace.blobs import Blobs
from library.samples import TickingClock
from sessions.fixtures import clock, database, library, sessions, turn_writer

__all__ = ["clock", "database", "library", "sessions", "turn_writer"]


@pytest.fixture
def storage() -> MemoryStorage:
    return MemoryStorage()


@pytest.fixture
def blobs(database: Database, storage: MemoryStorage, clock: TickingClock) -> Blobs:
    return Blobs(database, storage, clock=clock)
