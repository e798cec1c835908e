"""The composition root: from settings to a run that can be followed. Every object is built here, once.

async with App.open() as app:
    run = await app.ask("What is a snapshot isolation anomaly?")
    async for event in run.events():
        ...
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Self

from footnote.agent.loop import run as run_turn
from footnote.agent.prompt import system_prompt
from footnote.agent.turn import Digest, Digested, Kept, Turn
from footnote.cancel import CancelScope
from footnote.citations.numbering import Sources, snapshot_ids
from footnote.config.agents import Agent
from footnote.config.configuration import Configuration
from footnote.config.environment import process_environment
from footnote.config.load import load
from footnote.config.resolve import (
    needs_ollama,
    ollama_url,
    resolve_model,
    resolve_server,
    resolve_web_search,
    search_with,
)
from footnote.db.engine import Database
from footnote.db.failures import DatabaseFailed, DatabaseUnwritable
from footnote.library import Library
from footnote.models.base import Endpoint, Model
from footnote.models.catalog import build_model, list_models
from footnote.models.reader import Reader
from footnote.net.client import Net
from footnote.net.proxies import Proxies
from footnote.plugins import load_tools
from footnote.protocol.errors import UpstreamError, UsageError
from footnote.protocol.events import Event
from footnote.protocol.ids import new_id
from footnote.protocol.messages import Message, user
from footnote.protocol.tools import Locale, Progress
from footnote.tools.base import Abilities, Tool
from footnote.tools.mcp import McpSource
from footnote.tools.registry import Toolbox, builtin_tools, merge
from footnote.tools.wrappers import Approve, standard
from footnote.web_search.extract.pool import Extractor
from footnote.web_search.finding.find import Finder
from footnote.web_search.pipeline import Answer, WebSearch
from footnote.web_search.reading.crawl import Crawler
from footnote.web_search.settings import WebSearchSettings, search_request
from footnote.workspace.files import Workspace

OLLAMA_SECONDS = 0.5

log = logging.getLogger(__name__)


class Run:
    """The work of one turn. It begins when its events are followed, and ends with them."""

    def __init__(self, turn: Turn, model: Model, toolbox: Toolbox, abilities: Abilities) -> None:
        self.id = turn.run_id
        self.session_id = turn.session_id
        self.model_id = model.id
        self.workspace = abilities.workspace
        self.messages: tuple[Message, ...] = turn.messages
        """The session with what this run added to it: the history of the next question."""
        self.digest: Digest | None = turn.digest
        self._turn = turn
        self._model = model
        self._toolbox = toolbox
        self._abilities = abilities
        self._cancel = CancelScope()

    def cancel(self) -> None:
        """Stops the run. Its events still end in order, with all that came kept."""
        self._cancel.cancel()

    async def events(self) -> AsyncGenerator[Event, None]:
        turn = run_turn(self._turn, self._model, self._toolbox, self._abilities, self._cancel)
        async with aclosing(turn) as steps:
            async for step in steps:
                if isinstance(step, Kept):
                    self.messages = (*self.messages, step.message)
                elif isinstance(step, Digested):
                    self.digest = step.digest
                else:
                    yield step


class App:
    """An opened Footnote: settings, one way out, what was read, and the tool servers of the agents that were used."""

    def __init__(
        self, configuration: Configuration, environ: Mapping[str, str], net: Net, library: Library, extractor: Extractor
    ) -> None:
        self.configuration = configuration
        self.library = library
        self._environ = environ
        self._net = net
        self._finder = Finder(net, library, library)
        self._crawler = Crawler(net, extractor, library)
        self._servers = AsyncExitStack()
        self._server_tools: dict[str, tuple[Tool, ...]] = {}
        self._connecting = asyncio.Lock()

    @classmethod
    @asynccontextmanager
    async def open(
        cls, *, home: Path | None = None, config: Path | None = None, environ: Mapping[str, str] | None = None
    ) -> AsyncGenerator[Self, None]:
        """Reads the settings and makes everything ready; `ConfigError` says what is wrong with them."""
        environ = process_environment() if environ is None else environ
        configuration = load(home, config, environ)
        async with (
            Net(Proxies.of(environ)) as net,
            Extractor() as extractor,
            _database(configuration) as database,
        ):
            app = cls(configuration, environ, net, Library(database), extractor)
            async with app._servers:
                yield app

    async def ask(
        self,
        question: str,
        *,
        agent_id: str | None = None,
        model: str | None = None,
        locale: Locale = "en",
        after: Run | None = None,
        approve: Approve | None = None,
    ) -> Run:
        """A run that answers `question`, ready to be followed.

        `after`: the run whose session this one continues, with its messages and files. `approve` is asked before
        calls that need the user's word.
        """
        if not question.strip():
            raise UsageError("The question is empty.")
        agent = self.configuration.agent(agent_id)
        chosen = await self.model(agent, model)
        messages = (*(after.messages if after else ()), user(question))
        sources = await self._sources(messages)
        search = resolve_web_search(self.configuration.settings, agent)
        abilities = Abilities(
            workspace=_workspace(after) if agent.workspace.enabled else None,
            web=self._web(search, sources, chosen) if search else None,
            sources=sources,
        )
        tools = merge(builtin_tools(), load_tools(), await self._server_tools_of(agent))
        turn = Turn(
            session_id=after.session_id if after else new_id("session"),
            run_id=new_id("run"),
            message_id=new_id("msg"),
            system=system_prompt(agent.system_prompt, date.today(), locale),  # noqa: DTZ011 - the user's own day
            messages=messages,
            digest=after.digest if after else None,
            locale=locale,
            max_tool_rounds=agent.max_tool_rounds,
            thinking_budget=agent.thinking_budget,
        )
        toolbox = Toolbox.of((standard(tool, approve=approve) for tool in tools), abilities)
        return Run(turn, chosen, toolbox, abilities)

    async def search(
        self,
        query: str,
        *,
        prompt: str | None = None,
        provider: str | None = None,
        count: int | None = None,
        country: str | None = None,
        freshness: str | None = None,
        model: str | None = None,
    ) -> AsyncGenerator[Progress | Answer, None]:
        """The search tool alone, outside of any session: what it does, step by step, and its answer.

        `provider` is asked first, whatever the settings say. `SearchFailed`: nobody answered.
        """
        agent = self.configuration.agent(None)
        settings = search_with(self.configuration.settings, provider)
        request = search_request(settings, query, prompt=prompt, count=count, country=country, freshness=freshness)
        web = self._web(settings, Sources(), await self.model(agent, model))
        async with aclosing(web.search(request)) as steps:
            async for step in steps:
                yield step

    def _web(self, settings: WebSearchSettings, sources: Sources, model: Model) -> WebSearch:
        # The reader only quotes, which a summary does without it.
        writer = None if isinstance(model, Reader) else model
        return WebSearch(settings, sources, writer, finder=self._finder, crawler=self._crawler, library=self.library)

    async def _sources(self, messages: tuple[Message, ...]) -> Sources:
        """The sources of a session, from what its tools said, with the texts that were read."""
        wanted = snapshot_ids(messages)
        try:
            return Sources.of(messages, await self.library.snapshots(wanted) if wanted else {})
        except DatabaseFailed as error:
            log.warning("What was read earlier in this session cannot be opened: %s", error.message)
            return Sources.of(messages, {})

    async def model(self, agent: Agent, wanted: str | None = None) -> Model:
        """The model that this agent answers with, or the `wanted` one."""
        settings = self.configuration.settings
        name = wanted or agent.model
        listed = await self._ollama_models() if needs_ollama(settings, name) else None
        choice = resolve_model(settings, name, listed)
        if choice.type == "reader":
            return Reader()
        return build_model(choice.type, choice.endpoint, choice.model, choice.profile, net=self._net)

    async def _ollama_models(self) -> list[str] | None:
        """Names of the models of a running Ollama; None: it does not run."""
        endpoint = Endpoint("ollama", ollama_url(self.configuration.settings))
        try:
            return await list_models("openai", endpoint, self._net, seconds=OLLAMA_SECONDS)
        except UpstreamError:
            return None

    async def _server_tools_of(self, agent: Agent) -> tuple[Tool, ...]:
        """Tools of the MCP servers of this agent, which stay connected until the app is closed."""
        if not agent.mcp_servers:
            return ()
        async with self._connecting:
            if agent.id not in self._server_tools:
                servers = [
                    resolve_server(name, server, self.configuration.home, self._environ)
                    for name, server in agent.mcp_servers.items()
                ]
                source = await self._servers.enter_async_context(McpSource(servers))
                self._server_tools[agent.id] = source.tools
        return self._server_tools[agent.id]


@asynccontextmanager
async def _database(configuration: Configuration) -> AsyncGenerator[Database, None]:
    """The database of the settings. Where nothing can be written, questions are answered all the same."""
    async with AsyncExitStack() as stack:
        try:
            opening = Database.open(configuration.settings.database.url, configuration.home)
            database = await stack.enter_async_context(opening)
        except DatabaseUnwritable as error:
            log.warning("What is read is forgotten at the end: %s", error.message)
            database = await stack.enter_async_context(Database.in_memory())
        yield database


def _workspace(after: Run | None) -> Workspace:
    return after.workspace if after and after.workspace else Workspace()
