"""Rate limits: no provider is asked faster than it allows, and its headers about limits are obeyed."""

import asyncio

import pytest

from footnote.net.client import Net
from footnote.protocol.sources import ProviderTry, SearchHit
from footnote.web_search.cache import Clock
from footnote.web_search.provider_client import RateLimiter
from footnote.web_search.providers.outcomes import ProviderLimits, Rate
from footnote.web_search.providers.responses import parse_rate_limit_headers
from footnote.web_search.search import ProviderSearch
from web.providers import HITS, Name, SearchReply, SearchServer, recorded_reply, results_reply
from web_search.fakes import FakeClock, FakeLibrary, make_request, make_settings

KEPT = (SearchHit(title="Kept", url="https://example.org/", description="Read before."),)


def limits(limit: str, remaining: str, reset: str, policy: str = "") -> dict[str, str]:
    return {
        "X-RateLimit-Limit": limit,
        "X-RateLimit-Remaining": remaining,
        "X-RateLimit-Reset": reset,
        "X-RateLimit-Policy": policy,
    }


def reserve_next(limiter: RateLimiter, now: float) -> float:
    turn = limiter.next_slot(now)
    limiter.reserve(turn, now)
    return turn


def reply_with_headers(headers: dict[str, str]) -> SearchReply:
    return SearchReply(body=results_reply("brave", HITS).body, headers=headers)


@pytest.mark.parametrize("provider", ["duckduckgo", "brave"])
async def test_searches_at_the_same_time_are_sent_one_a_second(provider: Name):
    fake_clock = FakeClock(frozen=True)
    async with SearchServer(provider) as server, Net() as net:
        finder, settings = ProviderSearch(net, clock=fake_clock.clock), make_settings(server)
        answers = await asyncio.gather(
            *(finder.search(make_request(f"oxygen {number}"), settings) for number in range(4))
        )
    assert [answer.results.provider for answer in answers] == [provider] * 4
    assert fake_clock.sleeps == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("provider", ["serper", "tavily", "searxng"])
async def test_the_others_are_not_slowed_down_by_a_few_searches(provider: Name):
    fake_clock = FakeClock()
    async with SearchServer(provider) as server, Net() as net:
        finder = ProviderSearch(net, clock=fake_clock.clock)
        await asyncio.gather(
            *(finder.search(make_request(f"oxygen {number}"), make_settings(server)) for number in range(20))
        )
    assert (fake_clock.sleeps, len(server.requests)) == ([], 20)


async def test_waiting_for_a_turn_takes_nothing_of_the_time_of_a_request():
    fake_clock = FakeClock(frozen=True)
    async with SearchServer("duckduckgo") as server, Net() as net:
        finder, settings = (
            ProviderSearch(net, FakeLibrary(KEPT), clock=fake_clock.clock),
            make_settings(server, timeout_seconds=9),
        )
        answers = await asyncio.gather(
            *(finder.search(make_request(f"oxygen {number}"), settings) for number in range(11))
        )
    assert [answer.results.provider for answer in answers] == ["duckduckgo"] * 11


async def test_a_search_whose_turn_comes_too_late_goes_to_the_next_provider():
    fake_clock = FakeClock(frozen=True)
    async with SearchServer("duckduckgo") as server, SearchServer("searxng") as other, Net() as net:
        finder, settings = ProviderSearch(net, clock=fake_clock.clock), make_settings(server, other)
        answers = await asyncio.gather(
            *(finder.search(make_request(f"oxygen {number}"), settings) for number in range(32))
        )
    assert [answer.results.provider for answer in answers] == ["duckduckgo"] * 31 + ["searxng"]
    assert answers[31].tries[0] == ProviderTry(
        provider="duckduckgo", outcome="skipped", code="busy", reason="its limit of requests leaves no room for 31 s"
    )


async def test_whoever_waits_for_a_turn_hears_that_the_provider_blocks_us_by_then():
    turn = asyncio.Event()

    async def until_its_turn(_: float) -> None:
        await turn.wait()

    async with SearchServer("duckduckgo") as server, Net() as net:
        server.script(recorded_reply("ddg_html_blocked_202.html", 202))
        finder = ProviderSearch(net, FakeLibrary(KEPT), clock=Clock(sleep=until_its_turn))
        first, second = (
            asyncio.create_task(finder.search(make_request(query), make_settings(server))) for query in ("a", "b")
        )
        assert (await first).tries[0].outcome == "blocked"
        turn.set()
        attempt = (await second).tries[0]
    assert (attempt.outcome, len(server.requests)) == ("skipped", 1)
    assert (attempt.reason or "").startswith(
        "it is left alone for 60 s more; last time, it takes this machine for a robot"
    )


