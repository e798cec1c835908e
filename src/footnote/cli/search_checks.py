"""What `footnote doctor` checks about searching: the providers, the network, how pages are read."""

import asyncio
import time
from collections.abc import AsyncIterator

from msgspec.structs import replace

from footnote.cli.findings import CheckContext, CheckResult
from footnote.config.agents import Agent
from footnote.config.environment import process_environment
from footnote.config.providers import SEARCH_KEYS, SEARCH_PROVIDERS, SearchProvider
from footnote.config.resolve import choose_search_provider, missing_search_setting, search_settings
from footnote.config.settings import Settings
from footnote.documents.extract import UnreadableDocument
from footnote.documents.extract.extractor import Extractor
from footnote.protocol.receipts import ProviderTry
from footnote.sandbox.pool import SandboxPool
from footnote.web_search.provider_client import TIMEOUT_REASON
from footnote.web_search.providers.base import UNREACHABLE_REASON
from footnote.web_search.search import ProviderSearch
from footnote.workspace.text import pluralize

PROBE_TIMEOUT_SECONDS = 6.0
SAMPLE = b"<!doctype html><title>A page</title><article><h1>A page</h1><p>It says something to be read.</p></article>"
OFFLINE_REMEDY = (
    "Without a network, Footnote answers from its library. To search the web, check the connection and the DNS of this "
    "machine; behind a proxy, set HTTPS_PROXY."
)
FALLBACK_REMEDY = "Until then a search takes the next provider, and at last the library: what was read before."


async def check_search(context: CheckContext) -> AsyncIterator[CheckResult]:
    """How each agent searches, and one small real request to every provider that may be asked."""
    settings = context.configuration.settings
    searching = [agent for agent in context.configuration.agents if agent.web_search.enabled]
    for agent in searching:
        yield _agent_result(settings, agent)
    if not searching:
        yield CheckResult("search", "OK", "no agent searches: webSearch.enabled is true for none")
        return
    usual = search_settings(settings, "duckduckgo")
    probing = replace(usual, timeout_seconds=min(PROBE_TIMEOUT_SECONDS, usual.timeout_seconds))
    finder = ProviderSearch(context.net)
    tries = await asyncio.gather(*(finder.probe(provider, probing) for provider in _usable_providers(settings)))
    for tried in tries:
        context.reachable[tried.provider] = not (tried.reason or "").startswith((UNREACHABLE_REASON, TIMEOUT_REASON))
        yield _provider_result(tried, settings)


async def check_network(context: CheckContext) -> AsyncIterator[CheckResult]:
    """By the providers that were asked: nobody else is."""
    there = [name for name, reached in context.reachable.items() if reached]
    if there:
        yield CheckResult("network", "OK", f"reached: {', '.join(there)}")
    elif context.reachable:
        message = f"none was reached of {', '.join(context.reachable)}"
        yield CheckResult("network", "WARN", message, OFFLINE_REMEDY)
    else:
        yield CheckResult("network", "OK", "not needed: no agent searches, and the model is on this machine")


def _agent_result(settings: Settings, agent: Agent) -> CheckResult:
    first = choose_search_provider(settings, agent.web_search.provider)
    if first.missing:
        message = f"agent {agent.id} searches with duckduckgo instead of {first.wanted}, which needs {first.missing}"
        return CheckResult("search", "WARN", message, "Do that, or choose another provider.")
    return CheckResult("search", "OK", f"agent {agent.id} searches with {first.provider}")


def _usable_providers(settings: Settings) -> list[SearchProvider]:
    """Those on the web that have all that they need; a search may come to any of them."""
    return [name for name in SEARCH_PROVIDERS if name != "library" and missing_search_setting(settings, name) is None]


def _provider_result(tried: ProviderTry, settings: Settings) -> CheckResult:
    said = f"{tried.provider}: {tried.reason or tried.outcome}"
    key = next((key for provider, key in SEARCH_KEYS.items() if provider == tried.provider), None)
    match tried.outcome:
        case "results" | "empty":
            found = pluralize(tried.count, "result")
            return CheckResult("provider", "OK", f"{tried.provider} answers: {found} in {tried.took_ms} ms")
        case "blocked" if key is None:
            return CheckResult("provider", "WARN", said, _alternatives(settings))
        case "blocked":
            return CheckResult("provider", "WARN", said, FALLBACK_REMEDY)
        case _ if key is not None and key in said:
            return CheckResult("provider", "FAIL", said, f"Check {key}.")
        case _:
            return CheckResult("provider", "WARN", said, FALLBACK_REMEDY)


def _alternatives(settings: Settings) -> str:
    """What helps where a provider without a key takes us for a machine."""
    keys = [key for provider, key in SEARCH_KEYS.items() if missing_search_setting(settings, provider)]
    ways = [f"set {' or '.join(keys)}"] if keys else []
    if missing_search_setting(settings, "searxng"):
        ways.append("name a SearXNG instance of yours in tools.webSearch.providers.searxng.baseUrl")
    return (
        f"It often blocks servers. For searches that do not depend on it, {', or '.join(ways)}."
        if ways
        else FALLBACK_REMEDY
    )


async def check_page_reading(_: CheckContext) -> AsyncIterator[CheckResult]:
    """Whether a page can be taken apart, which is done by a process of its own."""
    began = time.monotonic()
    try:
        async with SandboxPool(environ=process_environment()) as sandbox:
            await Extractor(sandbox).extract(
                SAMPLE, "text/html; charset=utf-8", "https://a.example/", seconds=PROBE_TIMEOUT_SECONDS
            )
    except Exception as error:  # noqa: BLE001 - whatever a process that does not start fails with
        reason = error.reason if isinstance(error, UnreadableDocument) else type(error).__name__
        remedy = "Install Footnote again; if that does not help, look whether this machine lets it start processes."
        yield CheckResult("reading", "FAIL", f"a page could not be taken apart: {reason}", remedy)
        return
    took = round((time.monotonic() - began) * 1000)
    yield CheckResult("reading", "OK", f"a page was taken apart in {took} ms, the start of the process included")
