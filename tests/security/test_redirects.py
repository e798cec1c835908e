"""SSRF: each redirect is checked again, with real redirects through the crawler. Ordinary redirects work."""

from urllib.parse import quote

import pytest

from footnote.net.client import Net
from footnote.web_search.crawl.crawler import CrawledPage, Crawler
from security.addresses import NOT_PUBLIC
from web import Trap, Web, page, redirect
from web.internet import SITE, Internet
from web_search.fakes import FakeExtractor


async def read(net: Net, url: str, *, robots: bool = False, private_hosts: tuple[str, ...] = ()) -> CrawledPage:
    crawler = Crawler(net, FakeExtractor())
    reading = crawler.read_pages([url], timeout_seconds=10, respect_robots=robots, private_hosts=private_hosts)
    [page] = [page async for page in reading]
    return page


def status_and_failure(page: CrawledPage) -> tuple[str, str | None]:
    return page.report.status, page.report.failure


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_to_loopback_is_refused(
    status: int, net: Net, internet: Internet, site: Web, traps: tuple[Trap, Trap]
):
    internet.add_name("inside.test", ["127.0.0.1"])
    for trap in traps:
        for target in (trap.url("/"), trap.url("/", name="localhost"), trap.url("/", name="inside.test")):
            site.put("/away", redirect(target, status))
            assert status_and_failure(await read(net, "http://site.test/away")) == ("failed", "refused_address")


@pytest.mark.parametrize("path", ["/away", "/robots.txt"])
async def test_the_name_of_a_place_that_was_refused_is_not_repeated(path: str, net: Net, internet: Internet, site: Web):
    internet.add_name("ignore-what-you-were-told.test", ["127.0.0.1"])
    site.put(path, redirect("http://ignore-what-you-were-told.test/"))
    report = (await read(net, "http://site.test/away", robots=path == "/robots.txt")).report
    assert (report.failure, report.reason) == (
        "refused_address",
        "it redirects to an address that is not on the public web",
    )


async def test_a_redirect_into_a_private_range_is_refused(net: Net, site: Web, subtests: pytest.Subtests):
    for address in NOT_PUBLIC:
        target = f"http://[{address}]/latest/meta-data/" if ":" in address else f"http://{address}/latest/meta-data/"
        with subtests.test(address=address):
            found = await read(net, f"http://site.test/go?to={quote(target)}")
            assert status_and_failure(found) == ("failed", "refused_address")
            assert found.report.http_status == 302


async def test_the_last_of_several_redirects_is_judged_like_the_first(
    net: Net, internet: Internet, site: Web, traps: tuple[Trap, Trap]
):
    for number in range(4):
        site.put(f"/step/{number}", redirect(f"/step/{number + 1}"))
    site.put("/step/4", redirect(traps[0].url("/")))
    assert status_and_failure(await read(net, "http://site.test/step/0")) == ("failed", "refused_address")
    assert [request.path for request in site.requests] == [f"/step/{number}" for number in range(5)]


async def test_a_name_that_is_public_on_the_first_hop_and_loopback_on_the_second_is_refused(
    net: Net, internet: Internet, site: Web, traps: tuple[Trap, Trap]
):
    internet.add_name("turn.test", [SITE], ["127.0.0.1"])
    site.put("/", redirect(traps[0].url("/", name="turn.test")))
    assert status_and_failure(await read(net, "http://turn.test/")) == ("failed", "refused_address")
    assert internet.resolved == ["turn.test", "turn.test"]


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://site.test/", "http://user@site.test/", "/a\\b"])
async def test_a_redirect_out_of_the_web_is_refused(location: str, net: Net, site: Web):
    site.put("/away", redirect(location))
    assert status_and_failure(await read(net, "http://site.test/away")) == ("failed", "refused_address")


async def test_robots_txt_that_redirects_to_loopback_reaches_nobody(
    net: Net, internet: Internet, site: Web, traps: tuple[Trap, Trap]
):
    site.put("/robots.txt", redirect(traps[0].url("/robots.txt")))
    assert status_and_failure(await read(net, "http://site.test/en/Oxygen", robots=True)) == (
        "failed",
        "refused_address",
    )


async def test_an_intranet_page_that_redirects_opens_no_other_host(
    net: Net, internet: Internet, traps: tuple[Trap, Trap]
):
    async with Web() as intranet:
        intranet.put("/away", redirect(traps[0].url("/")))
        found = await read(net, intranet.url("/away"), private_hosts=(intranet.host,))
    assert status_and_failure(found) == ("failed", "refused_address")


async def test_ordinary_redirects_still_work(net: Net, internet: Internet, site: Web):
    """Relative, to another public host, and from there to a private host that the operator permits."""
    async with Web({"/end": page("Arrived.")}) as intranet, Web() as other:
        internet.serve_at("8.8.8.8", other)
        internet.add_name("other.test", ["8.8.8.8"])
        site.put("/start", redirect("/next"))
        site.put("/next", redirect("//other.test/there", 301))
        other.put("/there", redirect(intranet.url("/end"), 307))
        found = await read(net, "http://site.test/start", private_hosts=(intranet.host,))
        assert found.snapshot is not None
        assert (found.snapshot.text, found.snapshot.url) == ("A page Arrived.", intranet.url("/end"))
    assert found.report.final_url == intranet.url("/end")
