"""`footnote ask` in pipes: the answer on stdout, everything else on stderr, the outcome as exit code."""

import asyncio
import os
import re
import sys
from pathlib import Path

import msgspec
import pytest

from cli.process import CLOSED, FOREGROUND_PROGRAM, SECONDS, FootnoteProcess, environment, run_footnote
from footnote.protocol.events import BlockStart, Event, MessageDelta, MessageStart, MessageStop, ToolUseBlock
from upstream import Upstream, call, error_event, hold, reply, say, stall, status, stop, think
from upstream.server import Api

API = pytest.mark.parametrize("api", ["anthropic", "openai"])
WRITE = call("write_file", {"file_path": "/report.md", "content": "# Báo cáo\n\n股价 42\n"})


@API
async def test_the_answer_is_on_stdout_and_the_cost_on_stderr(upstream: Upstream, tmp_path: Path, api: Api) -> None:
    upstream.script(reply(say("Giá là ", "**42**", " 元。"), stop()))
    code, out, err = await run_footnote("ask", "HPG?", env=environment(tmp_path, upstream, api))
    assert (code, out) == (0, "Giá là **42** 元。\n")
    first, _, rest = err.partition("\n")
    assert re.fullmatch(r'Nothing was looked up for .*: footnote ask --session \w+ "Look it up"', first)
    assert rest.startswith(f"{api}/")
    assert " · 10 tokens in · 5 out" in rest


@pytest.mark.parametrize("words", [["-"], []])
async def test_the_question_may_come_from_stdin(upstream: Upstream, tmp_path: Path, words: list[str]) -> None:
    upstream.script(reply(say("42"), stop()))
    env = environment(tmp_path, upstream)
    assert await run_footnote("ask", "--quiet", *words, env=env, stdin="Giá HPG?\n".encode()) == (0, "42\n", "")
    assert "Giá HPG?" in str(upstream.requests[0].body["messages"][-1])


async def test_words_need_no_quotes(upstream: Upstream, tmp_path: Path) -> None:
    upstream.script(reply(say("42"), stop()))
    await run_footnote("ask", "what", "is", "it", "--quiet", env=environment(tmp_path, upstream))
    assert "what is it" in str(upstream.requests[0].body["messages"][-1])


@API
async def test_files_that_the_agent_wrote_are_saved_and_listed(upstream: Upstream, tmp_path: Path, api: Api) -> None:
    upstream.script(reply(say("I write."), WRITE, stop("toolUse")), reply(say("Written."), stop()))
    target = tmp_path / "out"
    env = environment(tmp_path, upstream, api)
    code, out, err = await run_footnote("ask", "report", "--output", str(target), env=env)
    assert (code, out) == (0, "I write.\n\nWritten.\n")
    assert (target / "report.md").read_text(encoding="utf-8") == "# Báo cáo\n\n股价 42\n"
    lines = err.splitlines()
    assert lines[0] == "⏳ Write a file · /report.md"
    assert re.match(r"✓ Write a file · /report\.md · \d+\.\ds · Wrote /report\.md \(", lines[1])
    assert lines[2] == f"Saved /report.md as {target / 'report.md'}"


async def test_without_output_files_are_saved_below_the_home_folder(upstream: Upstream, tmp_path: Path) -> None:
    upstream.script(reply(WRITE, stop("toolUse")), reply(say("Written."), stop()))
    home = tmp_path / "home"
    _, _, err = await run_footnote("ask", "report", "--home", str(home), env=environment(tmp_path, upstream))
    (saved,) = home.rglob("report.md")
    assert f"Saved /report.md as {saved}\n" in err


async def test_files_that_cannot_be_saved_are_a_failure_after_the_answer(upstream: Upstream, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "ask").write_text("a file where a folder should be")
    upstream.script(reply(WRITE, stop("toolUse")), reply(say("Written."), stop()))
    code, out, err = await run_footnote("ask", "?", "--home", str(home), env=environment(tmp_path, upstream))
    assert (code, out) == (1, "Written.\n")
    assert f"\nError: The files could not be saved in {home / 'ask'}" in err


async def test_without_files_no_folder_is_made(upstream: Upstream, tmp_path: Path) -> None:
    upstream.script(reply(say("42"), stop()))
    home = tmp_path / "home"
    await run_footnote("ask", "report", "--home", str(home), env=environment(tmp_path, upstream))
    assert not (home / "ask").exists()


