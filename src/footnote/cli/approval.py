"""Asks the user at the terminal before a tool call that needs approval."""

import asyncio
import json
import os
import re
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol
from urllib.parse import quote

from msgspec import Struct

from footnote.cli.terminal.clean import clean_line
from footnote.cli.terminal.screen import Screen
from footnote.protocol.errors import FootnoteError
from footnote.protocol.events import ApprovalRequired, BlockStart, Event, ToolStatus, ToolUseBlock
from footnote.protocol.messages import ToolCall
from footnote.protocol.sessions import ApprovalDecision

_MAX_VALUE_LENGTH = 4000
_BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Unicode counts them as letters and symbols, but they are invisible."""

# In JSON, line breaks and tabs are escapes. After a backslash, `\\n` is a backslash and the letter n.
_blanks = re.compile(r"(?<!\\)(?: |\\[nrt]){9,}")
_blank = re.compile(r" |\\[nrt]")


class Keyboard:
    """The lines that the user types at a terminal."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def discard(self) -> None:
        """Drops what was typed before the question is shown: it is not an answer to it."""
        with suppress(ImportError):
            import termios  # noqa: PLC0415 - not on Windows

            termios.tcflush(self._descriptor, termios.TCIFLUSH)

    def read_line(self) -> bytes:
        """Blocks until a line is typed."""
        return os.read(self._descriptor, 4096)


class LineInput(Protocol):
    def discard(self) -> None: ...

    def read_line(self) -> bytes: ...


class TerminalApproval:
    """Asks about one call after the other, however many are waiting."""

    def __init__(self, screen: Screen, keyboard: LineInput) -> None:
        self._screen = screen
        self._keyboard = keyboard
        self._lock = asyncio.Lock()

    async def __call__(self, call: ToolCall, title: str) -> bool:
        async with self._lock:
            self._screen.hold()
            try:
                self._keyboard.discard()
                prompt = approval_prompt(call, title)
                self._screen.err.write(prompt.text)
                answer = await _read_in_thread(self._keyboard.read_line)
            finally:
                self._screen.release()
        return answer.strip().lower() in prompt.accepted_answers


class ApprovalRequests:
    """The calls of a run on a server that wait for approval: the user is asked here, or a note says where to send the
    decision. A question is withdrawn if another client decides meanwhile."""

    def __init__(
        self,
        approve: Callable[[ToolCall, str], Awaitable[bool]] | None,
        decide: Callable[[str, ApprovalDecision], Awaitable[object]],
        notify: Callable[[str], None],
        decision_url: str,
    ) -> None:
        """`approve` None: there is no terminal. `decision_url`: where decisions go, without the id of the call."""
        self._approve = approve
        self._decide = decide
        self._notify = notify
        self._decision_url = decision_url
        self._titles: dict[str, str] = {}
        self._pending: dict[str, asyncio.Task[None]] = {}

    def handle_event(self, event: Event) -> None:
        match event:
            case BlockStart(content_block=ToolUseBlock(id=call_id, tool_content_message=title)):
                self._titles[call_id] = title
            case ApprovalRequired() if event.tool_use_id not in self._pending:
                self._pending[event.tool_use_id] = asyncio.create_task(self._ask(event))
            case ToolStatus(call_id, "running") if call_id in self._pending:
                self._pending.pop(call_id).cancel()
            case _:
                pass

    async def close(self) -> None:
        """The run has ended: open questions are withdrawn."""
        for task in self._pending.values():
            task.cancel()
        await asyncio.gather(*self._pending.values(), return_exceptions=True)

    async def _ask(self, event: ApprovalRequired) -> None:
        if self._approve is None:
            self._notify(
                f"{clean_line(event.name)} waits for approval. To decide: POST {self._decision_url}/"
                f'{quote(event.tool_use_id, safe="")} with {{"decision": "once"}}, or "session", "always", "deny".'
            )
            return
        call = ToolCall(event.tool_use_id, event.name, event.input)
        allowed = await self._approve(call, self._titles.get(call.id, call.name))
        try:
            await self._decide(call.id, "once" if allowed else "deny")
        except FootnoteError as error:
            self._notify(error.message)


class ApprovalPrompt(Struct, frozen=True):
    text: str
    accepted_answers: tuple[bytes, ...]
    """One of these must be typed to allow the call."""


def approval_prompt(call: ToolCall, title: str) -> ApprovalPrompt:
    """The tool and all its arguments. The middle of a very long argument is left out, and then a single key is not
    enough to allow the call."""
    lines = [f"{clean_line(title)} ({clean_line(call.name)}) wants to run with:"]
    arguments = [
        f"{_escape_invisible(name)[1:-1]}: {_escape_invisible(value)}" for name, value in call.arguments.items()
    ]
    lines += [f"  {_truncate_middle(text)}" for text in arguments]
    if any(len(text) > _MAX_VALUE_LENGTH for text in arguments):
        question = "Not all of it is shown. Type yes to allow it all the same: [yes/N] "
        return ApprovalPrompt("\n".join([*lines, question]), (b"yes",))
    return ApprovalPrompt("\n".join([*lines, "Allow it? [y/N] "]), (b"y", b"yes"))


def _escape_invisible(value: object) -> str:
    """As JSON, with line breaks and other invisible characters as escapes, so that no part can hide or look like an
    argument of its own. Long gaps are replaced by their length, so that they push nothing out of sight."""
    written = json.dumps(value, ensure_ascii=False)
    text = "".join(letter if _is_visible(letter) else json.dumps(letter)[1:-1] for letter in written)
    return _blanks.sub(lambda gap: f"[{len(_blank.findall(gap.group()))} blanks]", text)


def _is_visible(letter: str) -> bool:
    return letter.isprintable() and letter not in _BLANK_LETTERS


def _truncate_middle(text: str) -> str:
    hidden = len(text) - _MAX_VALUE_LENGTH
    if hidden <= 0:
        return text
    half = _MAX_VALUE_LENGTH // 2
    return f"{text[:half]}… [{hidden:,} characters are not shown] …{text[-half:]}"


async def _read_in_thread(read: Callable[[], bytes]) -> bytes:
    """In a daemon thread: a cancelled question must not keep the process alive."""
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
