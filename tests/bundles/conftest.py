"""A session with all that a session can have, without a model and without a web."""

from pathlib import Path

import pytest

from bundles.shelf import Study, create_study
from footnote.bundles.bundles import Bundles
from footnote.db.engine import Database
from footnote.library import Library
from footnote.sessions.store import Sessions
from footnote.storage.local import LocalStorage
from footnote.workspace.blobs import Blobs
from library.pages import Clock
from sessions.fixtures import clock, database, library
from sessions.stored import TurnWriter

__all__ = ["clock", "database", "library"]


@pytest.fixture
def blobs(database: Database, tmp_path: Path, clock: Clock) -> Blobs:
    return Blobs(database, LocalStorage(tmp_path / "files"), clock=clock)


@pytest.fixture
def sessions(database: Database, library: Library, blobs: Blobs, clock: Clock) -> Sessions:
    return Sessions(database, library, blobs, clock=clock)


@pytest.fixture
def bundles(database: Database, library: Library, blobs: Blobs, clock: Clock) -> Bundles:
    return Bundles(database, library, blobs, agents=("researcher",), clock=clock)


@pytest.fixture
def desk(database: Database, sessions: Sessions, clock: Clock) -> TurnWriter:
    return TurnWriter(database, sessions, clock)


@pytest.fixture
async def study(desk: TurnWriter, library: Library, blobs: Blobs) -> Study:
    return await create_study(desk, library, blobs)
