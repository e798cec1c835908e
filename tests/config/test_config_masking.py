"""Masking: what may be shown of a value."""

from typing import Any

import pytest
from rich.pretty import pretty_repr

from config.conftest import LoadConfig
from footnote.config.formats import is_secret_name, mask_arguments, mask_reference, mask_url
from footnote.config.load import entries
from footnote.config.resolve import resolve_model, resolve_web_search
from footnote.config.settings import McpServerEntry, ModelProvider


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://api.example.org/v1", "https://api.example.org/v1"),
        ("sqlite:footnote.db", "sqlite:footnote.db"),
        ("local:", "local:"),
        ("postgresql://user:secret@host:5432/name", "postgresql://user:***@host:5432/name"),
        ("postgresql://user:se/cr?e@t#@host/name", "postgresql://user:***@host/name"),
        ("redis://:secret@host", "redis://:***@host"),
        ("https://secret@host/x", "https://***@host/x"),
        ("https://host/mcp?apiKey=secret&region=eu", "https://host/mcp?apiKey=***&region=eu"),
        ("https://host/mcp?secret", "https://host/mcp?***"),
        ("s3://bucket?endpoint=http://minio:9000&region=eu", "s3://bucket?endpoint=http://minio:9000&region=eu"),
        ("s3://b?endpoint=http://u:pw@x&secret=sk-1", "s3://b?endpoint=http://u:***@x&secret=***"),
    ],
)
def test_an_address_is_shown_without_its_password_and_the_values_of_its_query(address: str, shown: str) -> None:
    assert mask_url(address) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("${TOKEN}", "${TOKEN}"),
        ("Bearer ${TOKEN}", "Bearer ${TOKEN}"),
        ("${USER}${TOKEN}", "${USER}${TOKEN}"),
        ("secret", "***"),
        ("secret ${TOKEN}", "***"),
        ("", "***"),
        ("${not a name}", "***"),
    ],
)
def test_only_references_are_shown(text: str, shown: str) -> None:
    assert mask_reference(text) == shown


def test_arguments_are_shown_without_what_an_option_announces_as_a_secret() -> None:
    arguments = ("--root", ".", "--api-key", "secret", "--token=secret", "-v", "--password", "--force", "http://u:p@h")
    shown = ("--root", ".", "--api-key", "***", "--token=***", "-v", "--password", "--force", "http://u:***@h")
    assert mask_arguments(arguments) == shown


@pytest.mark.parametrize("name", ["apiKey", "API_KEY", "X-API-Key", "Authorization", "--token", "dbPassword", "cookie"])
def test_a_name_can_announce_a_secret(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["", "MAX_TOKENS", "keyboard", "name", "TOKENIZERS_PARALLELISM", "author"])
def test_a_name_that_only_looks_like_one_announces_nothing(name: str) -> None:
    assert not is_secret_name(name)


def with_secrets(load_config: LoadConfig) -> Any:
    """A configuration with `planted` in every place that may hold a secret."""
    started = {"command": "x", "args": ["--token", "planted"], "env": {"LEVEL": "planted"}}
    reached = {"url": "https://me:planted@h/mcp?k=planted", "headers": {"X-Trace": "planted"}}
    search = {"enabled": True, "provider": "brave"}
    return load_config(
        {
            "models": {"providers": {"anthropic": {"apiKey": "planted", "baseUrl": "http://me:planted@h"}}},
            "tools": {"webSearch": {"providers": {"brave": {"apiKey": "planted"}}}},
            "server": {"publicUrl": "http://me:planted@h"},
            "database": {"url": "postgresql://me:planted@h/d"},
            "storage": {"url": "s3://me:planted@bucket"},
            "bus": {"url": "redis://:planted@h"},
        },
        agents={"agents": [{"id": "a", "webSearch": search, "mcpServers": {"started": started, "reached": reached}}]},
    )


@pytest.mark.parametrize("represent", [repr, pretty_repr])
def test_no_representation_of_a_configuration_tells_a_secret(represent: Any, load_config: LoadConfig) -> None:
    configuration = with_secrets(load_config)
    settings, (agent,) = configuration.settings, configuration.agents
    choice, search = resolve_model(settings), resolve_web_search(settings, agent)
    assert (choice.endpoint.api_key, search and search.providers["brave"].api_key) == ("planted", "planted")
    for value in (configuration, settings, agent, choice, search, list(entries(configuration))):
        assert "planted" not in represent(value)


def test_a_representation_shows_all_that_is_no_secret() -> None:
    provider = ModelProvider("openai", "planted", "http://me:planted@h/v1")
    assert repr(provider) == "ModelProvider(type='openai', api_key='***', base_url='http://me:***@h/v1')"
    server = McpServerEntry(command="x", args=("--key", "planted", "-v"), env={"A": "${B}", "C": "planted"})
    assert repr(server) == (
        "McpServerEntry(command='x', args=('--key', '***', '-v'), env={'A': '${B}', 'C': '***'}, cwd=None, url=None, "
        "headers={}, approval=False, timeout_seconds=60)"
    )
