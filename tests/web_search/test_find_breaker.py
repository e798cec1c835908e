"""The circuit breaker: a failing provider is skipped for a while, and then tried with one request."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from footnote.net.client import Net
from footnote.protocol.sources import ProviderTry
from footnote.web_search.providers import builtin_providers
from footnote.web_search.search import ProviderSearch, SearchFailed
from footnote.web_search.settings import ProviderAccess, WebSearchSettings
from web.providers import Name, SearchReply, SearchServer, hanging_reply, recorded_reply, results_reply
from web_search.fakes import FakeClock, FakeLibrary, make_request, make_settings

BROKEN = "it has a problem of its own (status 500): try again later"


class BreakerHarness:
    """A search with one provider, and queries that all differ, so that no cache applies."""

    def __init__(self, server: SearchServer, net: Net, clock: FakeClock) -> None:
        self.server = server
        self.clock = clock
        there = [provider for provider in builtin_providers() if provider.id in (server.provider, "brave", "library")]
        self.finder = ProviderSearch(net, FakeLibrary(), providers=there, clock=clock.clock)
        self._number = 0

    async def search_tries(self, settings: WebSearchSettings | None = None) -> tuple[ProviderTry, ...]:
        self._number += 1
        try:
            answer = await self.finder.search(
                make_request(f"oxygen {self._number}"), settings or make_settings(self.server)
            )
        except SearchFailed as failure:
            return failure.tries
        return answer.tries

    async def first_try(self) -> ProviderTry:
        """The outcome of the provider itself."""
        return (await self.search_tries())[0]


@asynccontextmanager
async def bench(provider: Name = "searxng", *script: SearchReply) -> AsyncIterator[BreakerHarness]:
    async with SearchServer(provider) as server, Net() as net:
        server.script(*script)
        yield BreakerHarness(server, net, FakeClock())


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({}, 45), ({"Retry-After": "120"}, 120), ({"Retry-After": "0"}, 1), ({"Retry-After": "999999"}, 3600)],
)
async def test_after_a_block_a_provider_is_left_alone_as_long_as_it_asks(headers: dict[str, str], seconds: int):
    async with bench("serper", SearchReply(429, headers=headers)) as table:
        assert (await table.first_try()).outcome == "blocked"
        assert await table.first_try() == ProviderTry(
            provider="serper",
            outcome="skipped",
            code="paused",
            reason=f"it is left alone for {seconds} s more; last time, it wants fewer requests (status 429): "
            "wait a little",
        )
        table.clock.time += seconds - 0.5
        assert (await table.first_try()).outcome == "skipped"
        table.clock.time += 0.5
        assert (await table.first_try()).outcome == "results"
        assert (await table.first_try()).outcome == "results"
    assert len(table.server.requests) == 3


async def test_a_challenge_of_duckduckgo_is_waited_out_for_a_minute():
    async with bench("duckduckgo", recorded_reply("ddg_html_blocked_202.html", 202)) as table:
        assert (await table.first_try()).outcome == "blocked"
        table.clock.time += 59
        assert (await table.first_try()).outcome == "skipped"
        table.clock.time += 1
        assert (await table.first_try()).outcome == "results"


async def test_three_errors_in_a_row_are_enough_for_a_minute_of_rest():
    async with bench("searxng", *[SearchReply(500)] * 3) as table:
        assert [(await table.first_try()).outcome for _ in range(3)] == ["error"] * 3
        assert await table.first_try() == ProviderTry(
            provider="searxng",
            outcome="skipped",
            code="paused",
            reason=f"it is left alone for 60 s more; last time, {BROKEN}",
        )


async def test_errors_that_are_not_in_a_row_do_not_add_up():
    ok = results_reply("searxng", ())
    script = [SearchReply(500), SearchReply(500), ok, SearchReply(500), SearchReply(500), ok]
    async with bench("searxng", *script) as table:
        outcomes = [(await table.first_try()).outcome for _ in script]
    assert outcomes == ["error", "error", "empty", "error", "error", "empty"]


async def test_after_the_rest_one_error_is_enough_for_another():
    async with bench("searxng", *[SearchReply(500)] * 4) as table:
        for _ in range(3):
            await table.first_try()
        table.clock.time += 60
        assert (await table.first_try()).outcome == "error"
        assert (await table.first_try()).outcome == "skipped"


async def test_a_refused_key_is_not_shown_again_for_five_minutes_but_another_key_is_at_once():
    async with bench("brave") as table:
        wrong = WebSearchSettings(
            provider="brave",
            providers={"brave": ProviderAccess("wrong-key", table.server.url)},
        )
        assert (await table.search_tries(wrong))[0].outcome == "error"
        first = (await table.search_tries(wrong))[0]
        assert first.outcome == "skipped"
        assert first.reason is not None
        assert first.reason.startswith("it is left alone for 300 s more; last time, it did not accept the key")
        assert (await table.search_tries())[0].outcome == "results"
        table.clock.time += 300
        assert (await table.search_tries(wrong))[0].outcome == "error"


async def test_after_the_rest_one_search_goes_ahead_alone_and_opens_the_way():
    async with bench("tavily", SearchReply(429)) as table:
        await table.first_try()
        table.clock.time += 45
        landing = asyncio.Event()
        table.server.script(results_reply("tavily", (), until=landing))
        ahead = asyncio.create_task(table.first_try())
        await table.server.wait_received(2)
        assert await table.first_try() == ProviderTry(
            provider="tavily",
            outcome="skipped",
            code="paused",
            reason="it is left alone while another search tries it; last time, it wants fewer requests "
            "(status 429): wait a little",
        )
        landing.set()
        assert (await ahead).outcome == "empty"
        assert (await table.first_try()).outcome == "results"


async def test_a_search_that_goes_ahead_and_is_stopped_leaves_the_way_to_the_next():
    async with bench("tavily", SearchReply(429), hanging_reply()) as table:
        await table.first_try()
        table.clock.time += 45
        ahead = asyncio.create_task(table.first_try())
        await table.server.wait_received(2)
        ahead.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ahead
        assert (await table.first_try()).outcome == "results"


async def test_while_all_rest_after_errors_the_first_of_them_is_tried_all_the_same():
    async with bench("searxng", *[SearchReply(500)] * 3) as table:
        for _ in range(3):
            await table.search_tries()
        tries = await table.search_tries()
    assert [(attempt.provider, attempt.outcome) for attempt in tries] == [
        ("searxng", "skipped"),
        ("library", "empty"),
        ("searxng", "results"),
    ]


async def test_before_an_error_one_that_rests_after_errors_is_tried_all_the_same():
    async with bench("searxng", *[SearchReply(500)] * 3) as table, SearchServer("brave") as brave:
        for _ in range(3):
            await table.search_tries()
        brave.script(SearchReply(500))
        tries = await table.search_tries(make_settings(table.server, brave))
    assert [(attempt.provider, attempt.outcome) for attempt in tries] == [
        ("searxng", "skipped"),
        ("brave", "error"),
        ("library", "empty"),
        ("searxng", "results"),
    ]


async def test_while_one_of_them_can_be_asked_none_of_those_that_rest_is():
    async with bench("searxng", *[SearchReply(500)] * 3) as table, SearchServer("brave") as brave:
        both = make_settings(table.server, brave)
        for _ in range(3):
            await table.search_tries(both)
        tries = await table.search_tries(both)
    assert [(attempt.provider, attempt.outcome) for attempt in tries] == [("searxng", "skipped"), ("brave", "results")]


async def test_a_block_is_waited_out_also_if_nobody_else_is_left():
    async with bench("duckduckgo", recorded_reply("ddg_html_blocked_202.html", 202)) as table:
        await table.search_tries()
        tries = await table.search_tries()
    assert [(attempt.provider, attempt.outcome) for attempt in tries] == [
        ("duckduckgo", "skipped"),
        ("library", "empty"),
    ]
    assert len(table.server.requests) == 1


@pytest.mark.parametrize(
    "failing",
    [lambda: SearchReply(500), lambda: SearchReply(body=b"nonsense"), hanging_reply],
    ids=["status", "nonsense", "time-out"],
)
async def test_every_kind_of_error_counts(failing: Callable[[], SearchReply]):
    async with bench("searxng", *[failing() for _ in range(3)]) as table:
        settings = make_settings(table.server, timeout_seconds=0.1)
        for _ in range(3):
            assert (await table.search_tries(settings))[0].outcome == "error"
        assert (await table.search_tries(settings))[0].outcome == "skipped"
