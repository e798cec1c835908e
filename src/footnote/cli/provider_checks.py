"""The checks of `footnote doctor` that need a service but no model: search providers, tool servers, the network."""

import asyncio
from collections.abc import AsyncIterator
from importlib.util import find_spec

from msgspec.structs import replace

from footnote.cli.local_checks import CheckContext, CheckResult
from footnote.config.environment import process_environment
from footnote.config.providers import search_provider, search_provider_ids
from footnote.config.resolve import (
    choose_search_provider,
    resolve_server,
    search_access,
    search_settings,
)
from footnote.config.settings import Agent, Settings
from footnote.protocol.errors import FootnoteError
from footnote.protocol.sources import ProviderTry
from footnote.tools.mcp import probe
from footnote.web_search.providers import search_providers
from footnote.web_search.providers.base import Provider
from footnote.web_search.search import ProviderSearch
from footnote.web_search.settings import DEFAULT_PROVIDER
from footnote.workspace.text import pluralize

PROBE_TIMEOUT_SECONDS = 6.0
OFFLINE_REMEDY = (
    "Without a network, Footnote answers from its library. To search the web, check the connection and the DNS of this "
    "machine; behind a proxy, set HTTPS_PROXY."
)
FALLBACK_REMEDY = "Until then a search uses the next provider, and finally the library of pages read before."


# Search ------------------------------------------------------------------------------------------------------


async def check_search(context: CheckContext) -> AsyncIterator[CheckResult]:
    """How each agent searches, and one small real request to every provider that has all its settings."""
    settings = context.configuration.settings
    search_agents = [agent for agent in context.configuration.agents if agent.web_search.enabled]
    for agent in search_agents:
        yield _agent_result(settings, agent)
    if not search_agents:
        yield CheckResult("search", "OK", "no agent searches: webSearch.enabled is true for none")
        return
    configured = search_settings(settings, DEFAULT_PROVIDER)
    probe_settings = replace(configured, timeout_seconds=min(PROBE_TIMEOUT_SECONDS, configured.timeout_seconds))
    search = ProviderSearch(context.net)
    tries = await asyncio.gather(
        *(search.probe(provider.id, probe_settings) for provider in _usable_providers(settings))
    )
    for tried in tries:
        context.reachable[tried.provider] = tried.code not in ("unreachable", "timeout")
        yield _provider_result(tried, settings)


def _agent_result(settings: Settings, agent: Agent) -> CheckResult:
    first = choose_search_provider(settings, agent.web_search.provider)
    if first.missing:
        message = (
            f"agent {agent.id} searches with {first.provider} instead of {first.wanted}, which needs {first.missing}"
        )
        return CheckResult("search", "WARN", message, "Do that, or choose another provider.")
    return CheckResult("search", "OK", f"agent {agent.id} searches with {first.provider}")


def _usable_providers(settings: Settings) -> list[Provider]:
    """The providers on the web that have all their settings: a search may use any of them."""
    return [
        provider
        for provider in map(search_provider, search_provider_ids())
        if not provider.is_last_resort and _missing_setting(settings, provider) is None
    ]


def _missing_setting(settings: Settings, provider: Provider) -> str | None:
    return provider.missing_setting(search_access(settings, provider))


def _provider_result(tried: ProviderTry, settings: Settings) -> CheckResult:
    message = f"{tried.provider}: {tried.reason or tried.outcome}"
    key = search_provider(tried.provider).key_name
    match tried.outcome:
        case "results" | "empty":
            found = pluralize(tried.count, "result")
            return CheckResult("provider", "OK", f"{tried.provider} answers: {found} in {tried.took_ms} ms")
        case "blocked" if key is None:
            return CheckResult("provider", "WARN", message, _alternatives(settings))
        case "blocked":
            return CheckResult("provider", "WARN", message, FALLBACK_REMEDY)
        case _ if key is not None and tried.code == "bad_key":
            return CheckResult("provider", "FAIL", message, f"Check {key}.")
        case _:
            return CheckResult("provider", "WARN", message, FALLBACK_REMEDY)


def _alternatives(settings: Settings) -> str:
    """What to do about a provider without a key that blocks programs."""
    unset = [provider for provider in search_providers() if _missing_setting(settings, provider)]
    keys = [provider.key_name for provider in unset if provider.key_name]
    ways = [f"set {' or '.join(keys)}"] if keys else []
    ways += [
        f"name an instance of yours in {provider.base_url_setting}" for provider in unset if provider.needs_address
    ]
    return (
        f"It often blocks servers. For searches that do not depend on it, {', or '.join(ways)}."
        if ways
        else FALLBACK_REMEDY
    )


# Tool servers, and the network by what the checks above met ---------------------------------------------------


async def check_tool_servers(context: CheckContext) -> AsyncIterator[CheckResult]:
    configuration = context.configuration
    servers = [(agent, name, server) for agent in configuration.agents for name, server in agent.mcp_servers.items()]
    if servers and not find_spec("mcp"):
        message = f"{len(servers)} in agents.json cannot be used: the mcp package is not installed"
        yield CheckResult("tool server", "WARN", message, 'pip install "footnote[mcp]"')
        return
    for agent, name, server in servers:
        about = f"{name} of agent {agent.id}"
        try:
            tools = await probe(resolve_server(name, server, configuration.home, process_environment()))
        except FootnoteError as error:
            remedy = f"Check its entry in mcpServers of agent {agent.id}."
            yield CheckResult("tool server", "FAIL", f"{about}: {error.message}", remedy)
        else:
            yield CheckResult("tool server", "OK", f"{about} offers {', '.join(tools) or 'no tools'}")


async def check_network(context: CheckContext) -> AsyncIterator[CheckResult]:
    """Judged by the requests of the other checks: nothing else is contacted."""
    reached = [name for name, is_reachable in context.reachable.items() if is_reachable]
    if reached:
        yield CheckResult("network", "OK", f"reached: {', '.join(reached)}")
    elif context.reachable:
        message = f"could not reach any of {', '.join(context.reachable)}"
        yield CheckResult("network", "WARN", message, OFFLINE_REMEDY)
    else:
        yield CheckResult("network", "OK", "not needed: no agent searches, and the model is on this machine")
