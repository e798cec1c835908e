"""The port: what the loop asks of a model, and what an adapter is given."""

from collections.abc import AsyncGenerator
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from footnote.cancel import CancelScope
from footnote.models.profiles import Profile
from footnote.protocol.messages import Message
from footnote.protocol.stream import StreamEvent
from footnote.protocol.tools import ToolSpec

ApiType: TypeAlias = Literal["anthropic", "openai"]
MIN_SECRET_LENGTH = 6


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


class Endpoint(Struct, frozen=True):
    """Where a provider is asked and with which key; `key_name` is the variable to check when it is refused."""

    provider: str
    base_url: str
    api_key: str | None = None
    key_name: str | None = None

    def __repr__(self) -> str:
        """Without the key, and without the address, which may hold a password: this ends in logs."""
        return f"Endpoint(provider={self.provider!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("provider", self.provider)]

    def url(self, path: str) -> str:
        return self.base_url.rstrip("/") + path

    def redact(self, text: str) -> str:
        """`text` without the key, for providers that echo it in their errors.

        A very short key is a placeholder of a local server, and stands in many words.
        """
        hidden = self.api_key is not None and len(self.api_key) >= MIN_SECRET_LENGTH
        return text.replace(self.api_key, "***") if hidden and self.api_key else text


class Model(Protocol):
    """One model of one provider, ready to be asked."""

    @property
    def id(self) -> str:
        """`PROVIDER/MODEL`, as in the configuration."""
        ...

    @property
    def profile(self) -> Profile: ...

    def stream(self, context: Context, options: Options, cancel: CancelScope) -> AsyncGenerator[StreamEvent, None]:
        """One response. Never raises: a failure is the last event, with all that was received."""
        ...
