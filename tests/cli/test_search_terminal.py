"""`footnote search` in a real terminal: what a person sees, character by character."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from cli.process import FOREGROUND_PROGRAM, FootnoteProcess
from cli.small_web import article, env_for, hits, without_times
from cli.test_ask_terminal import screen
from web import PageReply, Web
from web.providers import Hit, SearchServer

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"


async def test_in_a_terminal_progress_is_drawn_and_gone_when_the_summary_stands(web: Web, tmp_path: Path) -> None:
    progress_drawn = asyncio.Event()

    async def later() -> AsyncGenerator[bytes | None, None]:
        await progress_drawn.wait()
        yield b""

    web.put("/later", PageReply(500, stream=later))
    async with SearchServer("duckduckgo", hits(web, "/oxygen", "/later")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo)
        async with FootnoteProcess(
            "search", "Who isolated oxygen", env=env, stdout="terminal", stderr="terminal", columns=72
        ) as process:
            await process.out.wait_for_text(lambda text: screen(text, 72).startswith("⏳ reading 1/2 · 127.0.0.1"))
            progress_drawn.set()
            assert await process.exit_code() == 0
    shown = without_times(screen(process.out.text, 72)).splitlines()
    assert "⏳" not in "".join(shown)
    assert shown[0].startswith("▌ Oxygen was isolated by Carl Wilhelm Scheele")
    at = shown.index("Sources:")
    assert shown[at - 1] == ""
    assert re.sub(r" {2,}", "  ", shown[at + 1]) == "[1] ✓ Title of /oxygen  2024-03-02  read · … s · … B"
    assert max(len(line) for line in shown[at:] if not line.startswith("duckduckgo: ")) <= 72


async def test_nothing_from_the_web_steers_the_terminal(web: Web, tmp_path: Path) -> None:
    web.put("/evil", article(f"E{EVIL}vil", f"Oxygen {EVIL} was isolated &#27;[2J by Scheele."))
    evil = [Hit(f"Ti{EVIL}tle", web.url("/evil"), f"Snip{EVIL}pet")]
    async with SearchServer("duckduckgo", evil) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo)
        async with FootnoteProcess(
            "search", "Who isolated oxygen", env=env, stdout="terminal", stderr="terminal", columns=100
        ) as process:
            assert await process.exit_code() == 0
        assert "[1] ✓ Ti" in screen(process.out.text, 100)  # the emulator fails on other sequences
        async with FootnoteProcess("search", "oxygen", "--json", env=env, stdout="terminal") as process:
            assert await process.exit_code() == 0
    assert "\x1b" not in process.out.text
    json.loads(process.out.text)


async def test_plain_output_in_a_terminal_has_no_sequence_at_all(web: Web, tmp_path: Path) -> None:
    async with SearchServer("duckduckgo", hits(web, "/oxygen")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo)
        async with FootnoteProcess(
            "search", "oxygen", "--plain", env=env, stdout="terminal", stderr="terminal", columns=50
        ) as process:
            assert await process.exit_code() == 0
    assert "\x1b" not in process.out.text
    assert "\n⏳ reading 1/1 · 127.0.0.1\n" in process.out.text
    assert "\n[1] ✓ Title of /oxygen\n    2024-03-02 · read · " in process.out.text


@pytest.mark.parametrize("option", ["--no-color", "NO_COLOR"])
async def test_without_colour_there_are_no_styles(web: Web, tmp_path: Path, option: str) -> None:
    async with SearchServer("duckduckgo", hits(web, "/oxygen", "/500")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo) | ({} if option.startswith("-") else {option: "1"})
        words = [option] if option.startswith("-") else []
        async with FootnoteProcess(
            "search", "oxygen", *words, env=env, stdout="terminal", stderr="terminal"
        ) as process:
            assert await process.exit_code() == 0
    assert re.findall(r"\x1b\[[\d;]*m", process.out.text) == []


async def test_without_rich_everything_is_there_in_plain_text(web: Web, tmp_path: Path) -> None:
    without_rich = f"import sys; sys.modules['rich'] = None{FOREGROUND_PROGRAM}"
    async with SearchServer("duckduckgo", hits(web, "/oxygen")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo)
        async with FootnoteProcess(
            "search", "oxygen", env=env, stdout="terminal", stderr="terminal", program=without_rich
        ) as process:
            assert await process.exit_code() == 0
    assert "\x1b" not in process.out.text
    assert "\nSources:\n[1] ✓ Title of /oxygen" in process.out.text
