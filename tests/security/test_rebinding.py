"""SSRF by DNS rebinding: the address that is connected to is the one that was checked."""

import pytest

from footnote.net.client import ConnectionFailed, Net
from footnote.net.guard import AddressRefused
from web import PageReply, Trap, Web
from web.internet import SITE, Internet

LOOPBACK = ["127.0.0.1", "::1"]


async def open_status(net: Net, url: str) -> int:
    response = await net.open_page(url)
    await response.read_all(100_000)
    response.close()
    return response.status


async def test_a_name_that_turns_from_public_to_loopback_is_looked_up_once_and_connected_to_where_it_was_judged(
    net: Net, internet: Internet, site: Web, traps: tuple[Trap, Trap]
):
    internet.add_name("rebind.test", [SITE], LOOPBACK)
    assert await open_status(net, traps[0].url("/en/Oxygen", name="rebind.test")) == 200
    assert (internet.resolved, internet.connected) == (["rebind.test"], [(SITE, traps[0].port)])


async def test_the_next_request_is_judged_by_the_next_answer(
    net: Net, internet: Internet, site: Web, traps: tuple[Trap, Trap]
):
    internet.add_name("rebind.test", [SITE], LOOPBACK)
    site.put("/closing", PageReply(headers={"Connection": "close"}))
    url = traps[0].url("/closing", name="rebind.test")
    assert await open_status(net, url) == 200
    with pytest.raises(AddressRefused):
        await net.open_page(url)
    assert internet.resolved == ["rebind.test", "rebind.test"]


async def test_a_kept_connection_still_leads_to_where_it_was_judged(
    net: Net, internet: Internet, site: Web, traps: tuple[Trap, Trap]
):
    internet.add_name("rebind.test", [SITE], LOOPBACK)
    url = traps[0].url("/en/Oxygen", name="rebind.test")
    assert [await open_status(net, url), await open_status(net, url)] == [200, 200]
    assert (len(site.requests), site.connections, internet.resolved) == (2, 1, ["rebind.test"])


async def test_https_is_pinned_to_the_judged_address_too(
    net: Net, internet: Internet, site: Web, traps: tuple[Trap, Trap]
):
    internet.add_name("rebind.test", [SITE], LOOPBACK)
    url = traps[0].url("/", name="rebind.test", scheme="https")
    with pytest.raises(ConnectionFailed, match="TLS handshake") as failure:
        await net.open_page(url)  # the site does not speak TLS, but it was the host that was connected to
    assert (failure.value.kind, internet.connected) == ("tls", [(SITE, traps[0].port)])
    with pytest.raises(AddressRefused):
        await net.open_page(url)


async def test_a_connection_that_the_operator_opened_is_not_used_for_those_who_may_not(net: Net, internet: Internet):
    """A host permitted for one call; its pooled connection must not serve another call."""
    async with Web() as intranet:
        internet.add_name("wiki.test", LOOPBACK[:1])
        url = intranet.url("/en/Oxygen", name="wiki.test")
        response = await net.open_page(url, private_hosts=[f"wiki.test:{intranet.port}"])
        await response.read_all(100_000)
        response.close()
        with pytest.raises(AddressRefused):
            await net.open_page(url)
        assert len(intranet.requests) == 1