@API
async def test_as_json_stdout_is_the_protocol_and_nothing_else(upstream: Upstream, tmp_path: Path, api: Api) -> None:
    upstream.script(reply(WRITE, stop("toolUse")), reply(say("\x1b[31mXong\x1b[0m ", "完成"), stop()))
    code, out, err = await run_footnote("ask", "report", "--json", env=environment(tmp_path, upstream, api))
    events = [msgspec.json.decode(line, type=Event) for line in out.splitlines()]
    assert code == 0
    assert isinstance(events[0], MessageStart)
    assert isinstance(events[-1], MessageStop)
    assert [event.delta.stop_reason for event in events if isinstance(event, MessageDelta)] == ["stop"]
    starts = [event.content_block for event in events if isinstance(event, BlockStart)]
    assert [block.name for block in starts if isinstance(block, ToolUseBlock)] == ["write_file"]
    assert r"\u001b[31mXong\u001b[0m " in out
    assert "\x1b" not in out
    assert err.startswith("Saved /report.md as ")


async def test_titles_are_in_the_language_of_the_environment(upstream: Upstream, tmp_path: Path) -> None:
    upstream.script(*[reply(WRITE, stop("toolUse")), reply(say("42"), stop())] * 2)
    vietnamese = environment(tmp_path, upstream, LANG="vi_VN.UTF-8", PYTHONUTF8="1")
    _, _, err = await run_footnote("ask", "?", env=vietnamese)
    assert "✓ Ghi tệp · /report.md" in err
    _, _, err = await run_footnote("ask", "?", "--locale", "zh", env=vietnamese)
    assert "✓ 写入文件 · /report.md" in err


async def test_a_narrow_encoding_loses_signs_but_no_answer(upstream: Upstream, tmp_path: Path) -> None:
    upstream.script(reply(think("Hm."), say("Giá 42"), stop()))
    env = environment(tmp_path, upstream, PYTHONIOENCODING="ascii")
    code, out, err = await run_footnote("ask", "?", env=env)
    assert (code, out) == (0, "Gi\\xe1 42\n")
    assert err.splitlines()[0] == "thinking..."
    assert " - 10 tokens in - 5 out" in err


async def test_the_answer_streams_through_a_pipe(upstream: Upstream, tmp_path: Path) -> None:
    gate = asyncio.Event()
    upstream.script(reply(say("First."), hold(gate), say(" Second."), stop()))
    async with FootnoteProcess("ask", "?", env=environment(tmp_path, upstream)) as process:
        await process.out.wait_for_text("First.")
        gate.set()
        assert (await process.exit_code(), process.out.text) == (0, "First. Second.\n")


async def test_a_reader_that_leaves_ends_the_run_quietly(upstream: Upstream, tmp_path: Path) -> None:
    left = asyncio.Event()
    upstream.script(reply(say("First line.\n"), hold(left), say("More.\n"), stall()))
    async with FootnoteProcess("ask", "?", env=environment(tmp_path, upstream, "anthropic")) as process:
        await process.out.wait_for_text("First line.\n")
        process.out.close()
        left.set()
        assert (await process.exit_code(), process.err.text) == (0, "")
    await upstream.requests[0].connection.closed.wait()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
async def test_a_full_disk_is_said(upstream: Upstream, tmp_path: Path) -> None:
    upstream.script(reply(say("42"), stall()))
    full = os.open("/dev/full", os.O_WRONLY)
    async with FootnoteProcess("ask", "?", env=environment(tmp_path, upstream), stdout=full) as process:
        os.close(full)
        code = await process.exit_code()
    assert code == 1
    assert process.err.text.splitlines()[0] == "Error: the answer could not be written: No space left on device."


async def test_without_a_key_the_built_in_reader_answers_and_says_how_to_get_a_model(tmp_path: Path) -> None:
    code, out, err = await run_footnote("ask", "hello", "--quiet", env=environment(tmp_path))
    assert (code, err) == (0, "")
    for way in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "Ollama"):
        assert way in out


@API
async def test_a_refused_key_is_named_and_never_shown(upstream: Upstream, tmp_path: Path, api: Api) -> None:
    upstream.script(status(401, f"invalid key {upstream.key}"))
    code, out, err = await run_footnote("ask", "?", env=environment(tmp_path, upstream, api))
    assert (code, out) == (1, "")
    assert err.startswith("Error: ")
    assert f"{api.upper()}_API_KEY" in err
    assert upstream.key not in err


