"""What `footnote doctor` checks about searching: the providers, the network, how pages are read."""

import asyncio
import time
from collections.abc import AsyncIterator

from msgspec.structs import replace

from footnote.cli.findings import Examined, Finding
from footnote.config.agents import Agent
from footnote.config.environment import process_environment
from footnote.config.providers import SEARCH_KEYS, SEARCH_PROVIDERS, SearchProvider
from footnote.config.resolve import first_asked, missing_for_search, search_settings
from footnote.config.settings import Settings
from footnote.documents.extract import Unreadable
from footnote.documents.extract.extractor import Extractor
from footnote.protocol.receipts import ProviderTry
from footnote.sandbox.pool import SandboxPool
from footnote.web_search.finding.find import Finder
from footnote.web_search.finding.line import SILENT
from footnote.web_search.providers.base import UNREACHED
from footnote.workspace.text import counted

PROBE_SECONDS = 6.0
SAMPLE = b"<!doctype html><title>A page</title><article><h1>A page</h1><p>It says something to be read.</p></article>"
OFFLINE = (
    "Without a network, Footnote answers from its library. To search the web, check the connection and the DNS of this "
    "machine; behind a proxy, set HTTPS_PROXY."
)
ANYWAY = "Until then a search takes the next provider, and at last the library: what was read before."


async def search_is_ready(examined: Examined) -> AsyncIterator[Finding]:
    """How each agent searches, and one small real request to every provider that may be asked."""
    settings = examined.configuration.settings
    searching = [agent for agent in examined.configuration.agents if agent.web_search.enabled]
    for agent in searching:
        yield _agent_finding(settings, agent)
    if not searching:
        yield Finding("search", "OK", "no agent searches: webSearch.enabled is true for none")
        return
    usual = search_settings(settings, "duckduckgo")
    probing = replace(usual, timeout_seconds=min(PROBE_SECONDS, usual.timeout_seconds))
    finder = Finder(examined.net)
    tries = await asyncio.gather(*(finder.probe(provider, probing) for provider in _asked(settings)))
    for tried in tries:
        examined.reached[tried.provider] = not (tried.reason or "").startswith((UNREACHED, SILENT))
        yield _provider_finding(tried, settings)


async def network_is_there(examined: Examined) -> AsyncIterator[Finding]:
    """By the providers that were asked: nobody else is."""
    there = [name for name, reached in examined.reached.items() if reached]
    if there:
        yield Finding("network", "OK", f"reached: {', '.join(there)}")
    elif examined.reached:
        message = f"none was reached of {', '.join(examined.reached)}"
        yield Finding("network", "WARN", message, OFFLINE)
    else:
        yield Finding("network", "OK", "not needed: no agent searches, and the model is on this machine")


def _agent_finding(settings: Settings, agent: Agent) -> Finding:
    first = first_asked(settings, agent.web_search.provider)
    if first.missing:
        message = f"agent {agent.id} searches with duckduckgo instead of {first.wanted}, which needs {first.missing}"
        return Finding("search", "WARN", message, "Do that, or choose another provider.")
    return Finding("search", "OK", f"agent {agent.id} searches with {first.provider}")


def _asked(settings: Settings) -> list[SearchProvider]:
    """Those on the web that have all that they need; a search may come to any of them."""
    return [name for name in SEARCH_PROVIDERS if name != "library" and missing_for_search(settings, name) is None]


def _provider_finding(tried: ProviderTry, settings: Settings) -> Finding:
    said = f"{tried.provider}: {tried.reason or tried.outcome}"
    key = next((key for provider, key in SEARCH_KEYS.items() if provider == tried.provider), None)
    match tried.outcome:
        case "results" | "empty":
            found = counted(tried.count, "result")
            return Finding("provider", "OK", f"{tried.provider} answers: {found} in {tried.took_ms} ms")
        case "blocked" if key is None:
            return Finding("provider", "WARN", said, _other_ways(settings))
        case "blocked":
            return Finding("provider", "WARN", said, ANYWAY)
        case _ if key is not None and key in said:
            return Finding("provider", "FAIL", said, f"Check {key}.")
        case _:
            return Finding("provider", "WARN", said, ANYWAY)


def _other_ways(settings: Settings) -> str:
    """What helps where a provider without a key takes us for a machine."""
    keys = [key for provider, key in SEARCH_KEYS.items() if missing_for_search(settings, provider)]
    ways = [f"set {' or '.join(keys)}"] if keys else []
    if missing_for_search(settings, "searxng"):
        ways.append("name a SearXNG instance of yours in tools.webSearch.providers.searxng.baseUrl")
    return f"It often blocks servers. For searches that do not depend on it, {', or '.join(ways)}." if ways else ANYWAY


async def pages_can_be_read(_: Examined) -> AsyncIterator[Finding]:
    """Whether a page can be taken apart, which is done by a process of its own."""
    began = time.monotonic()
    try:
        async with SandboxPool(environ=process_environment()) as sandbox:
            await Extractor(sandbox).extract(
                SAMPLE, "text/html; charset=utf-8", "https://a.example/", seconds=PROBE_SECONDS
            )
    except Exception as error:  # noqa: BLE001 - whatever a process that does not start fails with
        reason = error.reason if isinstance(error, Unreadable) else type(error).__name__
        remedy = "Install Footnote again; if that does not help, look whether this machine lets it start processes."
        yield Finding("reading", "FAIL", f"a page could not be taken apart: {reason}", remedy)
        return
    took = round((time.monotonic() - began) * 1000)
    yield Finding("reading", "OK", f"a page was taken apart in {took} ms, the start of the process included")
