"""`footnote ask` in a real terminal: what a person sees, character by character."""

import asyncio
import re
from pathlib import Path

import pytest

from cli.emulator import TerminalEmulator
from cli.process import FootnoteProcess, environment
from upstream import Upstream, call, hold, reply, say, stall, stop, think
from upstream.server import Api

API = pytest.mark.parametrize("api", ["anthropic", "openai"])
WRITE = call("write_file", {"file_path": "/report.md", "content": "# R\n"})
CUT_SEQUENCE = re.compile(r"\x1b(\[[\d;?]*)?$")
EVIL = "\x1b]0;owned\x07\x1b[2J\x1b[9A\x9b31m\r\u202e"


def screen(output: str, columns: int = 60) -> str:
    """The text on the screen; the emulator fails on any other sequence."""
    terminal = TerminalEmulator(columns)
    terminal.write(CUT_SEQUENCE.sub("", output))
    return terminal.text


@API
async def test_markdown_is_painted_and_steps_stand_between(upstream: Upstream, tmp_path: Path, api: Api) -> None:
    upstream.script(
        reply(think("Hm."), say("I **write**."), WRITE, stop("toolUse")),
        reply(say("# Done\n\n", "- Giá: **42**\n", "- 股价\n"), stop()),
    )
    env = environment(tmp_path, upstream, api)
    folder = tmp_path / "o"
    async with FootnoteProcess(
        "ask", "?", "--output", str(folder), env=env, stdout="terminal", stderr="terminal"
    ) as process:
        assert await process.exit_code() == 0
    *shown, saved, usage, way_on = re.sub(r"\d\.\ds", "…s", screen(process.out.text)).splitlines()
    assert shown == [
        "I write.",
        "",
        "✓ Write a file · /report.md · …s · Wrote /report.md (4 ch…",
        "",
        "Done",
        "",
        " • Giá: 42",
        " • 股价",
        "",
    ]
    assert saved == f"Saved /report.md as {folder}/report.md"
    assert usage.startswith(f"{api}/")
    assert re.fullmatch(r'To continue: footnote ask --session [0-9a-f]{8} "…"', way_on)
    assert "\x1b[1m" in process.out.text


async def test_what_is_not_finished_is_already_seen(upstream: Upstream, tmp_path: Path) -> None:
    thinking, first, second = asyncio.Event(), asyncio.Event(), asyncio.Event()
    upstream.script(
        reply(
            think("x" * 2345),
            hold(thinking),
            say("One **bo"),
            hold(first),
            say("ld** w"),
            hold(second),
            say("ord."),
            stop(),
        )
    )
    env = environment(tmp_path, upstream)
    async with FootnoteProcess("ask", "?", env=env, stdout="terminal", stderr="terminal") as process:
        await process.out.wait_for_text(lambda text: screen(text) == "thinking… 2.3k chars")
        thinking.set()
        await process.out.wait_for_text(lambda text: screen(text) == "One **bo")
        first.set()
        await process.out.wait_for_text(lambda text: screen(text) == "One bold w")
        second.set()
        assert await process.exit_code() == 0
    assert screen(process.out.text).startswith("One bold word.\n\nopenai/")


async def test_nothing_in_the_answer_steers_the_terminal(upstream: Upstream, tmp_path: Path) -> None:
    title = call("write_file", {"file_path": f"/a{EVIL}.md", "content": "x"})
    upstream.script(
        reply(think(EVIL), say(f"a{EVIL}b\n\n```{EVIL}\n{EVIL}\n```\n"), title, stop("toolUse")),
        reply(say(*EVIL, "The end."), stop()),
    )
    env = environment(tmp_path, upstream)
    async with FootnoteProcess(
        "ask", "?", "--show-thinking", env=env, stdout="terminal", stderr="terminal", columns=200
    ) as process:
        assert await process.exit_code() == 0
    assert "\nThe end.\n" in screen(process.out.text, 200)


@pytest.mark.parametrize("option", ["--no-color", "NO_COLOR"])
async def test_without_colour_there_are_no_styles(upstream: Upstream, tmp_path: Path, option: str) -> None:
    upstream.script(reply(say("# Title\n\n**bold** `code`"), stop()))
    env = environment(tmp_path, upstream) | ({} if option.startswith("-") else {option: "1"})
    words = [option] if option.startswith("-") else []
    async with FootnoteProcess("ask", "?", *words, env=env, stdout="terminal", stderr="terminal") as process:
        assert await process.exit_code() == 0
    assert screen(process.out.text).startswith("Title\n\nbold code\n\n")
    assert "\x1b[1m" not in process.out.text


