"""Images of the web for the page: icons of the user's sources, and images that the user asks to see."""

import gzip
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from footnote.server.routes import page as page_routes
from server.harness import ApiClient, ApiResponse, ServerHarness, open_server
from server.images import GIF, JPEG, PNG, SVG, WEBP, picture
from upstream import ModelRequest, Upstream, call, reply, say, stop
from web import PageReply, Trap, Web, hanging_reply, page, redirect

DOMAIN = "127.0.0.1"


@pytest.fixture
async def server(tmp_path: Path, upstream: Upstream, web: Web) -> AsyncIterator[ServerHarness]:
    """A server whose model reads one page of the small web before it answers."""

    def answer(request: ModelRequest) -> Any:
        if any(one["role"] == "tool" for one in request.body["messages"]):
            return reply(say("Because."), stop())
        return reply(call("read_page", {"url": web.url("/oxygen")}), stop("toolUse"))

    upstream.script(answer)
    async with open_server(tmp_path, upstream, FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS=web.host) as server:
        yield server


async def icon(client: ApiClient, domain: str = DOMAIN) -> ApiResponse:
    return await client.request("GET", f"/v2/favicons/{domain}")


async def image(server: ServerHarness, url: str) -> ApiResponse:
    return await server.local.request("POST", "/v2/images", {"url": url})


async def test_the_icon_of_a_source_is_handed_out_and_kept(server: ServerHarness, web: Web):
    web.put("/favicon.ico", picture(PNG))
    await server.local.ask_for_events(await server.local.create_session())
    for _ in range(2):
        response = await icon(server.local)
        assert (response.status, response.body, response.headers["content-type"]) == (200, PNG, "image/png")
        assert response.headers["cache-control"] == "private, max-age=604800"
    assert len(web.requests_for("/favicon.ico")) == 1
    assert len(list((server.app.configuration.home / "favicons").iterdir())) == 1


async def test_the_icon_that_a_page_names_is_in_the_source_and_is_what_is_shown(server: ServerHarness, web: Web):
    head = '<title>Oxygen</title><link rel="icon" href="/static/icon.png">'
    web.put("/oxygen", page("Oxygen is a gas. " * 40, title=f"Oxygen</title>{head}<title>"))
    web.put("/static/icon.png", picture(PNG))
    web.put("/favicon.ico", picture(GIF))
    session_id = await server.local.create_session()
    await server.local.ask_for_events(session_id)
    shown = (await server.local.request("GET", f"/v2/sessions/{session_id}/history")).json
    [source] = shown["workspace"]["sources"][0]["sources"]
    assert source["favicon"] == web.url("/static/icon.png")
    assert (await icon(server.local)).body == PNG
    assert web.requests_for("/favicon.ico") == []
    # The icon is still known when the page is read from the cache, in another session and for another user.
    ann = await server.add_user("ann")
    other = await ann.create_session()
    await ann.ask_for_events(other)
    sources = (await ann.request("GET", f"/v2/sessions/{other}/history")).json["workspace"]["sources"][0]["sources"]
    assert [one["favicon"] for one in sources] == [source["favicon"]]
    assert (await icon(ann)).body == PNG


async def test_a_source_without_an_icon_is_remembered_for_a_day(server: ServerHarness):
    await server.local.ask_for_events(await server.local.create_session())
    response = await icon(server.local)
    assert (response.status, response.error) == (404, "not_found")
    assert response.headers["cache-control"] == "private, max-age=86400"


async def test_nobody_is_asked_for_the_icon_of_a_site_that_is_no_source_of_ones_own(server: ServerHarness, web: Web):
    web.put("/favicon.ico", picture(PNG))
    await server.local.ask_for_events(await server.local.create_session())
    ann = await server.add_user("ann")
    odd = ("127.0.0.1%2F", "127.0.0.1%3Fx", "%2e%2e", "x" * 300, "%00")
    answers = [await icon(server.local, one) for one in ("127.0.0.2", "example.org", "127.0.0", "1", *odd)]
    answers.append(await icon(ann))
    assert {response.status for response in answers} <= {400, 404}
    assert {response.headers["cache-control"] for response in answers} == {"no-store"}
    assert web.requests_for("/favicon.ico") == []


@pytest.mark.parametrize(
    ("content", "kind"), [(PNG, "image/png"), (GIF, "image/gif"), (JPEG, "image/jpeg"), (WEBP, "image/webp")]
)
async def test_an_image_is_what_its_first_bytes_say(server: ServerHarness, web: Web, content: bytes, kind: str):
    response = await image(server, web.put("/image", picture(content, "text/html")))
    assert (response.status, response.body, response.headers["content-type"]) == (200, content, kind)
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["cache-control"] == "no-store"


async def test_a_redirect_is_followed_and_packing_undone(server: ServerHarness, web: Web):
    web.put("/image", PageReply(200, {"Content-Encoding": "gzip"}, gzip.compress(PNG)))
    assert (await image(server, web.put("/moved", redirect("/image")))).body == PNG


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (picture(SVG, "image/svg+xml"), 415),
        (picture(b"<!doctype html>", "image/png"), 415),
        (picture(b"", "image/png"), 415),
        (picture(PNG + b"\0" * 10_000_000), 422),
        (PageReply(200, {}, PNG, length=10_000_001), 422),
        (PageReply(200, {"Content-Encoding": "gzip"}, gzip.compress(PNG + b"\0" * 20_000_000)), 422),
        (PageReply(200, {"Content-Encoding": "gzip"}, PNG), 502),
        (picture(PNG, "image/png", 403), 502),
        (redirect("/image"), 502),
        (redirect("http://127.0.0.1:1/"), 422),
        (PageReply(200, {}, PNG, length=5_000), 502),
    ],
)
async def test_anything_else_is_refused_with_a_sentence(server: ServerHarness, web: Web, reply: PageReply, status: int):
    refused = await image(server, web.put("/image", reply))
    assert refused.status == status
    assert refused.json["error"]["message"].endswith(".")
    assert PNG not in refused.body


async def test_a_site_that_does_not_answer_is_not_waited_for(
    server: ServerHarness, web: Web, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(page_routes, "IMAGE_SECONDS", 0.1)
    refused = await image(server, web.put("/image", hanging_reply()))
    assert (refused.status, refused.error) == (502, "upstream_error")
    assert "within 0.1 seconds" in refused.json["error"]["message"]


async def test_addresses_that_nobody_may_choose_are_refused(server: ServerHarness):
    async with Trap() as trap:
        for url in (
            trap.url("/"),
            "http://localhost/",
            "http://169.254.169.254/latest/",
            "file:///etc/passwd",
            "x",
            "data:,",
        ):
            refused = await image(server, url)
            assert (refused.status, refused.error) == (422, "unprocessable"), url
        assert trap.connections == 0


async def test_a_page_of_another_site_cannot_have_an_image_fetched(server: ServerHarness, web: Web):
    ann = await server.add_user("ann")
    refused = await server.request(
        "POST", "/v2/images", cookie=ann.cookie, body={"url": web.url("/image")}, origin="https://evil.example"
    )
    assert refused.status == 403
    assert (await server.local.request("GET", "/v2/images")).status == 405
    assert web.requests_for("/image") == []
