"""The findings of `footnote doctor` about search: providers that answer, block, refuse and hang; and the library."""

import asyncio
import json
import re
from pathlib import Path

import pytest

import engines
from cli.doctor_report import doctor, ok, search_variables, without_times
from cli.process import CLOSED
from footnote.cli.provider_checks import FALLBACK_REMEDY, OFFLINE_REMEDY
from footnote.db.engine import Database
from footnote.library import Library, file_url
from footnote.protocol.sources import Snapshot
from web.providers import WITH_KEY, Name, SearchServer, hanging_reply, recorded_reply

MODELS_AWAY = {"FOOTNOTE_MODELS_PROVIDERS_OPENAI_BASE_URL": CLOSED}


async def test_every_provider_that_can_be_asked_is_asked_once(tmp_path: Path) -> None:
    agents = {"agents": [{"id": "a", "webSearch": {"enabled": True, "provider": "brave"}}, {"id": "b"}]}
    (tmp_path / "agents.json").write_text(json.dumps(agents))
    async with SearchServer("duckduckgo") as duckduckgo, SearchServer("brave") as brave, SearchServer("searxng") as own:
        code, found = await doctor(tmp_path, **search_variables(duckduckgo, brave, own), SERPER_API_KEY="")
    assert code == 0
    assert found["search"] == ok("agent a searches with brave")
    assert [without_times(finding) for finding in found["provider"]] == [
        *ok("duckduckgo answers: 1 result in … ms"),
        *ok("brave answers: 1 result in … ms"),
        *ok("searxng answers: 1 result in … ms"),
    ]
    assert [len(server.requests) for server in (duckduckgo, brave, own)] == [1, 1, 1]


async def test_a_provider_that_takes_us_for_a_machine_is_a_warning_that_names_what_helps(tmp_path: Path) -> None:
    async with SearchServer("duckduckgo") as duckduckgo, SearchServer("brave") as brave:
        duckduckgo.script(recorded_reply("ddg_html_blocked_202.html", 202))
        code, found = await doctor(tmp_path, **search_variables(duckduckgo, brave))
    blocked, _ = found["provider"]
    assert (code, blocked["status"]) == (0, "WARN")
    assert blocked["message"].startswith("duckduckgo: ")
    assert blocked["remedy"] == (
        "It often blocks servers. For searches that do not depend on it, set SERPER_API_KEY or TAVILY_API_KEY, or name "
        "an instance of yours in tools.webSearch.providers.searxng.baseUrl."
    )


async def test_a_used_up_quota_is_a_warning(tmp_path: Path) -> None:
    async with SearchServer("duckduckgo") as duckduckgo, SearchServer("brave") as brave:
        brave.script(*[recorded_reply("brave_error_429.json", 429)] * 2)
        code, found = await doctor(tmp_path, **search_variables(duckduckgo, brave))
    _, blocked = found["provider"]
    assert (code, blocked["status"], blocked["remedy"]) == (0, "WARN", FALLBACK_REMEDY)


@pytest.mark.parametrize("provider", WITH_KEY)
async def test_a_key_that_is_refused_is_a_failure_that_names_its_variable(tmp_path: Path, provider: Name) -> None:
    async with SearchServer("duckduckgo") as duckduckgo, SearchServer(provider, key="another") as server:
        code, found = await doctor(tmp_path, **search_variables(duckduckgo, server))
    _, refused = found["provider"]
    variable = f"{provider.upper()}_API_KEY"
    assert (code, refused["status"], refused["remedy"]) == (1, "FAIL", f"Check {variable}.")
    assert refused["message"].startswith(f"{provider}: it did not accept the key")


