"""Every provider over real HTTP: results, and each kind of connection failure."""

import asyncio
import itertools
from urllib.parse import quote

import pytest

from footnote.net.client import Net
from footnote.protocol.sources import ProviderTry
from footnote.web_search.providers.base import MAX_BODY_BYTES
from footnote.web_search.search import ProviderSearch
from footnote.web_search.settings import ProviderAccess, WebSearchSettings
from web.providers import (
    KEY,
    NAMES,
    WITH_KEY,
    Name,
    SearchReply,
    SearchServer,
    hanging_reply,
    recorded_reply,
    truncated_reply,
)
from web_search.fakes import FakeClock, make_request, make_settings

every_provider = pytest.mark.parametrize("provider", NAMES)
with_a_key = pytest.mark.parametrize("provider", WITH_KEY)


async def probe_provider(server: SearchServer, *, seconds: float = 15) -> ProviderTry:
    async with Net() as net:
        return await ProviderSearch(net, clock=FakeClock().clock).probe(
            server.provider, make_settings(server, timeout_seconds=seconds)
        )


@every_provider
async def test_one_small_real_request_tells_whether_a_provider_works(provider: Name):
    async with SearchServer(provider) as server:
        assert await probe_provider(server) == ProviderTry(provider=provider, outcome="results", count=1)
    assert len(server.requests) == 1


@every_provider
async def test_all_options_at_once_are_accepted(provider: Name):
    async with SearchServer(provider) as server, Net() as net:
        request = make_request("giá cổ phiếu " * 60, count=10, country="VN", freshness="2024-01-01to2024-12-31")
        found = await ProviderSearch(net).search(request, make_settings(server))
        assert (found.results.provider, found.results.count) == (provider, 3)


@every_provider
@pytest.mark.parametrize("query", ['C++ & "x" 50% #1?a=b/c\\d;e+f', "giá cổ phiếu hôm nay", "氧是什么？", "🦆 %2B %20"])
async def test_a_query_arrives_as_it_was_written(provider: Name, query: str):
    async with SearchServer(provider) as server, Net() as net:
        await ProviderSearch(net).search(make_request(query), make_settings(server))
    [request] = server.requests
    assert request.options["query" if provider == "tavily" else "q"] == query


@every_provider
async def test_half_a_character_in_a_query_stops_nobody(provider: Name):
    async with SearchServer(provider) as server, Net() as net:
        answer = await ProviderSearch(net).search(make_request("half \ud83d a duck"), make_settings(server))
    assert answer.results.count == 3


@every_provider
@pytest.mark.parametrize("slash", ["", "/"])
async def test_an_address_may_have_a_path_and_a_last_slash(provider: Name, slash: str):
    async with SearchServer(provider, prefix="/proxy/search-api") as server, Net() as net:
        access = ProviderAccess(KEY if provider in WITH_KEY else None, server.url + slash)
        attempt = await ProviderSearch(net).probe(provider, WebSearchSettings(providers={provider: access}))
    assert attempt.outcome == "results"


@every_provider
async def test_a_provider_that_never_answers_is_given_up_after_its_time(provider: Name):
    async with SearchServer(provider) as server:
        server.script(hanging_reply())
        reason = "there was no answer within 0.05 seconds: try again, or raise timeoutSeconds"
        assert await probe_provider(server, seconds=0.05) == ProviderTry(
            provider=provider, outcome="error", code="timeout", reason=reason
        )
        await server.wait_closed()


@every_provider
async def test_a_body_that_falls_silent_is_given_up_after_the_same_time(provider: Name):
    async with SearchServer(provider) as server:
        body = SearchReply(body=b"<html>" if provider == "duckduckgo" else b'{"results": [', length=50, stays_open=True)
        server.script(body)
        assert (await probe_provider(server, seconds=0.05)).reason == (
            "there was no answer within 0.05 seconds: try again, or raise timeoutSeconds"
        )


@every_provider
async def test_a_connection_that_breaks_is_an_error_that_says_so(provider: Name):
    async with SearchServer(provider) as server:
        server.script(truncated_reply())
        assert await probe_provider(server) == ProviderTry(
            provider=provider,
            outcome="error",
            code="unreachable",
            reason="it could not be reached: the connection was broken; "
            f"check the network and tools.webSearch.providers.{provider}.baseUrl",
        )


