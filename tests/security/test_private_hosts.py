"""`allowPrivateHosts` permits exactly the hosts that it names."""

import pytest

from footnote.net.client import Net
from footnote.net.guard import AddressRefused
from web import Trap, Web
from web.internet import Internet


async def test_an_opened_host_and_port_is_read(net: Net):
    async with Web() as intranet:
        response = await net.open_page(intranet.url("/en/Oxygen"), private_hosts=[intranet.host])
        response.close()
    assert response.status == 200


async def test_an_opened_ipv6_host_is_read_however_it_is_spelled(net: Net):
    async with Web(address="::1") as intranet:
        response = await net.open_page(intranet.url("/"), private_hosts=[f"[0:0:0:0:0:0:0:1]:{intranet.port}"])
        response.close()
    assert response.status == 404


async def test_an_opened_name_is_read_whatever_it_resolves_to(net: Net, internet: Internet):
    internet.add_name("wiki.internal", ["127.0.0.1"])
    async with Web() as intranet:
        opened = [f"Wiki.Internal:{intranet.port}"]
        response = await net.open_page(intranet.url("/en/Oxygen", name="wiki.internal"), private_hosts=opened)
        response.close()
    assert response.status == 200


async def test_the_usual_port_need_not_stand_in_the_url_but_does_in_the_setting(net: Net, internet: Internet):
    async with Web() as intranet:
        internet.add_name("wiki.internal", ["127.0.0.77"])
        internet.serve_at("127.0.0.77", intranet)
        with pytest.raises(AddressRefused):
            await net.open_page("http://wiki.internal/", private_hosts=["wiki.internal:443", "wiki.internal"])
        response = await net.open_page("http://wiki.internal/en/", private_hosts=["wiki.internal:80"])
        response.close()
    assert response.status == 200


@pytest.mark.parametrize(
    "opened",
    [
        "127.0.0.1:1",  # another port
        "127.0.0.2:{port}",
        "localhost:{port}",  # another name of the same address
        "[::1]:{port}",
        "127.0.0.1",
        "*:{port}",
        "*",
        "127.0.0.0/8",
        "evil.test:{port}@127.0.0.1:{port}",
        "",
    ],
)
async def test_nothing_beside_what_is_named_is_opened(opened: str, net: Net, traps: tuple[Trap, Trap]):
    trap = traps[0]
    with pytest.raises(AddressRefused):
        await net.open_page(trap.url("/"), private_hosts=[opened.replace("{port}", str(trap.port))])


async def test_opening_an_address_does_not_open_names_that_lead_to_it(
    net: Net, internet: Internet, traps: tuple[Trap, Trap]
):
    internet.add_name("evil.test", ["127.0.0.1"])
    with pytest.raises(AddressRefused):
        await net.open_page(traps[0].url("/", name="evil.test"), private_hosts=[traps[0].host])
