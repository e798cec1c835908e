"""Deadlines that a busy machine does not miss: none of these tests is about how fast it is."""

import pytest


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("footnote.web_search.pipeline.READING_SECONDS", 60.0)
    monkeypatch.setattr("footnote.web_search.reading.crawl.STORE_SECONDS", 60.0)
    monkeypatch.setattr("footnote.equipping.OLLAMA_SECONDS", 60.0)
