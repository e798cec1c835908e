"""Whether the server can work: what it depends on is asked, and nobody waits long for the answer."""

import asyncio
import time
from collections.abc import Callable

from msgspec import Struct

from footnote.app import App
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.errors import FootnoteError

OK = "ok"
CHECK_TIMEOUT_SECONDS = 3.0
STORAGE_CACHE_SECONDS = 10.0
"""How long it is taken for granted that the storage works: to ask it is to write something."""


class Readiness(Struct, frozen=True):
    """What each part answers with: `ok`, or the type of its error; the log has the whole of it. Without a database
    nothing can be done, and `reason` is its error. Without the storage large files cannot be opened, without the bus
    things take longer; both are away for every replica at once, and nobody is helped by one that does not answer."""

    ready: bool
    reason: str | None
    database: str
    storage: str
    bus: str


class Probe:
    def __init__(self, app: App, is_closing: Callable[[], bool]) -> None:
        self._app = app
        self._is_closing = is_closing
        self._storage = OK
        self._storage_checked_at = float("-inf")
        self._lock = asyncio.Lock()

    async def check(self) -> Readiness:
        database, storage = await asyncio.gather(self._check_database(), self._check_storage())
        reason = "stopping" if self._is_closing() else None if database == OK else database
        bus = OK if self._app.bus.state.is_connected else "bus_down"
        return Readiness(reason is None, reason, database, storage, bus)

    async def _check_database(self) -> str:
        try:
            async with asyncio.timeout(CHECK_TIMEOUT_SECONDS):
                await self._app.accounts.user(LOCAL_USER)
        except FootnoteError as error:
            return error.type
        except TimeoutError:
            return "database_error"
        return OK

    async def _check_storage(self) -> str:
        async with self._lock:  # however many ask at once
            if time.monotonic() - self._storage_checked_at > STORAGE_CACHE_SECONDS:
                self._storage = await self._probe_storage()
                if self._storage == OK:
                    self._storage_checked_at = time.monotonic()
        return self._storage

    async def _probe_storage(self) -> str:
        try:
            async with asyncio.timeout(CHECK_TIMEOUT_SECONDS):
                await self._app.storage.check()
        except FootnoteError as error:
            return error.type
        except TimeoutError:
            return "storage_error"
        return OK
