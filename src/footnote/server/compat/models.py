"""`GET /v1/models`: the agents as models, in a shape that clients of both APIs take."""

from typing import Any

from msgspec import Struct

from footnote.config.agents import Agent
from footnote.protocol.events import ErrorBody
from footnote.server.compat import anthropic, openai
from footnote.server.route import Route, RouteCall

EPOCH = "1970-01-01T00:00:00Z"
"""An agent is a setting and has no date of birth, but both APIs want one."""


class CompatModel(Struct, frozen=True):
    id: str
    display_name: str
    type: str = "model"
    object: str = "model"
    created: int = 0
    created_at: str = EPOCH
    owned_by: str = "footnote"


class CompatModels(Struct, frozen=True):
    data: tuple[CompatModel, ...]
    first_id: str
    last_id: str
    has_more: bool = False
    object: str = "list"


def format_error(error: ErrorBody, status: int) -> Any:
    """Both shapes in one: which API the client speaks is not known here."""
    theirs, others = anthropic.format_error(error, status), openai.format_error(error, status)
    return {**theirs, "error": {**others["error"], **theirs["error"]}}


def models_of(agents: tuple[Agent, ...]) -> CompatModels:
    data = tuple(CompatModel(agent.id, agent.name or agent.id) for agent in agents)
    return CompatModels(data, data[0].id, data[-1].id)


async def models(call: RouteCall) -> CompatModels:
    return models_of(call.app.configuration.agents)


ROUTES = (
    Route(
        "GET",
        "/v1/models",
        models,
        "The agents, as models of both APIs",
        response=CompatModels,
        error_format=format_error,
        lenient=True,
    ),
)
