"""`redis://` and `rediss://`: Redis, Valkey or a compatible server.

There are two connections: one subscribes to the topics that this process follows, the other publishes and takes tokens.
Topics and keys begin with `footnote:` and the database number, so that one server can serve several applications.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any, cast
from urllib.parse import urlsplit

from redis.asyncio.connection import AbstractConnection, ConnectionPool
from redis.exceptions import NoScriptError, RedisError

from footnote.bus.base import BusDown, Subscriptions
from footnote.bus.remote import CONNECT_SECONDS, PING_SECONDS, SILENT_SECONDS, Message

ANSWER_SECONDS = 2.0
SUBSCRIBE_BATCH = 1000

# The script runs atomically and by the server's clock, so that replicas need not agree on the time. A bucket that would
# be full expires.
ACQUIRE_SCRIPT = """
local size, rate = tonumber(ARGV[1]), tonumber(ARGV[2]) / 60
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local bucket = redis.call('HMGET', KEYS[1], 'left', 'at')
local left, at = tonumber(bucket[1]) or size, tonumber(bucket[2]) or now
left = math.min(size, left + math.max(0, now - at) * rate)
if left < 1 then
    return string.format('%.6f', (1 - left) / rate)
end
redis.call('HSET', KEYS[1], 'left', string.format('%.6f', left - 1), 'at', string.format('%.6f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil((size - left + 1) / rate * 1000) + 1000)
return '0'
"""


# One command with one reply for any number of messages costs a third of a command per message.
PUBLISH_SCRIPT = """
for at = 1, #ARGV, 2 do
    redis.call('PUBLISH', ARGV[at], ARGV[at + 1])
end
"""


class RedisConnection:
    kind = "redis"
    max_bytes = 256_000

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.name = f"the bus at {parts.hostname}:{parts.port or 6379}"
        number = parts.path.strip("/") or "0"
        self._prefix = f"footnote:{number}:"
        # Time limits are applied here: those of the Redis client lose a cancellation that arrives at the same moment.
        times = {"socket_timeout": None, "socket_connect_timeout": CONNECT_SECONDS}
        self._pool = cast("Any", ConnectionPool).from_url(url, protocol=2, **times)
        self._subscriber: AbstractConnection | None = None
        self._commands: AbstractConnection | None = None
        self._lock = asyncio.Lock()
        self._scripts: dict[str, bytes] = {}
        self._subscriptions = Subscriptions()
        self._subscribed: set[str] = set()
        self._changed_topics: set[str] = set()
        self._topics_changed = asyncio.Event()
        self._received_at = 0.0

    async def connect(self, topics: Subscriptions) -> None:
        self._subscriptions = topics
        async with self._translate_errors(CONNECT_SECONDS):
            commands: AbstractConnection = self._pool.make_connection()
            subscriber: AbstractConnection = self._pool.make_connection()
            self._commands, self._subscriber, self._subscribed = commands, subscriber, set()
            await commands.connect()
            await subscriber.connect()
            # The connection always has a subscription: a connection without one answers a ping in another form.
            await subscriber.send_command("SUBSCRIBE", self._prefix)
        self._received_at = time.monotonic()
        self._changed_topics = set(topics.names)
        self._topics_changed.set()

    async def serve(self) -> None:
        assert self._subscriber is not None  # noqa: S101 - it is connected
        reading = asyncio.create_task(self._read(self._subscriber))
        reading.add_done_callback(lambda _: self._topics_changed.set())
        try:
            while not reading.done():
                self._topics_changed.clear()
                async with self._translate_errors(ANSWER_SECONDS):
                    await self._subscribe(self._subscriber)
                with suppress(TimeoutError):
                    async with asyncio.timeout(PING_SECONDS):
                        await self._topics_changed.wait()
                        continue
                if time.monotonic() - self._received_at > SILENT_SECONDS:
                    raise BusDown(f"{self.name} does not answer.")
                async with self._translate_errors(ANSWER_SECONDS):
                    await self._subscriber.send_command("PING")
            await reading
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    def update_subscription(self, topic: str) -> None:
        self._changed_topics.add(topic)
        self._topics_changed.set()

    async def send(self, messages: list[Message]) -> None:
        arguments = [part for topic, message in messages for part in (self._prefix + topic, message)]
        async with self._lock, self._translate_errors(ANSWER_SECONDS):
            await self._run(PUBLISH_SCRIPT, 0, *arguments)

    async def acquire_token(self, key: str, size: float, per_minute: float) -> float:
        async with self._lock, self._translate_errors(ANSWER_SECONDS):
            return float(await self._run(ACQUIRE_SCRIPT, 1, f"{self._prefix}bucket:{key}", size, per_minute))

    async def disconnect(self) -> None:
        connections = (self._subscriber, self._commands)
        self._subscriber = self._commands = None
        for connection in connections:
            if connection is not None:
                with suppress(RedisError, OSError):
                    await connection.disconnect(nowait=True)

    async def _run(self, script: str, *arguments: Any) -> Any:
        commands = self._commands
        if commands is None:
            raise BusDown(f"{self.name} is not there.")
        if script in self._scripts:
            with suppress(NoScriptError):  # the server was restarted and has lost its scripts
                return await _send_command(commands, "EVALSHA", self._scripts[script], *arguments)
        self._scripts[script] = await _send_command(commands, "SCRIPT", "LOAD", script)
        return await _send_command(commands, "EVALSHA", self._scripts[script], *arguments)

    async def _subscribe(self, subscriber: AbstractConnection) -> None:
        changes, self._changed_topics = self._changed_topics, set()
        # Topics that are subscribed already are sent again: the reply tells a new listener that its topic is live.
        followed = {topic for topic in changes if topic in self._subscriptions}
        for verb, topics in (("UNSUBSCRIBE", (changes - followed) & self._subscribed), ("SUBSCRIBE", followed)):
            names = [self._prefix + topic for topic in topics]
            for start in range(0, len(names), SUBSCRIBE_BATCH):
                await subscriber.send_command(verb, *names[start : start + SUBSCRIBE_BATCH])
        self._subscribed = (self._subscribed - changes) | followed

    async def _read(self, subscriber: AbstractConnection) -> None:
        start = len(self._prefix)
        while True:
            async with self._translate_errors(None):
                answer = cast("list[Any]", await subscriber.read_response(disconnect_on_error=False))
            self._received_at = time.monotonic()
            match answer:
                case [b"message", bytes() as name, bytes() as message]:
                    self._subscriptions.deliver(name[start:].decode(), message)
                case [b"subscribe", bytes() as name, _] if len(name) > start:
                    self._subscriptions.mark_live(name[start:].decode())
                case _:
                    pass

    @asynccontextmanager
    async def _translate_errors(self, seconds: float | None) -> AsyncGenerator[None, None]:
        try:
            async with asyncio.timeout(seconds):
                yield
        except (RedisError, OSError) as error:
            # The message of the error is left out: it may quote what was sent.
            raise BusDown(f"{self.name} cannot be used ({type(error).__name__}).") from None


async def _send_command(connection: AbstractConnection, *command: Any) -> Any:
    await connection.send_command(*command)
    return cast("Any", await connection.read_response())
