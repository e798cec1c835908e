"""The sources of values, which one wins, and how the origin is reported."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.conftest import LoadConfig
from footnote.config.json_file import parse_json
from footnote.config.load import (
    DEFAULT,
    Configuration,
    ConfigurationEntry,
    Ignored,
    ValueOrigin,
    entries,
    home_folder,
    load,
)
from footnote.config.settings import (
    Agent,
    AgentSearch,
    AgentWorkspace,
    McpServerEntry,
    Settings,
    researcher,
    researcher_prompt,
)
from footnote.protocol.errors import ConfigError

BRAVE_KEY = ("tools", "webSearch", "providers", "brave", "apiKey")


def test_without_files_and_variables_all_is_at_its_default(home: Path) -> None:
    assert load(home, environ={}) == Configuration(home, Settings(), (researcher(),), {}, ())


def test_the_defaults_are_those_of_the_contract() -> None:
    defaults = msgspec.json.decode(msgspec.json.encode(Settings()))
    search = defaults["tools"]["webSearch"]
    assert search == {
        "defaultProvider": "duckduckgo",
        "timeoutSeconds": 15,
        "cacheTtlMinutes": 5,
        "maxResults": 5,
        "safeSearch": "moderate",
        "crawlCount": 5,
        "evidenceTokens": 2000,
        "summary": True,
        "respectRobots": True,
        "allowPrivateHosts": [],
        "providers": {},
    }
    assert defaults["models"] == {"default": None, "providers": {}, "profiles": {}}
    assert defaults["server"] == {
        "host": "127.0.0.1",
        "port": 8484,
        "publicUrl": None,
        "trustedProxies": ["127.0.0.0/8", "::1"],
    }
    assert {name: defaults[name]["url"] for name in ("database", "storage", "bus")} == {
        "database": "sqlite:footnote.db",
        "storage": "local:files",
        "bus": "local:",
    }


def test_the_other_name_of_duckduckgo_is_taken_for_it(load_config: LoadConfig, home: Path) -> None:
    text = '{"tools": {"webSearch": {"providers": {\n "duck-duck-scrape": {\n  "baseUrl": "https://proxy.example"}}}}}'
    configuration = load_config(text)
    assert configuration.settings.tools.web_search.providers["duckduckgo"].base_url == "https://proxy.example"
    path = ("tools", "webSearch", "providers", "duckduckgo", "baseUrl")
    assert configuration.origins == {path: ValueOrigin("file", f"{home}/config.json", ".".join(path), 3)}


def test_an_agent_has_the_defaults_of_the_contract(load_config: LoadConfig) -> None:
    (agent,) = load_config(agents={"agents": [{"id": "plain"}]}).agents
    assert agent == Agent(
        id="plain",
        system_prompt=researcher_prompt(),
        max_tool_rounds=5,
        web_search=AgentSearch(enabled=False, provider=None),
        workspace=AgentWorkspace(enabled=True),
        mcp_servers={},
    )


def test_the_agent_without_a_file_has_search_and_workspace() -> None:
    agent = researcher()
    assert (agent.id, agent.web_search.enabled, agent.workspace.enabled) == ("researcher", True, True)
    assert "language of the user" in agent.system_prompt
    assert "footnote" in agent.system_prompt


def test_a_file_sets_values_and_is_named_as_their_origin(load_config: LoadConfig, home: Path) -> None:
    text = '{"server": {\n  "port": 9000},\n "tools": {"webSearch": {"allowPrivateHosts": ["wiki:80"]}}}'
    configuration = load_config(text)
    file = str(home / "config.json")
    assert configuration.settings.server.port == 9000
    assert configuration.settings.tools.web_search.allow_private_hosts == ("wiki:80",)
    assert configuration.origins == {
        ("server", "port"): ValueOrigin("file", file, "server.port", 2),
        ("tools", "webSearch", "allowPrivateHosts"): ValueOrigin("file", file, "tools.webSearch.allowPrivateHosts", 3),
    }
    assert configuration.origin(("server", "host")) == DEFAULT
    assert str(configuration.origin(("server", "port"))) == f"{file}, line 2"


def test_a_map_with_nothing_in_it_is_shown_with_its_origin_too(load_config: LoadConfig, home: Path) -> None:
    shown = {entry.key: entry for entry in entries(load_config('{"models": {\n "providers": {}}}'))}
    origin = ValueOrigin("file", str(home / "config.json"), "models.providers", 2)
    assert shown["models.providers"] == ConfigurationEntry("models.providers", {}, origin)
    assert shown["models.profiles"] == ConfigurationEntry("models.profiles", {}, DEFAULT)


def test_the_environment_wins_over_the_file(load_config: LoadConfig) -> None:
    configuration = load_config({"server": {"port": 9000}}, environ={"FOOTNOTE_SERVER_PORT": "9001"})
    assert configuration.settings.server.port == 9001
    assert configuration.origins == {("server", "port"): ValueOrigin("environment", "FOOTNOTE_SERVER_PORT")}


def test_a_key_in_the_file_wins_over_every_variable(load_config: LoadConfig, home: Path) -> None:
    variables = {
        "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_BRAVE_API_KEY": "from-our-variable",
        "BRAVE_API_KEY": "from-the-usual-variable",
    }
    config = {"tools": {"webSearch": {"providers": {"brave": {"apiKey": "from-file"}}}}}
    configuration = load_config(config, environ=variables)
    assert configuration.settings.tools.web_search.providers["brave"].api_key == "from-file"
    assert set(configuration.ignored) == {
        Ignored(variable, str(home / "config.json"), "tools.webSearch.providers.brave.apiKey") for variable in variables
    }


def test_our_own_variable_wins_over_the_usual_one(load_config: LoadConfig) -> None:
    own = "FOOTNOTE_MODELS_PROVIDERS_ANTHROPIC_API_KEY"
    configuration = load_config(environ={own: "ours", "ANTHROPIC_API_KEY": "usual"})
    assert configuration.settings.models.providers["anthropic"].api_key == "ours"
    assert configuration.origins == {("models", "providers", "anthropic", "apiKey"): ValueOrigin("environment", own)}
    assert configuration.ignored == ()


def test_a_null_in_the_file_leaves_the_place_to_the_environment(load_config: LoadConfig) -> None:
    config = {"tools": {"webSearch": {"providers": {"brave": {"apiKey": None}}}}}
    configuration = load_config(config, environ={"BRAVE_API_KEY": "usual"})
    assert configuration.settings.tools.web_search.providers["brave"].api_key == "usual"
    assert configuration.origin(BRAVE_KEY) == ValueOrigin("environment", "BRAVE_API_KEY")


@pytest.mark.parametrize(
    ("variable", "section", "provider"),
    [
        ("BRAVE_API_KEY", "search", "brave"),
        ("SERPER_API_KEY", "search", "serper"),
        ("TAVILY_API_KEY", "search", "tavily"),
        ("ANTHROPIC_API_KEY", "models", "anthropic"),
        ("OPENAI_API_KEY", "models", "openai"),
        ("OPENROUTER_API_KEY", "models", "openrouter"),
    ],
)
def test_every_usual_variable_gives_its_provider_the_key(
    load_config: LoadConfig, variable: str, section: str, provider: str
) -> None:
    settings = load_config(environ={variable: "  the-key\n"}).settings
    if section == "search":
        access = settings.tools.web_search.providers[provider]
    else:
        access = settings.models.providers[provider]
    assert access.api_key == "the-key"


def test_a_file_that_was_asked_for_replaces_the_one_in_the_home_folder(home: Path, tmp_path: Path) -> None:
    (home / "config.json").write_text('{"server": {"port": 1}}')
    (tmp_path / "other.json").write_text('{"server": {"port": 2}}')
    assert load(home, tmp_path / "other.json", {}).settings.server.port == 2


def test_a_file_with_a_byte_order_mark_is_read(home: Path) -> None:
    (home / "config.json").write_bytes(b'\xef\xbb\xbf{"server": {"port": 7}}')
    assert load(home, environ={}).settings.server.port == 7


def test_the_home_folder_is_the_argument_then_the_variable_then_the_usual_one(tmp_path: Path) -> None:
    assert home_folder({}) == Path.home() / ".footnote"
    assert home_folder({"FOOTNOTE_HOME": str(tmp_path)}) == tmp_path
    assert home_folder({"FOOTNOTE_HOME": "~/elsewhere"}) == Path.home() / "elsewhere"
    assert load(tmp_path / "x", environ={"FOOTNOTE_HOME": str(tmp_path)}).home == tmp_path / "x"
    assert load(environ={"FOOTNOTE_HOME": str(tmp_path)}).home == tmp_path


def test_the_process_environment_is_read_when_none_is_handed_in(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_HOME", str(home))
    monkeypatch.setenv("FOOTNOTE_SERVER_PORT", "5")
    configuration = load()
    assert (configuration.home, configuration.settings.server.port) == (home, 5)


def test_agents_are_read_with_their_tool_servers(load_config: LoadConfig, home: Path) -> None:
    agents = {
        "agents": [
            {
                "id": "analyst",
                "name": "Analyst",
                "description": "Reads filings.",
                "systemPrompt": "Be brief.",
                "model": "openrouter/anthropic/claude-opus-5",
                "thinkingBudget": 2048,
                "maxToolRounds": 9,
                "webSearch": {"enabled": True, "provider": "brave"},
                "workspace": {"enabled": False},
                "mcpServers": {
                    "files": {"command": "mcp-files", "args": ["--root", "."], "env": {"LEVEL": "info"}, "cwd": "data"},
                    "tickets": {
                        "url": "https://tickets.example/mcp",
                        "headers": {"Authorization": "Bearer ${TICKETS_TOKEN}"},
                        "approval": True,
                        "timeoutSeconds": 5,
                    },
                },
            }
        ]
    }
    configuration = load_config(agents=agents)
    assert configuration.agents == (
        Agent(
            id="analyst",
            name="Analyst",
            description="Reads filings.",
            system_prompt="Be brief.",
            model="openrouter/anthropic/claude-opus-5",
            thinking_budget=2048,
            max_tool_rounds=9,
            web_search=AgentSearch(enabled=True, provider="brave"),
            workspace=AgentWorkspace(enabled=False),
            mcp_servers={
                "files": McpServerEntry(command="mcp-files", args=("--root", "."), env={"LEVEL": "info"}, cwd="data"),
                "tickets": McpServerEntry(
                    url="https://tickets.example/mcp",
                    headers={"Authorization": "Bearer ${TICKETS_TOKEN}"},
                    approval=True,
                    timeout_seconds=5,
                ),
            },
        ),
    )
    place = ("agents", 0, "mcpServers", "files", "cwd")
    origin = ValueOrigin("file", str(home / "agents.json"), "agents[0].mcpServers.files.cwd", 1)
    assert configuration.origin(place) == origin


def test_agents_can_come_from_the_environment_as_json(load_config: LoadConfig) -> None:
    variable = json.dumps([{"id": "other", "name": "Other"}])
    configuration = load_config(agents={"agents": [{"id": "from-file"}]}, environ={"FOOTNOTE_AGENTS": variable})
    assert [agent.id for agent in configuration.agents] == ["other"]
    assert configuration.origin(("agents", 0, "name")).name == "FOOTNOTE_AGENTS"


def test_an_agent_is_found_by_its_id_and_the_first_one_is_the_usual_one(load_config: LoadConfig) -> None:
    configuration = load_config(agents={"agents": [{"id": "one"}, {"id": "two"}]})
    assert (configuration.agent().id, configuration.agent("two").id) == ("one", "two")
    with pytest.raises(ConfigError, match=r"There is no agent 'tow'; the nearest id is 'two'\."):
        configuration.agent("tow")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@settings(deadline=None)
@given(JSON)
def test_every_part_of_a_document_is_found_on_its_line(value: Any) -> None:
    text = json.dumps(value, indent=1)
    document = parse_json("x", text)
    lines = text.split("\n")
    keys = {path: line for path, line in document.lines.items() if isinstance(path[-1], str)}
    assert [path for path, line in keys.items() if not lines[line - 1].lstrip().startswith(json.dumps(path[-1]))] == []
    assert len(document.lines) == _parts(value)


def _parts(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_parts, value.values()))
    return len(value) + sum(map(_parts, value)) if isinstance(value, list) else 0
