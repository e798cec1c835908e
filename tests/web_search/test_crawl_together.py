"""Several pages at once: one deadline for all, limits per host, and no task left behind."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from footnote.documents.extract import UnreadableDocument
from footnote.net.client import Net
from footnote.web_search.crawl import fetch
from footnote.web_search.crawl.crawler import CrawledPage, Crawler
from footnote.web_search.crawl.download import CrawlLimits
from footnote.web_search.crawl.fetch import slot_seconds_within
from web import PageReply, Web, dripping_reply, hanging_body, hanging_reply, page
from web_search.fakes import FakeExtractor, FakePageStore


def read(crawler: Crawler, web: Web, *paths: str, seconds: float = 10):
    urls = [web.url(path) for path in paths]
    return crawler.read_pages(urls, timeout_seconds=seconds, respect_robots=False, private_hosts=[web.host])


def outcomes(pages: list[CrawledPage]) -> dict[str, tuple[str, str | None]]:
    return {page.url.rpartition("/")[2]: (page.report.status, page.report.failure) for page in pages}


def gated_page(gate: asyncio.Event) -> PageReply:
    """A page whose body is sent when the gate is open."""

    async def body() -> AsyncGenerator[bytes | None, None]:
        await gate.wait()
        yield b"<p>Read.</p>"

    return PageReply(stream=body)


async def test_one_hung_page_of_five_fails_at_the_deadline_and_the_others_are_read(net: Net):
    articles = ["/en/Oxygen", "/vi/Oxygen", "/zh/Oxygen", "/en/Normans"]
    async with Web() as web:
        crawler = Crawler(net, FakeExtractor())
        began = time.monotonic()
        pages = [page async for page in read(crawler, web, articles[0], "/hung", *articles[1:], seconds=4)]
        took = time.monotonic() - began
        await web.wait_closed(but=1)
    assert [page.report.status for page in pages] == ["read"] * 4 + ["failed"]
    late = pages[-1]
    assert (late.url, late.report.failure, late.report.reason) == (
        web.url("/hung"),
        "timeout",
        "no answer within 4 seconds",
    )
    assert took >= 4


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (hanging_reply(), "no answer within 2 seconds"),
        (hanging_body(), "not finished within 2 seconds"),
        (dripping_reply(), "not finished within 2 seconds"),
    ],
)
async def test_every_way_of_hanging_ends_at_the_deadline(answer: PageReply, reason: str, net: Net):
    async with Web({"/slow": answer}) as web:
        [page] = [page async for page in read(Crawler(net, FakeExtractor()), web, "/slow", seconds=2)]
        await web.wait_closed()
    assert (page.report.failure, page.report.reason) == ("timeout", reason)


async def test_a_page_has_a_time_of_its_own_within_the_deadline(net: Net):
    async with Web({"/slow": dripping_reply()}) as web:
        crawler = Crawler(net, FakeExtractor(), limits=CrawlLimits(timeout_seconds=2))
        [page] = [page async for page in read(crawler, web, "/slow")]
        await web.wait_closed()
    assert (page.report.failure, page.report.reason) == ("timeout", "not finished within 2 seconds")


async def test_an_extractor_that_takes_too_long_is_not_waited_for(net: Net):
    class HangingExtractor(FakeExtractor):
        async def extract(self, body: bytes, content_type: str, url: str, *, seconds: float, owner: str = ""):
            assert 0 < seconds <= 2
            await asyncio.Event().wait()

    async with Web({"/": page("Hard to read.")}) as web:
        [found] = [found async for found in read(Crawler(net, HangingExtractor()), web, "/", seconds=2)]
    assert (found.report.failure, found.report.http_status) == ("timeout", 200)


async def test_pages_come_in_the_order_in_which_they_are_done(net: Net):
    gate = asyncio.Event()

    async def later() -> AsyncGenerator[bytes | None, None]:
        await gate.wait()
        yield b"<p>Late.</p>"

    async with (
        Web({"/late": PageReply(stream=later), "/soon": page("Soon.")}) as web,
        aclosing(read(Crawler(net, FakeExtractor()), web, "/late", "/soon")) as reading,
    ):
        first = await anext(reading)
        gate.set()
        second = await anext(reading)
    assert [first.url, second.url] == [web.url("/soon"), web.url("/late")]


async def test_a_host_is_asked_for_two_pages_at_a_time_over_all_searches(net: Net, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fetch, "SLOT_SECONDS", 30.0)  # no slot is released before its page is read
    gate = asyncio.Event()
    paths = [f"/{number}" for number in range(9)]
    async with Web(dict.fromkeys(paths, gated_page(gate))) as web, Web() as other:
        crawler = Crawler(net, FakeExtractor())

        async def search(*paths: str, of: Web = web) -> list[str]:
            return [page.report.status async for page in read(crawler, of, *paths, seconds=60)]

        searches = asyncio.gather(search(*paths[:3]), search(*paths[3:6]), search(*paths[6:]))
        await web.wait_requested(paths[1])
        await search("/en/Oxygen", "/vi/Oxygen", "/zh/Oxygen", of=other)  # time enough for more, if there were more
        started = len(web.requests)
        gate.set()
        assert await searches == [["read"] * 3] * 3
    assert (started, web.max_concurrent) == (2, 2)


async def test_hosts_do_not_wait_for_each_other(net: Net):
    async with Web({"/a": hanging_reply(), "/b": hanging_reply()}) as stuck, Web() as web:
        crawler = Crawler(net, FakeExtractor())
        urls = [stuck.url("/a"), stuck.url("/b"), web.url("/en/Oxygen")]
        hosts = [stuck.host, web.host]
        async with aclosing(
            crawler.read_pages(urls, timeout_seconds=10, respect_robots=False, private_hosts=hosts)
        ) as reading:
            assert (await anext(reading)).url == urls[2]


async def test_two_hung_pages_do_not_hold_back_the_others_of_their_host_until_the_deadline(net: Net):
    async with Web(
        {"/a": hanging_reply(), "/b": dripping_reply(), "/c": page("Read."), "/d": page("Read too.")}
    ) as web:
        crawler = Crawler(net, FakeExtractor())
        pages = [page async for page in read(crawler, web, "/a", "/b", "/c", "/d", seconds=5)]
    assert outcomes(pages) == {
        "a": ("failed", "timeout"),
        "b": ("failed", "timeout"),
        "c": ("read", None),
        "d": ("read", None),
    }


def test_a_page_keeps_its_turn_for_two_seconds_or_half_of_a_short_deadline():
    assert [slot_seconds_within(seconds) for seconds in (8, 4, 2, 1)] == [2, 2, 1, 0.5]


async def test_closing_the_reading_closes_every_connection_at_once(net: Net):
    async with Web() as web:
        crawler = Crawler(net, FakeExtractor())
        async with aclosing(read(crawler, web, "/hung", "/en/Oxygen")) as reading:
            await anext(reading)
            await web.wait_requested("/hung")
        await web.wait_closed(but=1)
        assert is_only_task()


@pytest.mark.parametrize("path", ["/hung", "/hung-body", "/drip"])
async def test_cancelling_the_reader_closes_every_connection_and_leaves_no_task(path: str, net: Net):
    async with Web() as web:
        crawler = Crawler(net, FakeExtractor())

        async def search() -> None:
            async with aclosing(read(crawler, web, path)) as reading:
                await anext(reading)

        task = asyncio.create_task(search())
        await web.wait_requested(path)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await web.wait_closed()
        assert is_only_task()


async def test_cancelling_during_the_look_up_of_a_name_leaves_no_task():
    lookup_started = asyncio.Event()

    async def never(host: str) -> list[str]:
        lookup_started.set()
        await asyncio.Event().wait()
        return []

    async with Net(resolve_host=never) as net:
        reading = Crawler(net, FakeExtractor()).read_pages(["http://slow.test/"], timeout_seconds=10)
        task = asyncio.create_task(anext(reading))
        await lookup_started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await reading.aclose()
        assert is_only_task()


async def test_no_pages_are_read_at_once(net: Net):
    async with Web({}) as web:
        assert [page async for page in read(Crawler(net, FakeExtractor()), web)] == []


def is_only_task() -> bool:
    """Requests to the servers of the test do not count."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    return all("_handle_connection" in repr(task) for task in others)


