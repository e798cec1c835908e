"""What the server says of itself: health, metrics, the page."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from footnote import __version__
from footnote.accounts.accounts import Accounts
from footnote.db.engine import Database
from server.house import LOCAL_TOKEN, House, open_house, wait_for_bus


async def test_it_is_alive_and_ready(house: House):
    assert (await house.request("GET", "/healthz")).json == {"status": "ok"}
    await wait_for_bus(house)
    assert (await house.request("GET", "/readyz")).json == {
        "ready": True,
        "reason": None,
        "database": "ok",
        "storage": "ok",
        "bus": "ok",
    }


async def test_it_is_alive_and_not_ready_when_its_database_is_no_database(house: House, tmp_path: Path):
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"not a database at all" * 1000)
    accounts = house.app.accounts
    await wait_for_bus(house)
    async with Database.open(f"sqlite:{broken}", tmp_path) as database:
        house.app.accounts = Accounts(database)
        alive, ready = await house.request("GET", "/healthz"), await house.request("GET", "/readyz")
        listed = await house.request("GET", "/v2/sessions", token="fn_any")
        house.app.accounts = accounts
    assert alive.status == 200
    answers = {"database": "database_broken", "storage": "ok", "bus": "ok"}
    assert (ready.status, ready.json) == (503, {"ready": False, "reason": "database_broken", **answers})
    assert (listed.status, listed.error) == (503, "database_broken")
    assert all(str(tmp_path).encode() not in answer.body for answer in house.responses)


async def test_metrics_count_requests_runs_and_events(house: House):
    told = await house.local.ask_for_events(await house.local.create_session())
    await house.request("GET", "/v2/sessions")
    text = (await house.request("GET", "/metrics")).body.decode()
    figures = dict(re.findall(r"^(footnote_.+) (\S+)$", text, re.MULTILINE))
    wanted = {
        'footnote_requests_total{route="POST /v2/sessions",status="201"}': "1.0",
        'footnote_requests_total{route="POST /v2/sessions/{session_id}/messages",status="200"}': "1.0",
        'footnote_requests_total{route="GET /v2/sessions",status="401"}': "1.0",
        'footnote_runs_total{state="done"}': "1.0",
        "footnote_active_runs": "0.0",
        "footnote_followers": "0.0",
        "footnote_events_total": f"{len(told)}.0",
    }
    assert {name: figures.get(name) for name in wanted} == wanted


@pytest.mark.parametrize(
    "headers",
    [{"x_forwarded_for": "203.0.113.9"}, {"forwarded": "for=203.0.113.9"}, {"host": "rebound.example"}, {"host": ""}],
)
async def test_metrics_are_for_the_machine_itself_and_for_nobody_behind_a_proxy(house: House, headers: dict[str, str]):
    assert (await house.request("GET", "/metrics", **headers)).status == 401
    assert (await house.request("GET", "/metrics", token=LOCAL_TOKEN, **headers)).status == 200


async def test_addresses_that_do_not_exist_are_counted_as_one(house: House):
    for path in ("/a", "/b", "/v2/c"):
        await house.request("GET", path)
    text = (await house.request("GET", "/metrics")).body.decode()
    assert 'footnote_requests_total{route="unknown",status="404"} 3.0' in text


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


@pytest.mark.parametrize("path", ["/login?token=used"])
async def test_a_page_obeys_its_own_policy_and_its_files_are_there(house: House, path: str):
    answer = await house.request("GET", path)
    page = _Page()
    page.feed(answer.body.decode())
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert not any(tag in ("script", "style") for tag, _ in page.elements)
    assert not any(name == "style" or name.startswith("on") for _, names in page.elements for name in names)
    for tag, names in page.elements:
        wanted = names.get("href") if tag in ("link", "a") else None
        if wanted and not wanted.startswith("data:"):
            assert (await house.request("GET", wanted)).status == 200
    assert b"{{" not in answer.body


async def test_the_page_is_told_what_it_has_to_know(house: House):
    session_id = await house.local.create_session()
    workspace = house.app.sessions.workspace("local", session_id)
    for content in ("12345", "123", "12345"):
        await workspace.write("/notes.md", content, message_id=None)
    assert (await house.local.request("GET", "/v2/about")).json == {
        "version": __version__,
        "search_provider": "duckduckgo",
        "upload_bytes": 100 * 1024**2,
        "storage": {"used": 8, "limit": 5 * 1024**3},
        "keyless": False,
    }
    ann = await house.add_user("ann")
    assert (await ann.request("GET", "/v2/about")).json["storage"]["used"] == 0


async def test_the_page_is_told_that_there_is_no_key_and_no_search(tmp_path: Path):
    home = tmp_path / ".footnote"
    home.mkdir()
    (home / "agents.json").write_text('{"agents": [{"id": "writer", "webSearch": {"enabled": false}}]}')
    async with open_house(tmp_path) as house:
        told = (await house.local.request("GET", "/v2/about")).json
    assert (told["keyless"], told["search_provider"]) == (True, None)


async def test_that_another_provider_searches_is_told_to_the_page_and_not_to_the_log(tmp_path: Path, caplog):
    wanted = {"FOOTNOTE_TOOLS_WEB_SEARCH_DEFAULT_PROVIDER": "brave"}
    async with open_house(tmp_path, **wanted) as house:
        told = (await house.local.request("GET", "/v2/about")).json
    assert told["search_provider"] == "duckduckgo"
    assert "searches with" not in caplog.text
