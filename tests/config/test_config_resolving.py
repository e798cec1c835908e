"""What a run takes from the configuration: its search, its model, its MCP servers."""

import logging
from pathlib import Path
from typing import Any

import msgspec
import pytest

from config.conftest import LoadConfig
from footnote.config.providers import MODEL_PROVIDERS, search_provider_ids
from footnote.config.resolve import (
    ModelChoice,
    needs_ollama,
    ollama_url,
    resolve_model,
    resolve_search,
    resolve_server,
    resolve_web_search,
    with_server_facts,
)
from footnote.config.settings import (
    Agent,
    AgentSearch,
    McpServerEntry,
    ModelProvider,
    ModelSettings,
    ProfileFacts,
    Settings,
    ToolSettings,
    WebSearchSection,
)
from footnote.models.base import Endpoint
from footnote.models.local_server import LocalModelFacts
from footnote.models.profiles import Profile, profile_of
from footnote.protocol.errors import ConfigError
from footnote.tools.mcp import McpServerSettings as Started
from footnote.web_search.settings import ProviderAccess, WebSearchSettings

SONNET = profile_of("claude-sonnet-5-5")


def searching(**search: Any) -> Agent:
    return Agent(id="a", web_search=AgentSearch(enabled=True, **search))


def models(*, default: str | None = None, profiles: Any = None, **providers: ModelProvider) -> Settings:
    return Settings(models=ModelSettings(default=default, providers=providers, profiles=profiles or {}))


def test_an_agent_without_the_switch_has_no_search(load_config: LoadConfig) -> None:
    settings = load_config({"tools": {"webSearch": {"defaultProvider": "library"}}}).settings
    assert resolve_web_search(settings, Agent(id="a")) is None
    assert resolve_web_search(settings, Agent(id="a", web_search=AgentSearch(provider="library"))) is None


def test_search_takes_its_numbers_from_the_global_section(load_config: LoadConfig) -> None:
    section = {
        "timeoutSeconds": 3,
        "cacheTtlMinutes": 0,
        "maxResults": 7,
        "safeSearch": "strict",
        "crawlCount": 2,
        "respectRobots": False,
        "allowPrivateHosts": ["wiki:80"],
        "providers": {"tavily": {"apiKey": "k"}},
    }
    settings = load_config({"tools": {"webSearch": section}}).settings
    providers = dict.fromkeys(search_provider_ids(), ProviderAccess()) | {"tavily": ProviderAccess(api_key="k")}
    assert resolve_web_search(settings, searching()) == WebSearchSettings(
        provider="duckduckgo",
        timeout_seconds=3,
        cache_ttl_minutes=0,
        max_results=7,
        safe_search="strict",
        crawl_count=2,
        respect_robots=False,
        allow_private_hosts=("wiki:80",),
        providers=providers,
    )


@pytest.mark.parametrize(
    ("default", "of_the_agent", "provider"),
    [
        (None, None, "duckduckgo"),
        ("library", None, "library"),
        ("library", "tavily", "tavily"),
        ("duck-duck-scrape", None, "duckduckgo"),
        ("tavily", "duck-duck-scrape", "duckduckgo"),
        ("tavily", "searxng", "searxng"),
    ],
)
def test_the_agents_provider_wins_over_the_default_one(
    load_config: LoadConfig, default: str | None, of_the_agent: Any, provider: str, caplog: pytest.LogCaptureFixture
) -> None:
    ready = {"tavily": {"apiKey": "k"}, "searxng": {"baseUrl": "http://s"}}
    section = {"providers": ready} | ({"defaultProvider": default} if default else {})
    resolved = resolve_web_search(
        load_config({"tools": {"webSearch": section}}).settings, searching(provider=of_the_agent)
    )
    assert resolved
    assert (resolved.provider, caplog.messages) == (provider, [])


