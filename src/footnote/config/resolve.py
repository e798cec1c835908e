"""What a run needs of the configuration, worked out once into frozen values."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, cast, get_args

import msgspec
from msgspec import Struct

from footnote.config.agents import Agent
from footnote.config.agents import McpServerEntry as ServerSettings
from footnote.config.formats import VARIABLE_REFERENCE
from footnote.config.providers import (
    BUILTIN_PROVIDER,
    MODEL_PROVIDERS,
    READER_MODEL,
    SEARCH_KEYS,
    SEARCH_PROVIDERS,
    SearchProvider,
    SearchProviderName,
    resolve_search_alias,
)
from footnote.config.settings import SearchAccess, Settings
from footnote.config.validation import closest_name
from footnote.models.base import ApiType, Endpoint
from footnote.models.profiles import Profile, can_answer, profile_of
from footnote.protocol.errors import ConfigError
from footnote.tools.mcp import McpServerSettings
from footnote.web_search.settings import ProviderAccess, WebSearchSettings

_log = logging.getLogger(__name__)


def resolve_web_search(settings: Settings, agent: Agent) -> WebSearchSettings | None:
    """The search of this agent, or `None`: then the tool is not registered and the model never sees it."""
    if not agent.web_search.enabled:
        return None
    return search_settings(
        settings, _log_fallback(choose_search_provider(settings, agent.web_search.provider), f"Agent {agent.id}")
    )


def resolve_search(settings: Settings, provider: str | None = None) -> WebSearchSettings:
    """The search with a provider that somebody chose by name, or with the default one if it can be asked."""
    if provider is None:
        return search_settings(settings, _log_fallback(choose_search_provider(settings), "Footnote"))
    if provider not in get_args(SearchProviderName):
        meant = closest_name(provider, SEARCH_PROVIDERS)
        raise ConfigError(f"There is no search provider {provider!r}; the nearest one is {meant!r}.")
    wanted = resolve_search_alias(cast("SearchProviderName", provider))
    if missing := missing_search_setting(settings, wanted):
        raise ConfigError(f"The search provider {wanted} needs {missing}.")
    return search_settings(settings, wanted)


class SearchProviderChoice(Struct, frozen=True):
    """The provider to which a search goes first. `missing`: what the `wanted` one needs, if it is another for that."""

    provider: SearchProvider
    wanted: SearchProvider
    missing: str | None


def choose_search_provider(settings: Settings, wanted: SearchProviderName | None = None) -> SearchProviderChoice:
    """The wanted one, else the default; duckduckgo, which needs nothing, in place of one that cannot be asked."""
    name = resolve_search_alias(wanted or settings.tools.web_search.default_provider)
    missing = missing_search_setting(settings, name)
    return SearchProviderChoice("duckduckgo" if missing else name, name, missing)


def _log_fallback(first: SearchProviderChoice, who: str) -> SearchProvider:
    if first.missing:
        _log.warning("%s searches with duckduckgo instead of %s, which needs %s.", who, first.wanted, first.missing)
    return first.provider


def search_settings(settings: Settings, provider: SearchProvider) -> WebSearchSettings:
    """The global section, with everything that is known of each provider."""
    chosen = settings.tools.web_search
    accesses = {name: _search_access(settings, name) for name in SEARCH_PROVIDERS}
    return WebSearchSettings(
        provider=provider,
        timeout_seconds=chosen.timeout_seconds,
        cache_ttl_minutes=chosen.cache_ttl_minutes,
        max_results=chosen.max_results,
        safe_search=chosen.safe_search,
        crawl_count=chosen.crawl_count,
        respect_robots=chosen.respect_robots,
        allow_private_hosts=chosen.allow_private_hosts,
        providers={name: ProviderAccess(one.api_key, one.base_url) for name, one in accesses.items()},
    )


def missing_search_setting(settings: Settings, provider: SearchProvider) -> str | None:
    """What has to be set before this provider can be asked, or `None` if nothing is missing."""
    access = _search_access(settings, provider)
    if provider in SEARCH_KEYS and not access.api_key:
        return f"a key: set {SEARCH_KEYS[provider]}"
    if provider == "searxng" and not access.base_url:
        return "the address of an instance: set tools.webSearch.providers.searxng.baseUrl"
    return None


def _search_access(settings: Settings, provider: SearchProvider) -> SearchAccess:
    access: SearchAccess = getattr(settings.tools.web_search.providers, provider)
    return access


class ModelChoice(Struct, frozen=True):
    """A model that can be asked at its `endpoint`. `origin` says why it was chosen."""

    model: str
    type: Literal[ApiType, "reader"]
    endpoint: Endpoint
    profile: Profile
    origin: str

    @property
    def provider(self) -> str:
        return self.endpoint.provider

    @property
    def id(self) -> str:
        return f"{self.provider}/{self.model}"


def resolve_model(
    settings: Settings, agent_model: str | None = None, ollama_models: Sequence[str] | None = None
) -> ModelChoice:
    """The model of a run: the explicit choice, else `models.default`, else the first that is there.

    `ollama_models` are the names that a running Ollama lists; `None` if it does not run or was not asked.
    Those that only make embeddings are passed by.
    """
    if agent_model:
        return _build_choice(settings, agent_model, "explicit choice")
    if settings.models.default:
        return _build_choice(settings, settings.models.default, "models.default")
    for provider in ("anthropic", "openai"):
        if settings.models.provider(provider).api_key:
            model = f"{provider}/{MODEL_PROVIDERS[provider].default_model}"
            return _build_choice(settings, model, f"there is a key for {provider}")
    if answering := next(filter(can_answer, ollama_models or ()), None):
        return _build_choice(settings, f"ollama/{answering}", "Ollama is running")
    missing = "Ollama has only models for embeddings" if ollama_models else "no Ollama"
    return _build_choice(settings, f"{BUILTIN_PROVIDER}/{READER_MODEL}", f"there is no key, and {missing}")


def needs_ollama(settings: Settings, agent_model: str | None = None) -> bool:
    """Whether `resolve_model` will look at the names of Ollama's models at all."""
    keys = (settings.models.provider(provider).api_key for provider in ("anthropic", "openai"))
    return not (agent_model or settings.models.default or any(keys))