async def read_concurrently(crawler: Crawler, web: Web, path: str, count: int, **more: bool) -> list[CrawledPage]:
    """The page as `count` simultaneous searches get it."""

    async def search() -> CrawledPage:
        return await anext(crawler.read_pages([web.url(path)], timeout_seconds=60, private_hosts=[web.host], **more))

    return await asyncio.gather(*(search() for _ in range(count)))


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("path", ["/en/Oxygen", "/status/404", "/pixel.png"])
async def test_equal_searches_at_once_fetch_a_page_once(path: str, anew: bool, net: Net):
    async with Web() as web:
        extractor = FakeExtractor()
        pages = await read_concurrently(Crawler(net, extractor, FakePageStore()), web, path, 20, no_cache=anew)
    assert len(web.requests_for(path)) == 1
    assert len(extractor.calls) <= 1
    assert len({page.snapshot for page in pages}) == 1
    assert (
        len({(page.report.status, page.report.failure, page.report.reason, page.report.bytes) for page in pages}) == 1
    )


async def test_one_who_stops_waiting_for_a_page_does_not_stop_the_others(net: Net):
    gate = asyncio.Event()
    async with Web({"/page": gated_page(gate)}) as web:
        crawler = Crawler(net, FakeExtractor())
        first, second, third = (
            asyncio.create_task(read_concurrently(crawler, web, "/page", 1, respect_robots=False)) for _ in "123"
        )
        await web.wait_requested("/page")
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        gate.set()
        assert [page.report.status for page in [*await second, *await third]] == ["read", "read"]
        assert len(web.requests) == 1


