"""Whole searches: scripted providers, the small web, and a scripted model or none; everything else is real."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from footnote import App, Run
from footnote.protocol.events import BlockDelta, CitationsGrowth, Event, MessageDelta, ToolProgress
from footnote.protocol.sources import Citation
from footnote.protocol.tools import Progress
from footnote.web_search.pipeline import SearchAnswer
from interaction.test_turns import answer_text, environment, follow, results, stop_reason
from loop_clock import advance_loop_clock
from upstream import Upstream, call, reply, say, stall, status, stop, usage
from web import Web
from web.providers import Hit, SearchServer, hanging_reply, recorded_reply

OXYGEN = "/en/Oxygen"
TIMEOUT = 60


def keyless(home: Path, web: Web, search: SearchServer, **more: str) -> dict[str, str]:
    """The settings of a user without keys: one provider, and one host whose pages may be read."""
    return {
        "FOOTNOTE_HOME": str(home),
        "FOOTNOTE_MODELS_PROVIDERS_OLLAMA_BASE_URL": "http://127.0.0.1:9/v1",
        "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": f'["{web.host}"]',
        "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_DUCKDUCKGO_BASE_URL": search.url,
        "FOOTNOTE_TOOLS_WEB_SEARCH_TIMEOUT_SECONDS": str(TIMEOUT),
        **more,
    }


def hits(web: Web, *paths: str) -> list[Hit]:
    return [Hit(path.rpartition("/")[2], web.url(path), f"About {path}.") for path in paths]


@asynccontextmanager
async def searching(
    home: Path, web: Web, pages: Sequence[Hit] | Callable[[str], Sequence[Hit]], **more: str
) -> AsyncIterator[App]:
    """An app whose only provider returns these pages."""
    async with SearchServer("duckduckgo", pages) as search, App.open(environ=keyless(home, web, search, **more)) as app:
        yield app


def citations(events: Sequence[Event]) -> list[Citation]:
    deltas = (event.delta for event in events if isinstance(event, BlockDelta))
    return [one for delta in deltas if isinstance(delta, CitationsGrowth) for one in delta.citations]


def progress(events: Sequence[Event]) -> list[tuple[str, int, int | None]]:
    return [(event.stage, event.done, event.total) for event in events if isinstance(event, ToolProgress)]


async def answer_of(app: App, query: str, **options: Any) -> SearchAnswer:
    steps = [step async for step in app.search(query, **options)]
    assert isinstance(steps[-1], SearchAnswer)
    return steps[-1]


async def snapshot_of(app: App, source: dict[str, Any]) -> str:
    snapshot = await app.library.snapshot(source["snapshot_id"])
    assert snapshot is not None
    return snapshot.text


async def test_without_a_key_the_reader_answers_with_passages_that_stand_in_the_snapshots(tmp_path: Path, web: Web):
    pages = hits(web, OXYGEN, "/en/Normans", "/en/Huguenot", "/en/Pharmacy", "/en/Imperialism")
    async with SearchServer("duckduckgo", pages) as search, App.open(environ=keyless(tmp_path, web, search)) as app:
        run = await app.ask("Who coined the name oxygen in 1777?")
        events = await follow(run)
        [result] = results(events)
        assert result.status == "success"
        assert result.artifact is not None
        assert [source["status"] for source in result.artifact["sources"]] == ["read"] * 5
        cited = citations(events)
        assert 1 <= len(cited) <= 3
        texts = {source["number"]: await snapshot_of(app, source) for source in result.artifact["sources"]}
        for one in cited:
            assert one.verdict == "supported"
            assert one.quote_start is not None
            assert texts[one.number][one.quote_start : one.quote_end] == one.quote
        assert any("Antoine Lavoisier" in (one.quote or "") for one in cited)
        assert run.model_id == "footnote/reader"
    assert search.problems == []


async def test_progress_names_the_stages(tmp_path: Path, web: Web):
    pages = hits(web, OXYGEN, "/en/Normans")
    async with SearchServer("duckduckgo", pages) as search, App.open(environ=keyless(tmp_path, web, search)) as app:
        events = await follow(await app.ask("What is oxygen?"))
    assert progress(events) == [
        ("searching", 0, None),
        ("reading", 1, 2),
        ("reading", 2, 2),
        ("summarising", 0, None),
    ]


async def test_one_hung_page_of_five_costs_no_more_than_the_deadline(
    tmp_path: Path, web: Web, monkeypatch: pytest.MonkeyPatch
):
    pages = hits(web, OXYGEN, "/hung", "/en/Normans", "/en/Huguenot", "/en/Pharmacy")
    answer = None
    async with searching(tmp_path, web, pages) as app:
        async for step in app.search("Who coined the name oxygen in 1777?"):
            if isinstance(step, Progress) and (step.stage, step.done) == ("reading", 4):
                # All other pages are read; only the deadline ends the wait for the hanging one.
                advance_loop_clock(monkeypatch, TIMEOUT)
            answer = step
    assert isinstance(answer, SearchAnswer)
    assert [source.status for source in answer.artifact.sources] == ["read", "failed", "read", "read", "read"]
    [late] = [page for page in answer.artifact.receipt.pages if page.status == "failed"]
    assert late.failure == "timeout"
    assert "Antoine Lavoisier" in answer.artifact.summary


async def test_pages_that_cannot_be_read_stay_sources_with_their_reason(tmp_path: Path, web: Web):
    bad = {
        "/500": "status",
        "/loop": "redirects",
        "/bomb": "too_large",
        "/empty": "empty",
        "/javascript": "needs_javascript",
        "/cookies": "consent_wall",
        "/picture.png": "media_type",
        "/private/forbidden": "robots",
    }
    pages = hits(web, OXYGEN, *bad)
    settings = {"FOOTNOTE_TOOLS_WEB_SEARCH_CRAWL_COUNT": "10", "FOOTNOTE_TOOLS_WEB_SEARCH_MAX_RESULTS": "10"}
    async with searching(tmp_path, web, pages, **settings) as app:
        answer = await answer_of(app, "Who coined the name oxygen in 1777?")
    reports = {page.url: page for page in answer.artifact.receipt.pages}
    assert {path: reports[web.url(path)].failure for path in bad} == bad
    assert all(reports[web.url(path)].reason for path in bad)
    assert [source.number for source in answer.artifact.sources] == list(range(1, 10))
    assert answer.content.count("](http") == 9


async def test_a_model_summarises_and_its_footnotes_are_checked(tmp_path: Path, web: Web, upstream: Upstream):
    named = "The name oxygen was coined in 1777 by Antoine Lavoisier [1]."
    summary = f"{named} It was first sold in shops in 1312 [1]. Cats like it [9]."
    upstream.script(
        reply(call("web_search", {"query": "oxygen", "prompt": "who named it"}), stop("toolUse")),
        reply(say(summary), usage(output=7), stop()),
        reply(say(named, " It was invented in Hanoi in 1999 [1][7]."), stop()),
    )
    async with SearchServer("duckduckgo", hits(web, OXYGEN)) as search:
        settings = keyless(tmp_path, web, search) | environment("anthropic", upstream, tmp_path)
        async with App.open(environ=settings | {"FOOTNOTE_CITATIONS_MODEL": "off"}) as app:
            run = await app.ask("Who coined the name oxygen in 1777?")
            events = await follow(run)
    [result] = results(events)
    assert result.artifact is not None
    assert [one["verdict"] for one in result.artifact["citations"]] == ["supported", "unsupported", "unsupported"]
    assert result.artifact["receipt"]["summary_by"].startswith("anthropic/")
    assert [(one.number, one.verdict) for one in citations(events)] == [
        (1, "supported"),
        (1, "unsupported"),
        (7, "unsupported"),
    ]
    [_, last] = [message for message in run.messages if message.content and hasattr(message, "usage")]
    assert [one.verdict for one in last.content[0].citations] == ["supported", "unsupported", "unsupported"]
    body = upstream.requests[1].body
    assert "tools" not in body
    assert "<web_text id=" in str(body["messages"])
    assert ("summarising", 0, None) in progress(events)


async def test_a_summary_costs_tokens_that_are_counted(tmp_path: Path, web: Web, upstream: Upstream):
    upstream.script(
        reply(call("web_search", {"query": "oxygen"}), usage(input=1, output=1), stop("toolUse")),
        reply(say("It was named in 1777 [1]."), usage(input=100, output=10), stop()),
        reply(say("Lavoisier [1]."), usage(input=1, output=1), stop()),
    )
    async with SearchServer("duckduckgo", hits(web, OXYGEN)) as search:
        settings = keyless(tmp_path, web, search) | environment("anthropic", upstream, tmp_path)
        async with App.open(environ=settings) as app:
            events = await follow(await app.ask("What is oxygen?"))
    [end] = [event for event in events if isinstance(event, MessageDelta)]
    assert (end.usage.input_tokens, end.usage.output_tokens) == (102, 12)


async def test_a_model_that_fails_to_summarise_is_replaced_by_quotations(tmp_path: Path, web: Web, upstream: Upstream):
    upstream.script(
        reply(call("web_search", {"query": "Who coined the name oxygen in 1777?"}), stop("toolUse")),
        status(400),
        reply(say("Lavoisier [1]."), stop()),
    )
    async with SearchServer("duckduckgo", hits(web, OXYGEN)) as search:
        settings = keyless(tmp_path, web, search) | environment("anthropic", upstream, tmp_path)
        async with App.open(environ=settings) as app:
            [result] = results(await follow(await app.ask("What is oxygen?")))
    assert result.artifact is not None
    assert result.artifact["receipt"]["summary_by"] == "passages"
    assert "Antoine Lavoisier" in result.artifact["summary"]
    assert " failed; the summary is put together from quotations." in result.content
    assert " failed: “" in result.artifact["receipt"]["notes"][-1]


async def test_one_address_keeps_its_number_through_the_session(tmp_path: Path, web: Web):
    script = [hits(web, OXYGEN, "/en/Normans"), hits(web, "/en/Pharmacy", OXYGEN)]
    numbers: list[list[int]] = []
    async with searching(tmp_path, web, lambda _: script[len(numbers)]) as app:
        run: Run | None = None
        for question in ("What is oxygen made of?", "What does a pharmacy do with oxygen?"):
            run = await app.ask(question, after=run)
            [result] = results(await follow(run))
            assert result.artifact is not None
            numbers.append([source["number"] for source in result.artifact["sources"]])
    assert numbers == [[1, 2], [3, 1]]


async def test_two_of_three_providers_are_dead_and_there_is_an_answer_that_says_so(tmp_path: Path, web: Web):
    pages = hits(web, OXYGEN)
    async with (
        SearchServer("duckduckgo", pages) as duckduckgo,
        SearchServer("brave") as brave,
        SearchServer("serper") as serper,
    ):
        brave.script(recorded_reply("brave_error_429.json", 429), recorded_reply("brave_error_429.json", 429))
        serper.script(recorded_reply("serper_error_403.json", 403))
        settings = keyless(tmp_path, web, duckduckgo) | {
            "BRAVE_API_KEY": brave.key,
            "SERPER_API_KEY": serper.key,
            "FOOTNOTE_TOOLS_WEB_SEARCH_DEFAULT_PROVIDER": "brave",
            "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_BRAVE_BASE_URL": brave.url,
            "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_SERPER_BASE_URL": serper.url,
        }
        async with App.open(environ=settings) as app:
            answer = await answer_of(app, "oxygen name")
    tries = answer.artifact.receipt.providers
    assert [(one.provider, one.outcome) for one in tries] == [
        ("brave", "blocked"),
        ("serper", "error"),
        ("duckduckgo", "results"),
    ]
    assert "brave did not answer" in answer.content
    assert brave.key not in str(answer)


async def test_when_all_providers_are_dead_one_error_names_each_cause(tmp_path: Path, web: Web):
    async with SearchServer("duckduckgo") as duckduckgo, SearchServer("searxng") as searxng:
        duckduckgo.script(recorded_reply("ddg_html_blocked_202.html", 202))
        searxng.script(hanging_reply())
        settings = keyless(tmp_path, web, duckduckgo) | {
            "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_SEARXNG_BASE_URL": searxng.url,
            "FOOTNOTE_TOOLS_WEB_SEARCH_TIMEOUT_SECONDS": "1",
        }
        async with App.open(environ=settings) as app:
            events = await follow(await app.ask("What is the tallest mountain of Bhutan?"))
    [result] = results(events)
    assert result.status == "error"
    for cause in ("duckduckgo", "searxng", "library"):
        assert cause in result.content
    assert result.artifact is not None
    assert result.artifact["sources"] == []
    assert stop_reason(events) == "stop"
    assert "duckduckgo" in answer_text(events)


async def test_a_pasted_link_is_read(tmp_path: Path, web: Web):
    async with SearchServer("duckduckgo") as search, App.open(environ=keyless(tmp_path, web, search)) as app:
        events = await follow(await app.ask(f"Who coined the name oxygen? {web.url(OXYGEN)}"))
    [result] = results(events)
    assert result.name == "read_page"
    assert result.status == "success"
    assert any("Antoine Lavoisier" in (one.quote or "") for one in citations(events))
    assert search.requests == []


async def test_a_pasted_link_into_the_private_network_is_refused_with_the_way_to_allow_it(tmp_path: Path, web: Web):
    async with SearchServer("duckduckgo") as search:
        settings = keyless(tmp_path, web, search) | {"FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": "[]"}
        async with App.open(environ=settings) as app:
            [result] = results(await follow(await app.ask(f"Read {web.url(OXYGEN)}")))
    assert result.status == "error"
    assert "allowPrivateHosts" in result.content
    assert web.connections == 0


async def test_instructions_on_a_page_stay_inside_the_marks(tmp_path: Path, web: Web, upstream: Upstream):
    upstream.script(
        reply(call("web_search", {"query": "x"}), stop("toolUse")),
        reply(say("The page says little [1]."), stop()),
        reply(say("Little."), stop()),
    )
    async with SearchServer("duckduckgo", hits(web, "/injection")) as search:
        settings = keyless(tmp_path, web, search) | environment("anthropic", upstream, tmp_path)
        async with App.open(environ=settings) as app:
            await follow(await app.ask("What does it say?"))
    request = str(upstream.requests[1].body["messages"])
    opened, closed = request.count("<web_text id="), request.count("</web_text id=")
    assert opened == closed == 1
    assert request.count("web_text") == opened + closed + request.count("(/web_text") + request.count("(web_text")


async def test_stopping_closes_provider_pages_and_model_at_once(tmp_path: Path, web: Web, upstream: Upstream):
    upstream.script(reply(call("web_search", {"query": "x"}), stop("toolUse")), reply(say("Al"), stall()))
    async with SearchServer("duckduckgo", hits(web, OXYGEN)) as search:
        settings = keyless(tmp_path, web, search) | environment("anthropic", upstream, tmp_path)
        async with App.open(environ=settings) as app:
            run = await app.ask("What does it say?")
            async with aclosing(run.events()) as events:
                async for event in events:
                    if isinstance(event, ToolProgress) and event.stage == "summarising":
                        run.cancel()
                        break
                rest = [event async for event in events]
            assert stop_reason(rest) == "aborted"
            for request in upstream.requests[1:]:
                await asyncio.wait_for(request.connection.closed.wait(), 30)


async def test_stopping_while_pages_hang_closes_their_sockets(tmp_path: Path, web: Web):
    async with searching(tmp_path, web, hits(web, "/hung", "/drip")) as app:
        steps = app.search("x")
        assert await anext(steps) == Progress("searching", label="x")
        reading = asyncio.ensure_future(anext(steps))
        await web.wait_requested("/hung")
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        await steps.aclose()
        await web.wait_closed()


async def test_twenty_equal_searches_at_once_ask_the_provider_once(tmp_path: Path, web: Web):
    pages = hits(web, OXYGEN)
    async with SearchServer("duckduckgo", pages) as search, App.open(environ=keyless(tmp_path, web, search)) as app:
        answers = await asyncio.gather(*(answer_of(app, "oxygen") for _ in range(20)))
        assert len(search.requests) == 1
    assert {len(answer.artifact.sources) for answer in answers} == {1}


async def test_a_second_program_profits_from_the_cache(tmp_path: Path, web: Web):
    async with SearchServer("duckduckgo", hits(web, OXYGEN)) as search:
        settings = keyless(tmp_path, web, search)
        for _ in range(2):
            async with App.open(environ=settings) as app:
                answer = await answer_of(app, "oxygen")
        assert len(search.requests) == 1
    assert answer.artifact.receipt.providers[0].cached
    assert answer.artifact.receipt.pages[0].cache == "fresh"


async def test_a_home_that_cannot_be_written_still_gives_answers(tmp_path: Path, web: Web):
    (tmp_path / "footnote.db").mkdir()
    async with searching(tmp_path, web, hits(web, OXYGEN)) as app:
        answer = await answer_of(app, "Who coined the name oxygen in 1777?")
        assert await app.library.snapshot(answer.artifact.sources[0].snapshot_id or "") is not None


async def test_nothing_found_is_said(tmp_path: Path, web: Web):
    async with SearchServer("duckduckgo") as search:
        search.script(recorded_reply("ddg_html_no_results.html"))
        async with App.open(environ=keyless(tmp_path, web, search)) as app:
            answer = await answer_of(app, "xyzzy")
    assert answer.artifact.sources == ()
    assert "Nothing was found" in answer.content


@pytest.mark.parametrize(
    ("question", "report"),
    [("Write a report about oxygen.", "/"), ("Hãy viết báo cáo về ôxy.", "/"), ("请写一份关于氧的报告。", "/")],
)
async def test_asked_for_a_report_the_reader_writes_a_file(question: str, report: str, tmp_path: Path, web: Web):
    async with searching(tmp_path, web, hits(web, OXYGEN)) as app:
        run = await app.ask(question)
        events = await follow(run)
        assert [result.name for result in results(events)] == ["web_search", "write_file"]
        assert run.workspace is not None
        [record] = await run.workspace.list()
        assert record.path.startswith(report)
        assert web.url(OXYGEN) in await run.workspace.read_text(record.path)
