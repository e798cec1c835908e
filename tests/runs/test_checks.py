"""kill -9 in the middle of a check: the next start goes on with it."""

import asyncio
from pathlib import Path

from cli.small_web import article
from runs.fold import FoldedTurn
from runs.server_process import SECONDS, ServerProcess
from upstream import Upstream
from web import Web, hanging_reply

FACT = "Oxygen was isolated by Carl Wilhelm Scheele in Uppsala, before 1772."


async def test_a_check_goes_on_after_a_kill_and_its_events_after_the_last_one_that_was_seen(
    upstream: Upstream, tmp_path: Path
):
    async with Web() as web:
        web.put("/oxygen", hanging_reply())
        settings = {
            "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": f'["{web.host}"]',
            "FOOTNOTE_CITATIONS_MODEL": "off",
        }
        server = await ServerProcess.start(tmp_path, upstream, **settings)
        folded = FoldedTurn()
        async with server.client() as client:
            started = await client.json("POST", "/v2/checks", {"text": f"{FACT[:-1]} ({web.url('/oxygen')})."}, 202)
            following = asyncio.create_task(client.follow(started["run_id"], folded))
            async with asyncio.timeout(SECONDS):
                while not any(one.path == "/oxygen" for one in web.requests):
                    await asyncio.sleep(0.02)
            await server.kill()
            await following
        web.put("/oxygen", article("Oxygen", FACT))
        server = await ServerProcess.start(tmp_path, upstream, **settings)
        async with server.client() as client:
            while not folded.ended:
                await client.follow(started["run_id"], folded)
            view = await client.json("GET", f"/v2/runs/{started['run_id']}")
            path = f"/v2/sessions/{started['session_id']}/files/citations?file_path=/checked.md"
            counts = (await client.json("GET", path))["counts"]
        await server.stop()
    assert (view["state"], folded.shown["stop_reason"]) == ("done", "stop")
    assert (counts["statements"], counts["supported"]) == (1, 1)
    assert upstream.requests == []
