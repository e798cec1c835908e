"""SSRF: images and icons follow the rules of pages, at each redirect."""

from collections.abc import AsyncIterator

import pytest

from footnote.net import AddressRefused
from footnote.net.client import Net
from footnote.sandbox.pool import SandboxPool
from footnote.web_search.images import Favicons, FetchedImage, ImageFetcher
from security.addresses import NOT_PUBLIC
from server.images import PNG, picture
from web import Trap, Web, redirect
from web.internet import Internet

IMAGE = FetchedImage("image/png", PNG)


@pytest.fixture
async def pictures(net: Net) -> AsyncIterator[ImageFetcher]:
    async with SandboxPool() as sandbox:
        yield ImageFetcher(net, sandbox)


async def fetch_image(image_fetcher: ImageFetcher, url: str) -> FetchedImage:
    return await image_fetcher.fetch(url, max_bytes=1_000_000, timeout_seconds=10)


async def test_an_image_of_the_public_web_is_fetched(pictures: ImageFetcher, site: Web):
    site.put("/a.png", picture(PNG))
    site.put("/moved", redirect("/a.png"))
    site.put("/favicon.ico", picture(PNG))
    assert await fetch_image(pictures, "http://site.test/moved") == IMAGE
    assert await Favicons(pictures, None).get("http://site.test/page") == IMAGE


async def test_an_address_that_is_not_public_is_refused_at_once_and_behind_a_redirect(
    pictures: ImageFetcher, site: Web, subtests: pytest.Subtests
):
    for number, address in enumerate(NOT_PUBLIC):
        target = f"http://[{address}]/a.png" if ":" in address else f"http://{address}/a.png"
        site.put(f"/away/{number}", redirect(target))
        for url in (target, f"http://site.test/away/{number}"):
            with subtests.test(address=address, url=url), pytest.raises(AddressRefused):
                await fetch_image(pictures, url)


async def test_a_name_that_leads_inside_is_refused(
    pictures: ImageFetcher, internet: Internet, site: Web, traps: tuple[Trap, Trap]
):
    internet.add_name("inside.test", ["127.0.0.1"])
    internet.add_name("turn.test", ["127.0.0.1"])
    for trap in traps:
        for name in ("localhost", "inside.test", "turn.test"):
            site.put("/favicon.ico", redirect(trap.url("/", name=name)))
            with pytest.raises(AddressRefused):
                await fetch_image(pictures, trap.url("/a.png", name=name))
            assert await Favicons(pictures, None).get("http://site.test/") is None