@pytest.mark.parametrize("why", ["--plain", "TERM"])
async def test_plain_output_in_a_terminal_has_no_sequence_at_all(upstream: Upstream, tmp_path: Path, why: str) -> None:
    upstream.script(reply(WRITE, stop("toolUse")), reply(say("**bold**", EVIL, "."), stop()))
    env = environment(tmp_path, upstream) | ({} if why.startswith("-") else {why: "dumb"})
    words = [why] if why.startswith("-") else []
    async with FootnoteProcess("ask", "?", *words, env=env, stdout="terminal", stderr="terminal") as process:
        assert await process.exit_code() == 0
    assert "\x1b" not in process.out.text
    assert "\n**bold**.\n" in process.out.text


async def test_with_stderr_elsewhere_the_terminal_has_only_the_answer(upstream: Upstream, tmp_path: Path) -> None:
    upstream.script(reply(WRITE, stop("toolUse")), reply(say("**bold**"), stop()))
    async with FootnoteProcess("ask", "?", env=environment(tmp_path, upstream), stdout="terminal") as process:
        assert await process.exit_code() == 0
    assert screen(process.out.text) == "bold"
    assert process.err.text.startswith("⏳ Write a file · /report.md\n✓ Write a file · /report.md")
    assert "\x1b" not in process.err.text


async def test_with_stdout_in_a_file_the_steps_are_drawn(upstream: Upstream, tmp_path: Path) -> None:
    upstream.script(reply(WRITE, stop("toolUse")), reply(say("**bold**"), stop()))
    with (tmp_path / "answer.md").open("w") as file:
        async with FootnoteProcess(
            "ask", "?", env=environment(tmp_path, upstream), stdout=file.fileno(), stderr="terminal"
        ) as process:
            assert await process.exit_code() == 0
    assert (tmp_path / "answer.md").read_text() == "**bold**\n"
    assert screen(process.err.text).startswith("✓ Write a file · /report.md")


async def test_with_stdout_in_a_pipe_nothing_is_redrawn_on_stderr(upstream: Upstream, tmp_path: Path) -> None:
    upstream.script(reply(WRITE, stop("toolUse")), reply(say("**bold**"), stop()))
    async with FootnoteProcess("ask", "?", env=environment(tmp_path, upstream), stderr="terminal") as process:
        assert await process.exit_code() == 0
    assert process.out.text == "**bold**\n"
    assert "\x1b" not in process.err.text


async def test_a_terminal_that_is_resized_is_drawn_at_its_new_width(upstream: Upstream, tmp_path: Path) -> None:
    gate = asyncio.Event()
    words = "một hai ba 四五六 seven eight nine ten"
    upstream.script(reply(say(f"{words}\n\n{words}"), hold(gate), say(" end."), stop()))
    env = environment(tmp_path, upstream)
    async with FootnoteProcess("ask", "?", "--quiet", env=env, stdout="terminal", stderr="terminal") as process:
        await process.out.wait_for_text(lambda text: screen(text) == f"{words}\n\n{words}")
        before = len(process.out.text)
        process.out.resize(20)
        gate.set()
        assert await process.exit_code() == 0
    terminal = TerminalEmulator(60)
    terminal.write(process.out.text[:before])
    terminal.resize(20)
    terminal.write(process.out.text[before:])
    assert terminal.text == f"{words}\n\nmột hai ba 四五六\nseven eight nine ten\nend."


async def test_ctrl_c_typed_in_the_terminal_stops_and_says_what_was_kept(upstream: Upstream, tmp_path: Path) -> None:
    upstream.script(reply(WRITE, stop("toolUse")), reply(say("Three whole words"), stall()))
    env = environment(tmp_path, upstream)
    async with FootnoteProcess("ask", "?", env=env, stdin="terminal", stdout="terminal", stderr="terminal") as process:
        await process.out.wait_for_text("Three whole words")
        process.out.type("\x03")
        assert await process.exit_code() == 130
    shown = screen(process.out.text.replace("^C", ""))
    assert "\nThree whole words\n\nStopped. Kept: 3 words of the answer, 1 file.\nSaved /report.md as " in shown
