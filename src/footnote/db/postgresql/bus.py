"""What a bus needs of PostgreSQL: one connection for LISTEN and NOTIFY, which uses no transactions, and token buckets
that all replicas share."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import Any

from footnote.db.errors import DatabaseFailed
from footnote.db.script import Steps, script, sql

MAX_PAYLOAD_BYTES = 7900
"""PostgreSQL accepts payloads of less than 8000 bytes."""


class NoticesLost(DatabaseFailed):
    """The connection that receives notifications is lost."""

    type = "notices_lost"
    retryable = True

    def __init__(self, reason: str) -> None:
        super().__init__(f"PostgreSQL cannot be listened to ({reason}).")


class Notices:
    """The notifications of one channel. Raises only `NoticesLost`."""

    def __init__(self, connection: Any, channel: str) -> None:
        self._connection = connection
        self._channel = channel
        self._received: asyncio.Queue[str | None] = asyncio.Queue()

    @classmethod
    async def listen(cls, url: str, channel: str, *, seconds: float) -> "Notices":
        """`seconds`: the timeout of every request to the server."""
        async with _translate_errors():
            connection = await _asyncpg().connect(url, timeout=seconds, command_timeout=seconds)
        notices = cls(connection, channel)
        async with _translate_errors():
            await connection.add_listener(channel, notices._on_notify)
            connection.add_termination_listener(notices._on_terminate)
        return notices

    async def next(self, seconds: float) -> str | None:
        """The next payload; None: none came within `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                payload = await self._received.get()
        except TimeoutError:
            return None
        if payload is None:
            raise NoticesLost("the connection was closed")
        return payload

    async def check(self) -> None:
        """Checks that the connection is alive."""
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
                # Not closed gracefully, which would wait for a server that does not answer.
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
        # Without the message of the error, which may quote the URL.
        raise NoticesLost(type(error).__name__) from None


def _asyncpg() -> Any:
    """A lazy import; asyncpg has no type stubs."""
    return import_module("asyncpg")


# Rate limits ------------------------------------------------------------------------------------------------


BUCKET_RETENTION_SECONDS = 3600.0
"""A bucket that is unused for this long is full again: no limit covers more than an hour."""

# One statement, by the clock of the server. A refusal, too, subtracts a token, so that the number is below zero: that
# tells a refusal from the last token, and the next request undoes it.
_ACQUIRE = """
    INSERT INTO bucket AS b (key, tokens, at)
    VALUES (?, CAST(? AS double precision) - 1, extract(epoch FROM clock_timestamp()))
    ON CONFLICT (key) DO UPDATE SET
        tokens = least(
            CAST(? AS double precision),
            CASE WHEN b.tokens < 0 THEN b.tokens + 1 ELSE b.tokens END
                + greatest(0, excluded.at - b.at) * CAST(? AS double precision)
        ) - 1,
        at = greatest(b.at, excluded.at)
    RETURNING tokens
"""


@script
def acquire_token(key: str, size: float, per_minute: float) -> Steps[float]:
    """Takes a token. Returns 0, or the seconds until one is available."""
    per_second = per_minute / 60
    ((left,),) = yield sql(_ACQUIRE, key, size, size, per_second)
    return -left / per_second if left < 0 else 0.0


@script
def delete_full_buckets() -> Steps[None]:
    """Deletes buckets that are full again."""
    yield sql(
        "DELETE FROM bucket WHERE at < extract(epoch FROM clock_timestamp()) - CAST(? AS double precision)",
        BUCKET_RETENTION_SECONDS,
    )
