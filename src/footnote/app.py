"""The composition root: from settings to a run that can be followed. Every object is built here, once.

async with App.open() as app:
    run = await app.ask("What is a snapshot isolation anomaly?")
    async for event in run.events():
        ...
"""

import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from footnote.accounts.accounts import Accounts
from footnote.accounts.local import is_token_set, local_token, store_shared_token
from footnote.agent.loop import run as run_turn
from footnote.agent.turn import Checkpoint, HistorySummarised, HistorySummary, MessageCompleted, Turn
from footnote.bus.base import Bus
from footnote.bus.factory import open_bus
from footnote.bus.local import LocalBus
from footnote.cancel import CancelScope
from footnote.config.agents import Agent
from footnote.config.configuration import Configuration
from footnote.config.environment import process_environment
from footnote.config.load import load
from footnote.config.resolve import resolve_search
from footnote.db.engine import Database
from footnote.db.errors import DatabaseUnwritable
from footnote.documents.extract.extractor import Extractor
from footnote.evidence.sources import Sources
from footnote.library import Library
from footnote.models.base import Model
from footnote.models.reader import ReaderModel
from footnote.net.client import Net
from footnote.net.proxies import Proxies
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.errors import UsageError
from footnote.protocol.events import Event
from footnote.protocol.ids import new_id
from footnote.protocol.messages import Message, user_message
from footnote.protocol.tools import Locale, Progress
from footnote.run_setup import SettingsRunBuilder
from footnote.sandbox.pool import SandboxPool
from footnote.sessions.executor import RunLimits
from footnote.sessions.file_citations import FileCitationChecker
from footnote.sessions.renditions import Renditions
from footnote.sessions.run_spec import RunResources, RunSpec
from footnote.sessions.runner import Runner
from footnote.sessions.store import Sessions
from footnote.sessions.supervisor import LEASE_SECONDS, SHARED_LEASE_SECONDS
from footnote.storage.base import Storage
from footnote.storage.factory import open_storage
from footnote.storage.memory import MemoryStorage
from footnote.storage.metrics import MeasuredStorage
from footnote.text.languages import detect_locale
from footnote.tools.approval import Approve, Approver, make_approver
from footnote.tools.base import Tool
from footnote.web_search.crawl.image import ImageFetcher
from footnote.web_search.favicons import Favicons
from footnote.web_search.pipeline import SearchAnswer
from footnote.web_search.settings import search_request
from footnote.workspace.blobs import Blobs
from footnote.workspace.downloads import Downloads
from footnote.workspace.in_memory import in_memory_workspace
from footnote.workspace.spool import Spool
from footnote.workspace.tables import Tables
from footnote.workspace.uploads import Uploads

if TYPE_CHECKING:
    from footnote.bundles.bundles import Bundles

log = logging.getLogger(__name__)


class Run:
    """The work of one turn. It begins when its events are followed, and ends with them."""

    def __init__(self, turn: Turn, model: Model, resources: RunResources, approver: Approver) -> None:
        self.id = turn.run_id
        self.session_id = turn.session_id
        self.model_id = model.id
        self.workspace = resources.abilities.workspace
        self.messages: tuple[Message, ...] = turn.messages
        """The session with what this run added to it: the history of the next question."""
        self.summary: HistorySummary | None = turn.summary
        self._turn = turn
        self._model = model
        self._resources = resources
        self._approver = approver
        self._cancel = CancelScope()

    def cancel(self) -> None:
        """Stops the run. Its events still end in order, with all that came kept."""
        self._cancel.cancel()

    async def events(self) -> AsyncGenerator[Event, None]:
        has = self._resources
        turn = run_turn(self._turn, self._model, has.toolbox, has.abilities, self._cancel, self._approver)
        async with aclosing(turn) as steps:
            async for step in steps:
                if isinstance(step, MessageCompleted):
                    self.messages = (*self.messages, step.message)
                elif isinstance(step, HistorySummarised):
                    self.summary = step.summary
                elif not isinstance(step, Checkpoint):
                    yield step


