from collections.abc import AsyncIterator

import pytest

from accounts.users import CountingHasher, SettableClock
from footnote.accounts.accounts import Accounts
from footnote.accounts.credentials import Passwords
from footnote.db.engine import Database

LOCAL_TOKEN = "the-token-of-this-machine"


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
def hasher() -> CountingHasher:
    return CountingHasher()


@pytest.fixture
async def accounts(database: Database, clock: SettableClock, hasher: CountingHasher) -> AsyncIterator[Accounts]:
    opened = Accounts(database, local_token=LOCAL_TOKEN, clock=clock, passwords=Passwords(hasher))
    yield opened
    await opened.close()
