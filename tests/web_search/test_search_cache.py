"""Cached results and searches in progress: neither is requested again."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from footnote.net.client import Net
from footnote.protocol.sources import ProviderTry, SearchResults
from footnote.web_search.cache import MAX_ENTRIES, SearchCache
from footnote.web_search.search import PROBE_REQUEST, FoundResults, ProviderSearch, SearchFailed
from footnote.web_search.settings import ProviderAccess, SearchRequest
from web.providers import HITS, KEY, SearchReply, SearchServer, hanging_reply, results_reply
from web_search.fakes import (
    WALL,
    FakeClock,
    FakeLibrary,
    FakeSearchStore,
    expected_hit,
    make_request,
    make_settings,
)

HIT_RESULTS = SearchResults(
    query="oxygen", provider="searxng", results=tuple(expected_hit(hit) for hit in HITS), count=3, took_ms=0
)


async def test_an_answer_is_given_again_without_asking_and_says_so():
    async with SearchServer("searxng") as server, Net() as net:
        finder = ProviderSearch(net, clock=FakeClock().clock)
        answers = [await finder.search(make_request(), make_settings(server)) for _ in range(2)]
    assert answers == [
        FoundResults(HIT_RESULTS, (ProviderTry(provider="searxng", outcome="results", count=3),)),
        FoundResults(
            replace(HIT_RESULTS, cached=True),
            (ProviderTry(provider="searxng", outcome="results", count=3, cached=True),),
        ),
    ]
    assert len(server.requests) == 1


async def test_that_nothing_was_found_is_remembered_too():
    async with SearchServer("searxng", ()) as server, Net() as net:
        finder = ProviderSearch(net, clock=FakeClock().clock)
        await finder.search(make_request(), make_settings(server))
        again = await finder.search(make_request(), make_settings(server))
    assert again.tries[0] == ProviderTry(provider="searxng", outcome="empty", cached=True)
    assert len(server.requests) == 1


async def test_an_answer_is_forgotten_after_its_time():
    fake_clock = FakeClock()
    async with SearchServer("searxng") as server, Net() as net:
        finder, settings = ProviderSearch(net, clock=fake_clock.clock), make_settings(server, cache_ttl_minutes=2)
        cached: list[bool] = []
        for passed in (0, 119, 1):
            fake_clock.time += passed
            cached.append((await finder.search(make_request(), settings)).results.cached)
    assert cached == [False, True, False]


async def test_with_no_time_at_all_nothing_is_kept_and_nothing_kept_is_read():
    store = FakeSearchStore()
    async with SearchServer("searxng") as server, Net() as net:
        finder, never = ProviderSearch(net, store=store), make_settings(server, cache_ttl_minutes=0)
        await finder.search(make_request(), never)
        assert store.entries == {}
        await finder.search(make_request(), make_settings(server))
        assert not (await finder.search(make_request(), never)).results.cached
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    "failure", [SearchReply(500), SearchReply(429), SearchReply(body=b"nonsense"), SearchReply(401)]
)
async def test_a_failure_is_never_remembered(failure: SearchReply):
    fake_clock, store = FakeClock(), FakeSearchStore()
    async with SearchServer("searxng") as server, Net() as net:
        server.script(failure)
        finder = ProviderSearch(net, FakeLibrary(), store, clock=fake_clock.clock)
        with pytest.raises(SearchFailed):
            await finder.search(make_request(), make_settings(server))
        assert store.entries == {}
        fake_clock.time += 300
        again = await finder.search(make_request(), make_settings(server, cache_ttl_minutes=60))
    assert (again.results.count, again.results.cached) == (3, False)


OTHERS: list[dict[str, Any]] = [
    {"query": "ozone"},
    {"count": 6},
    {"country": "DE"},
    {"country": "FR"},
    {"freshness": "pd"},
    {"freshness": "2024-01-01to2024-01-02"},
]


@pytest.mark.parametrize("other", OTHERS, ids=str)
async def test_a_search_with_another_option_is_another_search(other: dict[str, Any]):
    async with SearchServer("brave") as server, Net() as net:
        finder = ProviderSearch(net, clock=FakeClock().clock)
        await finder.search(make_request(), make_settings(server))
        assert not (await finder.search(replace(make_request(), **other), make_settings(server))).results.cached


async def test_the_count_makes_another_search_also_where_the_provider_is_not_told_of_it():
    async with SearchServer("duckduckgo") as server, Net() as net:
        finder = ProviderSearch(net, clock=FakeClock().clock)
        counts = [
            (await finder.search(make_request(count=count), make_settings(server))).results.count for count in (1, 3)
        ]
    assert counts == [1, 3]


async def test_what_must_not_come_from_the_cache_does_not_join_what_may():
    async with SearchServer("searxng") as server, Net() as net:
        finder, always, never = ProviderSearch(net), make_settings(server), make_settings(server, cache_ttl_minutes=0)
        await finder.search(make_request(), always)
        answers = await asyncio.gather(finder.search(make_request(), always), finder.search(make_request(), never))
    assert [answer.results.cached for answer in answers] == [True, False]


async def test_what_is_asked_in_any_case_does_not_join_what_is_held_back():
    async with SearchServer("searxng") as server, Net() as net:
        finder, settings = (
            ProviderSearch(net, FakeLibrary(), clock=FakeClock().clock),
            make_settings(server, cache_ttl_minutes=0),
        )
        server.script(SearchReply(429))
        assert (await finder.probe("searxng", settings)).outcome == "blocked"
        held, probed = await asyncio.gather(
            finder.search(PROBE_REQUEST, settings), finder.probe("searxng", settings), return_exceptions=True
        )
    assert isinstance(held, SearchFailed)
    assert isinstance(probed, ProviderTry)
    assert (held.tries[0].outcome, probed.outcome) == ("skipped", "results")


@pytest.mark.parametrize(
    "same",
    [
        make_request("Oxygen"),
        make_request("OXYGEN"),
        SearchRequest(query="oxygen", prompt="another question about it", count=5),
        make_request(country="VN"),  # which this provider does not know
    ],
)
async def test_a_search_that_asks_the_provider_for_the_same_is_the_same(same: SearchRequest):
    async with SearchServer("brave") as server, Net() as net:
        finder = ProviderSearch(net, clock=FakeClock().clock)
        await finder.search(make_request(), make_settings(server))
        again = await finder.search(same, make_settings(server))
    assert (again.results.cached, again.results.query) == (True, same.query)


@pytest.mark.parametrize(
    ("one", "other"), [("cats OR dogs", "cats or dogs"), ("site:example.org/A", "site:example.org/a"), ('"A"', '"a"')]
)
async def test_where_an_engine_takes_a_query_literally_its_case_counts(one: str, other: str):
    async with SearchServer("searxng") as server, Net() as net:
        finder = ProviderSearch(net, clock=FakeClock().clock)
        await finder.search(make_request(one), make_settings(server))
        assert not (await finder.search(make_request(other), make_settings(server))).results.cached


async def test_another_provider_or_another_address_is_another_search():
    async with (
        SearchServer("searxng") as one,
        SearchServer("searxng") as two,
        SearchServer("tavily") as three,
        Net() as net,
    ):
        finder = ProviderSearch(net)
        answers = [await finder.search(make_request(), make_settings(server)) for server in (one, two, three)]
    assert [answer.results.cached for answer in answers] == [False, False, False]


async def test_what_is_known_is_given_also_while_the_provider_is_left_alone():
    async with SearchServer("searxng") as server, Net() as net:
        finder = ProviderSearch(net, FakeLibrary(), clock=FakeClock().clock)
        await finder.search(make_request(), make_settings(server))
        server.script(SearchReply(429))
        with pytest.raises(SearchFailed):
            await finder.search(make_request("ozone"), make_settings(server))
        assert (await finder.search(make_request(), make_settings(server))).results.cached


async def test_a_store_passes_answers_on_to_other_processes():
    store, fake_clock = FakeSearchStore(), FakeClock()
    async with SearchServer("brave") as server, Net() as net:
        await ProviderSearch(net, store=store, clock=fake_clock.clock).search(make_request(), make_settings(server))
        again = await ProviderSearch(net, store=store, clock=fake_clock.clock).search(
            make_request("Oxygen"), make_settings(server)
        )
    expected = replace(HIT_RESULTS, provider="brave")
    assert again.results == replace(expected, cached=True, query="Oxygen")
    [(key, entry)] = store.entries.items()
    assert entry == (expected, WALL + 300)
    assert len(server.requests) == 1
    assert (len(key), int(key, 16) > 0, KEY in key) == (64, True, False)


async def test_a_store_that_fails_is_done_without(caplog: pytest.LogCaptureFixture):
    store = FakeSearchStore(error=OSError("disk full"))
    async with SearchServer("searxng") as server, Net() as net:
        finder = ProviderSearch(net, store=store)
        answers = [await finder.search(make_request(), make_settings(server)) for _ in range(2)]
    assert [answer.results.cached for answer in answers] == [False, True]
    assert [record.getMessage() for record in caplog.records] == [
        "The search cache could not be read; the provider is asked instead.",
        "The search cache could not be written; the answer is kept in memory alone.",
    ]


async def test_of_many_answers_the_last_used_are_kept():
    cache = SearchCache(None, FakeClock().clock)
    for number in range(MAX_ENTRIES):
        await cache.put(str(number), HIT_RESULTS, 60)
    assert await cache.get("0") == HIT_RESULTS
    await cache.put("one more", HIT_RESULTS, 60)
    cached = [await cache.get(key) is not None for key in ("0", "1", "2", "one more")]
    assert cached == [True, False, True, True]


async def test_twenty_equal_searches_at_once_make_one_request():
    async with SearchServer("searxng") as server, Net() as net:
        landing = asyncio.Event()
        server.script(results_reply("searxng", HITS, until=landing))
        finder = ProviderSearch(net, store=FakeSearchStore(), clock=FakeClock().clock)
        searches = [asyncio.create_task(finder.search(make_request(), make_settings(server))) for _ in range(20)]
        await server.wait_received(1)
        landing.set()
        answers = await asyncio.gather(*searches)
    assert answers == [FoundResults(HIT_RESULTS, (ProviderTry(provider="searxng", outcome="results", count=3),))] * 20
    assert len(server.requests) == 1


async def test_twenty_equal_searches_share_a_failure_and_the_way_around_it():
    async with SearchServer("searxng") as server, SearchServer("brave") as brave, Net() as net:
        server.script(SearchReply(500))
        finder = ProviderSearch(net, clock=FakeClock().clock)
        answers = await asyncio.gather(
            *(finder.search(make_request(), make_settings(server, brave)) for _ in range(20))
        )
    assert {answer.results.provider for answer in answers} == {"brave"}
    assert (len(server.requests), len(brave.requests)) == (1, 1)


async def test_equal_searches_that_are_not_to_be_kept_share_a_request_all_the_same():
    async with SearchServer("searxng") as server, Net() as net:
        finder, never = ProviderSearch(net), make_settings(server, cache_ttl_minutes=0)
        await asyncio.gather(*(finder.search(make_request(), never) for _ in range(20)))
    assert len(server.requests) == 1


async def test_one_who_leaves_does_not_take_the_request_away_from_the_others():
    async with SearchServer("searxng") as server, Net() as net:
        landing = asyncio.Event()
        server.script(results_reply("searxng", HITS, until=landing))
        finder = ProviderSearch(net)
        first, second, third = (
            asyncio.create_task(finder.search(make_request(), make_settings(server))) for _ in range(3)
        )
        await server.wait_received(1)
        first.cancel()
        third.cancel()
        await asyncio.wait([first, third])
        landing.set()
        answer = await second
    assert (first.cancelled(), third.cancelled(), answer.results.count) == (True, True, 3)
    assert len(server.requests) == 1


async def test_the_last_one_to_leave_ends_the_request():
    async with SearchServer("searxng") as server, Net() as net:
        server.script(hanging_reply())
        finder = ProviderSearch(net)
        searches = [asyncio.create_task(finder.search(make_request(), make_settings(server))) for _ in range(3)]
        await server.wait_received(1)
        for search in searches:
            search.cancel()
        await asyncio.wait(searches)
        await server.wait_closed()
        again = await finder.search(make_request(), make_settings(server))
    assert all(search.cancelled() for search in searches)
    assert (again.results.count, again.results.cached, len(server.requests)) == (3, False, 2)


async def test_one_who_comes_after_all_have_left_begins_anew():
    async with SearchServer("searxng") as server, Net() as net:
        server.script(hanging_reply())
        finder = ProviderSearch(net)
        first = asyncio.create_task(finder.search(make_request(), make_settings(server)))
        await server.wait_received(1)
        first.cancel()
        second = asyncio.create_task(finder.search(make_request(), make_settings(server)))
        answer = await second
        await asyncio.wait([first])
    assert (first.cancelled(), answer.results.count) == (True, 3)


async def test_a_key_of_another_user_is_not_needed_for_what_is_known():
    async with SearchServer("brave") as server, Net() as net:
        finder, settings = ProviderSearch(net), make_settings(server)
        await finder.search(make_request(), settings)
        access = {**settings.providers, "brave": ProviderAccess("another-key", server.url)}
        assert (await finder.search(make_request(), replace(settings, providers=access))).results.cached
