"""Resolves the configuration into the frozen values that a run needs: search, model and MCP servers."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from footnote.config.formats import VARIABLE_REFERENCE
from footnote.config.providers import (
    BUILTIN_PROVIDER,
    MODEL_PROVIDERS,
    READER_MODEL,
    is_self_hosted,
    search_provider,
    search_provider_ids,
)
from footnote.config.settings import Agent, McpServerEntry, Settings
from footnote.config.validation import closest_name
from footnote.models.adapters import READER_TYPE
from footnote.models.base import Endpoint
from footnote.models.local_server import IDLE_SECONDS, LocalModelFacts
from footnote.models.profiles import Profile, can_answer, profile_of
from footnote.protocol.errors import ConfigError
from footnote.tools.mcp import McpServerSettings
from footnote.web_search.providers.base import Provider
from footnote.web_search.settings import DEFAULT_PROVIDER, ProviderAccess, WebSearchSettings

_log = logging.getLogger(__name__)


def resolve_web_search(settings: Settings, agent: Agent) -> WebSearchSettings | None:
    """The search of an agent; None if it has none, so that the model never sees the tool."""
    if not agent.web_search.enabled:
        return None
    return search_settings(
        settings, _log_fallback(choose_search_provider(settings, agent.web_search.provider), f"Agent {agent.id}")
    )


def resolve_search(settings: Settings, provider: str | None = None) -> WebSearchSettings:
    """The search with the given provider; without one, with the default provider or its fallback."""
    if provider is None:
        return search_settings(settings, _log_fallback(choose_search_provider(settings), "Footnote"))
    try:
        wanted = search_provider(provider)
    except KeyError:
        closest = closest_name(provider, search_provider_ids())
        raise ConfigError(f"There is no search provider {provider!r}; the nearest one is {closest!r}.") from None
    if missing := wanted.missing_setting(search_access(settings, wanted)):
        raise ConfigError(f"The search provider {wanted.id} needs {missing}.")
    return search_settings(settings, wanted.id)


class SearchProviderChoice(Struct, frozen=True):
    """The provider that is asked first. `missing`: the setting that the `wanted` one lacks, if another replaces it."""

    provider: str
    wanted: str
    missing: str | None


def choose_search_provider(settings: Settings, wanted: str | None = None) -> SearchProviderChoice:
    """The wanted provider, else the default one. DuckDuckGo, which needs no key, replaces one that lacks a setting."""
    first = search_provider(wanted or settings.tools.web_search.default_provider)
    missing = first.missing_setting(search_access(settings, first))
    return SearchProviderChoice(DEFAULT_PROVIDER if missing else first.id, first.id, missing)


def _log_fallback(choice: SearchProviderChoice, subject: str) -> str:
    if choice.missing:
        _log.warning(
            "%s searches with %s instead of %s, which needs %s.",
            subject,
            choice.provider,
            choice.wanted,
            choice.missing,
        )
    return choice.provider


def search_settings(settings: Settings, provider: str) -> WebSearchSettings:
    """The settings of `tools.webSearch`, with the access to every provider."""
    section = settings.tools.web_search
    return WebSearchSettings(
        provider=provider,
        timeout_seconds=section.timeout_seconds,
        cache_ttl_minutes=section.cache_ttl_minutes,
        max_results=section.max_results,
        safe_search=section.safe_search,
        crawl_count=section.crawl_count,
        evidence_tokens=section.evidence_tokens,
        summary=section.summary,
        respect_robots=section.respect_robots,
        allow_private_hosts=section.allow_private_hosts,
        providers={
            name: ProviderAccess(access.api_key, access.base_url) for name, access in section.all_providers().items()
        },
    )


def search_access(settings: Settings, provider: Provider) -> ProviderAccess:
    access = settings.tools.web_search.all_providers()[provider.id]
    return ProviderAccess(access.api_key, access.base_url)


class ModelChoice(Struct, frozen=True):
    """A model that can be asked at its `endpoint`. `type` is that of its adapter, or "reader" for the model without
    one; `origin` says why it was chosen."""

    model: str
    type: str
    endpoint: Endpoint
    profile: Profile
    origin: str

    @property
    def provider(self) -> str:
        return self.endpoint.provider

    @property
    def id(self) -> str:
        return f"{self.provider}/{self.model}"

    @property
    def has_server_facts(self) -> bool:
        """Whether its server may be asked for facts about it. A known model of OpenAI or Anthropic is hosted, also if
        there is a proxy on this machine."""
        known = MODEL_PROVIDERS.get(self.provider)
        is_hosted_api = known is not None and known.key_name is not None
        is_known_model = self.profile.window != Profile().window
        return self.endpoint.is_self_hosted and not (is_hosted_api and is_known_model)


def resolve_model(
    settings: Settings, agent_model: str | None = None, ollama_models: Sequence[str] | None = None
) -> ModelChoice:
    """The model of a run: the explicit choice, else `models.default`, else the first that is available.

    `ollama_models` are the names that a running Ollama lists; `None` if it does not run or was not asked.
    Models that only make embeddings are skipped.
    """
    if agent_model:
        return _build_choice(settings, agent_model, "explicit choice")
    if settings.models.default:
        return _build_choice(settings, settings.models.default, "models.default")
    for provider, known in MODEL_PROVIDERS.items():
        if known.default_model and settings.models.provider(provider).api_key:
            return _build_choice(settings, f"{provider}/{known.default_model}", f"there is a key for {provider}")
    if answering := next(filter(can_answer, ollama_models or ()), None):
        return _build_choice(settings, f"ollama/{answering}", "Ollama is running")
    missing = "Ollama has only models for embeddings" if ollama_models else "no Ollama"
    return _build_choice(settings, f"{BUILTIN_PROVIDER}/{READER_MODEL}", f"there is no key, and {missing}")


def needs_ollama(settings: Settings, agent_model: str | None = None) -> bool:
    """Whether `resolve_model` will look at the names of Ollama's models at all."""
    keys = (settings.models.provider(name).api_key for name, known in MODEL_PROVIDERS.items() if known.default_model)
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
        return ModelChoice(model, READER_TYPE, Endpoint(provider, base_url=""), profile, origin)
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
    endpoint = Endpoint(
        provider,
        access.base_url,
        access.api_key,
        known.key_name if known else None,
        is_self_hosted=is_self_hosted(access.base_url),
    )
    if endpoint.is_self_hosted and profile.timeout_seconds is None:
        profile = msgspec.structs.replace(profile, timeout_seconds=IDLE_SECONDS)
    return ModelChoice(model, access.type, endpoint, profile, origin)


