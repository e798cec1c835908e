"""LISTEN and NOTIFY: one connection that does both, outside of any transaction."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import Any

from footnote.db.errors import DatabaseFailed

MAX_PAYLOAD_BYTES = 7900
"""Of what a notice can carry; PostgreSQL takes less than 8000."""


class NoticesLost(DatabaseFailed):
    """There is no connection that carries them."""

    type = "notices_lost"
    retryable = True

    def __init__(self, reason: str) -> None:
        super().__init__(f"PostgreSQL cannot be listened to ({reason}).")


class Notices:
    """What is said on one channel, by anybody. Raises `NoticesLost` and nothing else."""

    def __init__(self, connection: Any, channel: str) -> None:
        self._connection = connection
        self._channel = channel
        self._received: asyncio.Queue[str | None] = asyncio.Queue()

    @classmethod
    async def listen(cls, url: str, channel: str, *, seconds: float) -> "Notices":
        """`seconds`: how long the server may take for any answer."""
        async with _translate_errors():
            connection = await _asyncpg().connect(url, timeout=seconds, command_timeout=seconds)
        notices = cls(connection, channel)
        async with _translate_errors():
            await connection.add_listener(channel, notices._on_notify)
            connection.add_termination_listener(notices._on_terminate)
        return notices

    async def next(self, seconds: float) -> str | None:
        """None: nothing came for so long."""
        try:
            async with asyncio.timeout(seconds):
                heard = await self._received.get()
        except TimeoutError:
            return None
        if heard is None:
            raise NoticesLost("the connection was closed")
        return heard

    async def check(self) -> None:
        """That the connection still stands."""
        async with _translate_errors():
            await self._connection.fetchval("SELECT 1")

    async def notify(self, payloads: list[str]) -> None:
        async with _translate_errors():
            await self._connection.execute(
                "SELECT pg_notify($1, payload) FROM unnest($2::text[]) payload", self._channel, payloads
            )

    async def close(self) -> None:
        with suppress(NoticesLost):
            async with _translate_errors():
                # Not in good order: a server that does not answer would be waited for.
                self._connection.terminate()

    def _on_notify(self, _connection: Any, _pid: int, _channel: str, payload: str) -> None:
        self._received.put_nowait(payload)

    def _on_terminate(self, _connection: Any) -> None:
        self._received.put_nowait(None)


@asynccontextmanager
async def _translate_errors() -> AsyncGenerator[None, None]:
    asyncpg = _asyncpg()
    try:
        yield
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError) as error:
        # Of its message nothing: it may quote the address.
        raise NoticesLost(type(error).__name__) from None


def _asyncpg() -> Any:
    """Imported when it is needed, and without types."""
    return import_module("asyncpg")