async def test_brave_is_asked_faster_where_it_says_that_it_may():
    fake_clock = FakeClock()
    headers = limits("20, 0", "19, 0", "1, 0", "20;w=1, 0;w=2592000") | {"X-RateLimit-Remaining": "19"}
    async with SearchServer("brave") as server, Net() as net:
        server.script(reply_with_headers(headers))
        finder = ProviderSearch(net, clock=fake_clock.clock)
        await finder.search(make_request("first"), make_settings(server))
        await asyncio.gather(
            *(finder.search(make_request(f"oxygen {number}"), make_settings(server)) for number in range(10))
        )
    assert fake_clock.sleeps == []


async def test_brave_is_left_alone_until_its_window_begins_anew():
    fake_clock = FakeClock()
    async with SearchServer("brave") as server, Net() as net:
        server.script(reply_with_headers(limits("5, 2000", "0, 1985", "3, 1419704", "5;w=3, 2000;w=2592000")))
        finder = ProviderSearch(net, clock=fake_clock.clock)
        for number in range(2):
            await finder.search(make_request(f"oxygen {number}"), make_settings(server))
    assert fake_clock.sleeps == [3.0]


async def test_a_month_that_is_used_up_is_not_waited_for():
    fake_clock = FakeClock()
    async with SearchServer("brave") as server, Net() as net:
        server.script(reply_with_headers(limits("1, 2000", "0, 0", "1, 1419704", "1;w=1, 2000;w=2592000")))
        finder = ProviderSearch(net, FakeLibrary(), clock=fake_clock.clock)
        await finder.search(make_request("oxygen"), make_settings(server))
        attempt = await finder.probe("brave", make_settings(server))
    assert attempt.reason == "its limit of requests leaves no room for 3600 s"


async def test_a_request_that_was_too_fast_for_brave_goes_to_the_next_at_once():
    fake_clock = FakeClock()
    async with SearchServer("brave") as server, SearchServer("serper") as serper, Net() as net:
        server.script(recorded_reply("brave_error_429.json", 429, limits("1, 2000", "0, 1985", "2, 1419704")))
        finder = ProviderSearch(net, clock=fake_clock.clock)
        answers = [
            await finder.search(make_request(query), make_settings(server, serper)) for query in ("oxygen", "ozone")
        ]
    assert [[(attempt.provider, attempt.outcome) for attempt in answer.tries] for answer in answers] == [
        [("brave", "blocked"), ("serper", "results")],
        [("brave", "results")],
    ]
    assert [attempt.took_ms for attempt in answers[0].tries] == [0, 0]


async def test_a_request_that_was_too_fast_for_brave_is_sent_once_more_before_giving_up():
    fake_clock = FakeClock()
    async with SearchServer("brave") as server, Net() as net:
        server.script(recorded_reply("brave_error_429.json", 429, limits("1, 2000", "0, 1985", "2, 1419704")))
        answer = await ProviderSearch(net, clock=fake_clock.clock).search(make_request(), make_settings(server))
    assert [(attempt.provider, attempt.outcome) for attempt in answer.tries] == [
        ("brave", "blocked"),
        ("duckduckgo", "error"),
        ("library", "error"),
        ("brave", "results"),
    ]
    assert (fake_clock.sleeps, len(server.requests)) == ([2.0], 2)


async def test_a_request_that_was_too_fast_waits_also_where_the_rate_would_allow_it_at_once():
    fake_clock = FakeClock()
    async with SearchServer("brave") as server, Net() as net:
        server.script(reply_with_headers({"X-RateLimit-Limit": "20"}), recorded_reply("brave_error_429.json", 429))
        finder = ProviderSearch(net, clock=fake_clock.clock)
        for query in ("oxygen", "ozone"):
            assert (await finder.search(make_request(query), make_settings(server))).results.count == 3
    assert fake_clock.sleeps == [1.0]


async def test_searches_that_find_no_room_are_no_errors_of_the_provider():
    fake_clock = FakeClock(frozen=True)
    async with SearchServer("duckduckgo") as server, Net() as net:
        finder, settings = ProviderSearch(net, FakeLibrary(KEPT), clock=fake_clock.clock), make_settings(server)
        for number in range(36):
            answer = await finder.search(make_request(f"oxygen {number}"), settings)
            assert answer.results.provider == ("duckduckgo" if number < 31 else "library")
        fake_clock.time += 3
        assert (await finder.search(make_request("ozone"), settings)).results.provider == "duckduckgo"


