"""Provider search: which providers are asked, in which order, what counts as results, and the error where none has
any."""

from collections.abc import Callable

import pytest

from footnote.net.client import Net
from footnote.protocol.errors import UpstreamError
from footnote.protocol.sources import ProviderTry, SearchHit, SearchResults
from footnote.web_search.providers import builtin_providers
from footnote.web_search.providers.base import Provider, ProviderContext, RequestPlan
from footnote.web_search.providers.outcomes import Outcome
from footnote.web_search.result import fallback_notes
from footnote.web_search.search import FoundResults, ProviderSearch, SearchFailed
from footnote.web_search.settings import ProviderAccess, SearchRequest, WebSearchSettings
from web.providers import (
    HITS,
    NAMES,
    Name,
    SearchReply,
    SearchServer,
    hanging_reply,
    recorded_reply,
    results_reply,
    truncated_reply,
)
from web_search.fakes import FakeClock, FakeLibrary, expected_hit, make_request, make_settings

CACHED_MINUTES = SearchHit(title="Kept", url="footnote:docs/search", description="Read before.")
DEAD = (
    "it could not be reached: the connection was refused; "
    "check the network and tools.webSearch.providers.duckduckgo.baseUrl"
)
FAILURES: dict[str, Callable[[], SearchReply]] = {
    "time-out": hanging_reply,
    "broken connection": truncated_reply,
    "too fast": lambda: SearchReply(429),
    "server error": lambda: SearchReply(503),
    "nonsense": lambda: SearchReply(body=b"nonsense"),
    "wrong key": lambda: SearchReply(401, b'{"message": "no"}'),
}


@pytest.mark.parametrize("provider", NAMES)
async def test_the_wanted_provider_answers(provider: Name):
    async with SearchServer(provider) as server, Net() as net:
        answer = await ProviderSearch(net, clock=FakeClock().clock).search(make_request(), make_settings(server))
    hits = tuple(expected_hit(hit, dated=provider != "tavily") for hit in HITS)
    assert answer == FoundResults(
        SearchResults(query="oxygen", provider=provider, results=hits, count=3, took_ms=0),
        (ProviderTry(provider=provider, outcome="results", count=3),),
    )


@pytest.mark.parametrize("provider", ["serper", "tavily", "searxng", "duckduckgo"])
@pytest.mark.parametrize("failure", FAILURES)
async def test_any_failure_falls_through_to_the_next_and_is_told(provider: Name, failure: str):
    async with SearchServer(provider) as server, SearchServer("brave") as brave, Net() as net:
        server.script(FAILURES[failure]())
        settings = make_settings(server, brave, timeout_seconds=2 if failure == "time-out" else 15)
        answer = await ProviderSearch(net).search(make_request(), settings)
    assert (answer.results.provider, answer.results.count) == ("brave", 3)
    first, second = answer.tries
    assert (first.provider, first.outcome in ("error", "blocked"), bool(first.reason)) == (provider, True, True)
    assert (second.provider, second.outcome, second.reason) == ("brave", "results", None)


async def test_where_the_wanted_provider_finds_nothing_the_next_is_asked():
    async with SearchServer("duckduckgo", ()) as server, SearchServer("brave") as brave, Net() as net:
        answer = await ProviderSearch(net, FakeLibrary((CACHED_MINUTES,)), clock=FakeClock().clock).search(
            make_request(), make_settings(server, brave)
        )
    assert answer.tries == (
        ProviderTry(provider="duckduckgo", outcome="empty"),
        ProviderTry(provider="brave", outcome="results", count=3),
    )
    assert fallback_notes(answer.tries) == ["duckduckgo found nothing. These results are from brave."]


async def test_where_the_web_has_nothing_the_library_may():
    async with SearchServer("duckduckgo", ()) as server, Net() as net:
        answer = await ProviderSearch(net, FakeLibrary((CACHED_MINUTES,)), clock=FakeClock().clock).search(
            make_request(), make_settings(server)
        )
    assert answer.results.results == (CACHED_MINUTES,)
    assert [attempt.outcome for attempt in answer.tries] == ["empty", "results"]


async def test_that_nobody_finds_anything_is_an_answer():
    async with SearchServer("duckduckgo", ()) as server, SearchServer("brave") as brave, Net() as net:
        brave.script(SearchReply(503))
        answer = await ProviderSearch(net, FakeLibrary(), clock=FakeClock().clock).search(
            make_request(), make_settings(server, brave)
        )
    reason = "it has a problem of its own (status 503): try again later"
    assert answer == FoundResults(
        SearchResults(query="oxygen", provider="duckduckgo", results=(), count=0, took_ms=0),
        (
            ProviderTry(provider="duckduckgo", outcome="empty"),
            ProviderTry(provider="brave", outcome="error", code="server_error", reason=reason),
            ProviderTry(provider="library", outcome="empty", reason="nothing that was read before matches"),
        ),
    )
    assert fallback_notes(answer.tries) == [
        f"duckduckgo found nothing; brave did not answer ({reason}); library found nothing."
    ]


