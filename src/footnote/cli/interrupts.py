"""Ctrl-C: the first asks the work to stop, the second ends the process at once. SIGTERM is the same."""

import asyncio
import os
import signal
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

from footnote.cli import Exit


class Interrupts:
    """Active inside its `with`. `asked` is true from the first signal on.

    The handlers are plain signal handlers, not the event loop's own, so that the second signal also ends a
    process whose loop is stuck, for example in a write to a pager that does not read.
    """

    def __init__(self) -> None:
        self.is_requested = False
        self._callback: Callable[[], object] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._previous_handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            # A shell lets its background jobs ignore Ctrl-C: it is meant for the job in front.
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._previous_handlers[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous_handlers.items():
            signal.signal(number, handler)

    def on_interrupt(self, callback: Callable[[], object]) -> None:
        """What the first signal does from now on; called in the event loop."""
        self._loop, self._callback = asyncio.get_running_loop(), callback

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        if self.is_requested:
            os._exit(Exit.INTERRUPTED)
        self.is_requested = True
        if self._loop is None or self._callback is None:
            raise KeyboardInterrupt
        self._loop.call_soon_threadsafe(self._callback)
