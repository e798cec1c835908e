"""Checks of texts that others wrote, over HTTP: `POST /v2/checks`."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from cli.small_web import article
from server.harness import SECONDS, ApiClient, ServerHarness, answer_text, open_server, parse_events
from upstream import Upstream, reply, say, stop
from web import PageReply, Web, hanging_reply, redirect
from web.pdf import pdf

COBALT = "From 18 August 2031 new electric vehicle batteries shall contain at least 16 percent recovered cobalt."
LITHIUM = "Recycling processes shall recover at least 50 percent of the lithium in waste batteries by 31 December 2027."


@pytest.fixture
async def site() -> AsyncIterator[Web]:
    async with Web() as web:
        web.put("/cobalt", article("Cobalt rules", COBALT))
        web.put("/lithium", article("Lithium rules", LITHIUM))
        web.put("/moved", redirect("/lithium"))
        web.put("/gone", PageReply(status=404, body=b"gone"))
        web.put("/report.pdf", PageReply(headers={"Content-Type": "application/pdf"}, body=pdf(COBALT)))
        yield web


@pytest.fixture
async def server(tmp_path: Path, site: Web) -> AsyncIterator[ServerHarness]:
    """A server without any model."""
    settings = {"FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": f'["{site.host}"]'}
    async with open_server(tmp_path, **settings) as server:
        yield server


async def check(client: ApiClient, **body: str) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """The started run, and its events to the end."""
    started = await client.request("POST", "/v2/checks", body)
    assert started.status == 202, started
    return started.json, parse_events(await client.run_events(started.json["run_id"]))


def _report(site: Web) -> str:
    url = site.url
    return (
        "# Batteries\n\n"
        f"New electric vehicle batteries shall contain [at least 16 percent]({url('/cobalt')}) recovered cobalt. "
        "Recycling shall recover at least 50 percent of the lithium in waste batteries by 31 December 2027 "
        f"(source: {url('/moved')}).\n\n"
        "Batteries were invented in Hanoi by a choir of nine monks.[^1] "
        f"A hammer fell into the sea, see {url('/gone')}.\n\n"
        "From 18 August 2031 new electric vehicle batteries shall contain at least 16 percent recovered cobalt [2].\n\n"
        f"[^1]: {url('/lithium')}\n\n## References\n\n1. A book that nothing cites.\n2. PDF {url('/report.pdf')}\n"
    )


async def _content(client: ApiClient, session_id: str, path: str = "/checked.md") -> str:
    response = await client.request("GET", f"/v2/sessions/{session_id}/files/content?file_path={path}")
    assert response.status == 200, response
    return response.json["content"]


def _results(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    blocks = [one["content_block"] for one in events if one["type"] == "content_block_start"]
    return [block for block in blocks if block["type"] == "tool_result"]


async def test_a_checked_text_is_a_session_with_footnotes_sources_and_verdicts(server: ServerHarness, site: Web):
    started, events = await check(server.local, text=_report(site))
    session_id = started["session_id"]
    assert [events[at]["type"] for at in (0, -2, -1)] == ["message_start", "message_delta", "message_stop"]
    [call] = [one["content_block"] for one in events if one.get("content_block", {}).get("type") == "tool_use"]
    assert (call["name"], call["tool_content_message"]) == ("check_text", "Check a text")
    reading = [one for one in events if one["type"] == "tool_progress" and one["stage"] == "reading"]
    assert [one["done"] for one in reading] == [1, 2, 3, 4, 5]
    [result] = _results(events)
    assert [(one["number"], one["status"]) for one in result["artifact"]["sources"]] == [
        (1, "read"),
        (2, "read"),
        (3, "read"),
        (4, "failed"),
        (5, "read"),
    ]
    by_number = {one["number"]: one["verdict"] for one in result["artifact"]["proof"]["citations"]}
    assert (by_number[1], by_number[2], by_number[5]) == ("supported", "supported", "supported")
    assert by_number[3] == "unsupported"
    assert by_number[4] == "unread"
    pages = result["artifact"]["receipt"]["pages"]
    assert [(one["url"], one["reason"]) for one in pages if one["status"] == "failed"] == [
        (site.url("/gone"), "HTTP 404")
    ]
    assert [one["final_url"] for one in pages if one["url"] == site.url("/moved")] == [site.url("/lithium")]
    checked = await _content(server.local, session_id)
    assert "shall contain at least 16 percent recovered cobalt. [1] Recycling" in checked
    assert "by 31 December 2027 [2]." in checked
    assert "monks.[3]" in checked
    assert f"](<{site.url('/gone')}>)" in checked
    assert "- A book that nothing cites." in checked
    assert await _content(server.local, session_id, "/text.md") == _report(site)


async def test_the_session_of_a_check_is_like_any_other(server: ServerHarness, site: Web):
    started, events = await check(server.local, text=_report(site), locale="vi")
    session_id = started["session_id"]
    [found] = (await server.local.request("GET", "/v2/sessions")).json["sessions"]
    assert (found["id"], found["title"]) == (session_id, "Kiểm tra: Batteries")
    history = await server.local.history(session_id)
    text = next(block for block in history["messages"][-1]["content"] if block["type"] == "text")
    streamed = "".join(one["delta"].get("text", "") for one in events if one["type"] == "content_block_delta")
    assert text["text"] == streamed
    assert "phát biểu" in streamed
    assert [one["path"] for one in history["messages"][-1]["attachments"]] == ["/checked.md"]
    [group] = history["workspace"]["sources"]
    assert len(group["sources"]) == 5
    citations = await server.local.request("GET", f"/v2/sessions/{session_id}/files/citations?file_path=/checked.md")
    [result] = _results(events)
    assert citations.json["counts"]["supported"] == 3
    assert citations.json["counts"] == result["artifact"]["proof"]["counts"]
    source = await server.local.request("GET", f"/v2/sessions/{session_id}/sources/5")
    assert COBALT in source.json["snapshots"][0]["text"]
    assert (await server.local.request("GET", f"/v2/sessions/{session_id}/export")).status == 200


async def test_another_answer_to_a_check_is_a_check(server: ServerHarness, site: Web):
    started, _ = await check(server.local, text=_report(site))
    session_id = started["session_id"]
    path = f"/v2/sessions/{session_id}/messages/{started['message_id']}"
    again = await server.local.request("POST", f"{path}/retry", {})
    [result] = _results(parse_events(again.body))
    assert result["artifact"]["proof"]["counts"]["supported"] == 3
    changed = {"content": f"Check: {site.url('/cobalt')}"}
    edited = await server.local.request("POST", f"{path}/edit", changed)
    [call] = [one["content_block"] for one in parse_events(edited.body) if "tool_use" in str(one.get("content_block"))][
        :1
    ]
    assert call["input"] == {"url": site.url("/cobalt")}


async def test_a_page_is_checked_with_the_links_in_its_sentences(server: ServerHarness, site: Web):
    site.put("/story", article("Story", f'{COBALT[:-1]} <a href="/cobalt">says the law</a>.', "It has no other news."))
    started, events = await check(server.local, url=site.url("/story"))
    [result] = _results(events)
    assert [one["url"] for one in result["artifact"]["sources"]] == [site.url("/cobalt")]
    assert "says the law. [1]" in await _content(server.local, started["session_id"])


@pytest.mark.parametrize("path", ["/gone", "/hung-up"])
async def test_a_page_that_cannot_be_read_ends_the_run_with_the_reason(server: ServerHarness, site: Web, path: str):
    _, events = await check(server.local, url=site.url(path))
    [error] = [one["error"] for one in events if one["type"] == "error"]
    assert (error["type"], error["code"]) == ("unprocessable", "check_failed")
    assert f"{site.url(path)} could not be read: HTTP 404." == error["message"]


@pytest.mark.parametrize(
    ("locale", "message"),
    [("vi", "Không đọc được {}: trang trả về lỗi (HTTP 404)."), ("zh", "无法读取 {}：网站返回了错误 (HTTP 404)。")],
)
async def test_the_reason_is_in_the_language_of_the_reader(server: ServerHarness, site: Web, locale: str, message: str):
    _, events = await check(server.local, url=site.url("/gone"), locale=locale)
    [error] = [one["error"] for one in events if one["type"] == "error"]
    assert error["params"]["reason"] == message.format(site.url("/gone"))
    _, events = await check(server.local, text=f"It is heavy, see {site.url('/gone')}.", locale=locale)
    assert message.format("")[-16:-1].strip() in str(events)


async def test_the_same_id_twice_is_one_check(server: ServerHarness, site: Web):
    body = {"text": _report(site), "client_id": "a-check-1"}
    first, second = await asyncio.gather(*(server.local.request("POST", "/v2/checks", body) for _ in range(2)))
    assert (first.status, second.status) == (202, 202)
    assert first.json == second.json
    await server.local.run_events(first.json["run_id"])
    again = await server.local.request("POST", "/v2/checks", {"text": "Another text.", "client_id": "a-check-1"})
    assert again.json["run_id"] == first.json["run_id"]
    other = await server.local.request("POST", "/v2/checks", {**body, "client_id": "a-check-2"})
    assert other.json["session_id"] != first.json["session_id"]
    sessions = (await server.local.request("GET", "/v2/sessions")).json["sessions"]
    assert len(sessions) == 2
    refused = await server.local.request("POST", "/v2/checks", {**body, "client_id": "no spaces"})
    assert refused.status == 400


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "check_needs_one"),
        ({"text": "x", "url": "https://a.example/"}, 400, "check_needs_one"),
        ({"text": " \n"}, 400, "check_needs_one"),
        ({"text": "x" * 300_001}, 413, "check_too_long"),
        ({"url": "file:///etc/passwd"}, 400, "check_url"),
        ({"url": "https://user:secret@a.example/"}, 400, "check_url"),
        ({"text": "x", "more": 1}, 400, "invalid_request"),
    ],
)
async def test_what_cannot_be_checked_is_refused_and_leaves_nothing(
    server: ServerHarness, body: dict[str, Any], status: int, code: str
):
    response = await server.local.request("POST", "/v2/checks", body)
    assert (response.status, response.json["error"]["code"]) == (status, code)
    assert (await server.local.request("GET", "/v2/sessions")).json["sessions"] == []


async def test_private_addresses_are_not_read(server: ServerHarness):
    addresses = ["http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/", "http://localhost:1/", "http://[::1]/"]
    text = "\n\n".join(f"The password is hunter{at} ({address})." for at, address in enumerate(addresses))
    _, events = await check(server.local, text=text)
    [result] = _results(events)
    pages = result["artifact"]["receipt"]["pages"]
    assert [(one["failure"], one["status"]) for one in pages] == [("refused_address", "failed")] * 4
    _, events = await check(server.local, url=addresses[1])
    assert "could not be read" in next(one["error"]["message"] for one in events if one["type"] == "error")


async def test_of_many_links_the_first_sixty_are_read_and_the_others_are_named(server: ServerHarness, site: Web):
    for number in range(65):
        site.put(f"/page-{number}", article(f"Page {number}", f"Town {number} has a bridge over the river."))
    text = "\n\n".join(f"Town {at} has a bridge over the river ({site.url(f'/page-{at}')})." for at in range(65))
    _, events = await check(server.local, text=text + f" Again: {site.url('/page-0')}#anchor")
    [result] = _results(events)
    statuses = [one["status"] for one in result["artifact"]["sources"]]
    assert (statuses.count("read"), statuses.count("failed"), len(statuses)) == (60, 5, 65)
    assert len([one for one in site.requests if one.path == "/page-0"]) == 1
    assert "first 60 links" in result["content"]


async def test_the_footnotes_of_a_page_lead_to_its_sources_and_links_within_its_site_do_not(tmp_path: Path, site: Web):
    body = (
        f"<html><body><article><h1>Batteries</h1><p>{COBALT}<sup><a href='#note-1'>[1]</a></sup> The <a href='/law'>law"
        "</a> is a long one, with many more words than anybody likes to read in one evening.</p><h2>References</h2>"
        f"<ol><li id='note-1'><a href='#ref-1'>^</a> <a href='{site.url('/cobalt')}'>The law</a>.</ol></article></body>"
    )
    async with Web() as other:
        other.put("/wiki", PageReply(headers={"Content-Type": "text/html"}, body=body.encode()))
        hosts = json.dumps([site.host, other.host])
        async with open_server(tmp_path, FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS=hosts) as server:
            started, events = await check(server.local, url=other.url("/wiki"))
            [result] = _results(events)
            assert [one["url"] for one in result["artifact"]["sources"]] == [site.url("/cobalt")]
            assert result["artifact"]["proof"]["counts"]["supported"] == 1
            assert f"{COBALT} [1]" in await _content(server.local, started["session_id"])


async def test_a_model_takes_a_second_look_and_answers_what_is_asked_next(
    tmp_path: Path, site: Web, upstream: Upstream
):
    said = {"id": 1, "verdict": "supports", "quotation": COBALT[5:]}
    upstream.script(reply(say(json.dumps([said])), stop()), reply(say("I see it."), stop()))
    settings = {"FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": f'["{site.host}"]'}
    async with open_server(tmp_path, upstream, **settings) as server:
        claim = "Kể từ 18/8/2031, pin xe điện mới phải chứa tối thiểu 16 phần trăm coban tái chế"
        started, events = await check(server.local, text=f"{claim} ({site.url('/cobalt')}).")
        [citation] = _results(events)[0]["artifact"]["proof"]["citations"]
        assert (citation["verdict"], citation["by"]) == ("supported", "model")
        assert len(upstream.requests) == 1, "the report repeats what was looked at"
        session_id = started["session_id"]
        stored = await server.local.request("GET", f"/v2/sessions/{session_id}/files/citations?file_path=/checked.md")
        assert stored.json["citations"] == [citation]
        [end] = [one for one in events if one["type"] == "message_delta"]
        assert end["usage"]["input_tokens"] > 0
        answer = await server.local.ask_for_events(session_id, "What did you find?")
        assert answer_text(answer) == "I see it."
        sent = json.dumps(upstream.requests[-1].body, ensure_ascii=False)
        assert "check_text" in sent
        assert "/checked.md" in sent
        assert '"name": "write_file"' in sent, "a question after a check is answered with the tools of the agent"


async def test_a_check_can_be_cancelled_while_it_reads(server: ServerHarness, site: Web):
    site.put("/hung", hanging_reply())
    text = f"It is heavy ({site.url('/hung')})."
    run_id = (await server.local.request("POST", "/v2/checks", {"text": text})).json["run_id"]
    async with asyncio.timeout(SECONDS):
        while not any(one.path == "/hung" for one in site.requests):
            await asyncio.sleep(0.02)
    view = await server.local.request("POST", f"/v2/runs/{run_id}/cancel")
    assert view.json["state"] == "cancelled"
    assert parse_events(await server.local.run_events(run_id))[-1]["type"] == "message_stop"


async def test_a_report_with_links_of_every_kind_is_judged_statement_by_statement(server: ServerHarness, site: Web):
    for number in range(12):
        site.put(
            f"/town-{number}", article(f"Town {number}", f"The bridge of Town {number} opened in {1900 + number}.")
        )
    links = "".join(f"<li><a href='/town-{number}'>Town {number}</a></li>" for number in range(12))
    site.put("/list", PageReply(headers={"Content-Type": "text/html"}, body=f"<ul>{links}</ul>".encode()))
    site.put("/vi", article("Cầu", "Cầu của Thị trấn Sáu được khánh thành vào năm 1906, sau ba năm xây dựng."))
    url = site.url
    lines = [
        *(f"The bridge of Town {one} [opened in {1900 + one}]({url(f'/town-{one}')})." for one in range(8)),
        *(f"The bridge of Town {one} opened in {1950 + one} ({url(f'/town-{one}')}#history)." for one in (8, 9, 10)),
        f"The mayor of Paris keeps nine tame lions in the cellar ({url('/town-11')}).",
        f"[Recycling processes]({url('/moved')}) shall recover at least 50 percent of the lithium in waste batteries.",
        f"{COBALT[:-1]}, see {url('/report.pdf')}.",
        f"The bridge of Town Six was opened in 1906 after three years of building ({url('/vi')}).",
        f"A list of towns has every bridge ({url('/list')}).",
        f"The tunnel was closed in 1980 ({url('/gone')}).",
        "The tower was closed in 1981 (http://127.0.0.1:9/).",
        "The church was closed in 1982 (http://192.168.0.1/).",
        f"The bridge of Town 0 opened in 1900 ({url('/town-0')}?utm_source=x).",
        "The harbour was opened in 1999 by 3,000 people.",
        "What about the harbour?",
    ]
    _, events = await check(server.local, text="\n\n".join(lines))
    artifact = _results(events)[0]["artifact"]
    pages = {one["url"]: one for one in artifact["receipt"]["pages"]}
    failures = {one["failure"] for one in pages.values() if one["status"] == "failed"}
    assert failures == {"status", "refused_address"}
    assert len(artifact["sources"]) == len({one["number"] for one in artifact["sources"]}) == 19
    assert len([one for one in site.requests if one.path.partition("?")[0] == "/town-0"]) == 1
    verdicts = [one["verdict"] for one in artifact["proof"]["citations"]]
    assert verdicts[:8] == ["supported"] * 8
    assert set(verdicts[8:12]) <= {"contradicted", "unsupported"}
    assert verdicts[11] == "unsupported"
    assert verdicts[12:14] == ["supported"] * 2
    assert verdicts[14] in ("partial", "supported")
    assert verdicts[16:19] == ["unread"] * 3
    assert verdicts[19:] == ["supported", "uncited"]


async def test_of_thousands_of_links_most_are_left_out(server: ServerHarness):
    text = "\n".join(f"Town {number} is old (http://10.0.{number // 250}.{number % 250}/)." for number in range(2_000))
    _, events = await check(server.local, text=text)
    assert len(_results(events)[0]["artifact"]["sources"]) == 300