async def test_the_others_stand_in_in_a_fixed_order_and_the_library_comes_last():
    library = FakeLibrary((CACHED_MINUTES,))
    servers = {name: SearchServer(name) for name in NAMES}
    for server in servers.values():
        server.script(SearchReply(500))
        await server.__aenter__()
    async with Net() as net:
        finder = ProviderSearch(net, library, clock=FakeClock().clock)
        answer = await finder.search(make_request(count=2), make_settings(*servers.values(), provider="searxng"))
    for server in servers.values():
        await server.__aexit__(None, None, None)
    broken = "it has a problem of its own (status 500): try again later"
    expected = ("searxng", "brave", "serper", "tavily", "duckduckgo")
    assert answer == FoundResults(
        SearchResults(query="oxygen", provider="library", results=(CACHED_MINUTES,), count=1, took_ms=0),
        (
            *(ProviderTry(provider=name, outcome="error", code="server_error", reason=broken) for name in expected),
            ProviderTry(provider="library", outcome="results", count=1),
        ),
    )
    assert library.searches == [("oxygen", 2)]


async def test_with_nothing_set_at_all_duckduckgo_and_the_library_are_there():
    async with Net() as net:
        answer = await ProviderSearch(net, FakeLibrary((CACHED_MINUTES,)), clock=FakeClock().clock).search(
            make_request(), make_settings()
        )
    assert answer.tries == (
        ProviderTry(provider="duckduckgo", outcome="error", code="unreachable", reason=DEAD),
        ProviderTry(provider="library", outcome="results", count=1),
    )


async def test_when_all_fail_one_error_names_each_cause():
    async with SearchServer("duckduckgo") as server, SearchServer("brave", key="another") as brave, Net() as net:
        server.script(recorded_reply("ddg_html_blocked_202.html", 202))
        with pytest.raises(SearchFailed) as failure:
            await ProviderSearch(net, FakeLibrary(), clock=FakeClock().clock).search(
                make_request(), make_settings(server, brave)
            )
    robot = "it takes this machine for a robot: wait a minute, or set BRAVE_API_KEY, SERPER_API_KEY or TAVILY_API_KEY"
    key = "it did not accept the key (status 422: “The provided subscription token is invalid”): check BRAVE_API_KEY"
    assert failure.value.tries == (
        ProviderTry(provider="duckduckgo", outcome="blocked", code="robot_check", reason=f"{robot} (status 202)"),
        ProviderTry(provider="brave", outcome="error", code="bad_key", reason=key),
        ProviderTry(provider="library", outcome="empty", reason="nothing that was read before matches"),
    )
    assert failure.value.message == (
        f"No search provider had an answer. duckduckgo: {robot} (status 202). brave: {key}. "
        "library: nothing that was read before matches."
    )
    assert (failure.value.type, isinstance(failure.value, UpstreamError)) == ("search_failed", True)
    assert "it did not accept the key (status 422): check BRAVE_API_KEY." in failure.value.model_message


async def test_a_library_that_fails_is_one_more_cause():
    async with Net() as net:
        with pytest.raises(SearchFailed) as failure:
            await ProviderSearch(net, FakeLibrary(error=OSError("disk")), clock=FakeClock().clock).search(
                make_request(), make_settings()
            )
    assert [(attempt.provider, attempt.outcome) for attempt in failure.value.tries] == [
        ("duckduckgo", "error"),
        ("library", "error"),
    ]


async def test_without_a_library_that_is_one_more_cause():
    async with Net() as net:
        with pytest.raises(SearchFailed, match=r"library: there is no library: check database\.url"):
            await ProviderSearch(net).search(make_request(), make_settings())


async def test_a_library_that_was_wanted_may_find_nothing_and_the_web_is_not_told_of_the_search():
    async with SearchServer("duckduckgo") as server, Net() as net:
        finder = ProviderSearch(net, FakeLibrary(), clock=FakeClock().clock)
        answer = await finder.search(make_request(country="VN"), make_settings(server, provider="library"))
    assert answer == FoundResults(
        SearchResults(query="oxygen", provider="library", results=(), count=0, took_ms=0),
        (
            ProviderTry(
                provider="library",
                outcome="empty",
                reason="nothing that was read before matches",
                notes=("country was left out: the library knows none",),
            ),
        ),
    )
    assert server.requests == []


async def test_the_library_gives_no_more_than_was_asked_for():
    async with Net() as net:
        finder = ProviderSearch(net, FakeLibrary((CACHED_MINUTES,) * 5))
        assert (await finder.search(make_request(count=2), make_settings(provider="library"))).results.count == 2


