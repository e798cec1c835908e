from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import engines
from accounts.people import Clock, CountingHasher
from footnote.accounts.accounts import Accounts
from footnote.accounts.passwords import Passwords
from footnote.db.engine import Database

LOCAL_TOKEN = "the-token-of-this-machine"


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database.open(engines.database_url(tmp_path), tmp_path) as opened:
        yield opened


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def hasher() -> CountingHasher:
    return CountingHasher()


@pytest.fixture
async def accounts(database: Database, clock: Clock, hasher: CountingHasher) -> AsyncIterator[Accounts]:
    opened = Accounts(database, local_token=LOCAL_TOKEN, clock=clock, passwords=Passwords(hasher))
    yield opened
    await opened.close()
