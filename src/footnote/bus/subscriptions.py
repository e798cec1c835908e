"""Who listens to what, in this process."""

import asyncio
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Self

MAX_WAITING = 1000
"""Messages that a listener may be behind. Who is further behind than that has to look for itself."""


class Listener:
    """The messages of one topic, for one who waits for them."""

    __slots__ = ("_close", "_has_messages", "_messages", "_ready", "topic")

    def __init__(self, topic: str, close: Callable[["Listener"], None]) -> None:
        self.topic = topic
        self._close = close
        self._messages: deque[bytes] = deque()
        self._has_messages = asyncio.Event()
        self._ready = asyncio.Event()

    async def wait_ready(self, seconds: float) -> bool:
        """Waits until no message is missed from now on; False: the bus does not answer."""
        try:
            async with asyncio.timeout(seconds):
                await self._ready.wait()
        except TimeoutError:
            return False
        return True

    async def next(self, seconds: float | None = None) -> bytes | None:
        """The next message; b"": some may have been missed; None: nothing came for so long."""
        if not self._messages:
            self._has_messages.clear()
            try:
                async with asyncio.timeout(seconds):
                    await self._has_messages.wait()
            except TimeoutError:
                return None
        return self._messages.popleft()

    def push(self, message: bytes) -> None:
        if len(self._messages) >= MAX_WAITING:
            self._messages.clear()
            message = b""
        self._messages.append(message)
        self._has_messages.set()

    def mark_live(self) -> None:
        """What was said before now may have been missed; from now on nothing is."""
        self._ready.set()
        self.push(b"")

    def close(self) -> None:
        """Also more than once."""
        self._close(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Subscriptions:
    """`changed` is called with a topic that somebody listens to from now on, or nobody any more."""

    def __init__(self, on_change: Callable[[str], None] | None = None) -> None:
        self.received = 0
        self._on_change = on_change
        self._listeners: dict[str, set[Listener]] = {}
        self._live: set[str] = set()
        """Topics of which messages come in."""

    def __contains__(self, topic: str) -> bool:
        return topic in self._listeners

    @property
    def names(self) -> list[str]:
        return list(self._listeners)

    def listen(self, topic: str, *, live: bool = False) -> Listener:
        """`live`: its messages come in already."""
        listener = Listener(topic, self._unsubscribe)
        others = self._listeners.setdefault(topic, set())
        others.add(listener)
        if live:
            self._live.add(topic)
        if topic in self._live:
            listener.mark_live()
        if len(others) == 1 and self._on_change is not None:
            self._on_change(topic)
        return listener

    def deliver(self, topic: str, message: bytes) -> None:
        for listener in self._listeners.get(topic, ()):
            self.received += 1
            listener.push(message)

    def mark_live(self, topic: str) -> None:
        """Its messages come in from now on."""
        self._live.add(topic)
        for listener in self._listeners.get(topic, ()):
            listener.mark_live()

    def mark_disconnected(self) -> None:
        """No messages come in any more."""
        self._live.clear()

    def _unsubscribe(self, listener: Listener) -> None:
        others = self._listeners.get(listener.topic, set())
        others.discard(listener)
        if not others and listener.topic in self._listeners:
            del self._listeners[listener.topic]
            self._live.discard(listener.topic)
            if self._on_change is not None:
                self._on_change(listener.topic)
