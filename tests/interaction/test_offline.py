"""Searches without a working provider: the library answers from pages read before, or the causes are reported."""

import re
from pathlib import Path

from footnote import App
from interaction.test_search import OXYGEN, answer_of, citations, hits, keyless
from interaction.test_turns import answer_text, follow, results
from web import Web
from web.providers import SearchServer


async def test_offline_the_library_answers_from_what_was_read_before(tmp_path: Path, web: Web):
    question = "Who coined the name oxygen in 1777?"
    async with SearchServer("duckduckgo", hits(web, OXYGEN)) as search:
        settings = keyless(tmp_path, web, search)
        async with App.open(environ=settings) as app:
            await answer_of(app, question)
    request_count = len(web.requests)
    settings["FOOTNOTE_TOOLS_WEB_SEARCH_CACHE_TTL_MINUTES"] = "0"
    async with App.open(environ=settings) as app:  # the provider is gone
        events = await follow(await app.ask(question))
    [result] = results(events)
    assert result.artifact is not None
    assert result.artifact["receipt"]["providers"][-1]["provider"] == "library"
    assert [source["url"] for source in result.artifact["sources"]] == [web.url(OXYGEN)]
    assert any("Antoine Lavoisier" in (one.quote or "") for one in citations(events))
    assert len(web.requests) == request_count


async def test_offline_the_question_of_the_readme_is_not_answered_with_the_readme(tmp_path: Path, web: Web):
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    [question] = re.findall(r'^\.venv/bin/footnote ask "(.+)"$', readme, re.MULTILINE)
    async with SearchServer("duckduckgo") as search:
        settings = keyless(tmp_path, web, search)
    async with App.open(environ=settings) as app:
        events = await follow(await app.ask(question))
    [result] = results(events)
    assert result.status == "error"
    assert answer_text(events).startswith(f"The search for “{question}” failed:")
    assert "duckduckgo: it could not be reached" in answer_text(events)
    assert "library: nothing that was read before matches" in answer_text(events)
    assert citations(events) == []


async def test_offline_a_question_about_a_key_is_answered_from_tables_and_prose(tmp_path: Path, web: Web):
    async with SearchServer("duckduckgo") as search:
        settings = keyless(tmp_path, web, search)
    async with App.open(environ=settings) as app:
        events = await follow(await app.ask("How do I add a Brave search key?"))
    quotes = [one.quote or "" for one in citations(events)]
    assert any("| `BRAVE_API_KEY` |" in quote for quote in quotes), quotes
    assert any("Keys for search (`BRAVE_API_KEY`" in quote for quote in quotes), quotes
    assert not any(".py" in quote or "```" in quote for quote in quotes)
    assert answer_text(events).startswith("The web could not be searched (duckduckgo), so this comes from the library:")


async def test_offline_the_documentation_answers_questions_about_footnote(tmp_path: Path, web: Web):
    async with SearchServer("duckduckgo") as search:
        settings = keyless(tmp_path, web, search)
    async with App.open(environ=settings) as app:
        answer = await answer_of(app, "How do I set the default search provider of Footnote?")
    assert answer.artifact.sources[0].url.startswith("footnote://docs/")
