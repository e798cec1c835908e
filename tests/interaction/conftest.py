"""Timeouts that a busy machine keeps, because none of these tests is about speed; and the small web."""

from collections.abc import AsyncIterator

import pytest

from web import Web


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("footnote.web_search.pipeline.CRAWL_TIMEOUT_SECONDS", 60.0)
    monkeypatch.setattr("footnote.web_search.crawl.crawler.CACHE_TIMEOUT_SECONDS", 60.0)
    monkeypatch.setattr("footnote.run_setup.OLLAMA_SECONDS", 60.0)


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with Web() as opened:
        yield opened
