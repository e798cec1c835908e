"""Asks the person at the terminal before a tool call that needs it."""

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress

import msgspec

from footnote.cli.terminal.clean import clean_line
from footnote.cli.terminal.screen import Screen
from footnote.protocol.messages import ToolCall

_LONGEST_VALUE = 1000


class Approval:
    """One question after the other, however many calls wait. `read` blocks until a line was typed."""

    def __init__(self, screen: Screen, read: Callable[[], bytes]) -> None:
        self._screen = screen
        self._read = read
        self._turn = asyncio.Lock()

    async def __call__(self, call: ToolCall, title: str) -> bool:
        async with self._turn:
            self._screen.hold()
            try:
                self._screen.err.write(question(call, title))
                answer = await _in_a_thread(self._read)
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


def terminal_line(descriptor: int) -> bytes:
    """A line typed now: what was typed before the question was shown is no answer to it."""
    with suppress(ImportError):
        import termios  # noqa: PLC0415 - not on Windows

        termios.tcflush(descriptor, termios.TCIFLUSH)
    return os.read(descriptor, 4096)


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
