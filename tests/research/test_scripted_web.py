"""The web and the model of the research tests, on plain questions."""

from collections import Counter
from pathlib import Path

import pytest

from research.barrage import FACTS, THEMES
from research.research_web import PAGES, ResearchWeb
from research.scripted_model import ResearchModel
from server.harness import answer_text, open_server
from upstream import Upstream


async def test_the_web_has_forty_pages_on_several_hosts_and_every_fact_twice():
    async with ResearchWeb() as web:
        assert web.pages == PAGES
        assert [len(host.paths) > 10 for host in web.hosts.values()] == [True, True, True, False]
        told = Counter(fact.value for fact in FACTS for text in web.texts if fact.sentence in text)
    assert told == {fact.value: 2 for fact in FACTS}


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.keyword)
async def test_the_scripted_reader_finds_the_facts_of_its_theme_and_what_contradicts_them(
    theme, tmp_path: Path, upstream: Upstream
):
    upstream.script(ResearchModel())
    async with ResearchWeb(hangs=False) as web, open_server(tmp_path, upstream, **web.settings) as server:
        events = await server.local.ask_for_events(await server.local.create_session(), theme.question)
        assert web.read_twice == []
        assert web.search.problems == []
    text = answer_text(events)
    assert [fact.value for fact in theme.facts if fact.value not in text] == []
    assert theme.trap is None or theme.trap.value in text