async def test_offline_is_a_warning_because_the_library_still_answers(tmp_path: Path) -> None:
    code, found = await doctor(tmp_path)
    (offline,) = found["provider"]
    assert (code, offline["status"], offline["remedy"]) == (0, "WARN", FALLBACK_REMEDY)
    assert offline["message"].startswith("duckduckgo: it could not be reached: the connection was refused")
    none = {"status": "WARN", "message": "could not reach any of duckduckgo", "remedy": OFFLINE_REMEDY}
    assert found["network"] == [none]


async def test_one_provider_that_answers_in_any_way_is_a_network(tmp_path: Path) -> None:
    async with SearchServer("brave", key="another") as brave:
        _, found = await doctor(tmp_path, **search_variables(brave), OPENAI_API_KEY="k", **MODELS_AWAY)
    assert found["network"] == ok("reached: brave")


@pytest.mark.slow
async def test_providers_that_hang_are_waited_for_together_and_not_for_long(tmp_path: Path) -> None:
    async with (
        SearchServer("duckduckgo") as duckduckgo,
        SearchServer("brave") as brave,
        SearchServer("tavily") as tavily,
    ):
        for server in (duckduckgo, brave, tavily):
            server.script(hanging_reply())
        command = asyncio.create_task(doctor(tmp_path, **search_variables(duckduckgo, brave, tavily)))
        for server in (duckduckgo, brave, tavily):
            await server.wait_received(1)
        # All are waited for together: the last request starts before the first one times out.
        assert [server.open for server in (duckduckgo, brave, tavily)] == [1, 1, 1]
        code, found = await command
    assert code == 0
    assert [finding["status"] for finding in found["provider"]] == ["WARN"] * 3
    assert found["network"][0]["message"] == "could not reach any of duckduckgo, brave, tavily"
    assert "no answer within 6 seconds" in found["provider"][0]["message"]


async def test_nobody_is_asked_where_no_agent_searches(tmp_path: Path) -> None:
    (tmp_path / "agents.json").write_text('{"agents": [{"id": "a"}]}')
    async with SearchServer("duckduckgo") as duckduckgo:
        _, found = await doctor(tmp_path, **search_variables(duckduckgo))
    assert found["search"] == ok("no agent searches: webSearch.enabled is true for none")
    assert "provider" not in found
    assert found["network"] == ok("not needed: no agent searches, and the model is on this machine")
    assert duckduckgo.requests == []


async def test_what_is_in_the_library_is_counted(tmp_path: Path) -> None:
    async with Database.open(engines.database_url(tmp_path), tmp_path) as database:
        library = Library(database)
        await library.store(Snapshot(url="https://a.example/", text="Ôxy là một nguyên tố."))
        await library.store(Snapshot(url="https://b.example/", text="氧是一种化学元素。"))
        await library.add(Snapshot(url=file_url("mine.md"), text="A file of mine."), "mine.md")
    _, found = await doctor(tmp_path)
    (finding,) = found["database"]
    assert re.sub(r"[\d.]+ MiB", "… MiB", finding["message"]) == (
        f"{tmp_path}/footnote.db opens: the library holds 2 pages, 1 file, 0 of documentation; … MiB"
    )


async def test_a_library_that_cannot_be_opened_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "footnote.db").write_text("This is no database, and longer than the head of one. " * 20)
    code, found = await doctor(tmp_path)
    (finding,) = found["database"]
    assert (code, finding["status"]) == (1, "FAIL")
    assert finding["message"].startswith(f"{tmp_path}/footnote.db cannot be read (")
    assert finding["remedy"] == "Until then no page is stored, and no footnote can be opened later."


async def test_a_search_provider_without_its_key_is_pointed_out(tmp_path: Path) -> None:
    _, found = await doctor(tmp_path, FOOTNOTE_TOOLS_WEB_SEARCH_DEFAULT_PROVIDER="brave")
    message = "agent researcher searches with duckduckgo instead of brave, which needs a key: set BRAVE_API_KEY"
    remedy = "Do that, or choose another provider."
    assert found["search"] == [{"status": "WARN", "message": message, "remedy": remedy}]
