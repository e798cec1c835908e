"""SSRF: images and icons are fetched by the same rules as pages, hop by hop."""

from collections.abc import AsyncIterator

import pytest

from footnote.net.client import Net
from footnote.net.failures import AddressRefused
from footnote.sandbox.pool import SandboxPool
from footnote.web_search.favicons import Favicons
from footnote.web_search.reading.picture import Picture, Pictures
from security.addresses import NOT_PUBLIC
from server.images import PNG, picture
from web import Trap, Web, redirect
from web.internet import Internet

IMAGE = Picture("image/png", PNG)


@pytest.fixture
async def pictures(net: Net) -> AsyncIterator[Pictures]:
    async with SandboxPool() as sandbox:
        yield Pictures(net, sandbox)


async def fetched(pictures: Pictures, url: str) -> Picture:
    return await pictures.fetch(url, most=1_000_000, seconds=10)


async def test_an_image_of_the_public_web_is_fetched(pictures: Pictures, site: Web):
    site.put("/a.png", picture(PNG))
    site.put("/moved", redirect("/a.png"))
    site.put("/favicon.ico", picture(PNG))
    assert await fetched(pictures, "http://site.test/moved") == IMAGE
    assert await Favicons(pictures, None).of("http://site.test/page") == IMAGE


async def test_an_address_that_is_not_public_is_refused_at_once_and_behind_a_redirect(
    pictures: Pictures, site: Web, subtests: pytest.Subtests
):
    for number, address in enumerate(NOT_PUBLIC):
        target = f"http://[{address}]/a.png" if ":" in address else f"http://{address}/a.png"
        site.put(f"/away/{number}", redirect(target))
        for url in (target, f"http://site.test/away/{number}"):
            with subtests.test(address=address, url=url), pytest.raises(AddressRefused):
                await fetched(pictures, url)


async def test_a_name_that_leads_inside_is_refused(
    pictures: Pictures, internet: Internet, site: Web, traps: tuple[Trap, Trap]
):
    internet.name("inside.test", ["127.0.0.1"])
    internet.name("turn.test", ["127.0.0.1"])
    for trap in traps:
        for name in ("localhost", "inside.test", "turn.test"):
            site.put("/favicon.ico", redirect(trap.url("/", name=name)))
            with pytest.raises(AddressRefused):
                await fetched(pictures, trap.url("/a.png", name=name))
            assert await Favicons(pictures, None).of("http://site.test/") is None