class App:
    """An opened Footnote: settings, sessions, runs, accounts, what was read, and one way out.

    `ask` answers here and now and keeps nothing but what was read; `sessions` and `runner` are for what is to last.
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
        self.file_citations = FileCitationChecker(self.sessions, self.library)
        self.renditions = Renditions(database, self.sessions, self.blobs, sandbox)
        self.runner = Runner(
            database,
            self.sessions,
            run_builder,
            RunLimits(limits.runs_per_user, limits.runs_at_once, approval_seconds=limits.approval_seconds),
            bus=bus,
            lease_seconds=SHARED_LEASE_SECONDS if database.is_shared else LEASE_SECONDS,
        )
        self.images = ImageFetcher(net, sandbox)
        # With turns of their own: the icons of many sites do not keep an image waiting.
        self.favicons = Favicons(
            ImageFetcher(net, sandbox), None if database.is_in_memory else configuration.home / "favicons"
        )
        self.is_ephemeral = False
        """Nothing can be written: all that is kept is gone at the end."""
        self._environ = environ
        self._database = database
        self._run_builder = run_builder

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
        """Reads the settings and makes everything ready; `ConfigError` says what is wrong with them.

        Where nothing can be written, questions are answered all the same and forgotten at the end; `lasting`: then
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
            SettingsRunBuilder(configuration, environ, net, Library(database), Extractor(sandbox)) as equipper,
        ):
            app = cls(configuration, environ, database, storage, bus, sandbox, equipper, net)
            app.is_ephemeral = database.is_in_memory
            app.spool.remove_stale()
            try:
                yield app
            finally:
                await app.runner.close()
                await app.uploads.close()

    @property
    def connections(self) -> tuple[int, int]:
        """To the database server: how many there are, and how many of them are in use."""
        return self._database.connections

    @cached_property
    def bundles(self) -> "Bundles":
        """Made when it is first asked for: most who open Footnote take no session in or out."""
        from footnote.bundles.bundles import Bundles  # noqa: PLC0415 - see above

        return Bundles(
            self._database,
            self.library,
            self.blobs,
            file_bytes=self.configuration.settings.limits.storage_bytes_per_user,
            agents=[agent.id for agent in self.configuration.agents],
        )

    @cached_property
    def accounts(self) -> Accounts:
        """Made when it is first asked for: there is no token before somebody serves."""
        return Accounts(self._database, local_token=local_token(self.configuration.home, self._environ))

    async def share_token(self) -> None:
        """Replicas have homes of their own, and one token, unless the operator has chosen it."""
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
        after: Run | None = None,
        approve: Approve | None = None,
    ) -> Run:
        """A run that answers `question`, ready to be followed.

        `after`: the run whose session this one continues, with its messages and files. `approve` is asked before
        calls that need the user's word. `locale` None: the language of the question.
        """
        if not question.strip():
            raise UsageError("The question is empty.")
        locale = locale or detect_locale(question)
        agent = self.configuration.agent(agent_id)
        chosen = await self.model(agent, model)
        messages = (*(after.messages if after else ()), user_message(question))
        workspace = after.workspace if after and after.workspace else in_memory_workspace()
        job = RunSpec(LOCAL_USER, agent.id, locale, messages, workspace)
        equipment = await self._run_builder.build(job, chosen)
        turn = Turn(
            session_id=after.session_id if after else new_id("session"),
            run_id=new_id("run"),
            message_id=new_id("msg"),
            system=equipment.system,
            messages=messages,
            summary=after.summary if after else None,
            locale=locale,
            max_tool_rounds=equipment.max_tool_rounds,
            thinking_budget=equipment.thinking_budget,
        )
        return Run(turn, chosen, equipment, make_approver(approve))

    async def tools(self, agent_id: str) -> tuple[Tool, ...]:
        """What an agent can do. Its tool servers are connected for that."""
        job = RunSpec(LOCAL_USER, agent_id, "en", (), in_memory_workspace())
        return tuple((await self._run_builder.build(job, ReaderModel())).toolbox)

    async def ollama_models(self) -> list[str]:
        """`ollama/NAME` of each model of a running Ollama."""
        return [f"ollama/{name}" for name in await self._run_builder.ollama_models() or ()]

    async def model(self, agent: Agent, wanted: str | None = None) -> Model:
        """The model that this agent answers with, or the `wanted` one."""
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
        """The search tool alone, outside of any session: what it does, step by step, and its answer.

        `provider` is asked first, whatever the settings say. `SearchFailed`: nobody answered.
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
            log.warning("What is read is forgotten at the end: %s", error.message)
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
