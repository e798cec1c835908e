"""The state of a running server beside the app, and the probe behind `/readyz`."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from footnote.app import App
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.errors import FootnoteError
from footnote.server.assets import Assets
from footnote.server.limits import LoginLimits

if TYPE_CHECKING:
    from footnote.server.metrics import Metrics

OK = "ok"
CHECK_TIMEOUT_SECONDS = 3.0
STORAGE_CACHE_SECONDS = 10.0
"""How long a working storage is not checked again: the check writes an object."""


class OpenStream(Protocol):
    def end(self) -> None: ...


class Site:
    def __init__(self, app: App, openapi_json: Callable[[], bytes]) -> None:
        self.app = app
        self.openapi_json = openapi_json
        self.assets = Assets()
        self.login_limits = LoginLimits(app.bus)
        self.probe = Probe(app, lambda: self.is_closing)
        self.request_counts: Counter[tuple[str, int]] = Counter()
        """Answered requests by route and status."""
        self.streams: set[OpenStream] = set()
        self.is_closing = False

    @property
    def is_https(self) -> bool:
        """Whether browsers reach the server over TLS, so that its cookies can be `Secure`."""
        return (self.app.configuration.settings.server.public_url or "").startswith("https:")

    @cached_property
    def metrics(self) -> "Metrics":
        from footnote.server.metrics import Metrics  # noqa: PLC0415 - most servers get no request for metrics

        return Metrics(self.app, self.request_counts, self.streams)

    def close_streams(self) -> None:
        """Ends the open streams, and those that begin from now on."""
        self.is_closing = True
        for stream in tuple(self.streams):
            stream.end()


class Readiness(Struct, frozen=True):
    """`ok` for each part, or the type of its error, whose message is in the log. Without the database the server is not
    ready, and `reason` is its error. Without the storage large files cannot be opened, and without the bus things take
    longer: both are missing for all replicas at once, so that taking one out of the balancer would not help."""

    ready: bool
    reason: str | None
    database: str
    storage: str
    bus: str


class Probe:
    """Checks what the server depends on, with a timeout."""

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
        async with self._lock:  # one check for all requests that come meanwhile
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