@every_provider
async def test_a_provider_that_is_not_there_is_an_error_that_says_so(provider: Name):
    async with SearchServer(provider) as server:
        pass
    attempt = await probe_provider(server)
    assert attempt.outcome == "error"
    assert attempt.reason is not None
    assert attempt.reason.startswith("it could not be reached: the connection was refused; check the network")


@every_provider
async def test_a_body_without_end_is_not_read_to_its_end(provider: Name):
    async with SearchServer(provider) as server:
        server.script(SearchReply(body=b" " * (MAX_BODY_BYTES + 1)))
        assert await probe_provider(server) == ProviderTry(
            provider=provider,
            outcome="error",
            code="unreadable",
            reason=f"it answered with more than 2 MB; check tools.webSearch.providers.{provider}.baseUrl",
        )


@every_provider
async def test_a_redirect_is_not_followed_since_a_key_would_go_with_it(provider: Name):
    async with SearchServer(provider) as server, SearchServer(provider) as elsewhere:
        server.script(SearchReply(302, headers={"Location": elsewhere.url}))
        assert await probe_provider(server) == ProviderTry(
            provider=provider,
            outcome="error",
            code="unreadable",
            reason="it sends the request elsewhere (status 302), where it is not followed; "
            f"check tools.webSearch.providers.{provider}.baseUrl",
        )
    assert elsewhere.requests == []


@with_a_key
async def test_a_wrong_key_is_told_by_the_name_of_its_variable(provider: Name):
    async with SearchServer(provider, key="another-key-than-this") as server:
        attempt = await probe_provider(server)
    assert attempt.outcome == "error"
    assert attempt.reason is not None
    assert attempt.reason.endswith(f"check {provider.upper()}_API_KEY")


@with_a_key
async def test_a_key_that_comes_back_in_an_error_is_shown_to_nobody(provider: Name, subtests: pytest.Subtests):
    echoes = [KEY, quote(KEY), quote(KEY, safe=""), quote(KEY, safe="").lower(), f"{'x' * 175}{KEY}"]
    for shown, status in itertools.product(echoes, [400, 401, 403, 422, 429, 500]):
        with subtests.test(shown=shown, status=status):
            async with SearchServer(provider) as server:
                server.script(*[SearchReply(status, f'{{"message": "The key {shown} is wrong."}}'.encode())] * 2)
                attempt = await probe_provider(server)
            assert attempt.reason is not None
            assert "***" in attempt.reason or "xxx" in attempt.reason
            assert not any(KEY[start : start + 8].lower() in attempt.reason.lower() for start in range(len(KEY) - 8))


@pytest.mark.parametrize("shown", ["pass%2Fword1", "pass%2fword1", "pass/word1"])
async def test_the_password_of_an_address_is_shown_to_nobody(shown: str):
    async with SearchServer("searxng") as server, Net() as net:
        server.script(SearchReply(500, f'{{"message": "no backend for {shown}"}}'.encode()))
        address = server.url.replace("http://", "http://me:pass%2Fword1@")
        access = {"searxng": ProviderAccess(base_url=address)}
        attempt = await ProviderSearch(net).probe("searxng", WebSearchSettings(providers=access))
    assert attempt.reason == "it has a problem of its own (status 500: “no backend for ***”): try again later"


async def test_what_is_missing_is_told_without_a_request():
    async with Net() as net:
        attempt = await ProviderSearch(net).probe("brave", WebSearchSettings())
    reason = "it needs a key: set BRAVE_API_KEY"
    assert attempt == ProviderTry(provider="brave", outcome="skipped", code="missing_setting", reason=reason)


async def test_a_probe_is_neither_answered_from_the_cache_nor_kept_back_by_a_block():
    async with SearchServer("tavily") as server, Net() as net:
        finder, settings = ProviderSearch(net), make_settings(server)
        server.script(recorded_reply("tavily_empty.json"), SearchReply(429))
        outcomes = [(await finder.probe("tavily", settings)).outcome for _ in range(3)]
    assert outcomes == ["empty", "blocked", "results"]


async def test_all_providers_can_be_probed_at_the_same_time():
    servers = [SearchServer(name) for name in NAMES]
    async with asyncio.TaskGroup() as starting:
        for server in servers:
            starting.create_task(server.__aenter__())
    async with Net() as net:
        finder, all_of_them = ProviderSearch(net), make_settings(*servers)
        tries = await asyncio.gather(*(finder.probe(name, all_of_them) for name in NAMES))
    for server in servers:
        await server.__aexit__(None, None, None)
    assert [(attempt.provider, attempt.outcome) for attempt in tries] == [(name, "results") for name in NAMES]
