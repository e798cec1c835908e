"""A cancel scope: how "stop" reaches what is being waited for.

asyncio's own cancellation hits whichever await a task happens to be in, which for a generator's consumer may
be anywhere. A scope hits only the awaits that were handed to it, so that the code below can close what it
opened, say its last events and end in order.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Cancelled(Exception):
    """The scope was cancelled while, or before, something was awaited in it."""


class CancelScope:
    """One per run. `cancel()` may be called from anywhere in the event loop, any number of times."""

    __slots__ = ("_loop", "_waiting", "is_cancelled")

    def __init__(self) -> None:
        self.is_cancelled = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: set[asyncio.Task[Any]] = set()

    def cancel(self) -> None:
        if not self.is_cancelled:
            self.is_cancelled = True
            current = asyncio.current_task()
            for task in self._waiting:
                # A task that stops itself needs no push: its next wait ends at once.
                if task is not current:
                    task.cancel()

    async def wait(self, awaited: Coroutine[Any, Any, T]) -> T:
        """The result of `awaited`, or `Cancelled` as soon as the scope is cancelled."""
        if self.is_cancelled:
            awaited.close()
            raise Cancelled
        # The loop is kept because asking for the running one is a system call, and this is asked for every delta.
        self._loop = self._loop or asyncio.get_running_loop()
        task = asyncio.current_task(self._loop)
        assert task is not None  # noqa: S101 - a coroutine always runs in a task
        self._waiting.add(task)
        try:
            return await awaited
        except asyncio.CancelledError:
            # Ours only if nobody else asked too: an outer cancellation must go on travelling.
            if self.is_cancelled and task.uncancel() == 0:
                raise Cancelled from None
            raise
        finally:
            self._waiting.discard(task)
