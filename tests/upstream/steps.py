"""The vocabulary of a script: what a model does and what a network does to it, in no provider's words.

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
class Together:
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Refuse:
    explanation: str


@dataclass(frozen=True)
class Usage:
    """Goes where the provider puts it, wherever it stands in the script."""

    input: int = 10
    output: int = 5
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


@dataclass(frozen=True)
class Stop:
    """`stop`, `length` and `toolUse` become the provider's word for it; anything else is sent as it is."""

    reason: str | None


@dataclass(frozen=True)
class ErrorEvent:
    type: str
    message: str


@dataclass(frozen=True)
class Event:
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
    """Nothing more comes until the client goes away."""


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Hold:
    until: asyncio.Event


Content: TypeAlias = Say | Think | Redacted | Call | Together | Refuse
Spoken: TypeAlias = Content | Stop | ErrorEvent | Event
Effect: TypeAlias = Raw | Cut | Reset | Stall | Pause | Hold
Step: TypeAlias = Spoken | Usage | Effect


@dataclass(frozen=True)
class Reply:
    steps: tuple[Step, ...]
    wire: Wire

    @property
    def usage(self) -> Usage:
        return next((step for step in reversed(self.steps) if isinstance(step, Usage)), Usage())


@dataclass(frozen=True)
class StatusReply:
    """A response that is no stream. `body` None: an error in the API's own shape."""

    code: int
    type: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    error_code: str | None = None


def reply(*steps: Step, wire: Wire | None = None) -> Reply:
    return Reply(steps, wire or Wire())


def say(*fragments: str) -> Say:
    return Say(fragments)


def think(*fragments: str, signature: str | None = None) -> Think:
    return Think(fragments, signature)


def redacted(data: str) -> Redacted:
    return Redacted(data)


def call(name: str, arguments: Mapping[str, Any] | str, id: str = "call_1", fragments: int = 2) -> Call:  # noqa: A002 - the wire's word
    """A call of a tool. Arguments as text are sent as they are: cut, empty or malformed ones."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    size = max(1, -(-len(text) // fragments))
    return Call(name, id, tuple(text[at : at + size] for at in range(0, len(text), size)))


def together(*calls: Call) -> Together:
    """Calls whose fragments arrive in turns."""
    return Together(calls)


def refuse(explanation: str) -> Refuse:
    """The model declines. It ends the answer as the provider ends it; no `stop` follows."""
    return Refuse(explanation)


def usage(input: int = 10, output: int = 5, **more: int) -> Usage:  # noqa: A002 - the wire's word
    return Usage(input, output, **more)


def stop(reason: str | None = "stop") -> Stop:
    return Stop(reason)


def error_event(type: str = "overloaded_error", message: str = "Overloaded") -> ErrorEvent:  # noqa: A002 - as above
    return ErrorEvent(type, message)


def event(payload: Any) -> Event:
    """One JSON payload of a single provider, framed like the others."""
    return Event(payload)


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
) -> StatusReply:
    return StatusReply(code, _TYPES.get(code, "api_error"), message, headers or {}, body)


def overflow() -> StatusReply:
    """The request is larger than the model's window, in words that match both providers' own."""
    return StatusReply(
        400,
        "invalid_request_error",
        "prompt is too long: 210000 tokens > 200000 maximum. This model's maximum context length is 200000 tokens.",
        error_code="context_length_exceeded",
    )
