"""What a run needs from above: a model and tools, put together from settings that this layer does not know."""

from dataclasses import dataclass
from typing import Protocol

from footnote.models.base import Model
from footnote.protocol.messages import Message
from footnote.protocol.tools import Locale
from footnote.tools.base import Abilities
from footnote.tools.registry import Toolbox
from footnote.workspace.files import Workspace


@dataclass(frozen=True, slots=True)
class RunSpec:
    """One run to be equipped. `heard` is what was said in the whole session, in all its branches: a source has one
    number in all of them."""

    user_id: str
    agent_id: str
    locale: Locale
    all_messages: tuple[Message, ...]
    workspace: Workspace


@dataclass(frozen=True, slots=True)
class RunResources:
    system: str
    toolbox: Toolbox
    abilities: Abilities
    max_tool_rounds: int
    thinking_budget: int | None


class RunBuilder(Protocol):
    async def model(self, agent_id: str, wanted: str | None) -> Model:
        """The model that answers. `UsageError`: there is no such agent or model."""
        ...

    async def build(self, spec: RunSpec, model: Model) -> RunResources: ...
