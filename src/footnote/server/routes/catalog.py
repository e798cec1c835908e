"""The agents, models and tools to choose from, without keys and without the instructions of agents."""

from collections.abc import Iterator

from msgspec import Struct

from footnote.app import App
from footnote.config.providers import BUILTIN_PROVIDER, MODEL_PROVIDERS, READER_MODEL
from footnote.config.resolve import resolve_model
from footnote.protocol.errors import ConfigError, UsageError
from footnote.server.route import Route, RouteCall


class AgentView(Struct, frozen=True):
    """`model`: its model unless a question names another; null is the default of the server."""

    id: str
    name: str
    description: str
    model: str | None
    web_search: bool
    workspace: bool


class AgentList(Struct, frozen=True):
    """The first one is the default."""

    agents: tuple[AgentView, ...]


class ModelView(Struct, frozen=True):
    """`available`: the server has what it needs to use this model, such as a key."""

    id: str
    provider: str
    available: bool
    default: bool


class ModelList(Struct, frozen=True):
    models: tuple[ModelView, ...]


class ToolView(Struct, frozen=True):
    """`title` is in the language of the request."""

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
    names: list[str] = [*([default] if default else []), *_configured_models(call.app), *await call.app.ollama_models()]
    return ModelList(tuple(_model(call.app, name, default) for name in dict.fromkeys(names)))


async def default_model(app: App) -> str | None:
    """The model of the first agent; None if the settings for it are incomplete."""
    try:
        return (await app.model(app.configuration.agent())).id
    except ConfigError:
        return None


def _configured_models(app: App) -> Iterator[str]:
    """Every model that the settings name or imply."""
    models = app.configuration.settings.models
    yield from (agent.model for agent in app.configuration.agents if agent.model)
    yield from models.profiles
    yield from (f"{name}/{known.default_model}" for name, known in MODEL_PROVIDERS.items() if known.default_model)
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
    """Built-in tools, those of plugins, and those of the agent's MCP servers, which are connected for this."""
    query: ToolQuery = call.query
    tools = await call.app.tools(resolve_agent_id(call.app, query.agent_id))
    locale = call.locale or "en"
    return ToolList(tuple(ToolView(tool.name, tool.title(locale), tool.description, tool.approval) for tool in tools))


def resolve_agent_id(app: App, agent_id: str | None) -> str:
    """The given id, if such an agent exists; without one, the id of the first agent."""
    try:
        return app.configuration.agent(agent_id).id
    except ConfigError as error:
        raise UsageError("There is no such agent; GET /v2/agents lists all of them.", code="agent_not_found") from error


ROUTES = (
    Route("GET", "/v2/agents", _agents, "The agents", response=AgentList),
    Route("GET", "/v2/models", _models, "The models", response=ModelList),
    Route("GET", "/v2/tools", _tools, "The tools of an agent", query=ToolQuery, response=ToolList),
)
