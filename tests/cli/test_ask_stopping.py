"""Ctrl-C and SIGTERM at any moment: the first stops gracefully, the second at once."""

import asyncio
import fcntl
import os
import signal
import struct
import termios
from pathlib import Path

import msgspec
import pytest

from cli.process import FOREGROUND_PROGRAM, SECONDS, FootnoteProcess, environment, with_tool_server
from footnote.protocol.events import Event, MessageDelta, MessageStop
from upstream import Upstream, call, hold, reply, say, stall, stop
from upstream.server import Api

API = pytest.mark.parametrize("api", ["anthropic", "openai"])
SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
WRITE = call("write_file", {"file_path": "/report.md", "content": "# R\n"})


@API
@SIGNALS
async def test_in_the_middle_of_the_answer(upstream: Upstream, tmp_path: Path, api: Api, number: int) -> None:
    upstream.script(reply(WRITE, stop("toolUse")), reply(say("Giá của 股价 is"), stall()))
    async with FootnoteProcess("ask", "?", env=environment(tmp_path, upstream, api)) as process:
        await process.out.wait_for_text("Giá của 股价 is")
        process.signal(number)
        assert await process.exit_code() == 130
    assert process.out.text == "Giá của 股价 is\n"
    assert "\nStopped. Kept: 5 words of the answer, 1 file.\nSaved /report.md as " in process.err.text
    await upstream.requests[-1].connection.closed.wait()


async def test_before_the_first_byte(upstream: Upstream, tmp_path: Path) -> None:
    upstream.script(reply(stall()))
    async with FootnoteProcess("ask", "?", env=environment(tmp_path, upstream)) as process:
        request = await upstream.wait_received(1)
        process.signal(signal.SIGINT)
        assert await process.exit_code() == 130
    assert (process.out.text, process.err.text) == ("", "Stopped. There was no answer yet.\n")
    await request.connection.closed.wait()


@pytest.mark.slow
async def test_in_the_middle_of_a_tool_call(upstream: Upstream, tmp_path: Path) -> None:
    with_tool_server(tmp_path)
    upstream.script(reply(say("One moment."), call("mcp__tools__wait", {"reason": "none"}), stop("toolUse")))
    async with FootnoteProcess("ask", "?", env=environment(tmp_path, upstream)) as process:
        await process.err.wait_for_text("⏳")
        process.signal(signal.SIGINT)
        assert await process.exit_code() == 130
    assert process.out.text == "One moment.\n"
    *_, call_line, kept_line, usage, _ = process.err.text.splitlines()
    assert call_line.startswith("✗ ")
    assert kept_line == "Stopped. Kept: 2 words of the answer."
    assert usage.endswith("ended: aborted")


async def test_a_job_in_the_background_of_a_script_is_not_meant(upstream: Upstream, tmp_path: Path) -> None:
    gate = asyncio.Event()
    upstream.script(reply(say("Half"), hold(gate), say(" and half."), stop()))
    ignoring = FOREGROUND_PROGRAM.replace("signal.default_int_handler", "signal.SIG_IGN")
    env = environment(tmp_path, upstream)
    async with FootnoteProcess("ask", "?", env=env, program=ignoring) as process:
        await process.out.wait_for_text("Half")
        process.signal(signal.SIGINT)
        gate.set()
        assert (await process.exit_code(), process.out.text) == (0, "Half and half.\n")


async def test_as_json_the_events_end_in_order(upstream: Upstream, tmp_path: Path) -> None:
    upstream.script(reply(say("Half"), stall()))
    async with FootnoteProcess("ask", "?", "--json", env=environment(tmp_path, upstream)) as process:
        await process.out.wait_for_text("Half")
        process.signal(signal.SIGINT)
        assert await process.exit_code() == 130
    events = [msgspec.json.decode(line, type=Event) for line in process.out.text.splitlines()]
    assert [event.delta.stop_reason for event in events if isinstance(event, MessageDelta)] == ["aborted"]
    assert isinstance(events[-1], MessageStop)
    assert process.err.text == "Stopped. Kept: 1 word of the answer.\n"


@pytest.mark.skipif(not hasattr(fcntl, "F_GETPIPE_SZ"), reason="only Linux tells how much fits into a pipe")
async def test_twice_ends_a_process_that_is_stuck_in_a_pipe_nobody_reads(upstream: Upstream, tmp_path: Path) -> None:
    upstream.script(reply(say("x" * 500_000), stall()))
    reader, writer = os.pipe()
    try:
        async with FootnoteProcess("ask", "?", env=environment(tmp_path, upstream), stdout=writer) as process:
            await _full(reader)
            process.signal(signal.SIGINT)
            process.signal(signal.SIGTERM)  # another signal, because two pending signals of one number are one
            assert await process.exit_code() == 130
    finally:
        os.close(reader)
        os.close(writer)
    assert process.err.text == ""


async def _full(pipe: int) -> None:
    """Waits until the pipe is full."""
    capacity = fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ)
    async with asyncio.timeout(SECONDS):
        while struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0] < capacity:
            await asyncio.sleep(0.01)  # there is no event for a full pipe
