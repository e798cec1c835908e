"""The port: what the loop asks of a model, and what an adapter is given."""

from collections.abc import AsyncIterator
from typing import Protocol

from msgspec import Struct

from footnote.cancel import CancelScope
from footnote.models.profiles import Profile
from footnote.protocol.messages import Message
from footnote.protocol.stream import StreamEvent
from footnote.protocol.tools import ToolSpec


class Context(Struct, frozen=True):
    """What the model is told. No tools: the request has no `tools` field at all."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()


class Options(Struct, frozen=True):
    """How it is asked. `None` leaves the choice to the model's profile or to the provider."""

    thinking_budget: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None


class Model(Protocol):
    """One model of one provider, ready to be asked."""

    @property
    def id(self) -> str:
        """`PROVIDER/MODEL`, as in the configuration."""
        ...

    @property
    def profile(self) -> Profile: ...

    def stream(self, context: Context, options: Options, cancel: CancelScope) -> AsyncIterator[StreamEvent]:
        """One response. Never raises: a failure is the last event, with all that was received."""
        ...
