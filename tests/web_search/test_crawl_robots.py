"""robots.txt: it is obeyed, and requested once."""

import asyncio
import gzip
from collections.abc import AsyncGenerator

import pytest

from footnote.net.client import Net
from footnote.web_search.cache import Clock
from footnote.web_search.crawl.crawler import CrawledPage, Crawler
from footnote.web_search.crawl.fetch import PageFailed
from footnote.web_search.crawl.robots import parse
from web import PageReply, Web, hanging_reply, page, redirect
from web_search.fakes import FakeExtractor


def robots_reply(text: str, status: int = 200) -> PageReply:
    return PageReply(status, {"Content-Type": "text/plain"}, text.encode())


async def read(crawler: Crawler, web: Web, *paths: str, robots: bool = True, seconds: float = 10) -> list[CrawledPage]:
    urls = [web.url(path) for path in paths]
    reading = crawler.read_pages(urls, timeout_seconds=seconds, respect_robots=robots, private_hosts=[web.host])
    return [page async for page in reading]


def failure_of(page: CrawledPage) -> tuple[str | None, str | None]:
    return page.report.failure, page.report.reason


def requested_paths(web: Web) -> list[str]:
    return [request.path for request in web.requests]


STAY_AWAY = ("robots", "robots.txt asks to stay away")


async def test_a_page_that_robots_txt_forbids_is_not_asked_for(net: Net):
    async with Web() as web:
        [found] = await read(Crawler(net, FakeExtractor()), web, "/private/forbidden")
    assert (failure_of(found), requested_paths(web)) == (STAY_AWAY, ["/robots.txt"])


async def test_robots_txt_is_not_even_asked_for_where_it_need_not_be_respected(net: Net):
    async with Web() as web:
        [found] = await read(Crawler(net, FakeExtractor()), web, "/private/forbidden", robots=False)
    assert (found.report.status, requested_paths(web)) == ("read", ["/private/forbidden"])


async def test_robots_txt_is_asked_for_once_however_many_pages_wait_for_it(net: Net):
    async with Web() as web:
        crawler = Crawler(net, FakeExtractor())
        searches = [read(crawler, web, "/en/Oxygen", "/vi/Oxygen", "/zh/Oxygen") for _ in range(3)]
        found = await asyncio.gather(*searches)
        await read(crawler, web, "/en/Normans")
    assert [[page.report.status for page in pages] for pages in found] == [["read"] * 3] * 3
    assert len(web.requests_for("/robots.txt")) == 1


async def test_robots_txt_is_asked_for_again_after_an_hour(net: Net):
    passed = [0.0]
    async with Web() as web:
        crawler = Crawler(net, FakeExtractor(), clock=Clock(now=lambda: passed[0]))
        for passed[0] in (0, 3_599, 3_601):
            await read(crawler, web, "/en/Oxygen")
    assert requested_paths(web) == ["/robots.txt", "/en/Oxygen", "/en/Oxygen", "/robots.txt", "/en/Oxygen"]


async def test_each_hop_of_a_redirect_is_held_against_the_rules_of_its_host(net: Net):
    pages = {"/robots.txt": robots_reply("User-agent: *\nDisallow: /hidden"), "/hidden": page("Not for programs.")}
    async with Web(pages) as other, Web({"/": redirect(other.url("/hidden"))}) as web:
        crawler = Crawler(net, FakeExtractor())
        hosts = [web.host, other.host]
        [found] = [page async for page in crawler.read_pages([web.url("/")], timeout_seconds=10, private_hosts=hosts)]
    assert (failure_of(found), requested_paths(web), requested_paths(other)) == (
        STAY_AWAY,
        ["/robots.txt", "/"],
        ["/robots.txt"],
    )


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
async def test_a_site_without_robots_txt_is_read(status: int, net: Net):
    async with Web({"/": page("Open."), "/robots.txt": robots_reply("User-agent: *\nDisallow: /", status)}) as web:
        [found] = await read(Crawler(net, FakeExtractor()), web, "/")
    assert found.report.status == "read"


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_site_whose_robots_txt_fails_is_left_alone_for_a_minute(status: int, net: Net):
    passed = [0.0]
    async with Web({"/": page("Open."), "/robots.txt": robots_reply("", status)}) as web:
        crawler = Crawler(net, FakeExtractor(), clock=Clock(now=lambda: passed[0]))
        [first] = await read(crawler, web, "/")
        web.put("/robots.txt", robots_reply(""))
        passed[0] = 59
        [second] = await read(crawler, web, "/")
        passed[0] = 61
        [third] = await read(crawler, web, "/")
    reason = f"robots.txt answers with HTTP {status}, so the site is left alone for now"
    assert [failure_of(first), failure_of(second), failure_of(third)] == [
        ("robots", reason),
        ("robots", reason),
        (None, None),
    ]


async def test_a_robots_txt_that_hangs_ends_with_the_deadline(net: Net):
    async with Web({"/": page("Open."), "/robots.txt": hanging_reply()}) as web:
        [found] = await read(Crawler(net, FakeExtractor()), web, "/", seconds=2)
        await web.wait_closed()
    assert (failure_of(found), requested_paths(web)) == (("timeout", "no answer within 2 seconds"), ["/robots.txt"])


