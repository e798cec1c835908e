"""Asks the person at the terminal before a tool call that needs it."""

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

import msgspec

from footnote.cli.terminal.clean import clean_line
from footnote.cli.terminal.screen import Screen
from footnote.protocol.messages import ToolCall

_LONGEST_VALUE = 1000


class Keyboard:
    """The lines that a person types at a terminal."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def discard(self) -> None:
        """Forgets what was typed until now: it is no answer to a question that is yet to be shown."""
        with suppress(ImportError):
            import termios  # noqa: PLC0415 - not on Windows

            termios.tcflush(self._descriptor, termios.TCIFLUSH)

    def line(self) -> bytes:
        """Blocks until a line was typed."""
        return os.read(self._descriptor, 4096)


class Typed(Protocol):
    def discard(self) -> None: ...

    def line(self) -> bytes: ...


class Approval:
    """One question after the other, however many calls wait."""

    def __init__(self, screen: Screen, typed: Typed) -> None:
        self._screen = screen
        self._typed = typed
        self._turn = asyncio.Lock()

    async def __call__(self, call: ToolCall, title: str) -> bool:
        async with self._turn:
            self._screen.hold()
            try:
                self._typed.discard()
                self._screen.err.write(question(call, title))
                answer = await _in_a_thread(self._typed.line)
            finally:
                self._screen.release()
        return answer.strip().lower() in (b"y", b"yes")


def question(call: ToolCall, title: str) -> str:
    """What is asked: the tool and everything that it would be given."""
    lines = [f"{clean_line(title)} ({clean_line(call.name)}) wants to run with:"]
    lines += [f"  {clean_line(name)}: {_shown(value)}" for name, value in call.arguments.items()]
    return "\n".join([*lines, "Allow it? [y/N] "])


def _shown(value: object) -> str:
    # As JSON, so that line breaks are seen and cannot pretend to be other arguments.
    text = clean_line(msgspec.json.encode(value).decode())
    more = len(text) - _LONGEST_VALUE
    return f"{text[:_LONGEST_VALUE]}… ({more:,} more characters)" if more > 0 else text


async def _in_a_thread(read: Callable[[], bytes]) -> bytes:
    """In a thread of its own that nobody waits for: a cancelled question must not keep the process alive."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[bytes] = loop.create_future()

    def hand_over(line: bytes) -> None:
        if not answer.done():
            answer.set_result(line)

    def wait_for_line() -> None:
        try:
            line = read()
        except OSError:
            line = b""
        with suppress(RuntimeError):  # the loop is closed: too late
            loop.call_soon_threadsafe(hand_over, line)

    threading.Thread(target=wait_for_line, daemon=True).start()
    return await answer
