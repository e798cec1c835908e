"""SSRF: a URL that parsers may read differently is refused before any name is resolved."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footnote.net.client import Net
from footnote.net.guard import AddressRefused, PageUrl
from security.urls import AMBIGUOUS, HOSTILE
from web import Trap, Web
from web.internet import Internet


async def resolve_to_loopback(host: str) -> Sequence[str]:
    """A hostile name server: every name resolves to this machine."""
    return ["127.0.0.1", "::1"]


async def test_a_hostile_url_reaches_nobody(traps: tuple[Trap, Trap], subtests: pytest.Subtests):
    four, six = traps
    async with Net(resolve_host=resolve_to_loopback) as net:
        for template in HOSTILE:
            url = template.replace("{four}", str(four.port)).replace("{six}", str(six.port))
            with subtests.test(template=template):
                with pytest.raises(AddressRefused):
                    await net.open_page(url)
                assert (four.connections, six.connections) == (0, 0)


async def test_a_url_that_can_be_read_in_two_ways_is_refused_before_anybody_is_asked(
    net: Net, internet: Internet, site: Web, subtests: pytest.Subtests
):
    for url in AMBIGUOUS:
        with subtests.test(url=url):
            with pytest.raises(AddressRefused):
                await net.open_page(url)
            assert (internet.resolved, site.connections) == ([], 0)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://site.test/", "only http and https URLs are read"),
        ("http://user@site.test/", "the URL has a user name in it"),
        ("http://site.test:x/", "the URL has no valid host and port"),
        ("http://site.test/a b", "the URL has white space, a backslash or an invisible character in it"),
        ("http://site.test/" + "x" * 8_000, "the URL is longer than 8000 characters"),
        ("http://localhost/", "localhost:80 is not on the public web; tools.webSearch.allowPrivateHosts opens it"),
    ],
)
async def test_a_refusal_says_what_is_wrong(url: str, reason: str, net: Net):
    with pytest.raises(AddressRefused) as refusal:
        await net.open_page(url)
    assert (refusal.value.message, refusal.value.kind, refusal.value.retryable) == (reason, "refused_address", False)


def test_there_are_enough_of_them():
    assert len(set(HOSTILE)) >= 100


@pytest.mark.parametrize(
    ("url", "host", "path"),
    [
        ("http://site.test", "site.test", "/"),
        ("HTTP://SITE.test:80/a/../b?q=1#part", "site.test", "/b?q=1"),
        ("http://site.test./", "site.test", "/"),
        ("http://site.test:8080/", "site.test:8080", "/"),
        ("http://site.test:/", "site.test", "/"),
        ("http://site.test#@127.0.0.1:80/", "site.test", "/"),
        ("http://site.test?@127.0.0.1:80/", "site.test", "/?@127.0.0.1:80/"),
        (
            "http://ví-dụ.test/đường?hỏi=đáp",
            "xn--v-d-rma6749a.test",
            "/%C4%91%C6%B0%E1%BB%9Dng?h%E1%BB%8Fi=%C4%91%C3%A1p",
        ),
        ("http://例子.test/首页", "xn--fsqu00a.test", "/%E9%A6%96%E9%A1%B5"),
        ("http://under_score.test/@user/a@b?x=http://127.0.0.1/", "under_score.test", "/@user/a@b?x=http://127.0.0.1/"),
        ("http://1.1.1.1.site.test/", "1.1.1.1.site.test", "/"),
        ("http://site.test/%2e%2e/a%2Fb%20c+d", "site.test", "/a%2Fb%20c+d"),
    ],
)
async def test_an_ordinary_url_is_asked_for_as_it_is_meant(
    url: str, host: str, path: str, net: Net, internet: Internet, site: Web
):
    name = host.partition(":")[0]
    internet.add_name(name, ["93.184.215.14"])
    (await net.open_page(url)).close()
    [request] = site.requests
    assert (request.headers["host"], request.path, internet.resolved) == (host, path, [name])


texts = st.text(st.sampled_from("http://ex.am-ple_1:80[]@#?\\/%2e0x٣①。\t é"), max_size=30)


@given(st.builds("http{}://{}/{}".format, st.sampled_from(["", "s"]), texts, texts))
def test_what_is_accepted_is_read_again_as_the_same(text: str):
    try:
        url = PageUrl.parse(text)
    except AddressRefused:
        return
    again = PageUrl.parse(str(url))
    assert (again, again.origin, again.path_and_query) == (url, url.origin, url.path_and_query)


@pytest.mark.parametrize(
    ("location", "leads_to"),
    [
        ("/a", "http://site.test/a"),
        ("b", "http://site.test/folder/b"),
        ("../up", "http://site.test/up"),
        ("?q", "http://site.test/folder/page?q"),
        ("//other.test/x", "http://other.test/x"),
        ("https://other.test", "https://other.test/"),
        ("/with space and %20", "http://site.test/with%20space%20and%20%20"),
        ("/caf\udce9", "http://site.test/caf%E9"),
        ("/đường", "http://site.test/%C4%91%C6%B0%E1%BB%9Dng"),
        ("#part", "http://site.test/folder/page?p"),
    ],
)
def test_a_redirect_leads_where_browsers_would_go(location: str, leads_to: str):
    assert str(PageUrl.parse("http://site.test/folder/page?p").join(location)) == leads_to


@pytest.mark.parametrize(
    "location",
    [
        "http://user@site.test/",
        "//user@site.test/",
        "//site.test\\@other.test/",
        "\\\\other.test/",
        "/\\other.test/",
        "/a\tb",
        "/a\x00",
        "http:/other.test",
        "https:other.test",
        "ftp://other.test/",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "http://other.test:0/",
        "http://caf\udce9.test/",
        "http://127.0.0.1 .test/",
    ],
)
def test_a_redirect_that_can_be_read_in_two_ways_is_refused(location: str):
    with pytest.raises(AddressRefused):
        PageUrl.parse("http://site.test/folder/page").join(location)
