"""What there is to choose from: agents, models, tools. Never a key, and never an agent's instructions."""

from collections.abc import Iterator

from msgspec import Struct

from footnote.app import App
from footnote.config.providers import BUILTIN_PROVIDER, MODEL_PROVIDERS, READER_MODEL
from footnote.config.resolve import resolve_model
from footnote.protocol.errors import ConfigError, UsageError
from footnote.server.route import Route, RouteCall


class AgentView(Struct, frozen=True):
    """`model`: what it answers with unless something else is asked for; null is the default of the server."""

    id: str
    name: str
    description: str
    model: str | None
    web_search: bool
    workspace: bool


class AgentList(Struct, frozen=True):
    """The first one is taken where none is named."""

    agents: tuple[AgentView, ...]


class ModelView(Struct, frozen=True):
    """`available`: the server has what it takes to ask this model, such as a key."""

    id: str
    provider: str
    available: bool
    default: bool


class ModelList(Struct, frozen=True):
    models: tuple[ModelView, ...]


class ToolView(Struct, frozen=True):
    """`title` is in the language that was asked for."""

    name: str
    title: str
    description: str
    approval: bool


class ToolList(Struct, frozen=True):
    tools: tuple[ToolView, ...]


class ToolQuery(Struct, frozen=True, forbid_unknown_fields=True):
    agent_id: str | None = None


async def _agents(call: RouteCall) -> AgentList:
    return AgentList(
        tuple(
            AgentView(
                id=agent.id,
                name=agent.name or agent.id,
                description=agent.description,
                model=agent.model,
                web_search=agent.web_search.enabled,
                workspace=agent.workspace.enabled,
            )
            for agent in call.app.configuration.agents
        )
    )


async def _models(call: RouteCall) -> ModelList:
    default = await default_model(call.app)
    named: list[str] = [*([default] if default else []), *_configured_models(call.app), *await call.app.ollama_models()]
    return ModelList(tuple(_model(call.app, name, default) for name in dict.fromkeys(named)))


async def default_model(app: App) -> str | None:
    """What is asked where nobody chose; None: what is set cannot be used."""
    try:
        return (await app.model(app.configuration.agent())).id
    except ConfigError:
        return None


def _configured_models(app: App) -> Iterator[str]:
    """Every model that the settings know by name."""
    models = app.configuration.settings.models
    yield from (agent.model for agent in app.configuration.agents if agent.model)
    yield from models.profiles
    yield from (f"{name}/{one.default_model}" for name, one in MODEL_PROVIDERS.items() if one.default_model)
    yield f"{BUILTIN_PROVIDER}/{READER_MODEL}"


def _model(app: App, name: str, default: str | None) -> ModelView:
    try:
        resolve_model(app.configuration.settings, name)
    except ConfigError:
        available = False
    else:
        available = True
    return ModelView(name, name.partition("/")[0], available, name == default)


async def _tools(call: RouteCall) -> ToolList:
    """Those that ship or are installed, and those of its tool servers, which are connected for that."""
    wanted: ToolQuery = call.query
    tools = await call.app.tools(resolve_agent_id(call.app, wanted.agent_id))
    locale = call.locale or "en"
    return ToolList(tuple(ToolView(tool.name, tool.title(locale), tool.description, tool.approval) for tool in tools))


def resolve_agent_id(app: App, agent_id: str | None) -> str:
    """The id of an agent that there is: the wanted one, or the first."""
    try:
        return app.configuration.agent(agent_id).id
    except ConfigError as error:
        raise UsageError("There is no such agent; GET /v2/agents lists those that there are.") from error


ROUTES = (
    Route("GET", "/v2/agents", _agents, "Who can be asked", response=AgentList),
    Route("GET", "/v2/models", _models, "What an agent can answer with", response=ModelList),
    Route("GET", "/v2/tools", _tools, "What an agent can do", query=ToolQuery, response=ToolList),
)
