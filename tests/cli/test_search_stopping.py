"""Ctrl-C during `footnote search`: the process ends at once, and every connection is closed."""

import signal
from pathlib import Path

import pytest

from cli.process import FootnoteProcess
from cli.small_web import env_for, hits
from upstream import Upstream, reply, say, stall
from web import Web
from web.providers import SearchServer, hanging_reply


async def test_ctrl_c_while_the_provider_is_silent_leaves_at_once(web: Web, tmp_path: Path) -> None:
    async with SearchServer("duckduckgo") as duckduckgo:
        duckduckgo.script(hanging_reply())
        async with FootnoteProcess("search", "oxygen", env=env_for(tmp_path, web, duckduckgo)) as process:
            await duckduckgo.wait_received(1)
            process.signal(signal.SIGINT)
            await duckduckgo.wait_closed()
            assert await process.exit_code() == 130
    assert (process.out.text, process.err.text) == ("", "⏳ searching\nStopped.\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_ctrl_c_while_pages_are_read_leaves_at_once(web: Web, tmp_path: Path, number: int) -> None:
    async with SearchServer("duckduckgo", hits(web, "/oxygen", "/hung", "/drip")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo)
        async with FootnoteProcess("search", "oxygen", env=env) as process:
            await process.err.wait_for_text("⏳ reading 1/3")
            await web.wait_requested("/hung")
            process.signal(number)
            await web.wait_closed()
            assert await process.exit_code() == 130
    assert process.out.text == ""
    assert process.err.text.endswith("\nStopped.\n")


async def test_ctrl_c_while_the_model_summarises_leaves_at_once(upstream: Upstream, web: Web, tmp_path: Path) -> None:
    upstream.script(reply(say("Half a sum"), stall()))
    async with SearchServer("duckduckgo", hits(web, "/oxygen")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo, upstream=upstream)
        async with FootnoteProcess("search", "oxygen", env=env) as process:
            request = await upstream.wait_received(1)
            process.signal(signal.SIGINT)
            assert await process.exit_code() == 130
    await request.connection.closed.wait()
    assert (process.out.text, process.err.text.splitlines()[-1]) == ("", "Stopped.")
