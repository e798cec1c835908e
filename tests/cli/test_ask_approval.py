"""Approval at the terminal: the user is asked before the call; without a terminal the answer is no."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event as ThreadEvent

import pytest

from cli.emulator import TerminalEmulator
from cli.process import FootnoteProcess, environment, run_footnote, with_tool_server
from cli.run_events import CapturedOutput
from footnote.cli.approval import ApprovalPrompt, TerminalApproval, approval_prompt
from footnote.cli.terminal.lines import StyledText
from footnote.cli.terminal.screen import Screen
from footnote.protocol.messages import ToolCall
from server.harness import LOCAL_TOKEN, ServerHarness, open_server
from upstream import Upstream, call, reply, say, stop

SHOUT = call("mcp__tools__shout", {"text": "hello\x1b[2J"})
CALL = ToolCall("c1", "shout", {"text": "hello"})


class TypedInput:
    """Returns the given lines as input, each after its event is set."""

    def __init__(self, *lines: bytes) -> None:
        self._lines = iter(lines)
        self.moments = [ThreadEvent() for _ in lines]
        self._next = iter(self.moments)

    def discard(self) -> None:
        pass

    def read_line(self) -> bytes:
        next(self._next).wait()
        return next(self._lines)


def test_everything_that_the_tool_would_get_is_shown_and_nothing_of_it_steers_the_terminal() -> None:
    arguments = {"path": "/etc/passwd\x1b[2J\n  force: false", "force": True, "n\u202eame": "Giá " + "x" * 3900}
    prompt = approval_prompt(ToolCall("c1", "de\x1b[Alete", arguments), "Delete \x1b]0;t\x07a file")
    assert prompt == ApprovalPrompt(
        "Delete a file (delete) wants to run with:\n"
        '  path: "/etc/passwd\\u001b[2J\\n  force: false"\n'
        "  force: true\n"
        f'  n\\u202eame: "Giá {"x" * 3900}"\n'
        "Allow it? [y/N] ",
        (b"y", b"yes"),
    )


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("ls " + " " * 990 + "; rm -rf ~", "ls[991 blanks]; rm -rf ~"),
        ("ls" + "\n\t" * 500 + "; rm -rf ~", "ls[1000 blanks]; rm -rf ~"),
        ("if x:\n        y", "if x:[9 blanks]y"),
        ("if x:\n    y", "if x:\\n    y"),
        ("C:\\new\n\n", "C:\\\\new\\n\\n"),
        ("a\u00a0b\u200bc\u2800d\U000e0041e\ud800", "a\\u00a0b\\u200bc\\u2800d\\udb40\\udc41e\\ud800"),
    ],
)
def test_nothing_hides_behind_blanks_or_in_what_cannot_be_seen(command: str, shown: str) -> None:
    prompt = approval_prompt(ToolCall("c1", "shell", {"command": command}), "Run")
    assert prompt.text == f'Run (shell) wants to run with:\n  command: "{shown}"\nAllow it? [y/N] '


def test_of_what_is_too_much_to_read_both_ends_are_shown_and_it_takes_a_whole_yes() -> None:
    prompt = approval_prompt(ToolCall("c1", "shell", {"command": "ls " + "a" * 9000 + "; rm -rf ~"}), "Run")
    assert prompt == ApprovalPrompt(
        "Run (shell) wants to run with:\n"
        f'  command: "ls {"a" * 1987}… [5,024 characters are not shown] …{"a" * 1989}; rm -rf ~"\n'
        "Not all of it is shown. Type yes to allow it all the same: [yes/N] ",
        (b"yes",),
    )


@pytest.mark.parametrize(("typed", "allowed"), [(b"y\n", False), (b"yes\n", True)])
async def test_a_single_key_does_not_allow_what_was_not_shown_in_full(typed: bytes, allowed: bool) -> None:
    out, err, typed_input = CapturedOutput(), CapturedOutput(), TypedInput(typed)
    typed_input.moments[0].set()
    long = ToolCall("c1", "shout", {"text": "x" * 5000})
    assert await TerminalApproval(Screen(out.sink, err.sink), typed_input)(long, "Shout") is allowed


@pytest.mark.parametrize(
    ("typed", "allowed"),
    [(b"y\n", True), (b" YES \n", True), (b"\n", False), (b"n\n", False), (b"", False), (b"yy\n", False)],
)
async def test_only_a_clear_yes_is_a_yes(typed: bytes, allowed: bool) -> None:
    out, err, typed_input = CapturedOutput(), CapturedOutput(), TypedInput(typed)
    typed_input.moments[0].set()
    assert await TerminalApproval(Screen(out.sink, err.sink), typed_input)(CALL, "Shout") is allowed


async def test_two_calls_are_asked_about_one_after_the_other_and_notes_wait() -> None:
    out, err = CapturedOutput(), CapturedOutput()
    screen = Screen(out.sink, err.sink)
    typed_input = TypedInput(b"y\n", b"y\n")
    approval = TerminalApproval(screen, typed_input)
    first = asyncio.ensure_future(approval(CALL, "First"))
    second = asyncio.ensure_future(approval(CALL, "Second"))
    await asyncio.sleep(0)
    screen.note((StyledText("A note."),))
    assert err.text == approval_prompt(CALL, "First").text
    typed_input.moments[0].set()
    assert await first is True
    typed_input.moments[1].set()
    assert await second is True
    assert err.text == f"{approval_prompt(CALL, 'First').text}A note.\n{approval_prompt(CALL, 'Second').text}"


async def test_an_answer_that_is_no_longer_wanted_is_not_waited_for() -> None:
    out, err, typed_input = CapturedOutput(), CapturedOutput(), TypedInput(b"y\n")
    question = asyncio.ensure_future(TerminalApproval(Screen(out.sink, err.sink), typed_input)(CALL, "Shout"))
    await asyncio.sleep(0)
    question.cancel()
    with pytest.raises(asyncio.CancelledError):
        await question
    typed_input.moments[0].set()


@asynccontextmanager
async def open_asking_server(folder: Path, upstream: Upstream) -> AsyncIterator[ServerHarness]:
    """A server whose model makes one call that needs approval."""
    home = folder / "server"
    home.mkdir()
    with_tool_server(home, approval=True)
    upstream.script(reply(SHOUT, stop("toolUse")), reply(say("Done."), stop()))
    async with open_server(home, upstream) as server:
        yield server


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "result"), [("y\n", "HELLO"), ("\n", "The user declined this call")])
async def test_at_a_terminal_the_person_decides(upstream: Upstream, tmp_path: Path, typed: str, result: str) -> None:
    with_tool_server(tmp_path, approval=True)
    upstream.script(reply(SHOUT, stop("toolUse")), reply(say("Done."), stop()))
    env = environment(tmp_path, upstream)
    async with FootnoteProcess("ask", "?", env=env, stdin="terminal", stdout="terminal", stderr="terminal") as process:
        await process.out.wait_for_text("Allow it? [y/N] ")
        process.out.type(typed)
        assert await process.exit_code() == 0
    terminal = TerminalEmulator(60)
    terminal.write(process.out.text)
    assert '  text: "hello\\u001b[2J"\nAllow it? [y/N]' in terminal.text
    assert result in str(upstream.requests[1].body["messages"][-1])


@pytest.mark.slow
async def test_without_a_terminal_the_call_is_refused(upstream: Upstream, tmp_path: Path) -> None:
    with_tool_server(tmp_path, approval=True)
    upstream.script(reply(SHOUT, stop("toolUse")), reply(say("Done."), stop()))
    code, out, err = await run_footnote("ask", "?", env=environment(tmp_path, upstream))
    assert (code, out) == (0, "Done.\n")
    assert "✗ shout" in err


@pytest.mark.slow
async def test_ctrl_c_at_the_question_stops_the_run(upstream: Upstream, tmp_path: Path) -> None:
    with_tool_server(tmp_path, approval=True)
    upstream.script(reply(SHOUT, stop("toolUse")))
    env = environment(tmp_path, upstream)
    async with FootnoteProcess("ask", "?", env=env, stdin="terminal", stdout="terminal", stderr="terminal") as process:
        await process.out.wait_for_text("Allow it? [y/N] ")
        process.out.type("\x03")
        assert await process.exit_code() == 130
    assert "Stopped. There was no answer yet." in process.out.text


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "result"), [("y\n", "HELLO"), ("n\n", "declined this call")])
async def test_a_call_on_a_server_is_asked_about_at_the_terminal(
    upstream: Upstream, tmp_path: Path, typed: str, result: str
) -> None:
    env = environment(tmp_path, FOOTNOTE_TOKEN=LOCAL_TOKEN)
    async with open_asking_server(tmp_path, upstream) as server:
        words = ("ask", "?", "--server", server.url)
        async with FootnoteProcess(*words, env=env, stdin="terminal", stdout="terminal", stderr="terminal") as process:
            await process.out.wait_for_text("Allow it? [y/N] ")
            process.out.type(typed)
            assert await process.exit_code() == 0
    assert result in str(upstream.requests[1].body["messages"][-1])


@pytest.mark.slow
async def test_without_a_terminal_a_call_on_a_server_says_how_to_decide_and_waits(
    upstream: Upstream, tmp_path: Path
) -> None:
    env = environment(tmp_path, FOOTNOTE_TOKEN=LOCAL_TOKEN)
    async with (
        open_asking_server(tmp_path, upstream) as server,
        FootnoteProcess("ask", "?", "--server", server.url, env=env) as process,
    ):
        await process.err.wait_for_text('"deny".\n')
        path = re.search(r"POST (\S+)", process.err.text)
        assert path is not None
        decided = await server.local.request("POST", path[1].removeprefix(server.url), {"decision": "once"})
        assert decided.status == 200
        assert await process.exit_code() == 0
    assert process.out is not None
    assert process.out.text == "Done.\n"