@pytest.mark.slow  # the request is retried, with pauses
async def test_a_server_that_is_not_there_is_a_failure_in_one_sentence(tmp_path: Path) -> None:
    env = environment(tmp_path) | {"OPENAI_API_KEY": "k", "FOOTNOTE_MODELS_PROVIDERS_OPENAI_BASE_URL": CLOSED}
    code, out, err = await run_footnote("ask", "?", env=env)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("Error: ")


async def test_an_answer_that_was_cut_says_so(upstream: Upstream, tmp_path: Path) -> None:
    upstream.script(reply(say("Half an ans"), stop("length")))
    code, out, err = await run_footnote("ask", "?", env=environment(tmp_path, upstream))
    assert (code, out) == (0, "Half an ans\n")
    assert err.startswith("The answer reached the maximum length of the model and was cut there.")


async def test_the_end_of_the_tool_rounds_is_said_with_what_to_do(upstream: Upstream, tmp_path: Path) -> None:
    (tmp_path / ".footnote").mkdir()
    (tmp_path / ".footnote" / "agents.json").write_text('{"agents": [{"id": "a", "maxToolRounds": 1}]}')
    upstream.script(reply(WRITE, stop("toolUse")), reply(say("All I have."), stop()))
    code, out, err = await run_footnote("ask", "?", "--agent", "a", env=environment(tmp_path, upstream))
    assert (code, out) == (0, "All I have.\n")
    assert "raise maxToolRounds of the agent in agents.json" in err


async def test_an_error_in_the_middle_keeps_what_came(upstream: Upstream, tmp_path: Path) -> None:
    upstream.script(reply(say("Half an ans"), error_event()))
    code, out, err = await run_footnote("ask", "?", env=environment(tmp_path, upstream))
    assert (code, out) == (1, "Half an ans\n")
    assert err.startswith("Error: ")


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        ([], b"", "There is no question."),
        (["  "], b"", "There is no question."),
        (["-"], b"\xff\xfe", "The question is not UTF-8 text."),
        (["?", "--output", "/dev/null"], b"", "--output: /dev/null cannot be created: "),
        (["?", "--agent", "nobody"], b"", "nobody"),
        (["?", "--model", "nowhere/model"], b"", "nowhere"),
        (["?", "--locale", "fr"], b"", "invalid choice: 'fr'"),
    ],
)
async def test_wrong_usage_is_a_sentence_and_exit_code_2(
    upstream: Upstream, tmp_path: Path, arguments: list[str], stdin: bytes, message: str
) -> None:
    code, out, err = await run_footnote("ask", *arguments, env=environment(tmp_path, upstream), stdin=stdin)
    assert (code, out) == (2, "")
    assert message in err


async def test_without_rich_the_answer_is_plain_and_a_line_says_how_to_get_more(
    upstream: Upstream, tmp_path: Path
) -> None:
    upstream.script(reply(say("The **an", "swer**."), stop()))
    without_rich = f"import sys; sys.modules['rich'] = None{FOREGROUND_PROGRAM}"
    env = environment(tmp_path, upstream)
    async with FootnoteProcess(
        "ask", "?", env=env, stdout="terminal", stderr="terminal", program=without_rich
    ) as process:
        assert await process.exit_code() == 0
    lines = process.out.text.splitlines()
    assert lines[:2] == ['For formatted answers: pip install "footnote[terminal]"', "The **answer**."]
    assert len(lines) == 4


@API
async def test_an_answer_of_nothing_is_said_to_be_one(upstream: Upstream, tmp_path: Path, api: Api) -> None:
    upstream.script(reply(stop()))
    code, out, err = await run_footnote("ask", "why?", env=environment(tmp_path, upstream, api))
    assert (code, out.strip()) == (1, "")
    assert "returned an empty answer" in err


@pytest.mark.parametrize("closed", [0, 1, 2])
async def test_a_stream_that_is_closed_from_the_start_is_no_accident(
    upstream: Upstream, tmp_path: Path, closed: int
) -> None:
    upstream.script(reply(say("42"), stop()))
    env = environment(tmp_path, upstream)
    command = f'exec "$0" -m footnote ask --quiet why {closed}{"<" if closed == 0 else ">"}&-'
    process = await asyncio.create_subprocess_exec("sh", "-c", command, sys.executable, env=env)
    assert await asyncio.wait_for(process.wait(), SECONDS) == 0
