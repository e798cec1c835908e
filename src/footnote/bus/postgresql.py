"""`postgresql:`: LISTEN and NOTIFY of the database, for an installation without another server.

All replicas listen to one channel and receive every message. A NOTIFY takes a lock that excludes all others on the
server, so messages that are published together are sent in as few notifications as possible. For the same reason they
are small.
"""

import asyncio
import time
from base64 import b64decode, b64encode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from footnote.bus.base import BusDown, Subscriptions
from footnote.bus.remote import CONNECT_SECONDS, PING_SECONDS, Message
from footnote.db.engine import Database
from footnote.db.errors import DatabaseFailed
from footnote.db.postgresql.bus import MAX_PAYLOAD_BYTES, Notices, acquire_token, delete_full_buckets

CHANNEL = "footnote"
CLEANUP_SECONDS = 600.0


class PostgresqlConnection:
    """`database`: the database in which rate limits are counted; None: the replicas share none."""

    kind = "postgresql"
    max_bytes = 100

    def __init__(self, url: str, database: Database | None) -> None:
        parts = urlsplit(url)
        self.name = f"the bus in PostgreSQL at {parts.hostname or 'this machine'}:{parts.port or 5432}"
        self._url = url
        self._database = database
        self._notices: Notices | None = None
        self._subscriptions = Subscriptions()
        self._lock = asyncio.Lock()
        self._cleaned_at = time.monotonic()

    async def connect(self, topics: Subscriptions) -> None:
        async with self._translate_errors():
            self._notices = await Notices.listen(self._url, CHANNEL, seconds=CONNECT_SECONDS)
        self._subscriptions = topics
        for topic in topics.names:
            topics.mark_live(topic)

    async def serve(self) -> None:
        assert self._notices is not None  # noqa: S101 - it is connected
        checked_at = time.monotonic()
        while True:
            async with self._translate_errors():
                payload = await self._notices.next(PING_SECONDS)
            if payload is not None:
                for topic, message in unpack_messages(payload):
                    self._subscriptions.deliver(topic, message)
            # The ping is also sent while messages arrive: it detects a connection that can be read and no longer
            # written to.
            if payload is None or time.monotonic() - checked_at > PING_SECONDS:
                async with self._lock, self._translate_errors():
                    await self._notices.check()
                checked_at = time.monotonic()

    def update_subscription(self, topic: str) -> None:
        if topic in self._subscriptions:
            self._subscriptions.mark_live(topic)

    async def send(self, messages: list[Message]) -> None:
        notices = self._notices
        if notices is None:
            raise BusDown(f"{self.name} is not there.")
        async with self._lock, self._translate_errors():
            await notices.notify(pack_messages(messages))

    async def acquire_token(self, key: str, size: float, per_minute: float) -> float:
        if self._database is None:
            return 0.0
        async with self._translate_errors():
            if time.monotonic() - self._cleaned_at > CLEANUP_SECONDS:
                self._cleaned_at = time.monotonic()
                await self._database.write(delete_full_buckets())
            return await self._database.write(acquire_token(key, size, per_minute))

    async def disconnect(self) -> None:
        notices, self._notices = self._notices, None
        if notices is not None:
            await notices.close()

    @asynccontextmanager
    async def _translate_errors(self) -> AsyncGenerator[None, None]:
        try:
            yield
        except DatabaseFailed as error:
            raise BusDown(f"{self.name} cannot be used: {error.message}") from error


def pack_messages(messages: list[Message]) -> list[str]:
    """Packs messages into as few notifications as possible, without duplicates."""
    lines = dict.fromkeys(f"{topic} {b64encode(message).decode()}" for topic, message in messages)
    notices: list[str] = []
    bytes_left = 0
    for line in lines:
        if len(line) >= bytes_left:
            notices.append(line)
            bytes_left = MAX_PAYLOAD_BYTES - len(line)
        else:
            notices[-1] += f"\n{line}"
            bytes_left -= len(line) + 1
    return notices


def unpack_messages(notice: str) -> list[Message]:
    """The messages of a notification; a payload of another program on the same channel is ignored."""
    messages: list[Message] = []
    for line in notice.split("\n"):
        topic, _, message = line.partition(" ")
        try:
            messages.append((topic, b64decode(message, validate=True)))
        except ValueError:
            continue
    return messages
