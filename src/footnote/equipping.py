"""What a run works with, put together from the settings: its model, its tools, its search, its sources."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import date
from typing import Self

from footnote.agent.prompt import system_prompt
from footnote.citations.numbering import Sources, snapshot_ids
from footnote.config.agents import Agent
from footnote.config.configuration import Configuration
from footnote.config.resolve import needs_ollama, ollama_url, resolve_model, resolve_server, resolve_web_search
from footnote.db.failures import DatabaseFailed
from footnote.documents.extract.extractor import Extractor
from footnote.library import Library
from footnote.models.base import Endpoint, Model
from footnote.models.catalog import build_model, list_models
from footnote.models.reader import Reader
from footnote.net.client import Net
from footnote.plugins import load_tools
from footnote.protocol.errors import ConfigError, UpstreamError, UsageError
from footnote.protocol.messages import Message
from footnote.sessions.wiring import Equipment, Job
from footnote.tools.addresses import Addresses
from footnote.tools.base import Abilities, Tool
from footnote.tools.mcp import McpSource
from footnote.tools.registry import Toolbox, builtin_tools, merge
from footnote.tools.wrappers import standard
from footnote.web_search.finding.find import Finder
from footnote.web_search.pipeline import WebSearch
from footnote.web_search.reading.crawl import Crawler
from footnote.web_search.settings import WebSearchSettings

OLLAMA_SECONDS = 0.5

log = logging.getLogger(__name__)


class Equipper:
    """One for the whole process: what runs share is shared, and what is a user's own is that user's."""

    def __init__(
        self, configuration: Configuration, environ: Mapping[str, str], net: Net, library: Library, extractor: Extractor
    ) -> None:
        self._configuration = configuration
        self._environ = environ
        self._net = net
        self._library = library
        # The caches are everybody's: what is in them was on the web.
        self._finder = Finder(net, None, library.of(None))
        self._crawler = Crawler(net, extractor, library.of(None))
        self._servers = AsyncExitStack()
        self._server_tools: dict[str, tuple[Tool, ...]] = {}
        self._connecting = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._servers.aclose()

    async def model(self, agent_id: str, wanted: str | None) -> Model:
        try:
            return await self.model_of(self._configuration.agent(agent_id), wanted)
        except ConfigError as error:
            if wanted is None and self._knows(agent_id):
                raise
            raise UsageError(error.message) from error

    def _knows(self, agent_id: str) -> bool:
        return any(agent.id == agent_id for agent in self._configuration.agents)

    async def model_of(self, agent: Agent, wanted: str | None = None) -> Model:
        """The model that this agent answers with, or the `wanted` one."""
        settings = self._configuration.settings
        name = wanted or agent.model
        listed = await self.ollama_models() if needs_ollama(settings, name) else None
        choice = resolve_model(settings, name, listed)
        if choice.type == "reader":
            return Reader()
        return build_model(choice.type, choice.endpoint, choice.model, choice.profile, net=self._net)

    async def ollama_models(self) -> list[str] | None:
        """Names of the models of a running Ollama; None: it does not run."""
        endpoint = Endpoint("ollama", ollama_url(self._configuration.settings))
        try:
            return await list_models("openai", endpoint, self._net, seconds=OLLAMA_SECONDS)
        except UpstreamError:
            return None

    async def equip(self, job: Job, model: Model) -> Equipment:
        agent = self._configuration.agent(job.agent_id)
        library = self._library.of(job.user_id)
        sources = await _sources(library, job.heard)
        search = resolve_web_search(self._configuration.settings, agent)
        abilities = Abilities(
            workspace=job.workspace if agent.workspace.enabled else None,
            web=self.web(search, sources, model, library) if search else None,
            sources=sources,
            addresses=Addresses(job.heard, sources, job.workspace),
        )
        tools = merge(builtin_tools(), load_tools(), await self._server_tools_of(agent))
        return Equipment(
            system=system_prompt(agent.system_prompt, date.today(), job.locale),  # noqa: DTZ011 - the user's own day
            toolbox=Toolbox.of((standard(tool, files=job.workspace) for tool in tools), abilities),
            abilities=abilities,
            max_tool_rounds=agent.max_tool_rounds,
            thinking_budget=agent.thinking_budget,
        )

    def web(self, settings: WebSearchSettings, sources: Sources, model: Model, library: Library) -> WebSearch:
        # The reader only quotes, which a summary does without it.
        writer = None if isinstance(model, Reader) else model
        finder = self._finder.of(library)
        return WebSearch(settings, sources, writer, finder=finder, crawler=self._crawler, library=library)

    async def _server_tools_of(self, agent: Agent) -> tuple[Tool, ...]:
        """Tools of the MCP servers of this agent, which stay connected until the end."""
        if not agent.mcp_servers:
            return ()
        async with self._connecting:
            if agent.id not in self._server_tools:
                servers = [
                    resolve_server(name, server, self._configuration.home, self._environ)
                    for name, server in agent.mcp_servers.items()
                ]
                source = await self._servers.enter_async_context(McpSource(servers))
                self._server_tools[agent.id] = source.tools
        return self._server_tools[agent.id]


async def _sources(library: Library, messages: tuple[Message, ...]) -> Sources:
    """The sources of a session, from what its tools said, with the texts that were read."""
    wanted = snapshot_ids(messages)
    try:
        return Sources.of(messages, await library.snapshots(wanted) if wanted else {})
    except DatabaseFailed as error:
        log.warning("What was read earlier in this session cannot be opened: %s", error.message)
        return Sources.of(messages, {})
