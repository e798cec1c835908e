"""Endpoints for clients of other APIs: an agent of Footnote as a model of Anthropic's or OpenAI's API.

They use the same sessions and runs, and differ only in the format of requests and responses.
"""

from typing import Any

from msgspec import Struct

from footnote.config.settings import Agent
from footnote.protocol.events import ErrorBody
from footnote.server.compat import anthropic, openai
from footnote.server.route import Route, RouteCall

EPOCH = "1970-01-01T00:00:00Z"
"""An agent has no date of creation, but both APIs require one."""


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
    """Both formats in one, because the request does not tell which API the client uses."""
    of_anthropic, of_openai = anthropic.format_error(error, status), openai.format_error(error, status)
    return {**of_anthropic, "error": {**of_openai["error"], **of_anthropic["error"]}}


def models_of(agents: tuple[Agent, ...]) -> CompatModels:
    data = tuple(CompatModel(agent.id, agent.name or agent.id) for agent in agents)
    return CompatModels(data, data[0].id, data[-1].id)


async def models(call: RouteCall) -> CompatModels:
    return models_of(call.app.configuration.agents)


ROUTES = (
    *anthropic.ROUTES,
    *openai.ROUTES,
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
