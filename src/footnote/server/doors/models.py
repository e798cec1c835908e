"""`GET /v1/models`: the agents as models, in a shape that clients of both APIs take."""

from typing import Any

from msgspec import Struct

from footnote.config.agents import Agent
from footnote.protocol.events import ErrorBody
from footnote.server.doors import anthropic, openai
from footnote.server.table import Call, Route

LONG_AGO = "1970-01-01T00:00:00Z"
"""An agent is a setting and has no date of birth, but both APIs want one."""


class DoorModel(Struct, frozen=True):
    id: str
    display_name: str
    type: str = "model"
    object: str = "model"
    created: int = 0
    created_at: str = LONG_AGO
    owned_by: str = "footnote"


class DoorModels(Struct, frozen=True):
    data: tuple[DoorModel, ...]
    first_id: str
    last_id: str
    has_more: bool = False
    object: str = "list"


def error_form(error: ErrorBody, status: int) -> Any:
    """Both shapes in one: which API the client speaks is not known here."""
    theirs, others = anthropic.error_form(error, status), openai.error_form(error, status)
    return {**theirs, "error": {**others["error"], **theirs["error"]}}


def models_of(agents: tuple[Agent, ...]) -> DoorModels:
    data = tuple(DoorModel(agent.id, agent.name or agent.id) for agent in agents)
    return DoorModels(data, data[0].id, data[-1].id)


async def models(call: Call) -> DoorModels:
    return models_of(call.app.configuration.agents)


ROUTES = (
    Route(
        "GET",
        "/v1/models",
        models,
        "The agents, as models of both APIs",
        answer=DoorModels,
        errors=error_form,
        lenient=True,
    ),
)
