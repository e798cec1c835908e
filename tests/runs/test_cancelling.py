"""Cancelling over the API reaches what the run waits for, wherever that is."""

from pathlib import Path

import pytest

from footnote.web_search import pipeline
from interaction.test_search import hits
from runs.test_following import _start
from server.house import open_house
from upstream import Upstream
from web import Web
from web.providers import SearchServer

LONG = 120
"""Seconds: nobody waits for that here."""


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
        async with open_house(tmp_path, upstream, **settings) as house:
            person = house.local
            run_id = await _start(person, await person.create_session(), "Who coined the name oxygen?")
            await web.wait_requested("/hung")
            answer = await person.request("POST", f"/v2/runs/{run_id}/cancel")
            await web.wait_closed()
            assert answer.json["state"] == "cancelled"
