"""What the server says about itself: health, metrics, the page."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from footnote import __version__
from footnote.accounts.accounts import Accounts
from footnote.db.engine import Database
from server.harness import LOCAL_TOKEN, ServerHarness, open_server, wait_for_bus


async def test_it_is_alive_and_ready(server: ServerHarness):
    assert (await server.request("GET", "/healthz")).json == {"status": "ok"}
    await wait_for_bus(server)
    assert (await server.request("GET", "/readyz")).json == {
        "ready": True,
        "reason": None,
        "database": "ok",
        "storage": "ok",
        "bus": "ok",
    }


async def test_it_is_alive_and_not_ready_when_its_database_is_no_database(server: ServerHarness, tmp_path: Path):
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"not a database at all" * 1000)
    accounts = server.app.accounts
    await wait_for_bus(server)
    async with Database.open(f"sqlite:{broken}", tmp_path) as database:
        server.app.accounts = Accounts(database)
        alive, ready = await server.request("GET", "/healthz"), await server.request("GET", "/readyz")
        listed = await server.request("GET", "/v2/sessions", token="fn_any")
        server.app.accounts = accounts
    assert alive.status == 200
    answers = {"database": "database_broken", "storage": "ok", "bus": "ok"}
    assert (ready.status, ready.json) == (503, {"ready": False, "reason": "database_broken", **answers})
    assert (listed.status, listed.error) == (503, "database_broken")
    assert all(str(tmp_path).encode() not in response.body for response in server.responses)


async def test_metrics_count_requests_runs_and_events(server: ServerHarness):
    events = await server.local.ask_for_events(await server.local.create_session())
    await server.request("GET", "/v2/sessions")
    text = (await server.request("GET", "/metrics")).body.decode()
    figures = dict(re.findall(r"^(footnote_.+) (\S+)$", text, re.MULTILINE))
    expected = {
        'footnote_requests_total{route="POST /v2/sessions",status="201"}': "1.0",
        'footnote_requests_total{route="POST /v2/sessions/{session_id}/messages",status="200"}': "1.0",
        'footnote_requests_total{route="GET /v2/sessions",status="401"}': "1.0",
        'footnote_runs_total{state="done"}': "1.0",
        "footnote_active_runs": "0.0",
        "footnote_followers": "0.0",
        "footnote_events_total": f"{len(events)}.0",
    }
    assert {name: figures.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    "headers",
    [{"x_forwarded_for": "203.0.113.9"}, {"forwarded": "for=203.0.113.9"}, {"host": "rebound.example"}, {"host": ""}],
)
async def test_metrics_are_for_the_machine_itself_and_for_nobody_behind_a_proxy(
    server: ServerHarness, headers: dict[str, str]
):
    assert (await server.request("GET", "/metrics", **headers)).status == 401
    assert (await server.request("GET", "/metrics", token=LOCAL_TOKEN, **headers)).status == 200


async def test_addresses_that_do_not_exist_are_counted_as_one(server: ServerHarness):
    for path in ("/a", "/b", "/v2/c"):
        await server.request("GET", path)
    text = (await server.request("GET", "/metrics")).body.decode()
    assert 'footnote_requests_total{route="unknown",status="404"} 3.0' in text


class _ElementParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


@pytest.mark.parametrize("path", ["/login?token=used"])
async def test_a_page_obeys_its_own_policy_and_its_files_are_there(server: ServerHarness, path: str):
    response = await server.request("GET", path)
    page = _ElementParser()
    page.feed(response.body.decode())
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert not any(tag in ("script", "style") for tag, _ in page.elements)
    assert not any(name == "style" or name.startswith("on") for _, names in page.elements for name in names)
    for tag, names in page.elements:
        address = names.get("href") if tag in ("link", "a") else None
        if address and not address.startswith("data:"):
            assert (await server.request("GET", address)).status == 200
    assert b"{{" not in response.body


async def test_the_page_is_told_what_it_has_to_know(server: ServerHarness):
    session_id = await server.local.create_session()
    workspace = server.app.sessions.workspace("local", session_id)
    for content in ("12345", "123", "12345"):
        await workspace.write("/notes.md", content, message_id=None)
    assert (await server.local.request("GET", "/v2/about")).json == {
        "version": __version__,
        "search_provider": "duckduckgo",
        "upload_bytes": 100 * 1024**2,
        "storage": {"used": 8, "limit": 5 * 1024**3},
        "keyless": False,
    }
    ann = await server.add_user("ann")
    assert (await ann.request("GET", "/v2/about")).json["storage"]["used"] == 0


async def test_the_page_is_told_that_there_is_no_key_and_no_search(tmp_path: Path):
    home = tmp_path / ".footnote"
    home.mkdir()
    (home / "agents.json").write_text('{"agents": [{"id": "writer", "webSearch": {"enabled": false}}]}')
    async with open_server(tmp_path) as server:
        about = (await server.local.request("GET", "/v2/about")).json
    assert (about["keyless"], about["search_provider"]) == (True, None)


async def test_that_another_provider_searches_is_told_to_the_page_and_not_to_the_log(tmp_path: Path, caplog):
    environ = {"FOOTNOTE_TOOLS_WEB_SEARCH_DEFAULT_PROVIDER": "brave"}
    async with open_server(tmp_path, **environ) as server:
        about = (await server.local.request("GET", "/v2/about")).json
    assert about["search_provider"] == "duckduckgo"
    assert "searches with" not in caplog.text
