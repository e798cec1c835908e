"""Cancelling over the API interrupts whatever the run waits for."""

from pathlib import Path

import pytest

from footnote.web_search import pipeline
from interaction.test_search import hits
from server.harness import open_server
from upstream import Upstream
from web import Web
from web.providers import SearchServer

LONG = 120
"""So long that only the cancellation can end the wait."""


async def test_cancelling_reaches_pages_that_are_being_read(
    tmp_path: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pipeline, "CRAWL_TIMEOUT_SECONDS", LONG)
    async with Web() as web, SearchServer("duckduckgo", hits(web, "/hung")) as search:
        settings = {
            "FOOTNOTE_MODELS_DEFAULT": "footnote/reader",
            "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": f'["{web.host}"]',
            "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_DUCKDUCKGO_BASE_URL": search.url,
            "FOOTNOTE_TOOLS_WEB_SEARCH_CACHE_TTL_MINUTES": "0",
            "FOOTNOTE_TOOLS_WEB_SEARCH_TIMEOUT_SECONDS": str(LONG),
        }
        async with open_server(tmp_path, upstream, **settings) as server:
            client = server.local
            run_id = await client.start_run(await client.create_session(), "Who coined the name oxygen?")
            await web.wait_requested("/hung")
            response = await client.request("POST", f"/v2/runs/{run_id}/cancel")
            await web.wait_closed()
            assert response.json["state"] == "cancelled"
