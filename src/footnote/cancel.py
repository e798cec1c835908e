"""A cancel scope, which cancels only the awaits that were handed to it.

asyncio's own cancellation hits whichever await a task happens to be in, which for the consumer of a generator may be
anywhere. With a scope the code below can close what it opened, yield its last events and end in order.
"""

import asyncio
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


class Cancelled(Exception):
    """The scope was cancelled while, or before, something was awaited in it."""


class CancelScope:
    """One per run. `cancel()` may be called from anywhere in the event loop, any number of times."""

    __slots__ = ("_linked", "_loop", "_waiting", "is_cancelled")

    def __init__(self) -> None:
        self.is_cancelled = False
        self._linked: tuple[CancelScope, ...] = ()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: set[asyncio.Task[Any]] = set()

    def cancel(self) -> None:
        if not self.is_cancelled:
            self.is_cancelled = True
            current = asyncio.current_task()
            for task in self._waiting:
                # The current task is running and needs no cancellation: its next `wait` raises at once.
                if task is not current:
                    task.cancel()
            for scope in self._linked:
                scope.cancel()

    async def wait(self, awaited: Coroutine[Any, Any, T]) -> T:
        """The result of `awaited`, or `Cancelled` as soon as the scope is cancelled."""
        if self.is_cancelled:
            awaited.close()
            raise Cancelled
        # The loop is cached because `get_running_loop` calls getpid, a system call, and this runs for every delta.
        self._loop = self._loop or asyncio.get_running_loop()
        task = asyncio.current_task(self._loop)
        assert task is not None  # noqa: S101 - a coroutine always runs in a task
        self._waiting.add(task)
        try:
            return await awaited
        except asyncio.CancelledError:
            # This scope only if nothing else cancelled the task too: an outer cancellation must propagate.
            if self.is_cancelled and task.uncancel() == 0:
                raise Cancelled from None
            raise
        finally:
            self._waiting.discard(task)

    @classmethod
    @contextmanager
    def linked_to(cls, *scopes: "CancelScope") -> Generator["CancelScope"]:
        """A scope that is cancelled with any of these, until the block ends."""
        linked = cls()
        for scope in scopes:
            scope._linked += (linked,)  # noqa: SLF001 - the same class
        try:
            if any(scope.is_cancelled for scope in scopes):
                linked.cancel()
            yield linked
        finally:
            for scope in scopes:
                scope._linked = tuple(one for one in scope._linked if one is not linked)  # noqa: SLF001 - see above
