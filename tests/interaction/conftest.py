"""Deadlines that a busy machine does not miss: none of these tests is about how fast it is."""

import pytest


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("footnote.web_search.pipeline.CRAWL_TIMEOUT_SECONDS", 60.0)
    monkeypatch.setattr("footnote.web_search.crawl.crawler.CACHE_TIMEOUT_SECONDS", 60.0)
    monkeypatch.setattr("footnote.run_setup.OLLAMA_SECONDS", 60.0)
