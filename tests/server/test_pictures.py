"""Images of the web for the page: icons of sites that somebody has sources of, and images on a person's word."""

import gzip
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from cli.searching import small_web
from footnote.server.routes import pictures
from server.house import Answer, House, Person, open_house
from server.images import GIF, JPEG, PNG, SVG, WEBP, picture
from upstream import Request, Upstream, call, reply, say, stop
from web import Reply, Trap, Web, hanging_reply, page, redirect

DOMAIN = "127.0.0.1"


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with small_web() as web:
        yield web


@pytest.fixture
async def reading(tmp_path: Path, upstream: Upstream, web: Web) -> AsyncIterator[House]:
    """A server whose model reads one page of the small web before it answers."""

    def answer(request: Request) -> Any:
        if any(one["role"] == "tool" for one in request.body["messages"]):
            return reply(say("Because."), stop())
        return reply(call("read_page", {"url": web.url("/oxygen")}), stop("toolUse"))

    upstream.script(answer)
    async with open_house(tmp_path, upstream, FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS=web.host) as house:
        yield house


async def icon(person: Person, domain: str = DOMAIN) -> Answer:
    return await person.request("GET", f"/v2/favicons/{domain}")


async def image(house: House, url: str) -> Answer:
    return await house.local.request("POST", "/v2/images", {"url": url})


async def test_the_icon_of_a_source_is_handed_out_and_kept(reading: House, web: Web):
    web.put("/favicon.ico", picture(PNG))
    await reading.local.ask_for_events(await reading.local.create_session())
    for _ in range(2):
        answer = await icon(reading.local)
        assert (answer.status, answer.body, answer.headers["content-type"]) == (200, PNG, "image/png")
        assert answer.headers["cache-control"] == "private, max-age=604800"
    assert len(web.requests_for("/favicon.ico")) == 1
    assert len(list((reading.app.configuration.home / "favicons").iterdir())) == 1


async def test_the_icon_that_a_page_names_is_in_the_source_and_is_what_is_shown(reading: House, web: Web):
    head = '<title>Oxygen</title><link rel="icon" href="/static/icon.png">'
    web.put("/oxygen", page("Oxygen is a gas. " * 40, title=f"Oxygen</title>{head}<title>"))
    web.put("/static/icon.png", picture(PNG))
    web.put("/favicon.ico", picture(GIF))
    session_id = await reading.local.create_session()
    await reading.local.ask_for_events(session_id)
    shown = (await reading.local.request("GET", f"/v2/sessions/{session_id}/history")).json
    [source] = shown["workspace"]["sources"][0]["sources"]
    assert source["favicon"] == web.url("/static/icon.png")
    assert (await icon(reading.local)).body == PNG
    assert web.requests_for("/favicon.ico") == []
    # Read again from the cache, in another session and for another user, it is still known.
    ann = await reading.add_user("ann")
    other = await ann.create_session()
    await ann.ask_for_events(other)
    kept = (await ann.request("GET", f"/v2/sessions/{other}/history")).json["workspace"]["sources"][0]["sources"]
    assert [one["favicon"] for one in kept] == [source["favicon"]]
    assert (await icon(ann)).body == PNG


async def test_a_source_without_an_icon_is_remembered_for_a_day(reading: House):
    await reading.local.ask_for_events(await reading.local.create_session())
    answer = await icon(reading.local)
    assert (answer.status, answer.error) == (404, "not_found")
    assert answer.headers["cache-control"] == "private, max-age=86400"


async def test_nobody_is_asked_for_the_icon_of_a_site_that_is_no_source_of_ones_own(reading: House, web: Web):
    web.put("/favicon.ico", picture(PNG))
    await reading.local.ask_for_events(await reading.local.create_session())
    ann = await reading.add_user("ann")
    odd = ("127.0.0.1%2F", "127.0.0.1%3Fx", "%2e%2e", "x" * 300, "%00")
    answers = [await icon(reading.local, one) for one in ("127.0.0.2", "example.org", "127.0.0", "1", *odd)]
    answers.append(await icon(ann))
    assert {answer.status for answer in answers} <= {400, 404}
    assert {answer.headers["cache-control"] for answer in answers} == {"no-store"}
    assert web.requests_for("/favicon.ico") == []


@pytest.mark.parametrize(
    ("content", "kind"), [(PNG, "image/png"), (GIF, "image/gif"), (JPEG, "image/jpeg"), (WEBP, "image/webp")]
)
async def test_an_image_is_what_its_first_bytes_say(reading: House, web: Web, content: bytes, kind: str):
    answer = await image(reading, web.put("/image", picture(content, "text/html")))
    assert (answer.status, answer.body, answer.headers["content-type"]) == (200, content, kind)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"


async def test_a_redirect_is_followed_and_packing_undone(reading: House, web: Web):
    web.put("/image", Reply(200, {"Content-Encoding": "gzip"}, gzip.compress(PNG)))
    assert (await image(reading, web.put("/moved", redirect("/image")))).body == PNG


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (picture(SVG, "image/svg+xml"), 415),
        (picture(b"<!doctype html>", "image/png"), 415),
        (picture(b"", "image/png"), 415),
        (picture(PNG + b"\0" * 10_000_000), 422),
        (Reply(200, {}, PNG, length=10_000_001), 422),
        (Reply(200, {"Content-Encoding": "gzip"}, gzip.compress(PNG + b"\0" * 20_000_000)), 422),
        (Reply(200, {"Content-Encoding": "gzip"}, PNG), 502),
        (picture(PNG, "image/png", 403), 502),
        (redirect("/image"), 502),
        (redirect("http://127.0.0.1:1/"), 422),
        (Reply(200, {}, PNG, length=5_000), 502),
    ],
)
async def test_anything_else_is_refused_with_a_sentence(reading: House, web: Web, answer: Reply, status: int):
    refused = await image(reading, web.put("/image", answer))
    assert refused.status == status
    assert refused.json["error"]["message"].endswith(".")
    assert PNG not in refused.body


async def test_a_site_that_does_not_answer_is_not_waited_for(reading: House, web: Web, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pictures, "SECONDS", 0.1)
    refused = await image(reading, web.put("/image", hanging_reply()))
    assert (refused.status, refused.error) == (502, "upstream_error")
    assert "within 0.1 seconds" in refused.json["error"]["message"]


async def test_addresses_that_nobody_may_choose_are_refused(reading: House):
    async with Trap() as trap:
        for url in (
            trap.url("/"),
            "http://localhost/",
            "http://169.254.169.254/latest/",
            "file:///etc/passwd",
            "x",
            "data:,",
        ):
            refused = await image(reading, url)
            assert (refused.status, refused.error) == (422, "unprocessable"), url
        assert trap.connections == 0


async def test_a_page_of_another_site_cannot_have_an_image_fetched(reading: House, web: Web):
    ann = await reading.add_user("ann")
    refused = await reading.request(
        "POST", "/v2/images", cookie=ann.cookie, body={"url": web.url("/image")}, origin="https://evil.example"
    )
    assert refused.status == 403
    assert (await reading.local.request("GET", "/v2/images")).status == 405
    assert web.requests_for("/image") == []
