"""Variables: their names, the format of their values, and the errors about them."""

import json
from typing import Any

import pytest

from config.conftest import ConfigProblems, LoadConfig
from footnote.config.environment import WILDCARD, setting_keys
from footnote.config.load import Configuration
from footnote.config.settings import ModelProvider, ProfileFacts


@pytest.mark.parametrize(
    ("variable", "text", "path", "value"),
    [
        ("FOOTNOTE_TOOLS_WEB_SEARCH_MAX_RESULTS", "3", "tools.web_search.max_results", 3),
        ("FOOTNOTE_TOOLS_WEB_SEARCH_TIMEOUT_SECONDS", "2.5", "tools.web_search.timeout_seconds", 2.5),
        ("FOOTNOTE_TOOLS_WEB_SEARCH_CACHE_TTL_MINUTES", "0", "tools.web_search.cache_ttl_minutes", 0),
        ("FOOTNOTE_TOOLS_WEB_SEARCH_DEFAULT_PROVIDER", "brave", "tools.web_search.default_provider", "brave"),
        ("FOOTNOTE_TOOLS_WEB_SEARCH_RESPECT_ROBOTS", "off", "tools.web_search.respect_robots", False),
        ("FOOTNOTE_TOOLS_WEB_SEARCH_RESPECT_ROBOTS", "TRUE", "tools.web_search.respect_robots", True),
        (
            "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS",
            "a:1, b:2",
            "tools.web_search.allow_private_hosts",
            ("a:1", "b:2"),
        ),
        (
            "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS",
            '["[::1]:80"]',
            "tools.web_search.allow_private_hosts",
            ("[::1]:80",),
        ),
        ("FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_BRAVE_API_KEY", "k", "tools.web_search.providers.brave.api_key", "k"),
        (
            "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_SEARXNG_BASE_URL",
            "http://s",
            "tools.web_search.providers.searxng.base_url",
            "http://s",
        ),
        ("FOOTNOTE_SERVER_PORT", "0", "server.port", 0),
        ("FOOTNOTE_MODELS_DEFAULT", "openai/x", "models.default", "openai/x"),
        ("FOOTNOTE_DATABASE_URL", "postgresql://u:p@h/d", "database.url", "postgresql://u:p@h/d"),
        ("FOOTNOTE_STORAGE_URL", "s3://bucket?region=eu", "storage.url", "s3://bucket?region=eu"),
        ("FOOTNOTE_BUS_URL", "redis://h:6379", "bus.url", "redis://h:6379"),
        ("FOOTNOTE_LIMITS_UPLOAD_BYTES", "1", "limits.upload_bytes", 1),
    ],
)
def test_a_variable_sets_its_value(load_config: LoadConfig, variable: str, text: str, path: str, value: Any) -> None:
    found: Any = load_config(environ={variable: text}).settings
    for name in path.split("."):
        found = found[name] if isinstance(found, dict) else getattr(found, name)
    assert found == value


def test_every_key_without_a_chosen_name_has_a_variable_of_its_own() -> None:
    variables = [key.variable() for key in setting_keys() if WILDCARD not in key.path]
    assert len(variables) == len(set(variables))
    assert {"FOOTNOTE_TOOLS_WEB_SEARCH_CACHE_TTL_MINUTES", "FOOTNOTE_MODELS_PROVIDERS"} <= set(variables)


def test_a_variable_makes_a_provider_and_adds_to_one_of_the_file(load_config: LoadConfig) -> None:
    configuration = load_config(
        {"models": {"providers": {"llama.cpp": {"type": "openai"}}}},
        environ={
            "FOOTNOTE_MODELS_PROVIDERS_VLLM_TYPE": "openai",
            "FOOTNOTE_MODELS_PROVIDERS_VLLM_BASE_URL": "http://gpu:8000/v1",
            "FOOTNOTE_MODELS_PROVIDERS_LLAMA_CPP_BASE_URL": "http://127.0.0.1:8080/v1",
        },
    )
    assert configuration.settings.models.providers == {
        "llama.cpp": ModelProvider("openai", None, "http://127.0.0.1:8080/v1"),
        "vllm": ModelProvider("openai", None, "http://gpu:8000/v1"),
    }


def test_maps_are_given_as_json_and_single_variables_add_to_them(load_config: LoadConfig) -> None:
    models = load_config(
        environ={
            "FOOTNOTE_MODELS_PROVIDERS": json.dumps({"own": {"type": "anthropic", "baseUrl": "http://one"}}),
            "FOOTNOTE_MODELS_PROVIDERS_OWN_BASE_URL": "http://two",
            "FOOTNOTE_MODELS_PROFILES": json.dumps({"own/m": {"window": 1000, "images": True}}),
        }
    ).settings.models
    assert models.providers == {"own": ModelProvider("anthropic", None, "http://two")}
    assert models.profiles == {"own/m": ProfileFacts(window=1000, images=True)}


