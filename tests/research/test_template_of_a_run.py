"""The template of a research run, from the request to the plan and the report, without a model."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from server.harness import ServerHarness, open_server, parse_events

QUESTION = "green tea"
VENDOR_CHECK = "# Vendor check\n\n- Revenue of {topic}\n- Debts of {topic}\n"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ServerHarness]:
    """It searches what it has read before, which is nothing."""
    home = tmp_path / ".footnote"
    (home / "templates").mkdir(parents=True)
    (home / "templates" / "vendor-check.md").write_text(VENDOR_CHECK)
    search = {"enabled": True, "provider": "library"}
    agents = [
        {"id": "plain", "webSearch": search},
        {"id": "sheets", "webSearch": search, "research": {"template": "Fact sheet"}},
    ]
    (home / "agents.json").write_text(json.dumps({"agents": agents}))
    async with open_server(tmp_path) as server:
        yield server


async def ask(server: ServerHarness, *, agent_id: str = "plain", **fields: Any) -> list[str]:
    """The questions of the plan that is made."""
    session_id = await server.local.create_session(agent_id=agent_id)
    body = {"content": QUESTION, "mode": "research", **fields}
    started = await server.local.request("POST", f"/v2/sessions/{session_id}/messages", body, accept="application/json")
    assert started.status in (200, 202), started.body
    run_id = started.json["run_id"]
    parse_events(await server.local.run_events(run_id))
    plan = (await server.local.request("GET", f"/v2/runs/{run_id}/plan")).json
    return [item["question"] for item in plan["items"]]


async def test_a_request_chooses_its_template(server: ServerHarness) -> None:
    assert await ask(server, template="vendor_check") == ["green tea", "Revenue of green tea", "Debts of green tea"]


async def test_an_agent_has_a_template_unless_the_request_names_another(server: ServerHarness) -> None:
    assert "Timeline of green tea" in await ask(server, agent_id="sheets")
    assert "Debts of green tea" in await ask(server, agent_id="sheets", template="Vendor check")


async def test_otherwise_the_question_decides(server: ServerHarness) -> None:
    assert "Market size and growth of green tea" in await ask(server, content="Market overview of green tea")
    assert "History of green tea" in await ask(server)


async def test_an_unknown_template_is_refused_before_anything_is_stored(server: ServerHarness) -> None:
    session_id = await server.local.create_session(agent_id="plain")
    body = {"content": QUESTION, "mode": "research", "template": "novel"}
    refused = await server.local.request("POST", f"/v2/sessions/{session_id}/messages", body)
    assert (refused.status, refused.json["error"]["code"]) == (400, "template_unknown")
    assert refused.json["error"]["params"]["templates"].endswith("fact-sheet, vendor-check")
    assert (await server.local.history(session_id))["messages"] == []
