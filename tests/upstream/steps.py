"""The steps of a script: what a model does and what happens on the network, independent of a provider's format.

A block stays open until the next step of content or `stop` closes it, so `say("Hel"), cut()` is cut inside the
text. A reply without `stop` ends its HTTP body cleanly but never says that the answer is complete.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from upstream.wire import Wire


@dataclass(frozen=True)
class Say:
    fragments: tuple[str, ...]


@dataclass(frozen=True)
class Cite:
    """A span of text that the API cites: a block of its own, with the passages of the request by their ids."""

    fragments: tuple[str, ...]
    passages: tuple[str, ...]
    citations_first: bool


@dataclass(frozen=True)
class Think:
    fragments: tuple[str, ...]
    signature: str | None


@dataclass(frozen=True)
class Redacted:
    data: str


@dataclass(frozen=True)
class Call:
    name: str
    id: str
    fragments: tuple[str, ...]


@dataclass(frozen=True)
class ParallelCalls:
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Refuse:
    explanation: str


@dataclass(frozen=True)
class UsageStep:
    """Is sent where the provider sends it, wherever it is in the script."""

    input: int = 10
    output: int = 5
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


@dataclass(frozen=True)
class Stop:
    """`stop`, `length` and `toolUse` are translated to the provider's names; any other reason is sent unchanged."""

    reason: str | None


@dataclass(frozen=True)
class ErrorStep:
    type: str
    message: str


@dataclass(frozen=True)
class EventStep:
    payload: Any


@dataclass(frozen=True)
class Raw:
    data: bytes


@dataclass(frozen=True)
class Cut:
    """The connection closes in the middle of the body."""


@dataclass(frozen=True)
class Reset:
    """The connection is reset (RST); as the first step, before any byte of a response."""


@dataclass(frozen=True)
class Stall:
    """Sends nothing more, and waits until the client closes the connection."""


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Hold:
    until: asyncio.Event


Content: TypeAlias = Say | Cite | Think | Redacted | Call | ParallelCalls | Refuse
Spoken: TypeAlias = Content | Stop | ErrorStep | EventStep
Effect: TypeAlias = Raw | Cut | Reset | Stall | Pause | Hold
Step: TypeAlias = Spoken | UsageStep | Effect


@dataclass(frozen=True)
class ModelReply:
    steps: tuple[Step, ...]
    wire: Wire

    @property
    def usage(self) -> UsageStep:
        return next((step for step in reversed(self.steps) if isinstance(step, UsageStep)), UsageStep())


@dataclass(frozen=True)
class ModelStatusReply:
    """A response that is not a stream. `body` None: an error in the format of the API."""

    code: int
    type: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    error_code: str | None = None


def reply(*steps: Step, wire: Wire | None = None) -> ModelReply:
    return ModelReply(steps, wire or Wire())


def say(*fragments: str) -> Say:
    return Say(fragments)


def cite(*fragments: str, passages: tuple[str, ...], citations_first: bool = False) -> Cite:
    return Cite(fragments, passages, citations_first)


def think(*fragments: str, signature: str | None = None) -> Think:
    return Think(fragments, signature)


def redacted(data: str) -> Redacted:
    return Redacted(data)


def call(name: str, arguments: Mapping[str, Any] | str, id: str = "call_1", fragments: int = 2) -> Call:  # noqa: A002 - the wire's word
    """A tool call. Arguments given as text are sent unchanged, so that they can be cut, empty or malformed."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    size = max(1, -(-len(text) // fragments))
    return Call(name, id, tuple(text[at : at + size] for at in range(0, len(text), size)))


def parallel_calls(*calls: Call) -> ParallelCalls:
    """Calls whose fragments are interleaved."""
    return ParallelCalls(calls)


def refuse(explanation: str) -> Refuse:
    """The model refuses. The reply ends as the provider ends it; no `stop` follows."""
    return Refuse(explanation)


def usage(input: int = 10, output: int = 5, **more: int) -> UsageStep:  # noqa: A002 - the wire's word
    return UsageStep(input, output, **more)


def stop(reason: str | None = "stop") -> Stop:
    return Stop(reason)


def error_event(type: str = "overloaded_error", message: str = "Overloaded") -> ErrorStep:  # noqa: A002 - as above
    return ErrorStep(type, message)


def event(payload: Any) -> EventStep:
    """One JSON payload of a single provider, framed like the others."""
    return EventStep(payload)


def raw(data: bytes) -> Raw:
    return Raw(data)


def cut() -> Cut:
    return Cut()


def reset() -> Reset:
    return Reset()


def stall() -> Stall:
    return Stall()


def pause(seconds: float) -> Pause:
    return Pause(seconds)


def hold(until: asyncio.Event) -> Hold:
    return Hold(until)


_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def status(
    code: int,
    message: str = "The provider's own words.",
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
) -> ModelStatusReply:
    return ModelStatusReply(code, _TYPES.get(code, "api_error"), message, headers or {}, body)


def overflow() -> ModelStatusReply:
    """An error that the request exceeds the context window, with a message that both adapters recognise."""
    return ModelStatusReply(
        400,
        "invalid_request_error",
        "prompt is too long: 210000 tokens > 200000 maximum. This model's maximum context length is 200000 tokens.",
        error_code="context_length_exceeded",
    )
