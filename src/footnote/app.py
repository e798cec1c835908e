"""The composition root: from settings to a run that can be followed. Every object is built here, once.

async with App.open() as app:
    run = await app.ask("What is a snapshot isolation anomaly?")
    async for event in run.events():
        ...
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from footnote.accounts.accounts import Accounts
from footnote.accounts.credentials import is_token_set, local_token, store_shared_token
from footnote.bus import open_bus
from footnote.bus.base import Bus, LocalBus
from footnote.config.environment import process_environment
from footnote.config.load import Configuration, load
from footnote.config.resolve import resolve_search
from footnote.config.settings import Agent
from footnote.db.engine import Database
from footnote.db.errors import DatabaseUnwritable
from footnote.evidence.sources import Sources
from footnote.library import Library
from footnote.models.base import Model
from footnote.models.reader import ReaderModel
from footnote.net.client import Net
from footnote.net.proxies import Proxies
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.errors import FootnoteError, UsageError
from footnote.protocol.events import Event
from footnote.protocol.messages import Message
from footnote.protocol.plans import Budget, Clarification, PlanChanges, PlanView, Steering, WantedItem
from footnote.protocol.sessions import ClarifyRequest, NewCheck, NewMessage, StartedRun, parse_locale
from footnote.protocol.sse import EventDecoder
from footnote.protocol.tools import Locale, Progress
from footnote.research.clarify import Clarifier
from footnote.run_setup import SettingsRunBuilder
from footnote.sandbox.pool import SandboxPool
from footnote.sessions.checks import start_check
from footnote.sessions.executor import RunLimits
from footnote.sessions.file_citations import FileCitationChecker
from footnote.sessions.renditions import Renditions, Tables
from footnote.sessions.run import RunSpec
from footnote.sessions.runner import Runner
from footnote.sessions.store import Sessions
from footnote.sessions.supervisor import LEASE_SECONDS, SHARED_LEASE_SECONDS
from footnote.storage import open_storage
from footnote.storage.base import MeasuredStorage, Storage
from footnote.storage.local import MemoryStorage
from footnote.text.languages import detect_locale
from footnote.tools.approval import Approve, make_approver
from footnote.tools.base import Tool
from footnote.web_search.crawl.crawler import Extractor
from footnote.web_search.images import Favicons, ImageFetcher
from footnote.web_search.pipeline import SearchAnswer
from footnote.web_search.settings import search_request
from footnote.workspace.blobs import Blobs, Spool
from footnote.workspace.downloads import Downloads
from footnote.workspace.uploads import Uploads

if TYPE_CHECKING:
    from footnote.bundles.bundles import Bundles

MAX_ASKED_RUNS = 1_000
"""Runs of `App.ask` that may be active at once: a program may ask more than a user of a server."""

log = logging.getLogger(__name__)


class Run:
    """A run that `App.ask` or `App.research` has started, in a session in memory. It ends when its events are left."""

    def __init__(self, runner: Runner, sessions: Sessions, started: StartedRun, model_id: str) -> None:
        self.id = started.run_id
        self.session_id = started.session_id
        self.model_id = model_id
        self.workspace = sessions.workspace(LOCAL_USER, started.session_id)
        self.messages: tuple[Message, ...] = ()
        """The session up to this run. What the run adds to it is there once its events have ended."""
        self._runner = runner
        self._sessions = sessions

    def cancel(self) -> None:
        """Stops the run. Its events still end in order, and everything received so far is kept."""
        live = self._runner.executor.live_runs.get(self.id)
        if live is not None:
            live.cancel.cancel()

    async def finish(self) -> None:
        """Makes the run answer with what it has; research writes its report now. Its events go on to the end."""
        await self._runner.finish(LOCAL_USER, self.id)

    async def plan(self) -> PlanView:
        """The plan of a research run as it is now; without items while it is being made."""
        return await self._runner.plan(LOCAL_USER, self.id)

    async def change_plan(self, *items: WantedItem) -> PlanView:
        """Drops, adds, changes and orders the items that have not begun: these are the ones that remain."""
        return await self._runner.change_plan(LOCAL_USER, self.id, PlanChanges(items))

    async def steer(self, text: str) -> PlanView:
        """Tells a research run something while it goes on."""
        return await self._runner.steer(LOCAL_USER, self.id, Steering(text))

    async def events(self) -> AsyncGenerator[Event, None]:
        decoder = EventDecoder()
        try:
            async with aclosing(self._runner.follow(self.id)) as pieces:
                async for piece in pieces:
                    for _, event in decoder.push(piece):
                        yield event
        finally:
            if self.id in self._runner.executor.live_runs:
                await self._runner.cancel(LOCAL_USER, self.id)
            with suppress(FootnoteError):  # the app may have been closed before the events were left
                await self.load_messages()

    async def load_messages(self) -> None:
        self.messages = await self._sessions.conversation(LOCAL_USER, self.session_id)


class App:
    """An opened Footnote: settings, sessions, runs, accounts, library, and one network client.

    `sessions` and `runner` store what they do. `ask` has a runner of its own on a database in memory: of its sessions,
    only the pages that were read are stored, in the library.
    """

    def __init__(
        self,
        configuration: Configuration,
        environ: Mapping[str, str],
        database: Database,
        storage: Storage,
        bus: Bus,
        sandbox: SandboxPool,
        run_builder: SettingsRunBuilder,
        net: Net,
    ) -> None:
        limits = configuration.settings.limits
        file_bytes = limits.storage_bytes_per_user
        self.configuration = configuration
        self.storage = storage
        self.bus = bus
        self.sandbox = sandbox
        self.library = Library(database)
        self.blobs = Blobs(database, storage)
        self.sessions = Sessions(database, self.library, self.blobs, file_bytes=file_bytes)
        self.spool = Spool(None if database.is_in_memory else configuration.home / "spool")
        self.uploads = Uploads(
            database,
            self.blobs,
            self.library,
            sandbox,
            self.spool,
            max_bytes=limits.upload_bytes,
            max_user_bytes=file_bytes,
        )
        self.downloads = Downloads(database, self.blobs)
        self.tables = Tables(sandbox)
        self.file_citations = FileCitationChecker(database, self.sessions, self.library, run_builder.pages)
        self.renditions = Renditions(database, self.sessions, self.blobs, sandbox, self.file_citations)
        self.runner = Runner(
            database,
            self.sessions,
            run_builder,
            RunLimits(limits.runs_per_user, limits.runs_at_once, approval_seconds=limits.approval_seconds),
            bus=bus,
            file_citations=self.file_citations,
            lease_seconds=SHARED_LEASE_SECONDS if database.is_shared else LEASE_SECONDS,
        )
        self.images = ImageFetcher(net, sandbox)
        # A fetcher of their own, so that the icons of many sites do not delay an image.
        self.favicons = Favicons(
            ImageFetcher(net, sandbox), None if database.is_in_memory else configuration.home / "favicons"
        )
        self._clarifier = Clarifier(limits.runs_per_user)
        self.is_ephemeral = False
        """The database is in memory, because nothing can be written: everything is lost at the end."""
        self._environ = environ
        self._database = database
        self._run_builder = run_builder
        self._exit_stack = AsyncExitStack()
        self._memory: tuple[Runner, Sessions] | None = None
        self._memory_lock = asyncio.Lock()

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        *,
        home: Path | None = None,
        config: Path | None = None,
        environ: Mapping[str, str] | None = None,
        lasting: bool = False,
    ) -> AsyncGenerator[Self, None]:
        """Reads the settings and opens everything; invalid settings raise `ConfigError`.

        If the database cannot be written, one in memory is used, which is lost at the end; with `lasting`,
        `DatabaseUnwritable` is raised instead.
        """
        environ = process_environment() if environ is None else environ
        configuration = load(home, config, environ)
        async with (
            Net(Proxies.from_environment(environ)) as net,
            SandboxPool(environ=environ) as sandbox,
            _open_database(configuration, lasting=lasting) as database,
            _open_storage(configuration, environ, net, in_memory=database.is_in_memory) as storage,
            _open_bus(configuration, database) as bus,
            SettingsRunBuilder(configuration, environ, net, Library(database), Extractor(sandbox)) as run_builder,
        ):
            app = cls(configuration, environ, database, storage, bus, sandbox, run_builder, net)
            app.is_ephemeral = database.is_in_memory
            app.spool.remove_stale()
            try:
                yield app
            finally:
                await app._close()

    @property
    def connections(self) -> tuple[int, int]:
        """The connections to the database server: how many are open, and how many of them are in use."""
        return self._database.connections

    @cached_property
    def bundles(self) -> "Bundles":
        """A lazy import: most programs neither export nor import a session."""
        from footnote.bundles.bundles import Bundles  # noqa: PLC0415 - see above

        return Bundles(
            self._database,
            self.library,
            self.blobs,
            file_bytes=self.configuration.settings.limits.storage_bytes_per_user,
            agents=[agent.id for agent in self.configuration.agents],
            file_citations=self.file_citations,
        )

    @cached_property
    def accounts(self) -> Accounts:
        """Lazy, because it creates the token file, which only a server and the commands for users need."""
        return Accounts(self._database, local_token=local_token(self.configuration.home, self._environ))

    async def share_token(self) -> None:
        """Makes replicas, each with a home folder of its own, accept the same token, unless the operator has set it."""
        if self._database.is_shared and not is_token_set(self._environ):
            token = await self.accounts.share_local_token()
            if token is not None:
                store_shared_token(self.configuration.home, token)

    async def ask(
        self,
        question: str,
        *,
        agent_id: str | None = None,
        model: str | None = None,
        locale: Locale | None = None,
        budget: Budget | None = None,
        after: Run | None = None,
        approve: Approve | None = None,
    ) -> Run:
        """Starts a run that answers `question`.

        `after`: the run whose session this one continues, with its messages and files. `approve` is called before each
        tool call that needs the user's approval. `locale`: None is the language of the question. `budget`: the time,
        the money and the pages that it may use.
        """
        message = NewMessage(question, model=model, locale=locale, budget=budget)
        return await self._start(message, agent_id, after, approve)

    async def research(
        self,
        question: str,
        *,
        budget: Budget | None = None,
        template: str | None = None,
        agent_id: str | None = None,
        model: str | None = None,
        locale: Locale | None = None,
        after: Run | None = None,
        approve: Approve | None = None,
    ) -> Run:
        """Starts a run that plans, reads and writes `/report.md` in the workspace of the run, then a summary.

        `budget`: instead of the limits of the agent. `template`: that of the report; None: one that fits the question.
        All else is as in `ask`.
        """
        message = NewMessage(question, model=model, locale=locale, mode="research", budget=budget, template=template)
        return await self._start(message, agent_id, after, approve)

    async def _start(
        self, message: NewMessage, agent_id: str | None, after: Run | None, approve: Approve | None
    ) -> Run:
        agent = self.configuration.agent(agent_id)
        runner, sessions = await self._memory_runner()
        session_id = after.session_id if after else (await sessions.create(LOCAL_USER, agent.id)).id
        started = await runner.start(
            LOCAL_USER, session_id, message, agent_id=agent.id, approver=make_approver(approve)
        )
        run = Run(runner, sessions, started, (await runner.view(LOCAL_USER, started.run_id)).model)
        await run.load_messages()
        return run

    async def check(self, user_id: str, new: NewCheck) -> StartedRun:
        """Starts a run that checks a text against the pages that it links to, in a session of its own."""
        agent = next((agent for agent in self.configuration.agents if agent.web_search.enabled), None)
        if agent is None:
            raise UsageError(
                "No agent may read the web here, so that links cannot be checked: set webSearch.enabled of an agent.",
                code="check_needs_web",
            )
        return await start_check(self.sessions, self.runner, user_id, agent.id, new)

    async def clarify(self, user_id: str, new: ClarifyRequest) -> Clarification:
        """What to ask the user before a question is researched; nothing, for most questions."""
        agent = self.configuration.agent(new.agent_id)
        if not agent.research.clarify:
            return Clarification()
        locale = parse_locale(new.locale) or detect_locale(new.content)
        find_model = partial(self._run_builder.model, agent.id, new.model)
        return await self._clarifier.clarify(user_id, new.content, locale, find_model)

    async def _memory_runner(self) -> tuple[Runner, Sessions]:
        """Opened by the first `ask`, and closed with the app."""
        async with self._memory_lock:
            if self._memory is None:
                database = await self._exit_stack.enter_async_context(Database.in_memory())
                sessions = Sessions(database, self.library, Blobs(database, MemoryStorage()))
                citations = FileCitationChecker(database, sessions, self.library, self._run_builder.pages)
                limits = RunLimits(max_per_user=MAX_ASKED_RUNS)
                runner = Runner(database, sessions, self._run_builder, limits, file_citations=citations)
                self._exit_stack.push_async_callback(citations.close)
                self._exit_stack.push_async_callback(runner.close)
                self._memory = runner, sessions
        return self._memory

    async def _close(self) -> None:
        await self._exit_stack.aclose()
        await self.runner.close()
        await self.file_citations.close()
        await self.uploads.close()

    async def tools(self, agent_id: str) -> tuple[Tool, ...]:
        """The tools of an agent, whose MCP servers are connected for this."""
        no_files = self.sessions.workspace(LOCAL_USER, "")
        spec = RunSpec(LOCAL_USER, agent_id, "en", (), no_files)
        return tuple((await self._run_builder.build(spec, ReaderModel())).toolbox)

    async def ollama_models(self) -> list[str]:
        """`ollama/NAME` of each model of a running Ollama."""
        return [f"ollama/{name}" for name in await self._run_builder.ollama_models() or ()]

    async def model(self, agent: Agent, wanted: str | None = None) -> Model:
        """The model of the agent, or the `wanted` one."""
        return await self._run_builder.agent_model(agent, wanted)

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
    ) -> AsyncGenerator[Progress | SearchAnswer, None]:
        """Runs the search tool outside of a session: yields its progress, then its answer.

        `provider` is asked first, instead of that of the settings. `SearchFailed`: no provider answered.
        """
        agent = self.configuration.agent(None)
        settings = resolve_search(self.configuration.settings, provider)
        request = search_request(settings, query, prompt=prompt, count=count, country=country, freshness=freshness)
        web = self._run_builder.web_search(settings, Sources(), await self.model(agent, model), self.library)
        async with aclosing(web.search(request)) as steps:
            async for step in steps:
                yield step


@asynccontextmanager
async def _open_database(configuration: Configuration, *, lasting: bool) -> AsyncGenerator[Database, None]:
    """The database of the settings, or one in memory where nothing can be written."""
    async with AsyncExitStack() as stack:
        try:
            opening = Database.open(configuration.settings.database.url, configuration.home)
            database = await stack.enter_async_context(opening)
        except DatabaseUnwritable as error:
            if lasting:
                raise
            log.warning("Nothing can be stored, so that everything is lost at the end: %s", error.message)
            database = await stack.enter_async_context(Database.in_memory())
        yield database


@asynccontextmanager
async def _open_storage(
    configuration: Configuration, environ: Mapping[str, str], net: Net, *, in_memory: bool
) -> AsyncGenerator[Storage, None]:
    """The storage of the settings, or one in memory beside a database that is."""
    address = configuration.settings.storage.url
    storage = MemoryStorage() if in_memory else MeasuredStorage(open_storage(address, configuration.home, environ, net))
    try:
        yield storage
    finally:
        await storage.close()


@asynccontextmanager
async def _open_bus(configuration: Configuration, database: Database) -> AsyncGenerator[Bus, None]:
    """The bus of the settings, or one of this process alone beside a database that is."""
    settings = configuration.settings
    bus = LocalBus() if database.is_in_memory else open_bus(settings.bus.url, settings.database.url, database)
    try:
        yield bus
    finally:
        await bus.close()
