"""A session that uses every feature of sessions, stored without a model and without a web."""

from pathlib import Path

import pytest

from bundles.sample_session import SampleSession, create_sample_session
from footnote.bundles.bundles import Bundles
from footnote.db.engine import Database
from footnote.library import Library
from footnote.storage.local import LocalStorage
from footnote.workspace.blobs import Blobs
from library.samples import TickingClock
from sessions.fixtures import clock, database, library, sessions, turn_writer
from sessions.turn_writer import TurnWriter

__all__ = ["clock", "database", "library", "sessions", "turn_writer"]


@pytest.fixture
def blobs(database: Database, tmp_path: Path, clock: TickingClock) -> Blobs:
    return Blobs(database, LocalStorage(tmp_path / "files"), clock=clock)


@pytest.fixture
def bundles(database: Database, library: Library, blobs: Blobs, clock: TickingClock) -> Bundles:
    return Bundles(database, library, blobs, agents=("researcher",), clock=clock)


@pytest.fixture
async def sample(turn_writer: TurnWriter, library: Library, blobs: Blobs) -> SampleSession:
    return await create_sample_session(turn_writer, library, blobs)