async def test_a_request_that_was_too_fast_twice_is_a_block():
    fake_clock = FakeClock()
    async with SearchServer("brave") as server, SearchServer("serper") as serper, Net() as net:
        server.script(*[recorded_reply("brave_error_429.json", 429)] * 2)
        finder = ProviderSearch(net, clock=fake_clock.clock)
        answers = [await finder.search(make_request(query), make_settings(server, serper)) for query in ("a", "b", "c")]
    assert [[attempt.outcome for attempt in answer.tries] for answer in answers] == [
        ["blocked", "results"],
        ["blocked", "results"],
        ["skipped", "results"],
    ]
    assert (fake_clock.sleeps, len(server.requests)) == ([1.0], 2)


async def test_a_quota_that_is_used_up_is_not_asked_for_twice():
    fake_clock = FakeClock()
    async with SearchServer("brave") as server, SearchServer("serper") as serper, Net() as net:
        server.script(SearchReply(429, b'{"error": {"code": "QUOTA_LIMITED", "detail": "Quota exceeded"}}'))
        answer = await ProviderSearch(net, clock=fake_clock.clock).search(make_request(), make_settings(server, serper))
    assert [attempt.outcome for attempt in answer.tries] == ["blocked", "results"]
    assert (fake_clock.sleeps, len(server.requests)) == ([], 1)


async def test_searches_that_were_stopped_while_they_waited_hold_nobody_up():
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(round(seconds, 6))
        await asyncio.Event().wait()

    async with SearchServer("brave") as server, Net() as net:
        finder = ProviderSearch(net, clock=Clock(now=lambda: 1000.0, sleep=sleep))
        await finder.search(make_request("oxygen"), make_settings(server))
        for round_ in (1, 2):
            searches = [
                asyncio.create_task(finder.search(make_request(str(one)), make_settings(server))) for one in range(8)
            ]
            async with asyncio.timeout(30):
                while len(waits) < 8 * round_:
                    await asyncio.sleep(0.001)
            for search in searches:
                search.cancel()
            await asyncio.gather(*searches, return_exceptions=True)
    assert waits == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0] * 2


def test_a_turn_that_is_given_back_is_the_next_to_be_taken():
    pace = RateLimiter(Rate(1, 1.0))
    assert [reserve_next(pace, 0.0) for _ in range(4)] == [0.0, 1.0, 2.0, 3.0]
    pace.release(1.0)
    pace.release(3.0)
    assert [reserve_next(pace, 0.5) for _ in range(3)] == [1.0, 3.0, 4.0]


def test_turns_are_given_by_the_window():
    pace = RateLimiter(Rate(2, 10.0))
    assert [reserve_next(pace, now) for now in (0.0, 1.0, 2.0, 2.0, 25.0)] == [0.0, 1.0, 10.0, 11.0, 25.0]


def test_what_is_learned_replaces_what_was_assumed():
    pace = RateLimiter(Rate(1, 1.0))
    reserve_next(pace, 0.0)
    pace.update_limits(ProviderLimits(Rate(3, 1.0)), 0.0)
    assert [reserve_next(pace, 0.0) for _ in range(3)] == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("headers", "limits"),
    [
        ({}, ProviderLimits()),
        ({"x-ratelimit-limit": "1, 15000"}, ProviderLimits(Rate(1, 1.0))),
        ({"x-ratelimit-limit": "50", "x-ratelimit-policy": "50;w=60"}, ProviderLimits(Rate(50, 60.0))),
        ({"x-ratelimit-remaining": "0, 12", "x-ratelimit-reset": "1, 900"}, ProviderLimits(wait_seconds=1.0)),
        ({"x-ratelimit-remaining": "3, 0", "x-ratelimit-reset": "1, 900"}, ProviderLimits(wait_seconds=900.0)),
        ({"x-ratelimit-remaining": "3, 12", "x-ratelimit-reset": "1, 900"}, ProviderLimits()),
        ({"x-ratelimit-limit": "0, 0"}, ProviderLimits()),
        ({"x-ratelimit-limit": "many", "x-ratelimit-remaining": "-1", "x-ratelimit-reset": "²"}, ProviderLimits()),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"}, ProviderLimits()),
    ],
)
def test_headers_about_limits_are_read_or_ignored(headers: dict[str, str], limits: ProviderLimits):
    assert parse_rate_limit_headers(headers) == limits
