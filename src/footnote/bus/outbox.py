"""Messages on their way out: so many and no more. The oldest are dropped, since hints grow old."""

import asyncio
from collections import deque
from typing import TypeAlias

MOST_MESSAGES = 10_000
MOST_BYTES = 32_000_000
MOST_AT_ONCE = 500

Message: TypeAlias = tuple[str, bytes]


class Outbox:
    def __init__(self) -> None:
        self.dropped = 0
        self._messages: deque[Message] = deque()
        self._bytes = 0
        self._filled = asyncio.Event()

    def __bool__(self) -> bool:
        return bool(self._messages)

    def add(self, topic: str, message: bytes) -> None:
        self._messages.append((topic, message))
        self._bytes += len(message)
        while len(self._messages) > MOST_MESSAGES or self._bytes > MOST_BYTES:
            _, old = self._messages.popleft()
            self._bytes -= len(old)
            self.dropped += 1
        self._filled.set()

    async def wait(self) -> None:
        """Until there is something in it."""
        if not self._messages:
            self._filled.clear()
            await self._filled.wait()

    def take(self) -> list[Message]:
        """What is to be sent next, in one go."""
        taken = [self._messages.popleft() for _ in range(min(len(self._messages), MOST_AT_ONCE))]
        self._bytes -= sum(len(message) for _, message in taken)
        return taken
