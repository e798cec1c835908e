"""Icons of sites: requested once, cached for a week, and never anything but a small image."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from footnote.net.client import Net
from footnote.sandbox.pool import SandboxPool
from footnote.web_search import images
from footnote.web_search.images import Favicons, FetchedImage, ImageFetcher
from server.images import GIF, ICO, JPEG, PNG, SVG, WEBP, picture
from web import PageReply, Trap, Web, hanging_reply, redirect

DAY = 86_400


class IconSite:
    """A small web with a favicon cache."""

    def __init__(self, web: Web, image_fetcher: ImageFetcher, folder: Path | None) -> None:
        self.web = web
        self.now = 1_800_000_000.0
        self.folder = folder
        self._image_fetcher = image_fetcher
        self.favicons = self.open_favicons()

    def open_favicons(self) -> Favicons:
        """As after a restart."""
        return Favicons(self._image_fetcher, self.folder, clock=lambda: self.now)

    async def icon(self, path: str = "/some/page?x=1") -> FetchedImage | None:
        return await self.favicons.get(self.web.url(path), {self.web.host})

    @property
    def request_count(self) -> int:
        return len(self.web.requests_for("/favicon.ico"))


@pytest.fixture(params=["files", "memory"])
async def site(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[IconSite]:
    async with Web({}) as web, Net() as net, SandboxPool() as sandbox:
        yield IconSite(web, ImageFetcher(net, sandbox), tmp_path / "favicons" if request.param == "files" else None)


@pytest.mark.parametrize(
    ("content", "kind"),
    [(PNG, "image/png"), (ICO, "image/x-icon"), (GIF, "image/gif"), (JPEG, "image/jpeg"), (WEBP, "image/webp")],
)
async def test_an_icon_is_what_its_first_bytes_say(site: IconSite, content: bytes, kind: str):
    site.web.put("/favicon.ico", picture(content, "text/html"))
    assert await site.icon() == FetchedImage(kind, content)
    [request] = site.web.requests
    assert "cookie" not in request.headers
    assert "referer" not in request.headers


@pytest.mark.parametrize(
    "answer",
    [
        picture(SVG, "image/svg+xml"),
        picture(b"<!doctype html><p>Not found", "image/png"),
        picture(PNG, "image/png", 404),
        picture(b"", "image/png"),
        picture(PNG + b"\0" * 64_000, "image/png"),
        PageReply(204),
        redirect("/favicon.ico"),
        redirect("file:///etc/passwd"),
    ],
)
async def test_anything_else_is_no_icon(site: IconSite, answer: PageReply):
    site.web.put("/favicon.ico", answer)
    assert await site.icon() is None


async def test_it_is_asked_for_again_after_a_week(site: IconSite):
    site.web.put("/favicon.ico", picture(PNG))
    for _ in range(3):
        assert await site.icon() == FetchedImage("image/png", PNG)
    site.now += 7 * DAY - 1
    await site.icon("/another")
    assert site.request_count == 1
    site.now += 2
    site.web.put("/favicon.ico", picture(GIF))
    assert await site.icon() == FetchedImage("image/gif", GIF)
    assert site.request_count == 2


async def test_a_site_without_one_is_asked_again_after_a_day(site: IconSite):
    assert await site.icon() is None
    site.now += DAY - 1
    assert await site.icon() is None
    assert site.request_count == 1
    site.web.put("/favicon.ico", picture(PNG))
    site.now += 2
    assert await site.icon() == FetchedImage("image/png", PNG)


async def test_many_who_want_it_at_once_make_one_request(site: IconSite):
    site.web.put("/favicon.ico", picture(PNG))
    assert (
        await asyncio.gather(*(site.icon(f"/{number}") for number in range(20)))
        == [FetchedImage("image/png", PNG)] * 20
    )
    assert site.request_count == 1


async def test_a_site_that_does_not_answer_is_not_waited_for(site: IconSite, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(images, "ICON_TIMEOUT_SECONDS", 0.1)
    site.web.put("/favicon.ico", hanging_reply())
    assert await site.icon() is None


async def test_a_redirect_is_followed_and_judged_anew(site: IconSite):
    site.web.put("/favicon.ico", redirect("/static/icon.png"))
    site.web.put("/static/icon.png", picture(PNG))
    assert await site.icon() == FetchedImage("image/png", PNG)
    async with Trap() as trap:
        site.web.put("/favicon.ico", redirect(trap.url("/icon.png")))
        site.now += 8 * DAY
        assert await site.icon() is None
        assert trap.connections == 0


async def test_the_icon_that_a_page_names_comes_before_the_usual_one(site: IconSite):
    site.web.put("/favicon.ico", picture(GIF))
    site.web.put("/static/icon.png", picture(PNG))
    page, hosts = site.web.url("/a/page"), {site.web.host}
    for icon in (site.web.url("/static/icon.png"), "/static/icon.png"):
        assert await site.favicons.get(page, hosts, icon) == FetchedImage("image/png", PNG)
    assert site.request_count == 0
    assert len(site.web.requests_for("/static/icon.png")) == 1


@pytest.mark.parametrize(
    "icon", ["/gone.png", "/page.html", "data:image/png;base64,AAAA", "file:///etc/passwd", "http://["]
)
async def test_where_the_named_icon_cannot_be_shown_the_usual_one_is(site: IconSite, icon: str):
    site.web.put("/favicon.ico", picture(GIF))
    site.web.put("/page.html", picture(b"<!doctype html>", "image/png"))
    assert await site.favicons.get(site.web.url("/"), {site.web.host}, icon) == FetchedImage("image/gif", GIF)


async def test_a_named_icon_in_a_private_network_is_not_asked_for(site: IconSite):
    async with Trap() as trap:
        assert await site.favicons.get(site.web.url("/"), {site.web.host}, trap.url("/icon.png")) is None
        assert trap.connections == 0


@pytest.mark.parametrize(
    ("icon", "address"),
    [
        (None, None),
        ("", None),
        ("/i.png", "https://example.org/i.png"),
        ("i.png", "https://example.org/a/i.png"),
        ("https://cdn.example/i.png#x", "https://cdn.example/i.png"),
        ("data:image/png;base64,AAAA", None),
        ("http://user:word@example.org/i.png", None),
        ("http://10.0.0.1/i.png", None),
        ("http://127.0.0.1:9/i.png", None),
        ("http://127.0.0.1:8/i.png", "http://127.0.0.1:8/i.png"),
        ("http://[::1]/i.png", None),
        ("http://printer.local/i.png", None),
        ("https://example.org/" + "x" * 2_000, None),
    ],
)
def test_the_address_of_an_icon_is_absolute_public_and_bounded(icon: str | None, address: str | None):
    assert images.icon_url("https://example.org/a/b", icon, ["127.0.0.1:8"]) == address


async def test_a_host_that_nobody_opened_is_not_asked(site: IconSite):
    site.web.put("/favicon.ico", picture(PNG))
    for address in (site.web.url("/"), "http://localhost/", "http://[::1]/", "nonsense", "footnote://docs/server.md"):
        assert await site.favicons.get(address) is None
    assert site.web.connections == 0


async def test_it_outlives_the_process_in_files_of_its_own(tmp_path: Path):
    async with Web({"/favicon.ico": picture(PNG)}) as web, Net() as net, SandboxPool() as sandbox:
        site = IconSite(web, ImageFetcher(net, sandbox), tmp_path / "favicons")
        await site.icon()
        site.favicons = site.open_favicons()
        assert await site.icon() == FetchedImage("image/png", PNG)
        assert site.request_count == 1
        [file] = (tmp_path / "favicons").iterdir()
        file.write_bytes(b"text/html\n<script>")
        os.utime(file, (site.now, site.now))
        assert await site.icon() is None


async def test_no_more_than_some_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(images, "MAX_ICONS", 5)
    monkeypatch.setattr(images, "_PRUNE_BATCH", 2)
    async with Net() as net, SandboxPool() as sandbox:
        favicons = Favicons(ImageFetcher(net, sandbox), tmp_path, clock=iter(range(1_000)).__next__)
        for number in range(20):
            await favicons.get(f"http://127.0.0.1:{number + 1}/")
            assert len(list(tmp_path.iterdir())) <= 5


async def test_a_folder_that_cannot_be_written_only_costs_the_keeping(tmp_path: Path):
    (tmp_path / "favicons").write_text("a file")
    async with Web({"/favicon.ico": picture(PNG)}) as web, Net() as net, SandboxPool() as sandbox:
        site = IconSite(web, ImageFetcher(net, sandbox), tmp_path / "favicons")
        for _ in range(2):
            assert await site.icon() == FetchedImage("image/png", PNG)
        assert site.request_count == 2


async def test_an_icon_that_claims_to_be_huge_is_not_shown(site: IconSite):
    """A browser would allocate all of its pixels."""
    site.web.put("/favicon.ico", picture(PNG[:16] + (65_000).to_bytes(4) * 2 + PNG[24:]))
    assert await site.icon() is None


async def test_an_icon_is_looked_at_in_the_sandbox_and_nowhere_else():
    async with Web({"/favicon.ico": picture(PNG)}) as web, Net() as net, SandboxPool() as sandbox:
        await sandbox.close()
        assert await Favicons(ImageFetcher(net, sandbox), None).get(web.url("/"), {web.host}) is None
        assert len(web.requests_for("/favicon.ico")) == 1
