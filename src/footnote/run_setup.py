"""The resources of a run, built from the settings: model, tools, search and sources."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import date
from typing import Self, TypeVar

from msgspec import UNSET

from footnote.agent.check import CheckModel
from footnote.agent.guided_prompts import PROMPTS
from footnote.cancel import Cancelled, CancelScope
from footnote.config.load import Configuration
from footnote.config.resolve import (
    needs_ollama,
    ollama_url,
    resolve_model,
    resolve_search,
    resolve_server,
    resolve_web_search,
    with_server_facts,
)
from footnote.config.settings import Agent, researcher_prompt
from footnote.db.errors import DatabaseFailed
from footnote.evidence.page_index import PageIndexes
from footnote.evidence.second_look import SecondLook
from footnote.evidence.sources import Sources, snapshot_ids
from footnote.library import Library
from footnote.models.base import Endpoint, Model
from footnote.models.local_server import LocalServers
from footnote.models.reader import ReaderModel
from footnote.models.stream import build_model, list_models
from footnote.net.client import Net
from footnote.protocol.errors import ConfigError, UpstreamError, UsageError
from footnote.protocol.messages import Message
from footnote.protocol.plans import Budget
from footnote.protocol.tools import Locale
from footnote.research.templates import choose_template, template_name, template_of
from footnote.sessions.file_citations import MAX_PAGE_CHARACTERS
from footnote.sessions.run import ResearchLimits, RunResources, RunSpec
from footnote.tools.base import Abilities, Tool
from footnote.tools.check_text import check_tool
from footnote.tools.mcp import McpSource
from footnote.tools.provenance import Addresses
from footnote.tools.registry import Toolbox, builtin_tools, merge, plugin_tools
from footnote.tools.wrappers import wrap_tool
from footnote.web_search.crawl.crawler import Crawler, Extractor
from footnote.web_search.pipeline import WebSearch
from footnote.web_search.search import ProviderSearch
from footnote.web_search.settings import WebSearchSettings

T = TypeVar("T")

OLLAMA_SECONDS = 0.5
_LANGUAGES: dict[Locale, str] = {"en": "English", "vi": "Vietnamese", "zh": "Chinese"}

log = logging.getLogger(__name__)


class SettingsRunBuilder:
    """One for the process. Runs share its HTTP client, caches and MCP connections; each user has their own library."""

    def __init__(
        self, configuration: Configuration, environ: Mapping[str, str], net: Net, library: Library, extractor: Extractor
    ) -> None:
        self._configuration = configuration
        self._environ = environ
        self._net = net
        self._library = library
        # Users share the caches, which hold public pages only.
        self._provider_search = ProviderSearch(net, None, library.for_user(None))
        self._crawler = Crawler(net, extractor, library.for_user(None))
        self.pages = PageIndexes(MAX_PAGE_CHARACTERS)
        """Pages that answers and files are compared with."""
        self._plain_models: set[str] = set()
        self._local_servers = LocalServers(net)
        self._mcp_servers = AsyncExitStack()
        self._mcp_tools: dict[str, asyncio.Task[tuple[Tool, ...]]] = {}
        self._mcp_lock = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for connecting in self._mcp_tools.values():
            connecting.cancel()
        await asyncio.gather(*self._mcp_tools.values(), return_exceptions=True)
        await self._mcp_servers.aclose()
        await self._local_servers.close()

    async def model(self, agent_id: str, wanted: str | None) -> Model:
        try:
            return await self.agent_model(self._configuration.agent(agent_id), wanted)
        except ConfigError as error:
            if wanted is None and self._has_agent(agent_id):
                raise
            raise UsageError(error.message, code=error.code, **error.params) from error

    def _has_agent(self, agent_id: str) -> bool:
        return any(agent.id == agent_id for agent in self._configuration.agents)

    async def agent_model(self, agent: Agent, wanted: str | None = None) -> Model:
        """The model of the agent, or the `wanted` one."""
        return await self._named_model(wanted or agent.model)

    async def _named_model(self, name: str | None) -> Model:
        settings = self._configuration.settings
        listed = await self.ollama_models() if needs_ollama(settings, name) else None
        choice = resolve_model(settings, name, listed)
        if choice.type == "reader":
            return ReaderModel()
        if choice.has_server_facts:
            facts = await self._local_servers.facts(choice.endpoint, choice.model)
            choice = with_server_facts(settings, choice, facts)
        return build_model(
            choice.type, choice.endpoint, choice.model, choice.profile, net=self._net, plain_models=self._plain_models
        )

    async def ollama_models(self) -> list[str] | None:
        """Names of the models of a running Ollama; None if it does not run."""
        endpoint = Endpoint("ollama", ollama_url(self._configuration.settings))
        try:
            return await list_models("openai", endpoint, self._net, timeout_seconds=OLLAMA_SECONDS)
        except UpstreamError:
            return None

    async def build(self, spec: RunSpec, model: Model) -> RunResources:
        agent = self._configuration.agent(spec.agent_id)
        library = self._library.for_user(spec.user_id)
        sources = await _load_sources(library, spec.all_messages, self.pages)
        if spec.mode == "check":
            return await self._build_check(spec, model, sources, library)
        search = resolve_web_search(self._configuration.settings, agent)
        abilities = Abilities(
            workspace=spec.workspace if agent.workspace.enabled else None,
            web=self.web_search(search, sources, model, library) if search else None,
            sources=sources,
            addresses=Addresses(spec.all_messages, sources, spec.workspace),
            second_look=await self.second_look(model),
            proofs=spec.proofs,
        )
        tools = merge(builtin_tools(), plugin_tools(), await self._mcp_tools_of(agent, spec.closing))
        return RunResources(
            system=system_prompt(_instructions(agent, model, spec.locale), date.today(), spec.locale),  # noqa: DTZ011 - the local date is meant
            toolbox=Toolbox.of((wrap_tool(tool, files=spec.workspace) for tool in tools), abilities),
            abilities=abilities,
            max_tool_rounds=agent.max_tool_rounds,
            thinking_budget=agent.thinking_budget,
            repairs_files=self._configuration.settings.citations.repair == "files" and _can_repair(model),
            research=self._research_limits(agent, spec) if spec.mode == "research" else None,
        )

    def research_budget(self, agent_id: str, wanted: Budget | None, template: str | None) -> Budget:
        settings = self._configuration.agent(agent_id).research
        if template is not None:
            template_of(template, self._configuration.templates)
        budget = wanted or Budget()
        return Budget(
            seconds=settings.seconds if budget.seconds is UNSET else budget.seconds,
            usd=budget.usd,
            pages=settings.pages if budget.pages is UNSET else budget.pages,
        )

    def _research_limits(self, agent: Agent, spec: RunSpec) -> ResearchLimits:
        settings, templates = agent.research, self._configuration.templates
        # A template may be gone since the run began, on another replica or after a restart.
        template = templates.get(template_name(spec.template or settings.template or ""))
        return ResearchLimits(
            settings.questions, settings.at_once, template or choose_template(spec.question, templates)
        )

    async def _build_check(self, spec: RunSpec, model: Model, sources: Sources, library: Library) -> RunResources:
        """A check has one tool and always a workspace, for the text with its footnotes."""
        abilities = Abilities(
            workspace=spec.workspace,
            web=self.web_search(resolve_search(self._configuration.settings), sources, model, library),
            sources=sources,
            proofs=spec.proofs,
        )
        tool = check_tool(await self.second_look(model))
        toolbox = Toolbox((wrap_tool(tool, files=spec.workspace),))
        return RunResources("", toolbox, abilities, 2, None, CheckModel(model))

    def web_search(self, settings: WebSearchSettings, sources: Sources, model: Model, library: Library) -> WebSearch:
        # The reader only quotes; a search summary without a model does the same.
        writer = None if isinstance(model, ReaderModel) else model
        finder = self._provider_search.for_library(library)
        return WebSearch(settings, sources, writer, finder=finder, crawler=self._crawler, library=library)

    async def second_look(self, model: Model) -> SecondLook | None:
        """Who reviews statements of a run of this model that comparing texts does not prove; None: nobody."""
        name = self._configuration.settings.citations.model
        if name == "off":
            return None
        if name == "session":
            return None if isinstance(model, ReaderModel) or model.profile.is_small else SecondLook(model)
        try:
            reviewer = await self._named_model(name)
        except ConfigError as error:
            log.warning("Nobody takes a second look at statements: citations.model cannot be used. %s", error.message)
            return None
        return None if isinstance(reviewer, ReaderModel) else SecondLook(reviewer)

    async def _mcp_tools_of(self, agent: Agent, closing: CancelScope) -> tuple[Tool, ...]:
        """The tools of the agent's MCP servers, which stay connected until this object is closed. None, if the answer
        is due before they are connected: later runs have them."""
        if not agent.mcp_servers:
            return ()
        connecting = self._mcp_tools.get(agent.id)
        if connecting is None or (connecting.done() and (connecting.cancelled() or connecting.exception())):
            connecting = self._mcp_tools[agent.id] = asyncio.create_task(self._connect_mcp(agent))
        try:
            return await closing.wait(_shielded(connecting))
        except Cancelled:
            log.warning("A run of the agent %s has no tools of MCP servers: its answer was due.", agent.id)
            return ()

    async def _connect_mcp(self, agent: Agent) -> tuple[Tool, ...]:
        servers = [
            resolve_server(name, server, self._configuration.home, self._environ)
            for name, server in agent.mcp_servers.items()
        ]
        async with self._mcp_lock:
            source = await self._mcp_servers.enter_async_context(McpSource(servers))
        return source.tools


async def _shielded(task: asyncio.Task[T]) -> T:
    """Its result. Who waits for it may be cancelled; it goes on."""
    return await asyncio.shield(task)


def _can_repair(model: Model) -> bool:
    """Whether a model can correct a file that it wrote. The reader only quotes, and small models call no tools."""
    return not isinstance(model, ReaderModel) and (not model.profile.is_guided or model.profile.keeps_tools)


async def _load_sources(library: Library, messages: tuple[Message, ...], pages: PageIndexes) -> Sources:
    """The sources of a session, from its tool results, with the texts that were read."""
    ids = snapshot_ids(messages)
    try:
        return Sources.from_messages(messages, await library.snapshots(ids) if ids else {}, pages.index)
    except DatabaseFailed as error:
        log.warning("The sources that were read earlier in this session cannot be loaded: %s", error.message)
        return Sources.from_messages(messages, {}, pages.index)


def _instructions(agent: Agent, model: Model, locale: Locale) -> str:
    """The prompt of the agent. The default one is about tools; a model without any has a shorter one."""
    profile = model.profile
    is_default = agent.system_prompt == researcher_prompt()
    if is_default and profile.is_guided and not profile.keeps_tools:
        return PROMPTS[locale].system
    return agent.system_prompt


def system_prompt(agent_prompt: str, today: date, locale: Locale) -> str:
    """The prompt of the agent, then the facts of the run: they come last, so that the long part before them stays the
    same for the provider's cache."""
    return (
        f"{agent_prompt.strip()}\n\n"
        f"Today is {today:%A}, {today.isoformat()}. "
        f"The user's interface is in {_LANGUAGES[locale]}; answer in the language of the question."
    ).strip()
