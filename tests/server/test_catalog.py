"""The catalog of models, agents and tools."""

import json
from pathlib import Path

from server.harness import ServerHarness, open_server

AGENTS = [
    {"id": "first", "name": "First", "description": "Searches.", "webSearch": {"enabled": True}},
    {"id": "quiet", "model": "own/small", "systemPrompt": "Nobody's business.", "workspace": {"enabled": False}},
]


def write_settings(home: Path) -> None:
    home.mkdir()
    provider = {"type": "openai", "baseUrl": "http://127.0.0.1:1/v1"}
    models = {"default": "own/large", "providers": {"own": provider}}
    (home / "config.json").write_text(json.dumps({"models": models}))
    (home / "agents.json").write_text(json.dumps({"agents": AGENTS}))


async def test_agents_are_shown_without_their_instructions(tmp_path: Path):
    write_settings(tmp_path / ".footnote")
    async with open_server(tmp_path) as server:
        agents = (await server.local.request("GET", "/v2/agents")).json["agents"]
    first, quiet = agents
    assert first == {
        "id": "first",
        "name": "First",
        "description": "Searches.",
        "model": None,
        "web_search": True,
        "workspace": True,
    }
    assert (quiet["name"], quiet["model"], quiet["web_search"], quiet["workspace"]) == (
        "quiet",
        "own/small",
        False,
        False,
    )


async def test_models_say_whether_the_server_can_ask_them(tmp_path: Path):
    write_settings(tmp_path / ".footnote")
    async with open_server(tmp_path, OPENAI_API_KEY="a-key-of-the-test") as server:
        models = (await server.local.request("GET", "/v2/models")).json["models"]
    assert [(one["id"], one["available"], one["default"]) for one in models] == [
        ("own/large", True, True),
        ("own/small", True, False),
        ("anthropic/claude-sonnet-5-5", False, False),
        ("openai/gpt-6.1-sol", True, False),
        ("footnote/reader", True, False),
    ]


async def _tools(server: ServerHarness, query: str, language: str) -> dict[str, str]:
    response = await server.local.request("GET", f"/v2/tools{query}", accept_language=language)
    return {one["name"]: one["title"] for one in response.json["tools"]}


async def test_tools_are_those_of_the_agent_in_the_language_of_who_asks(tmp_path: Path):
    write_settings(tmp_path / ".footnote")
    async with open_server(tmp_path) as server:
        first = await _tools(server, "", "vi")
        quiet = await _tools(server, "?agent_id=quiet", "zh")
        unknown = await server.local.request("GET", "/v2/tools?agent_id=nobody")
    assert first["web_search"] == "Tìm kiếm web"
    assert "list_files" in first
    assert quiet == {}
    assert (unknown.status, unknown.error) == (400, "invalid_request")
