"""SSRF: images and icons are fetched by the same rules as pages, hop by hop."""

import pytest

from footnote.net.client import Net
from footnote.net.failures import AddressRefused
from footnote.web_search.favicons import Favicons
from footnote.web_search.reading.picture import Picture, Pictures
from security.addresses import NOT_PUBLIC
from server.images import PNG, picture
from web import Trap, Web, redirect
from web.internet import Internet

IMAGE = Picture("image/png", PNG)


async def fetched(net: Net, url: str) -> Picture:
    return await Pictures(net).fetch(url, most=1_000_000, seconds=10)


async def test_an_image_of_the_public_web_is_fetched(net: Net, site: Web):
    site.put("/a.png", picture(PNG))
    site.put("/moved", redirect("/a.png"))
    site.put("/favicon.ico", picture(PNG))
    assert await fetched(net, "http://site.test/moved") == IMAGE
    assert await Favicons(Pictures(net), None).of("http://site.test/page") == IMAGE


@pytest.mark.parametrize("address", NOT_PUBLIC)
async def test_an_address_that_is_not_public_is_refused_at_once_and_behind_a_redirect(
    address: str, net: Net, site: Web
):
    target = f"http://[{address}]/a.png" if ":" in address else f"http://{address}/a.png"
    site.put("/away", redirect(target))
    for url in (target, "http://site.test/away"):
        with pytest.raises(AddressRefused):
            await fetched(net, url)


async def test_a_name_that_leads_inside_is_refused(net: Net, internet: Internet, site: Web, traps: tuple[Trap, Trap]):
    internet.name("inside.test", ["127.0.0.1"])
    internet.name("turn.test", ["127.0.0.1"])
    for trap in traps:
        for name in ("localhost", "inside.test", "turn.test"):
            site.put("/favicon.ico", redirect(trap.url("/", name=name)))
            with pytest.raises(AddressRefused):
                await fetched(net, trap.url("/a.png", name=name))
            assert await Favicons(Pictures(net), None).of("http://site.test/") is None
