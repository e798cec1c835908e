"""The page cache: fresh pages are not requested, stale ones are revalidated."""

import asyncio

import pytest

from footnote.net.client import Net
from footnote.protocol.sources import CachedPage
from footnote.web_search.cache import Clock
from footnote.web_search.crawl.crawler import CrawledPage, Crawler
from footnote.web_search.crawl.download import CrawlLimits, cache_ttl
from web import PageReply, Web, redirect
from web_search.fakes import FakeExtractor, FakePageStore


class FrozenTime:
    """A clock that advances only by assignment."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def clock(self) -> Clock:
        return Clock(wall=lambda: self.now)


@pytest.fixture
def time() -> FrozenTime:
    return FrozenTime()


async def read(crawler: Crawler, web: Web, path: str, *, private: bool = True, no_cache: bool = False) -> CrawledPage:
    hosts = [web.host] if private else []
    reading = crawler.read_pages(
        [web.url(path)], timeout_seconds=10, respect_robots=False, private_hosts=hosts, no_cache=no_cache
    )
    [page] = [page async for page in reading]
    return page


async def test_a_fresh_page_is_not_asked_for_again(net: Net, web: Web, time: FrozenTime):
    crawler = Crawler(net, FakeExtractor(), FakePageStore(), clock=time.clock())
    first = await read(crawler, web, "/etag")
    time.now += 59
    second = await read(crawler, web, "/etag")
    assert second.snapshot == first.snapshot
    assert (first.report.cache, second.report.cache, len(web.requests)) == (None, "fresh", 1)
    assert (second.report.status, second.report.bytes, second.report.http_status) == ("read", 0, None)


async def test_without_a_cache_a_page_is_neither_kept_nor_taken_from_it(net: Net, web: Web):
    store = FakePageStore()
    crawler = Crawler(net, FakeExtractor(), store)
    await read(crawler, web, "/etag", no_cache=True)
    assert store.pages == {}
    await read(crawler, web, "/etag")
    again = await read(crawler, web, "/etag", no_cache=True)
    assert (again.report.status, again.report.cache, again.report.http_status) == ("read", None, 200)
    assert [request.headers.get("if-none-match") for request in web.requests] == [None, None, None]


async def test_a_stale_page_is_asked_whether_it_changed(net: Net, web: Web, time: FrozenTime):
    store = FakePageStore()
    crawler = Crawler(net, FakeExtractor(), store, clock=time.clock())
    first = await read(crawler, web, "/etag")
    time.now += 61
    second = await read(crawler, web, "/etag")
    time.now += 30
    third = await read(crawler, web, "/etag")
    assert (second.snapshot, third.snapshot) == (first.snapshot, first.snapshot)
    assert [page.report.cache for page in (first, second, third)] == [None, "revalidated", "fresh"]
    assert (second.report.status, second.report.http_status) == ("read", 304)
    assert [request.headers.get("if-none-match") for request in web.requests] == [None, '"one"']
    assert store.pages[web.url("/etag")] == CachedPage(
        url=web.url("/etag"),
        final_url=web.url("/etag"),
        etag='"one"',
        last_modified=None,
        fetched_at=1_700_000_000.0,
        fresh_until=1_700_000_000.0 + 61 + 60,
        snapshot=first.snapshot,
    )


async def test_a_page_that_changed_is_read_anew(net: Net, web: Web, time: FrozenTime):
    headers = {"Content-Type": "text/plain", "Last-Modified": "Tue, 14 Nov 2023 22:00:00 GMT"}
    web.put("/changing", PageReply(headers=headers, body=b"Before."))
    crawler = Crawler(net, FakeExtractor(), FakePageStore(), clock=time.clock())
    first = await read(crawler, web, "/changing")
    web.put("/changing", PageReply(headers=headers, body=b"After."))
    time.now += 301
    second = await read(crawler, web, "/changing")
    assert [page.snapshot.text for page in (first, second) if page.snapshot] == ["Before.", "After."]
    assert web.requests[1].headers["if-modified-since"] == "Tue, 14 Nov 2023 22:00:00 GMT"
    assert second.report.cache is None


async def test_a_mark_that_cannot_be_sent_back_is_not_kept(net: Net, web: Web, time: FrozenTime):
    store = FakePageStore()
    headers = {"Content-Type": "text/plain", "ETag": '"đ"', "Last-Modified": ""}
    url = web.put("/odd", PageReply(headers=headers, body=b"Read."))
    await read(Crawler(net, FakeExtractor(), store, clock=time.clock()), web, "/odd")
    assert (store.pages[url].etag, store.pages[url].last_modified) == (None, None)


async def test_a_page_behind_a_redirect_is_kept_under_the_url_that_was_asked_for(net: Net, web: Web, time: FrozenTime):
    web.put("/old", redirect("/etag"))
    crawler = Crawler(net, FakeExtractor(), FakePageStore(), clock=time.clock())
    await read(crawler, web, "/old")
    fresh = await read(crawler, web, "/old")
    time.now += 61
    revalidated = await read(crawler, web, "/old")
    assert [page.report.cache for page in (fresh, revalidated)] == ["fresh", "revalidated"]
    assert (fresh.report.final_url, revalidated.report.final_url) == (web.url("/etag"), web.url("/etag"))
    sent = [(request.path, request.headers.get("if-none-match")) for request in web.requests]
    assert sent == [("/old", None), ("/etag", None), ("/old", None), ("/etag", '"one"')]


async def test_a_page_that_must_not_be_kept_is_not(net: Net, web: Web):
    store = FakePageStore()
    await read(Crawler(net, FakeExtractor(), store), web, "/no-store")
    assert store.pages == {}


@pytest.mark.parametrize("path", ["/500", "/empty", "/fifty-megabytes"])
async def test_what_failed_or_was_cut_is_not_kept(path: str, net: Net, web: Web):
    store = FakePageStore()
    await read(Crawler(net, FakeExtractor(), store, limits=CrawlLimits(max_text_bytes=10_000)), web, path)
    assert store.pages == {}


async def test_a_page_of_a_host_that_is_not_open_any_more_is_not_taken_from_the_cache(net: Net, web: Web):
    crawler = Crawler(net, FakeExtractor(), FakePageStore())
    await read(crawler, web, "/etag")
    assert (await read(crawler, web, "/etag", private=False)).report.failure == "refused_address"


class BrokenPageStore(FakePageStore):
    async def cached_page(self, url: str) -> CachedPage | None:
        raise OSError("the disk is gone")

    async def store_page(self, page: CachedPage) -> None:
        raise OSError("the disk is full")


async def test_a_store_that_fails_costs_nothing_but_a_line_in_the_log(net: Net, web: Web, caplog):
    found = await read(Crawler(net, FakeExtractor(), BrokenPageStore()), web, "/etag")
    assert (found.report.status, found.report.cache) == ("read", None)
    assert "the disk is gone" in caplog.text
    assert "the disk is full" in caplog.text


class StuckPageStore(FakePageStore):
    async def store_page(self, page: CachedPage) -> None:
        await asyncio.Event().wait()


async def test_a_store_that_hangs_does_not_make_a_page_late_that_was_read(net: Net, web: Web, caplog):
    crawler = Crawler(net, FakeExtractor(), StuckPageStore())
    [found] = [
        page async for page in crawler.read_pages([web.url("/etag")], timeout_seconds=0.3, private_hosts=[web.host])
    ]
    assert found.report.status == "read"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 300),
        ({"Cache-Control": "max-age=60"}, 60),
        ({"Cache-Control": "public, s-maxage=9, Max-Age=60"}, 60),
        ({"Cache-Control": 'max-age="60"'}, 60),
        ({"Cache-Control": "max-age=31536000, immutable"}, 86_400),
        ({"Cache-Control": "max-age=99999999999999999999"}, 86_400),
        ({"Cache-Control": "max-age=0"}, 0),
        ({"Cache-Control": "max-age=60", "Age": "50"}, 10),
        ({"Cache-Control": "max-age=60", "Age": "500"}, 0),
        ({"Cache-Control": "no-cache, max-age=60"}, 0),
        ({"Cache-Control": "no-store"}, None),
        ({"Cache-Control": "private, No-Store, max-age=60"}, None),
        ({"Cache-Control": "private"}, 300),
        ({"Cache-Control": "max-age=soon"}, 300),
        ({"Date": "Tue, 14 Nov 2023 22:00:00 GMT", "Expires": "Tue, 14 Nov 2023 22:10:00 GMT"}, 600),
        ({"Date": "Tue, 14 Nov 2023 22:00:00 GMT", "Expires": "Tue, 14 Nov 2023 21:10:00 GMT"}, 0),
        ({"Date": "Tue, 14 Nov 2023 22:00:00 GMT", "Expires": "0"}, 0),
        ({"Date": "Tue, 14 Nov 2023 22:00:00 GMT", "Expires": "Tue, 14 Nov 2023 22:10:00 -0000"}, 0),
        ({"Expires": "Tue, 14 Nov 2023 22:10:00 GMT"}, 300),
        ({"Cache-Control": "max-age=60", "Expires": "0", "Date": "Tue, 14 Nov 2023 22:00:00 GMT"}, 60),
    ],
)
def test_how_long_a_page_is_fresh(headers: dict[str, str], seconds: float | None):
    assert cache_ttl(headers) == seconds