@pytest.mark.parametrize(
    ("provider", "missing"),
    [
        ("brave", "a key: set BRAVE_API_KEY"),
        ("serper", "a key: set SERPER_API_KEY"),
        ("tavily", "a key: set TAVILY_API_KEY"),
        ("searxng", "the address of an instance: set tools.webSearch.providers.searxng.baseUrl"),
    ],
)
def test_a_provider_that_lacks_something_falls_back_with_one_log_line(
    provider: Any, missing: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        resolved = resolve_web_search(Settings(), searching(provider=provider))
    assert resolved
    assert resolved.provider == "duckduckgo"
    assert caplog.messages == [f"Agent a searches with duckduckgo instead of {provider}, which needs {missing}."]


def test_a_search_without_an_agent_falls_back_with_the_same_log_line(caplog: pytest.LogCaptureFixture) -> None:
    settings = Settings(ToolSettings(WebSearchSection(default_provider="brave")))
    with caplog.at_level(logging.WARNING):
        assert resolve_search(settings).provider == "duckduckgo"
    assert caplog.messages == [
        "Footnote searches with duckduckgo instead of brave, which needs a key: set BRAVE_API_KEY."
    ]


def test_a_provider_that_was_asked_for_by_name_is_not_replaced(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ConfigError, match="The search provider brave needs a key: set BRAVE_API_KEY"):
        resolve_search(Settings(), "brave")
    assert caplog.messages == []


def test_a_key_from_the_environment_makes_its_provider_usable(load_config: LoadConfig) -> None:
    resolved = resolve_web_search(load_config(environ={"BRAVE_API_KEY": "k"}).settings, searching(provider="brave"))
    assert resolved
    assert (resolved.provider, resolved.providers["brave"].api_key) == ("brave", "k")


KEY = ModelProvider(api_key="k")


@pytest.mark.parametrize(
    ("settings", "explicit", "ollama", "chosen", "origin"),
    [
        (
            models(anthropic=KEY, default="openai/b", openai=KEY),
            "anthropic/a",
            ("m",),
            "anthropic/a",
            "explicit choice",
        ),
        (models(anthropic=KEY, default="openai/b", openai=KEY), None, ("m",), "openai/b", "models.default"),
        (
            models(anthropic=KEY, openai=KEY),
            None,
            ("m",),
            "anthropic/claude-sonnet-5-5",
            "there is a key for anthropic",
        ),
        (models(openai=KEY), None, ("m",), "openai/gpt-6.1-sol", "there is a key for openai"),
        (models(openrouter=KEY), None, ("qwen3:8b", "m"), "ollama/qwen3:8b", "Ollama is running"),
        (models(), None, ("nomic-embed-text:latest", "bge-m3", "m"), "ollama/m", "Ollama is running"),
        (
            models(),
            None,
            ("all-minilm:33m", "x/e5-base"),
            "footnote/reader",
            "there is no key, and Ollama has only models for embeddings",
        ),
        (models(), None, None, "footnote/reader", "there is no key, and no Ollama"),
        (models(), None, (), "footnote/reader", "there is no key, and no Ollama"),
        (models(anthropic=KEY), "footnote/reader", None, "footnote/reader", "explicit choice"),
    ],
)
def test_the_model_is_the_first_that_is_named_or_there(
    settings: Settings, explicit: str | None, ollama: Any, chosen: str, origin: str
) -> None:
    choice = resolve_model(settings, explicit, ollama)
    assert (choice.id, choice.origin) == (chosen, origin)


@pytest.mark.parametrize(
    ("settings", "explicit", "asks"),
    [
        (models(), None, True),
        (models(openrouter=KEY), None, True),
        (models(openai=KEY), None, False),
        (models(default="ollama/m"), None, False),
        (models(), "ollama/m", False),
    ],
)
def test_ollama_is_asked_only_when_its_models_can_matter(settings: Settings, explicit: Any, asks: bool) -> None:
    assert needs_ollama(settings, explicit) is asks
    nothing, something = resolve_model(settings, explicit), resolve_model(settings, explicit, ("other",))
    assert (nothing != something) is asks


def test_a_choice_holds_all_that_is_needed_to_ask(load_config: LoadConfig) -> None:
    settings = load_config(environ={"ANTHROPIC_API_KEY": "k"}).settings
    assert resolve_model(settings) == ModelChoice(
        model="claude-sonnet-5-5",
        type="anthropic",
        endpoint=Endpoint("anthropic", "https://api.anthropic.com", "k", "ANTHROPIC_API_KEY"),
        profile=SONNET,
        origin="there is a key for anthropic",
    )


@pytest.mark.parametrize(
    ("name", "base_url"),
    [
        ("anthropic", "https://api.anthropic.com"),
        ("openai", "https://api.openai.com/v1"),
        ("openrouter", "https://openrouter.ai/api/v1"),
        ("ollama", "http://127.0.0.1:11434/v1"),
    ],
)
def test_known_providers_have_their_usual_address(name: str, base_url: str) -> None:
    choice = resolve_model(models(**{name: KEY}), f"{name}/m")
    assert (choice.endpoint.base_url, choice.type) == (base_url, "anthropic" if name == "anthropic" else "openai")


def test_the_name_of_a_model_may_hold_slashes() -> None:
    choice = resolve_model(models(openrouter=KEY), "openrouter/anthropic/claude-opus-5")
    assert (choice.provider, choice.model) == ("openrouter", "anthropic/claude-opus-5")
    assert choice.profile == profile_of("claude-opus-5")


def test_a_slash_at_the_end_of_an_address_is_tolerated() -> None:
    own = ModelProvider(type="openai", base_url="http://gpu:8000/v1/")
    assert resolve_model(models(own=own), "own/m").endpoint.base_url == "http://gpu:8000/v1"
    assert ollama_url(models(ollama=ModelProvider(base_url="http://gpu:1/v1/"))) == "http://gpu:1/v1"


def test_a_server_of_ones_own_needs_no_key() -> None:
    choice = resolve_model(models(vllm=ModelProvider(type="openai", base_url="http://gpu:8000/v1")), "vllm/qwen3")
    assert (choice.type, choice.endpoint) == ("openai", Endpoint("vllm", "http://gpu:8000/v1", is_self_hosted=True))


def test_the_type_of_a_known_provider_can_be_changed() -> None:
    proxied = ModelProvider(type="openai", api_key="k", base_url="http://proxy/v1")
    assert resolve_model(models(anthropic=proxied), "anthropic/m").type == "openai"


@pytest.mark.parametrize(
    ("provider", "variable"),
    [("anthropic", "ANTHROPIC_API_KEY"), ("openai", "OPENAI_API_KEY"), ("openrouter", "OPENROUTER_API_KEY")],
)
def test_a_hosted_provider_without_a_key_says_which_variable_to_set(provider: str, variable: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve_model(models(), f"{provider}/m")
    assert caught.value.message == (
        f"{provider}/m needs a key: set {variable}, or models.providers.{provider}.apiKey in config.json."
    )


def test_a_hosted_provider_behind_a_proxy_needs_no_key() -> None:
    proxied = models(openai=ModelProvider(base_url="http://127.0.0.1:4000"))
    assert resolve_model(proxied, "openai/m").endpoint.base_url == "http://127.0.0.1:4000"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gpt", "A model is named PROVIDER/MODEL, such as anthropic/claude-sonnet-5-5; 'gpt' is not."),
        ("openai/", "A model is named PROVIDER/MODEL, such as anthropic/claude-sonnet-5-5; 'openai/' is not."),
        ("footnote/x", "The built-in model is footnote/reader; there is no 'footnote/x'."),
        (
            "opnai/x",
            (
                "The provider 'opnai' of 'opnai/x' is not known; the nearest one is 'openai'. "
                "A provider of your own needs an entry in models.providers of config.json."
            ),
        ),
        ("own/x", "The provider 'own' has no address: set models.providers.own.baseUrl."),
    ],
)
def test_a_model_that_cannot_be_asked_is_an_error(name: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve_model(models(own=ModelProvider(type="openai")), name)
    assert caught.value.message == message


def test_facts_about_a_model_are_replaced_one_by_one() -> None:
    facts = {"anthropic/claude-sonnet-5-5": ProfileFacts(window=1234, images=False)}
    settings = models(anthropic=KEY, profiles=facts)
    assert resolve_model(settings).profile == msgspec.structs.replace(SONNET, window=1234, images=False)


def test_the_style_of_a_model_is_set_by_its_full_name() -> None:
    profiles = {"openrouter/meta-llama/llama-3.2-3b-instruct": ProfileFacts(style="agentic", billions=3.2, tools=True)}
    choice = resolve_model(models(openrouter=KEY, profiles=profiles), "openrouter/meta-llama/llama-3.2-3b-instruct")

    assert not choice.profile.is_guided
    assert resolve_model(models(openrouter=KEY), choice.id).profile.is_guided


@pytest.mark.parametrize(
    ("base_url", "is_own"),
    [
        ("http://127.0.0.1:11434/v1", True),
        ("http://localhost:1234/v1", True),
        ("http://192.168.1.20:8080", True),
        ("http://gpu.intranet:8000/v1", True),
        ("https://llm.example.org/v1", True),
        ("https://api.openai.com/v1", False),
        ("https://API.Groq.com./openai/v1", False),
        ("https://my.openai.azure.com/openai/v1", False),
        ("https://notgroq.com/v1", True),
    ],
)
def test_a_server_of_ones_own_may_be_slow_and_is_asked_for_facts(base_url: str, is_own: bool) -> None:
    own = ModelProvider(type="openai", base_url=base_url)
    choice = resolve_model(models(own=own), "own/m")

    assert (choice.endpoint.is_self_hosted, choice.has_server_facts) == (is_own, is_own)
    assert choice.profile.timeout_seconds == (600 if is_own else None)


def test_a_known_model_behind_a_proxy_is_a_hosted_one() -> None:
    proxied = models(openai=ModelProvider(api_key="sk", base_url="http://127.0.0.1:4000"))

    assert not resolve_model(proxied, "openai/gpt-6.1-sol").has_server_facts
    assert resolve_model(proxied, "openai/qwen2.5-7b").has_server_facts


def test_a_timeout_that_is_set_holds_for_a_server_of_ones_own() -> None:
    own = ModelProvider(type="openai", base_url="http://127.0.0.1:8000")
    settings = models(own=own, profiles={"own/m": ProfileFacts(timeout_seconds=1_200)})

    assert resolve_model(settings, "own/m").profile.timeout_seconds == 1_200


def test_what_a_server_says_fills_the_gaps_of_the_settings() -> None:
    own = ModelProvider(type="openai", base_url="http://127.0.0.1:8000")
    said = LocalModelFacts(kind="ollama", window=4_096, parameters=7.6, has_tools=True)
    bare = models(own=own)
    given = models(own=own, profiles={"own/qwen3:4b": ProfileFacts(window=16_384, tools=False)})

    profile = with_server_facts(bare, resolve_model(bare, "own/qwen3:4b"), said).profile
    assert (profile.window, profile.billions, profile.tools) == (4_096, 7.6, True)
    profile = with_server_facts(given, resolve_model(given, "own/qwen3:4b"), said).profile
    assert (profile.window, profile.billions, profile.tools) == (16_384, 7.6, False)
    unchanged = resolve_model(bare, "own/qwen3:4b")
    assert with_server_facts(bare, unchanged, LocalModelFacts()) == unchanged


def test_every_fact_about_a_model_can_be_replaced() -> None:
    assert [field.encode_name for field in msgspec.structs.fields(ProfileFacts)] == [
        field.encode_name for field in msgspec.structs.fields(Profile)
    ]


def test_a_default_model_is_one_whose_facts_are_known() -> None:
    named = [known.default_model for known in MODEL_PROVIDERS.values() if known.default_model]
    assert named == ["claude-sonnet-5-5", "gpt-6.1-sol"]
    assert [name for name in named if profile_of(name) == Profile()] == []


def test_a_tool_server_gets_the_variables_that_it_names(tmp_path: Path) -> None:
    started = McpServerEntry(command="x", env={"TOKEN": "${A}-${B}", "LEVEL": "info", "ODD": "$A ${}"}, cwd="data")
    environ = {"A": "1", "B": "${A}"}
    filled = {"TOKEN": "1-${A}", "LEVEL": "info", "ODD": "$A ${}"}
    assert resolve_server("s", started, tmp_path, environ) == Started(
        "s", command="x", env=filled, cwd=str(tmp_path / "data")
    )
    reached = McpServerEntry(url="http://h", headers={"Authorization": "Bearer ${A}"})
    assert resolve_server("s", reached, tmp_path, environ).headers == {"Authorization": "Bearer 1"}


def test_a_folder_of_a_tool_server_may_be_absolute(tmp_path: Path) -> None:
    assert resolve_server("s", McpServerEntry(command="x", cwd="/data"), tmp_path, {}).cwd == "/data"


def test_a_variable_that_a_tool_server_names_must_be_set(tmp_path: Path) -> None:
    server = McpServerEntry(command="x", env={"TOKEN": "${B}${A}"})
    with pytest.raises(ConfigError, match=r"needs A, B: set it in the environment\."):
        resolve_server("s", server, tmp_path, {})