async def test_one_with_a_shorter_deadline_gives_up_alone(net: Net):
    gate = asyncio.Event()
    async with Web({"/page": gated_page(gate)}) as web:
        crawler = Crawler(net, FakeExtractor())
        patient = asyncio.create_task(read_concurrently(crawler, web, "/page", 1, respect_robots=False))
        await web.wait_requested("/page")
        [late] = [page async for page in read(crawler, web, "/page", seconds=0.2)]
        gate.set()
        [read_] = await patient
    assert (late.report.failure, late.report.reason) == ("timeout", "not finished within 0.2 seconds")
    assert read_.report.status == "read"
    assert len(web.requests) == 1


async def test_whoever_joins_one_with_a_shorter_deadline_has_a_time_of_their_own(net: Net):
    gate = asyncio.Event()

    class DeadlineExtractor(FakeExtractor):
        async def extract(self, body: bytes, content_type: str, url: str, *, seconds: float, owner: str = ""):
            if seconds <= 0:
                raise UnreadableDocument("timeout", "its turn did not come")
            return await super().extract(body, content_type, url, seconds=seconds, owner=owner)

    async with Web({"/page": gated_page(gate)}) as web:
        crawler = Crawler(net, DeadlineExtractor())
        hurried = asyncio.create_task(anext(read(crawler, web, "/page", seconds=0.2)))
        patient = asyncio.create_task(read_concurrently(crawler, web, "/page", 1, respect_robots=False))
        late = await hurried
        gate.set()
        [read_] = await patient
    assert (late.report.failure, read_.report.status) == ("timeout", "read")
    assert len(web.requests) == 1


async def test_what_is_read_by_other_terms_is_fetched_by_itself(net: Net):
    async with Web({"/robots.txt": PageReply(body=b"User-agent: *\nDisallow: /"), "/page": page("Read.")}) as web:
        crawler = Crawler(net, FakeExtractor())
        obeying, free = await asyncio.gather(
            read_concurrently(crawler, web, "/page", 2),
            read_concurrently(crawler, web, "/page", 2, respect_robots=False),
        )
    assert [page.report.failure for page in [*obeying, *free]] == ["robots", "robots", None, None]


async def test_after_a_flight_nothing_is_kept_of_it(net: Net):
    async with Web() as web:
        crawler = Crawler(net, FakeExtractor())
        for _ in range(2):
            await read_concurrently(crawler, web, "/en/Oxygen", 3, no_cache=True)
    assert len(web.requests_for("/en/Oxygen")) == 2
