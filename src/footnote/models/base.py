"""The interface of a model: what a request consists of, where it goes, and how it is measured."""

from collections.abc import AsyncGenerator
from typing import Any, Protocol

from msgspec import Struct

from footnote.cancel import CancelScope
from footnote.models.profiles import Profile
from footnote.protocol.messages import AssistantMessage, Message, StopReason
from footnote.protocol.stream import StreamEvent
from footnote.protocol.tools import ToolSpec
from footnote.tracing import SLOW_BUCKETS, EventCounter, Operation, TraceSpan

MIN_SECRET_LENGTH = 6


class Context(Struct, frozen=True):
    """What the model reads. Without tools, the request has no `tools` field at all."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()


class Options(Struct, frozen=True):
    """Parameters of a request. `None` leaves the choice to the model's profile or to the provider."""

    thinking_budget: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None


class Endpoint(Struct, frozen=True):
    """The address of a provider and the key for it; `key_name` is the variable to check if the key is refused.
    `is_self_hosted`: a server of the operator's own, such as Ollama, and no API on the web."""

    provider: str
    base_url: str
    api_key: str | None = None
    key_name: str | None = None
    is_self_hosted: bool = False

    def __repr__(self) -> str:
        """Without the key, and without the address, which may contain a password: this ends up in logs."""
        return f"Endpoint(provider={self.provider!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("provider", self.provider)]

    def url(self, path: str) -> str:
        return self.base_url.rstrip("/") + path

    def redact(self, text: str) -> str:
        """`text` without the key, for providers that echo it in their errors.

        A very short key is a placeholder for a local server, and occurs in many words.
        """
        hidden = self.api_key is not None and len(self.api_key) >= MIN_SECRET_LENGTH
        return text.replace(self.api_key, "***") if hidden and self.api_key else text


class Model(Protocol):
    """One model of one provider."""

    @property
    def id(self) -> str:
        """`PROVIDER/MODEL`, as in the configuration."""
        ...

    @property
    def profile(self) -> Profile: ...

    def stream(self, context: Context, options: Options, cancel: CancelScope) -> AsyncGenerator[StreamEvent, None]:
        """One response. Never raises: a failure is the last event, with all that was received."""
        ...


# Metrics -------------------------------------------------------------------------------------------------

MODEL_CALLS = Operation(
    "model_call", "Calls of models, to the end of the response.", "model", span="chat", buckets=SLOW_BUCKETS
)
FIRST_EVENTS = Operation(
    "model_first_event", "Calls of models, until the response begins.", "model", buckets=SLOW_BUCKETS
)
TOKENS = EventCounter("model_tokens", "Tokens that models read and wrote.", "model", "kind")

_OUTCOMES: dict[StopReason, str] = {"error": "error", "aborted": "cancelled"}


def record_call(call: TraceSpan, model: str, message: AssistantMessage | None) -> None:
    """Records the outcome of a call. None: the call was abandoned before its end."""
    provider, _, name = model.partition("/")
    call.set_attributes(
        {"gen_ai.operation.name": "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": name}
    )
    if message is None:
        return
    call.outcome = _OUTCOMES.get(message.stop_reason, "ok")
    usage = message.usage
    for kind in ("input", "output", "cache_read", "cache_write"):
        if tokens := getattr(usage, kind):
            TOKENS.add(tokens, model, kind)
    call.set_attributes(
        {
            "gen_ai.response.finish_reasons": (message.stop_reason,),
            "gen_ai.usage.input_tokens": usage.context,
            "gen_ai.usage.output_tokens": usage.output,
            "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
        }
    )
    if message.failure is not None:
        call.set_attributes({"error.type": message.failure.type})
