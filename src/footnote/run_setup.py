"""What a run works with, put together from the settings: its model, its tools, its search, its sources."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import date
from typing import Self

from footnote.agent.prompt import system_prompt
from footnote.config.agents import Agent
from footnote.config.configuration import Configuration
from footnote.config.resolve import needs_ollama, ollama_url, resolve_model, resolve_server, resolve_web_search
from footnote.db.errors import DatabaseFailed
from footnote.documents.extract.extractor import Extractor
from footnote.evidence.sources import Sources, snapshot_ids
from footnote.library import Library
from footnote.models.base import Endpoint, Model
from footnote.models.catalog import build_model, list_models
from footnote.models.reader import ReaderModel
from footnote.net.client import Net
from footnote.plugins import load_tools
from footnote.protocol.errors import ConfigError, UpstreamError, UsageError
from footnote.protocol.messages import Message
from footnote.sessions.run_spec import RunResources, RunSpec
from footnote.tools.base import Abilities, Tool
from footnote.tools.mcp import McpSource
from footnote.tools.provenance import Addresses
from footnote.tools.registry import Toolbox, builtin_tools, merge
from footnote.tools.wrappers import wrap_tool
from footnote.web_search.crawl.crawler import Crawler
from footnote.web_search.pipeline import WebSearch
from footnote.web_search.search import ProviderSearch
from footnote.web_search.settings import WebSearchSettings

OLLAMA_SECONDS = 0.5

log = logging.getLogger(__name__)


class SettingsRunBuilder:
    """One for the whole process: what runs share is shared, and what is a user's own is that user's."""

    def __init__(
        self, configuration: Configuration, environ: Mapping[str, str], net: Net, library: Library, extractor: Extractor
    ) -> None:
        self._configuration = configuration
        self._environ = environ
        self._net = net
        self._library = library
        # The caches are everybody's: what is in them was on the web.
        self._finder = ProviderSearch(net, None, library.for_user(None))
        self._crawler = Crawler(net, extractor, library.for_user(None))
        self._mcp_servers = AsyncExitStack()
        self._mcp_tools: dict[str, tuple[Tool, ...]] = {}
        self._mcp_lock = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._mcp_servers.aclose()

    async def model(self, agent_id: str, wanted: str | None) -> Model:
        try:
            return await self.agent_model(self._configuration.agent(agent_id), wanted)
        except ConfigError as error:
            if wanted is None and self._has_agent(agent_id):
                raise
            raise UsageError(error.message) from error

    def _has_agent(self, agent_id: str) -> bool:
        return any(agent.id == agent_id for agent in self._configuration.agents)

    async def agent_model(self, agent: Agent, wanted: str | None = None) -> Model:
        """The model that this agent answers with, or the `wanted` one."""
        settings = self._configuration.settings
        name = wanted or agent.model
        listed = await self.ollama_models() if needs_ollama(settings, name) else None
        choice = resolve_model(settings, name, listed)
        if choice.type == "reader":
            return ReaderModel()
        return build_model(choice.type, choice.endpoint, choice.model, choice.profile, net=self._net)

    async def ollama_models(self) -> list[str] | None:
        """Names of the models of a running Ollama; None: it does not run."""
        endpoint = Endpoint("ollama", ollama_url(self._configuration.settings))
        try:
            return await list_models("openai", endpoint, self._net, timeout_seconds=OLLAMA_SECONDS)
        except UpstreamError:
            return None

    async def build(self, spec: RunSpec, model: Model) -> RunResources:
        agent = self._configuration.agent(spec.agent_id)
        library = self._library.for_user(spec.user_id)
        sources = await _load_sources(library, spec.all_messages)
        search = resolve_web_search(self._configuration.settings, agent)
        abilities = Abilities(
            workspace=spec.workspace if agent.workspace.enabled else None,
            web=self.web_search(search, sources, model, library) if search else None,
            sources=sources,
            addresses=Addresses(spec.all_messages, sources, spec.workspace),
        )
        tools = merge(builtin_tools(), load_tools(), await self._mcp_tools_of(agent))
        return RunResources(
            system=system_prompt(agent.system_prompt, date.today(), spec.locale),  # noqa: DTZ011 - the user's own day
            toolbox=Toolbox.of((wrap_tool(tool, files=spec.workspace) for tool in tools), abilities),
            abilities=abilities,
            max_tool_rounds=agent.max_tool_rounds,
            thinking_budget=agent.thinking_budget,
        )

    def web_search(self, settings: WebSearchSettings, sources: Sources, model: Model, library: Library) -> WebSearch:
        # The reader only quotes, which a summary does without it.
        writer = None if isinstance(model, ReaderModel) else model
        finder = self._finder.for_library(library)
        return WebSearch(settings, sources, writer, finder=finder, crawler=self._crawler, library=library)

    async def _mcp_tools_of(self, agent: Agent) -> tuple[Tool, ...]:
        """Tools of the MCP servers of this agent, which stay connected until the end."""
        if not agent.mcp_servers:
            return ()
        async with self._mcp_lock:
            if agent.id not in self._mcp_tools:
                servers = [
                    resolve_server(name, server, self._configuration.home, self._environ)
                    for name, server in agent.mcp_servers.items()
                ]
                source = await self._mcp_servers.enter_async_context(McpSource(servers))
                self._mcp_tools[agent.id] = source.tools
        return self._mcp_tools[agent.id]


async def _load_sources(library: Library, messages: tuple[Message, ...]) -> Sources:
    """The sources of a session, from what its tools said, with the texts that were read."""
    wanted = snapshot_ids(messages)
    try:
        return Sources.from_messages(messages, await library.snapshots(wanted) if wanted else {})
    except DatabaseFailed as error:
        log.warning("What was read earlier in this session cannot be opened: %s", error.message)
        return Sources.from_messages(messages, {})