def ollama_url(settings: Settings) -> str:
    """The base URL of Ollama; `{it}/models` lists the models of a running one."""
    return settings.models.provider("ollama").base_url or ""


def _build_choice(settings: Settings, name: str, origin: str) -> ModelChoice:
    provider, slash, model = name.partition("/")
    if not (provider and slash and model):
        raise ConfigError(f"A model is named PROVIDER/MODEL, such as anthropic/claude-sonnet-5-5; {name!r} is not.")
    profile = _profile(settings, name)
    if provider == BUILTIN_PROVIDER:
        if model != READER_MODEL:
            raise ConfigError(f"The built-in model is {BUILTIN_PROVIDER}/{READER_MODEL}; there is no {name!r}.")
        return ModelChoice(model, "reader", Endpoint(provider, base_url=""), profile, origin)
    access = settings.models.provider(provider)
    if access.type is None:
        raise ConfigError(_unknown_provider(settings, provider, name))
    if access.base_url is None:
        raise ConfigError(f"The provider {provider!r} has no address: set models.providers.{provider}.baseUrl.")
    known = MODEL_PROVIDERS.get(provider)
    if known and known.key_name and not access.api_key and access.base_url == known.base_url:
        raise ConfigError(
            f"{name} needs a key: set {known.key_name}, or models.providers.{provider}.apiKey in config.json."
        )
    endpoint = Endpoint(provider, access.base_url, access.api_key, known.key_name if known else None)
    return ModelChoice(model, access.type, endpoint, profile, origin)


def _unknown_provider(settings: Settings, provider: str, name: str) -> str:
    meant = closest_name(provider, (*MODEL_PROVIDERS, *settings.models.providers, BUILTIN_PROVIDER))
    return (
        f"The provider {provider!r} of {name!r} is not known; the nearest one is {meant!r}. "
        "A provider of your own needs an entry in models.providers of config.json."
    )


def _profile(settings: Settings, name: str) -> Profile:
    """The facts that ship with Footnote, with those of `models.profiles` in their place."""
    facts = settings.models.profiles.get(name)
    given = (
        {}
        if facts is None
        else {key: value for key, value in msgspec.structs.asdict(facts).items() if value is not None}
    )
    return msgspec.structs.replace(profile_of(name), **given)


def resolve_server(name: str, server: ServerSettings, home: Path, environ: Mapping[str, str]) -> McpServerSettings:
    """A tool server to be started or reached now, with the environment in place of every `${NAME}`.

    A relative `cwd` is inside the home folder, since a service is started in a folder that nobody knows.
    """
    named = {
        found for text in (*server.env.values(), *server.headers.values()) for found in VARIABLE_REFERENCE.findall(text)
    }
    unset = sorted(variable for variable in named if variable not in environ)
    if unset:
        raise ConfigError(f"The MCP server {name} of agents.json needs {', '.join(unset)}: set it in the environment.")
    return McpServerSettings(
        name,
        command=server.command,
        args=server.args,
        env=_fill_references(server.env, environ),
        cwd=None if server.cwd is None else str(home / Path(server.cwd).expanduser()),
        url=server.url,
        headers=_fill_references(server.headers, environ),
        approval=server.approval,
        timeout=server.timeout_seconds,
    )


def _fill_references(texts: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    return {name: VARIABLE_REFERENCE.sub(lambda match: environ[match[1]], text) for name, text in texts.items()}