def test_an_empty_map_in_a_variable_leaves_the_one_of_the_file_alone(load_config: LoadConfig) -> None:
    file = {"models": {"providers": {"own": {"type": "openai"}}}}
    assert load_config(file, environ={"FOOTNOTE_MODELS_PROVIDERS": "{}"}) == load_config(file)


def test_a_variable_that_is_set_to_nothing_is_not_set(load_config: LoadConfig, home: Any) -> None:
    variables = {"FOOTNOTE_SERVER_PORT": "", "FOOTNOTE_NONSENSE": " ", "ANTHROPIC_API_KEY": "", "FOOTNOTE_AGENTS": ""}
    assert load_config(environ=variables) == Configuration(home)


def test_variables_that_are_no_settings_are_left_alone(load_config: LoadConfig, home: Any) -> None:
    others = ("FOOTNOTE_TOKEN", "FOOTNOTE_DEBUG", "FOOTNOTES", "PATH")
    assert load_config(environ=dict.fromkeys(others, "x")) == Configuration(home)


@pytest.mark.parametrize(
    ("variable", "nearest"),
    [
        ("FOOTNOTE_SERVER_PROT", "FOOTNOTE_SERVER_PORT"),
        ("FOOTNOTE_WEB_SEARCH_MAX_RESULTS", "FOOTNOTE_TOOLS_WEB_SEARCH_MAX_RESULTS"),
        ("FOOTNOTE_HOMES", "FOOTNOTE_HOME"),
        ("FOOTNOTE_MODELS_PROVIDERS_OPENAI_BASEURL", "FOOTNOTE_MODELS_PROVIDERS_OPENAI_BASE_URL"),
    ],
)
def test_an_unknown_variable_is_an_error_that_names_the_nearest_one(
    config_problems: ConfigProblems, variable: str, nearest: str
) -> None:
    problems = config_problems(environ={variable: "planted"})
    assert problems == [f"{variable}: there is no such setting; the nearest one is {nearest}."]


@pytest.mark.parametrize(
    ("variable", "text", "complaint"),
    [
        ("FOOTNOTE_SERVER_PORT", "http", 'server.port: expected a whole number from 0 to 65535, found "http".'),
        ("FOOTNOTE_SERVER_PORT", "1.5", 'server.port: expected a whole number from 0 to 65535, found "1.5".'),
        ("FOOTNOTE_SERVER_PORT", "99999", "server.port: expected a whole number from 0 to 65535, found 99999."),
        (
            "FOOTNOTE_TOOLS_WEB_SEARCH_RESPECT_ROBOTS",
            "maybe",
            'tools.webSearch.respectRobots: expected true or false, found "maybe".',
        ),
        (
            "FOOTNOTE_TOOLS_WEB_SEARCH_TIMEOUT_SECONDS",
            "nan",
            'tools.webSearch.timeoutSeconds: expected a number above 0, at most 86400, found "nan".',
        ),
        ("FOOTNOTE_MODELS_PROVIDERS", "[]", "models.providers: expected an object, found a list."),
    ],
)
def test_a_wrong_value_in_a_variable_names_the_variable_and_the_key(
    config_problems: ConfigProblems, variable: str, text: str, complaint: str
) -> None:
    assert config_problems(environ={variable: text}) == [f"{variable}, {complaint}"]


def test_bad_json_in_a_variable_is_told_without_repeating_it(config_problems: ConfigProblems) -> None:
    for variable in ("FOOTNOTE_MODELS_PROVIDERS", "FOOTNOTE_AGENTS"):
        (problems,) = config_problems(environ={variable: '{"planted": }'})
        assert problems.startswith(f"{variable}, line 1: not valid JSON in column 13: Expecting value.")
        assert "planted" not in problems


def test_a_key_with_a_space_in_a_variable_is_refused_without_repeating_it(config_problems: ConfigProblems) -> None:
    (problems,) = config_problems(environ={"FOOTNOTE_MODELS_PROVIDERS_OPENAI_API_KEY": "sk-planted x"})
    assert problems.startswith(
        "FOOTNOTE_MODELS_PROVIDERS_OPENAI_API_KEY, models.providers.openai.apiKey: expected a key"
    )
    assert "planted" not in problems


def test_a_provider_that_only_the_environment_knows_needs_its_type_there(config_problems: ConfigProblems) -> None:
    (problems,) = config_problems(environ={"FOOTNOTE_MODELS_PROVIDERS_OWN_BASE_URL": "http://h"})
    assert problems.startswith('FOOTNOTE_MODELS_PROVIDERS_OWN_BASE_URL, models.providers.own: the provider "own" needs')


def test_bytes_that_are_no_text_are_an_error_that_can_be_printed(config_problems: ConfigProblems) -> None:
    problems = config_problems(environ={"FOOTNOTE_MODELS_DEFAULT": "a/\udcff", "FOOTNOTE_\udcff": "x"})
    assert problems == [
        "FOOTNOTE_\\udcff: there is no such setting; the nearest one is FOOTNOTE_HOME.",
        "FOOTNOTE_MODELS_DEFAULT: is not UTF-8 text.",
    ]