async def test_a_reading_that_is_cancelled_does_not_take_robots_txt_from_another(net: Net):
    gate = asyncio.Event()

    async def later() -> AsyncGenerator[bytes | None, None]:
        await gate.wait()
        yield b"User-agent: *\nAllow: /\n"

    async with Web({"/": page("Open."), "/robots.txt": PageReply(stream=later)}) as web:
        crawler = Crawler(net, FakeExtractor())
        first = asyncio.create_task(read(crawler, web, "/"))
        await web.wait_requested("/robots.txt")
        second = asyncio.create_task(read(crawler, web, "/"))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        gate.set()
        [found] = await second
    assert (found.report.status, requested_paths(web)) == ("read", ["/robots.txt", "/"])


async def test_robots_txt_is_followed_through_redirects_and_compression(net: Net):
    body = gzip.compress(b"User-agent: *\nDisallow: /\n")
    pages = {
        "/": page("Closed."),
        "/robots.txt": redirect("/rules/robots.txt", 301),
        "/rules/robots.txt": PageReply(headers={"Content-Type": "text/plain", "Content-Encoding": "gzip"}, body=body),
    }
    async with Web(pages) as web:
        [found] = await read(Crawler(net, FakeExtractor()), web, "/")
    assert failure_of(found) == STAY_AWAY


@pytest.mark.parametrize("answer", [redirect("/robots.txt"), PageReply(headers={"Content-Encoding": "br"}, body=b"x")])
async def test_a_robots_txt_that_cannot_be_read_says_nothing(answer: PageReply, net: Net):
    async with Web({"/": page("Open."), "/robots.txt": answer}) as web:
        [found] = await read(Crawler(net, FakeExtractor()), web, "/")
    assert found.report.status == "read"


async def test_of_a_huge_robots_txt_the_first_half_megabyte_counts(net: Net):
    filling = "# nothing to see here\n" * 40_000
    pages = {
        "/early": page("Closed."),
        "/late": page("Too late."),
        "/robots.txt": robots_reply(f"User-agent: *\nDisallow: /early\n{filling}Disallow: /late\n"),
    }
    async with Web(pages) as web:
        found = await read(Crawler(net, FakeExtractor()), web, "/early", "/late")
    assert {page.url: page.report.failure for page in found} == {web.url("/early"): "robots", web.url("/late"): None}


def is_allowed(text: str, path: str) -> bool:
    try:
        parse(text).check(path)
    except PageFailed:
        return False
    return True


@pytest.mark.parametrize(
    ("text", "path", "may"),
    [
        ("", "/", True),
        ("User-agent: *\nDisallow: /", "/", False),
        ("User-agent: *\nDisallow:", "/", True),
        ("Disallow: /", "/", True),  # before any group
        ("User-agent: other\nDisallow: /", "/", True),
        ("user-AGENT : FootNote\ndisALLOW : /", "/x", False),
        ("User-agent: Footnote/1.0 (x)\nDisallow: /", "/x", False),
        ("User-agent: footnotes\nDisallow: /", "/x", True),
        ("User-agent: *\nDisallow: /\nUser-agent: footnote\nDisallow: /a", "/b", True),
        ("User-agent: footnote\nAllow: /\nUser-agent: *\nDisallow: /", "/b", True),
        ("User-agent: footnote\nDisallow:\n\nUser-agent: *\nDisallow: /", "/b", True),
        ("User-agent: a\nUser-agent: footnote\nDisallow: /", "/b", False),
        (
            "User-agent: footnote\nDisallow: /a\nUser-agent: x\nDisallow: /\nUser-agent: footnote\nDisallow: /b",
            "/b",
            False,
        ),
        ("User-agent: *\nSitemap: https://x/\nDisallow: /a # why\n", "/a", False),
        ("\ufeffUser-agent: *\rDisallow: /a\r\n", "/ab", False),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nAllow: /a\nDisallow: /a/b", "/a/b/c", False),
        ("User-agent: *\nDisallow: /a\nAllow: /a", "/a", True),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf?z", True),
        ("User-agent: *\nDisallow: /*.pdf", "/x/y.pdf?z", False),
        ("User-agent: *\nDisallow: /a$", "/a", False),
        ("User-agent: *\nDisallow: /a$", "/ab", True),
        ("User-agent: *\nDisallow: /a*a$", "/a", True),
        ("User-agent: *\nDisallow: /*/private/*/x", "/u/private/v/w/x1", False),
        ("User-agent: *\nDisallow: /*?", "/a?b", False),
        ("User-agent: *\nDisallow: /*?", "/a", True),
        ("User-agent: *\nDisallow: *", "/a", False),
        ("User-agent: *\nDisallow: /$", "/", False),
        ("User-agent: *\nDisallow: /đường", "/%C4%91%C6%B0%E1%BB%9Dng/1", False),
        ("User-agent: *\nDisallow: /%c4%91", "/%C4%91", False),
        ("User-agent: *\nDisallow: /%7Euser", "/~user", False),
        ("User-agent: *\nDisallow: /a%2Fb", "/a/b", True),
        ("User-agent: *\nDisallow: /A", "/a", True),
        ("<!doctype html><p>User-agent: *</p>", "/a", True),
    ],
)
def test_rules_are_read_as_the_standard_says(text: str, path: str, may: bool):
    assert is_allowed(text, path) is may


def test_a_rule_made_to_be_slow_is_not():
    assert is_allowed("User-agent: *\nDisallow: /" + "*a" * 2_000 + "b$", "/" + "a" * 4_000)