def with_server_facts(settings: Settings, choice: ModelChoice, facts: LocalModelFacts) -> ModelChoice:
    """The choice with what its server says of the model. The facts of `models.profiles` win over it."""
    said = {"window": facts.window, "billions": facts.parameters, "tools": facts.has_tools}
    news = {key: value for key, value in said.items() if value is not None and key not in _given(settings, choice.id)}
    return msgspec.structs.replace(choice, profile=msgspec.structs.replace(choice.profile, **news))


def _unknown_provider(settings: Settings, provider: str, name: str) -> str:
    closest = closest_name(provider, (*MODEL_PROVIDERS, *settings.models.providers, BUILTIN_PROVIDER))
    return (
        f"The provider {provider!r} of {name!r} is not known; the nearest one is {closest!r}. "
        "A provider of your own needs an entry in models.providers of config.json."
    )


def _profile(settings: Settings, name: str) -> Profile:
    """The facts that ship with Footnote, overridden by those of `models.profiles`."""
    return msgspec.structs.replace(profile_of(name), **_given(settings, name))


def _given(settings: Settings, name: str) -> dict[str, Any]:
    """The facts about a model that `models.profiles` has."""
    facts = settings.models.profiles.get(name)
    given = {} if facts is None else msgspec.structs.asdict(facts)
    return {key: value for key, value in given.items() if value is not None}


def resolve_server(name: str, server: McpServerEntry, home: Path, environ: Mapping[str, str]) -> McpServerSettings:
    """The settings of an MCP server, with every `${NAME}` replaced from the environment.

    A relative `cwd` is relative to the home folder, because the working directory of a service can be any.
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
