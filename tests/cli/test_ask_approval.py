"""Before a call that needs approval the person at the terminal is asked; where nobody sits, the answer is no."""

import asyncio
from pathlib import Path
from threading import Event as ThreadEvent

import pytest

from cli.emulator import Terminal
from cli.process import Footnote, environment, footnote, with_tool_server
from cli.recorded import Output
from footnote.cli.approval import Approval, question
from footnote.cli.terminal.lines import Span
from footnote.cli.terminal.screen import Screen
from footnote.protocol.messages import ToolCall
from upstream import Upstream, call, reply, say, stop

SHOUT = call("mcp__tools__shout", {"text": "hello\x1b[2J"})
CALL = ToolCall("c1", "shout", {"text": "hello"})


class Typist:
    """Types the given lines, each when it is time."""

    def __init__(self, *lines: bytes) -> None:
        self._lines = iter(lines)
        self.moments = [ThreadEvent() for _ in lines]
        self._next = iter(self.moments)

    def discard(self) -> None:
        pass

    def line(self) -> bytes:
        next(self._next).wait()
        return next(self._lines)


def test_everything_that_the_tool_would_get_is_shown_and_nothing_of_it_steers_the_terminal() -> None:
    arguments = {"path": "/etc/passwd\x1b[2J\n  force: false", "force": True, "n\u202eame": "x" * 1200}
    asked = question(ToolCall("c1", "de\x1b[Alete", arguments), "Delete \x1b]0;t\x07a file")
    assert asked == (
        "Delete a file (delete) wants to run with:\n"
        '  path: "/etc/passwd\\u001b[2J\\n  force: false"\n'
        "  force: true\n"
        f'  name: "{"x" * 999}… (202 more characters)\n'
        "Allow it? [y/N] "
    )


@pytest.mark.parametrize(
    ("typed", "allowed"),
    [(b"y\n", True), (b" YES \n", True), (b"\n", False), (b"n\n", False), (b"", False), (b"yy\n", False)],
)
async def test_only_a_clear_yes_is_a_yes(typed: bytes, allowed: bool) -> None:
    out, err, typist = Output(), Output(), Typist(typed)
    typist.moments[0].set()
    assert await Approval(Screen(out.sink, err.sink), typist)(CALL, "Shout") is allowed


async def test_two_calls_are_asked_about_one_after_the_other_and_notes_wait() -> None:
    out, err = Output(), Output()
    screen = Screen(out.sink, err.sink)
    typist = Typist(b"y\n", b"y\n")
    approval = Approval(screen, typist)
    first = asyncio.ensure_future(approval(CALL, "First"))
    second = asyncio.ensure_future(approval(CALL, "Second"))
    await asyncio.sleep(0)
    screen.note((Span("A note."),))
    assert err.text == question(CALL, "First")
    typist.moments[0].set()
    assert await first is True
    typist.moments[1].set()
    assert await second is True
    assert err.text == f"{question(CALL, 'First')}A note.\n{question(CALL, 'Second')}"


async def test_an_answer_that_is_no_longer_wanted_is_not_waited_for() -> None:
    out, err, typist = Output(), Output(), Typist(b"y\n")
    asking = asyncio.ensure_future(Approval(Screen(out.sink, err.sink), typist)(CALL, "Shout"))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    typist.moments[0].set()


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "result"), [("y\n", "HELLO"), ("\n", "The user declined this call")])
async def test_at_a_terminal_the_person_decides(upstream: Upstream, tmp_path: Path, typed: str, result: str) -> None:
    with_tool_server(tmp_path, approval=True)
    upstream.script(reply(SHOUT, stop("toolUse")), reply(say("Done."), stop()))
    env = environment(tmp_path, upstream)
    async with Footnote("ask", "?", env=env, stdin="terminal", stdout="terminal", stderr="terminal") as process:
        await process.out.until("Allow it? [y/N] ")
        process.out.type(typed)
        assert await process.exit_code() == 0
    terminal = Terminal(60)
    terminal.write(process.out.text)
    assert '  text: "hello\\u001b[2J"\nAllow it? [y/N]' in terminal.text
    assert result in str(upstream.requests[1].body["messages"][-1])


@pytest.mark.slow
async def test_without_a_terminal_the_call_is_refused(upstream: Upstream, tmp_path: Path) -> None:
    with_tool_server(tmp_path, approval=True)
    upstream.script(reply(SHOUT, stop("toolUse")), reply(say("Done."), stop()))
    code, out, err = await footnote("ask", "?", env=environment(tmp_path, upstream))
    assert (code, out) == (0, "Done.\n")
    assert "✗ shout" in err


@pytest.mark.slow
async def test_ctrl_c_at_the_question_stops_the_run(upstream: Upstream, tmp_path: Path) -> None:
    with_tool_server(tmp_path, approval=True)
    upstream.script(reply(SHOUT, stop("toolUse")))
    env = environment(tmp_path, upstream)
    async with Footnote("ask", "?", env=env, stdin="terminal", stdout="terminal", stderr="terminal") as process:
        await process.out.until("Allow it? [y/N] ")
        process.out.type("\x03")
        assert await process.exit_code() == 130
    assert "Stopped. Nothing had come yet." in process.out.text
