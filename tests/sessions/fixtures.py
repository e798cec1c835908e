"""Fixtures of the tests of sessions and bundles: a database with two users, a library and a clock."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import engines
from footnote.db.engine import Database
from footnote.library import Library
from footnote.sessions.store import Sessions
from footnote.workspace.blobs import Blobs
from library.samples import TickingClock
from sessions.turn_writer import TurnWriter, add_user


@pytest.fixture
def clock() -> TickingClock:
    return TickingClock()


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database.open(engines.database_url(tmp_path), tmp_path) as opened:
        await opened.write(add_user("ann"))
        await opened.write(add_user("ben"))
        yield opened


@pytest.fixture
def library(database: Database, clock: TickingClock) -> Library:
    return Library(database, clock=clock)


@pytest.fixture
def sessions(database: Database, library: Library, blobs: Blobs, clock: TickingClock) -> Sessions:
    return Sessions(database, library, blobs, clock=clock)


@pytest.fixture
def turn_writer(database: Database, sessions: Sessions, clock: TickingClock) -> TurnWriter:
    return TurnWriter(database, sessions, clock)