async def test_a_wanted_provider_without_its_key_is_passed_over_and_says_what_to_set():
    async with SearchServer("duckduckgo") as server, Net() as net:
        answer = await ProviderSearch(net, clock=FakeClock().clock).search(
            make_request(), make_settings(server, provider="tavily")
        )
    assert answer.tries == (
        ProviderTry(
            provider="tavily", outcome="skipped", code="missing_setting", reason="it needs a key: set TAVILY_API_KEY"
        ),
        ProviderTry(provider="duckduckgo", outcome="results", count=3),
    )


async def test_a_wanted_provider_that_does_not_exist_is_told_and_the_others_answer():
    unknown = ProviderTry(
        provider="altavista",
        outcome="skipped",
        code="unknown_provider",
        reason="there is no such provider: choose one of brave, duckduckgo, library, searxng, serper, tavily",
    )
    async with SearchServer("duckduckgo") as server, Net() as net:
        finder, settings = ProviderSearch(net, clock=FakeClock().clock), make_settings(server, provider="altavista")
        answer = await finder.search(make_request(), settings)
        assert await finder.probe("altavista", settings) == unknown
    assert answer.tries == (unknown, ProviderTry(provider="duckduckgo", outcome="results", count=3))


async def test_what_was_mapped_or_left_out_is_told_with_the_answer():
    async with SearchServer("brave") as server, Net() as net:
        answer = await ProviderSearch(net).search(make_request(country="VN"), make_settings(server))
    assert [attempt.notes for attempt in answer.tries] == [("country VN was left out: this provider does not know it",)]


class BrokenProvider(Provider, frozen=True, kw_only=True):
    """A plugin provider that raises."""

    def plan(self, request: SearchRequest, access: ProviderAccess) -> RequestPlan:
        raise KeyError(request.query)

    async def search(self, request: SearchRequest, access: ProviderAccess, context: ProviderContext) -> Outcome:
        raise KeyError(request.query)


async def test_a_provider_whose_code_fails_is_only_out_of_order():
    async with SearchServer("duckduckgo") as server, Net() as net:
        finder = ProviderSearch(
            net, providers=(*builtin_providers(), BrokenProvider(id="hasty", order=1)), clock=FakeClock().clock
        )
        answer = await finder.search(make_request(), make_settings(server, provider="hasty"))
    assert [(attempt.provider, attempt.outcome) for attempt in answer.tries] == [
        ("hasty", "error"),
        ("duckduckgo", "results"),
    ]


class LeakyProvider(Provider, frozen=True, kw_only=True):
    """A plugin provider whose error contains the key."""

    def plan(self, request: SearchRequest, access: ProviderAccess) -> RequestPlan:
        return RequestPlan(None, ())

    async def search(self, request: SearchRequest, access: ProviderAccess, context: ProviderContext) -> Outcome:
        return Outcome(kind="error", reason=f"the key {access.api_key} is wrong")


async def test_no_provider_can_tell_its_key():
    async with Net() as net:
        finder = ProviderSearch(net, providers=[LeakyProvider(id="chatty", order=1)])
        access = {"chatty": ProviderAccess(api_key="key-0123456789")}
        with pytest.raises(SearchFailed) as failure:
            await finder.search(make_request(), WebSearchSettings(provider="chatty", providers=access))
    assert failure.value.message == "No search provider had an answer. chatty: the key *** is wrong."


async def test_a_new_provider_takes_its_place_in_the_order():
    hits = (SearchHit(title="A", url="https://a.example/", description=""),)

    class OwnProvider(Provider, frozen=True, kw_only=True):
        def plan(self, request: SearchRequest, access: ProviderAccess) -> RequestPlan:
            return RequestPlan("own", ())

        async def search(self, request: SearchRequest, access: ProviderAccess, context: ProviderContext) -> Outcome:
            return Outcome(kind="results", hits=hits)

    async with Net() as net:
        finder = ProviderSearch(
            net, FakeLibrary((CACHED_MINUTES,)), providers=(*builtin_providers(), OwnProvider(id="own", order=60))
        )
        answer = await finder.search(make_request(), make_settings())
    assert (answer.results.provider, answer.results.results) == ("own", hits)


async def test_a_search_of_another_agent_may_want_another_provider():
    async with SearchServer("duckduckgo") as first, SearchServer("searxng") as second, Net() as net:
        finder = ProviderSearch(net)
        for provider in ("duckduckgo", "searxng"):
            answer = await finder.search(make_request(), make_settings(first, second, provider=provider))
            assert answer.results.provider == provider


async def test_hits_in_the_format_of_one_provider_are_nothing_to_another():
    async with SearchServer("tavily") as server, Net() as net:
        server.script(results_reply("brave", HITS))
        attempt = await ProviderSearch(net).probe("tavily", make_settings(server))
    assert attempt.reason == "its answer has no list of results; check tools.webSearch.providers.tavily.baseUrl"
