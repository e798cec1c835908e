"""kill -9 while one of two calls of a round has finished: its sources are those of the run that goes on."""

import asyncio
import json
from pathlib import Path
from textwrap import dedent

import pytest

from cli.small_web import FACT, small_web
from plugin_packages import install
from runs.fold import FoldedTurn
from runs.server_process import SECONDS, ServerProcess
from runs.test_crashes import SLOW
from upstream import Upstream, call, parallel_calls, reply, say, stop

OTHER = "Ôxy được phát hiện bởi Carl Wilhelm Scheele"


@pytest.mark.slow
async def test_the_page_of_a_finished_call_keeps_its_number_and_supports_what_is_said_of_it(
    upstream: Upstream, tmp_path: Path
):
    site = tmp_path / "site"
    site.mkdir()
    install(site, "effect_package", dedent(SLOW), "effect = effect_package:effect\n")
    folded = FoldedTurn()
    async with small_web() as web:
        oxygen, other = web.url("/oxygen"), web.url("/oxy")
        calls = parallel_calls(
            call("read_page", {"url": oxygen}, id="c1"), call("effect", {"name": "slow", "wait": True}, id="c2")
        )
        upstream.script(
            reply(calls, stop("toolUse")),
            reply(call("read_page", {"url": other}, id="c3"), stop("toolUse")),
            reply(say(f"{FACT.rstrip('.')} [1]. {OTHER} [2]."), stop()),
        )
        settings = {
            "PYTHONPATH": str(site),
            "EFFECTS": str(tmp_path / "effects.txt"),
            "FOOTNOTE_AGENTS": json.dumps([{"id": "a", "webSearch": {"enabled": True}}]),
            "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": json.dumps([web.host]),
            "FOOTNOTE_CITATIONS_MODEL": "off",
        }
        process = await ServerProcess.start(tmp_path, upstream, **settings)
        async with process.client() as client:
            run_id = await client.start(await client.session(), f"Compare {oxygen} and {other}")
            following = asyncio.create_task(client.follow(run_id, folded))
            async with asyncio.timeout(SECONDS):
                while folded.statuses != {"c1": "done", "c2": "running"}:
                    await asyncio.sleep(0.02)
            await process.kill()
            await following
        process = await ServerProcess.start(tmp_path, upstream, **settings)
        async with process.client() as client:
            while not folded.ended:
                await client.follow(run_id, folded)
        assert await process.stop() == 0
        assert [len(web.requests_for(path)) for path in ("/oxygen", "/oxy")] == [1, 1]
    answer = next(block for block in folded.shown["blocks"] if block["type"] == "text")
    assert [(one["number"], one["verdict"]) for one in answer["citations"]] == [(1, "supported"), (2, "supported")]
