"""The page about the configuration lists every key, default, variable and option, and no other."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from config.conftest import LoadConfig
from footnote.cli import Exit, main
from footnote.config.environment import OTHER_VARIABLES, WILDCARD, Key, keys_of, setting_keys
from footnote.config.providers import MODEL_PROVIDERS, search_aliases, search_provider_ids, standard_key_variables
from footnote.config.settings import Agent
from footnote.web_search.providers import search_providers

PAGE = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([^`]+)` \|(.+)\|$", re.MULTILINE)


def rows(part: str) -> dict[str, list[str]]:
    return {name: [cell.strip(" `") for cell in cells.split(" |")] for name, cells in ROW.findall(part)}


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def key_name(key: Key) -> str:
    searched = key.path[:3] == ("tools", "webSearch", "providers")
    return ".".join(
        "NAME" if step == WILDCARD or (searched and step in search_provider_ids()) else step for step in key.path
    )


def json_text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def test_every_key_of_config_json_is_there_with_its_default_and_its_variable() -> None:
    expected = {
        key_name(key): (
            json_text(key.default),
            re.sub("_DUCKDUCKGO_", "_NAME_", key.variable()) if key.has_variable else "",
        )
        for key in reversed(setting_keys())
        if not {*search_provider_ids()[1:]} & {*key.path}
    }
    documented = {
        name: (cells[0], cells[2])
        for name, cells in rows(section("config.json")).items()
        if name not in MODEL_PROVIDERS
    }
    assert documented == expected


def test_every_search_provider_is_there() -> None:
    assert [name for name in (*search_provider_ids(), *search_aliases()) if f"`{name}`" not in PAGE] == []


def test_the_search_providers_that_need_a_key_or_an_address_are_named() -> None:
    found = rows(section("config.json"))
    for setting, needed in (
        ("apiKey", [provider.id for provider in search_providers() if provider.key_name]),
        ("baseUrl", [provider.id for provider in search_providers() if provider.needs_address]),
    ):
        allowed = found[f"tools.webSearch.providers.NAME.{setting}"][1]
        assert re.findall(r"`(\w+)`?", allowed.partition("needed for ")[2]) == needed


def test_every_key_of_an_agent_is_there_with_its_default() -> None:
    expected = {key_name(key): json_text(key.default) for key in keys_of(Agent) if key.path[-1] != WILDCARD}
    expected |= {"id": "required", "systemPrompt": "that of `researcher"}
    assert {name: cells[0] for name, cells in rows(section("agents.json")).items()} == expected


def test_every_known_model_provider_is_there_with_its_facts() -> None:
    found = rows(section("config.json"))
    for name, known in MODEL_PROVIDERS.items():
        usual = known.default_model or ("the first that it lists" if name == "ollama" else "")
        assert found[name] == [known.type, known.base_url, usual]


def test_every_other_variable_is_there() -> None:
    found = rows(section("Which value holds"))
    keys = {variable: [".".join(path)] for path, variable in standard_key_variables().items()}
    assert {name: cells for name, cells in found.items() if name in keys} == keys
    assert set(found) - set(keys) == set(OTHER_VARIABLES)


@pytest.mark.parametrize("command", [["config", "show"], ["doctor"]])
def test_every_option_is_there(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--help"]) == Exit.OK
    options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    assert {"--json", "--home", "--config", "--help"} <= options
    assert [option for option in options if f"`{option}" not in section("Commands")] == []


def test_every_exit_code_is_there() -> None:
    assert re.findall(r"^\| (\d+) \|", section("Commands"), re.MULTILINE) == [str(int(code)) for code in Exit]


def test_the_examples_are_valid(load_config: LoadConfig) -> None:
    config, agents = (json.loads(text) for text in re.findall(r"```json\n(.+?)```", PAGE, re.DOTALL))
    configuration = load_config(config, agents=agents)
    assert configuration.settings.models.default == "vllm/qwen3-32b"
    assert [agent.id for agent in configuration.agents] == ["analyst", "writer"]


def test_the_errors_are_worded_as_they_are_shown(load_config: LoadConfig, home: Path) -> None:
    with pytest.raises(Exception, match="2 problems") as caught:
        load_config(
            '{"tools":\n {\n "webSearch": {\n "maxResult": 1}}}',
            environ={"FOOTNOTE_SERVER_PORT": "http"},
        )
    assert str(caught.value).replace(str(home), "/home/me/.footnote") in PAGE
