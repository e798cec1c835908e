"""SSRF: no connection to an address that is not public, wherever it comes from and however it is written."""

import ipaddress
import itertools

import pytest

from footnote.net.client import Net
from footnote.net.guard import AddressRefused, is_public
from security.addresses import NOT_PUBLIC, PUBLIC
from web import PageReply, PageRequest, Trap, Web
from web.internet import SITE, Internet

MESSAGE = "is not on the public web"


def literal(address: str, port: int) -> str:
    return f"http://[{address}]:{port}/" if ":" in address else f"http://{address}:{port}/"


async def test_an_address_in_the_url_is_refused(net: Net, traps: tuple[Trap, Trap], subtests: pytest.Subtests):
    for address, trap in itertools.product(NOT_PUBLIC, traps):
        with subtests.test(address=address, trap=trap.url("/")), pytest.raises(AddressRefused, match=MESSAGE):
            await net.open_page(literal(address, trap.port))


async def test_a_name_that_leads_to_the_address_is_refused(
    net: Net, internet: Internet, traps: tuple[Trap, Trap], subtests: pytest.Subtests
):
    for number, address in enumerate(NOT_PUBLIC):
        name = f"evil{number}.test"
        internet.add_name(name, [address])
        for trap, scheme in itertools.product(traps, ("http", "https")):
            with (
                subtests.test(address=address, trap=trap.url("/"), scheme=scheme),
                pytest.raises(AddressRefused, match=rf"{name}:{trap.port} {MESSAGE}"),
            ):
                await net.open_page(trap.url("/", name=name, scheme=scheme))


async def test_a_name_with_one_such_address_among_public_ones_is_refused(
    net: Net, internet: Internet, site: Web, subtests: pytest.Subtests
):
    for number, address in enumerate(NOT_PUBLIC):
        name = f"mixed{number}.test"
        internet.add_name(name, [SITE, address], [address, SITE])
        for order in ("last", "first"):
            with subtests.test(address=address, order=order):
                with pytest.raises(AddressRefused, match=MESSAGE):
                    await net.open_page(f"http://{name}/")
                assert (site.connections, internet.connected) == (0, [])


@pytest.mark.parametrize("address", PUBLIC)
async def test_a_public_address_is_connected_to(address: str, net: Net, internet: Internet):
    known = ipaddress.ip_address(address)
    async with Web({"/": own_name}, address=loopback(known.version)) as web:
        internet.serve_at(known.compressed, web)
        internet.serve_at(address, web)
        internet.add_name("good.test", [address])
        bodies: list[bytes] = []
        for url in (literal(address, 80), "http://good.test/"):
            response = await net.open_page(url)
            bodies.append(await response.read_all(1000))
            response.close()
    host = f"[{known.compressed}]" if known.version == 6 else address
    assert bodies == [host.encode(), b"good.test"]


@pytest.mark.parametrize(
    "text", ["", "localhost", "127.0.0.1:80", "1.1.1", "fe80::1%eth0", "2606:4700::1111%1", "1.1.1.01"]
)
def test_what_is_no_plain_address_is_not_public(text: str):
    assert not is_public(text)


def loopback(version: int) -> str:
    return "127.0.0.1" if version == 4 else "::1"


def own_name(request: PageRequest) -> PageReply:
    return PageReply(body=request.headers["host"].encode())
