"""SSRF behind a proxy, which connects itself: only public addresses, and names that this machine cannot resolve, go to
it."""

import itertools

import pytest

from footnote.net.client import ConnectionFailed, Net
from footnote.net.guard import AddressRefused
from footnote.net.proxies import Proxies
from security.addresses import NOT_PUBLIC
from web import Trap, Web, page
from web.internet import SITE, Internet


def net_behind(proxy: Web, internet: Internet, *exceptions: str) -> Net:
    address = f"http://{proxy.host}"
    return Net(Proxies(address, address, exceptions), resolve_host=internet.resolve_host)


@pytest.mark.parametrize("answers", [[SITE], []], ids=["known here", "known to the proxy alone"])
async def test_a_public_page_is_asked_of_the_proxy_and_nobody_else(answers: list[str], internet: Internet):
    if answers:
        internet.add_name("site.test", answers)
    async with Web({"http://site.test/a": page("By proxy.")}) as proxy, net_behind(proxy, internet) as net:
        response = await net.open_page("http://site.test/a")
        assert b"By proxy." in await response.read_all(1000)
        response.close()
    assert internet.connected == []


async def test_an_encrypted_page_is_tunnelled_through_the_proxy(internet: Internet):
    internet.add_name("site.test", [SITE])
    async with Web({}) as proxy, net_behind(proxy, internet) as net:
        with pytest.raises(ConnectionFailed, match="the proxy refused the connection"):
            await net.open_page("https://site.test/a")
    assert [(request.method, request.path) for request in proxy.requests] == [("CONNECT", "site.test:443")]
    assert internet.connected == []


async def test_what_is_private_here_is_not_asked_of_the_proxy(
    internet: Internet, traps: tuple[Trap, Trap], subtests: pytest.Subtests
):
    hosts = ["localhost", "db.internal", "intranet"]
    for number, address in enumerate(NOT_PUBLIC):
        internet.add_name(f"evil{number}.test", [address])
        internet.add_name(f"mixed{number}.test", [SITE, address])
        hosts += [f"[{address}]" if ":" in address else address, f"evil{number}.test", f"mixed{number}.test"]
    async with Web({}) as proxy, net_behind(proxy, internet) as net:
        for host, scheme in itertools.product(hosts, ("http", "https")):
            with subtests.test(host=host, scheme=scheme):
                with pytest.raises(AddressRefused):
                    await net.open_page(f"{scheme}://{host}:{traps[0].port}/")
                assert proxy.requests == []


async def test_an_exception_of_the_proxy_is_no_exception_of_the_guard(internet: Internet, traps: tuple[Trap, Trap]):
    internet.add_name("wiki.test", ["127.0.0.1"])
    async with Web({}) as proxy, net_behind(proxy, internet, "wiki.test") as net:
        with pytest.raises(AddressRefused):
            await net.open_page(traps[0].url("/", name="wiki.test"))
    assert proxy.requests == []


async def test_an_opened_host_is_asked_of_the_proxy_as_of_anybody(internet: Internet):
    async with Web({"http://wiki.internal/": page("Inside.")}) as proxy, net_behind(proxy, internet) as net:
        response = await net.open_page("http://wiki.internal/", private_hosts=["wiki.internal:80"])
        response.close()
    assert (response.status, internet.resolved) == (200, [])
