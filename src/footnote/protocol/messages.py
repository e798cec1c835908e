"""The messages of a conversation. In JSON the fields are camelCase (`toolCallId`, `isError`)."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from footnote.protocol.errors import ErrorParam
from footnote.protocol.files import ToolImage
from footnote.protocol.plans import PlanItem
from footnote.protocol.sources import Citation, Pointer

StopReason: TypeAlias = Literal["stop", "length", "toolUse", "error", "aborted"]


class Text(Struct, frozen=True, tag="text", omit_defaults=True):
    """`citations`: the statements of a finished answer with their verdicts. They are not sent to providers.
    `is_wholly_judged`: those without a footnote were judged, too; texts that older versions stored never were."""

    text: str
    citations: tuple[Citation, ...] = ()
    is_wholly_judged: bool = False


class Image(Struct, frozen=True, tag="image", rename="camel"):
    """An image in a message; `data` is base64 in JSON."""

    media_type: str
    data: bytes


class Thinking(Struct, frozen=True, tag="thinking", omit_defaults=True):
    """The thinking of a model before its answer.

    `signature` proves to the provider that the text is its own; `redacted` is an encrypted block in place of text;
    `details` are a router's own reasoning records. All of them are sent back unchanged.
    """

    text: str
    signature: str | None = None
    redacted: str | None = None
    details: tuple[dict[str, Any], ...] = ()


class ToolCall(Struct, frozen=True, tag="toolCall", omit_defaults=True):
    """A call that the model asks for. `invalid` holds the raw text of arguments that are not a JSON object,
    because they were cut or malformed; such a call is answered with an error and never executed. `title` is its title
    for the user, in the language of the run; it is not sent to providers. `extra` are the provider's own fields beside
    the call, such as the signature of the thought that led to it: they are sent back to the same model unchanged.
    `pointers`: the passages that footnotes in the texts of the arguments point to, by the name of the argument."""

    id: str
    name: str
    arguments: dict[str, Any]
    invalid: str | None = None
    title: str = ""
    extra: dict[str, Any] | None = None
    pointers: dict[str, tuple[Pointer, ...]] = {}


class Foreign(Struct, frozen=True, tag="foreign"):
    """A block of an unknown kind, stored so that it can be sent back to its provider unchanged."""

    block: dict[str, Any]


class Plan(Struct, frozen=True, tag="plan", omit_defaults=True):
    """The plan of a research run. It is not sent to providers."""

    items: tuple[PlanItem, ...]
    steering: tuple[str, ...] = ()


Part: TypeAlias = Text | Image
Block: TypeAlias = Thinking | Text | ToolCall | Foreign | Plan


class Usage(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Tokens of one response. `input` counts neither of the cache fields; `reasoning` is a part of `output`."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def context(self) -> int:
        """The tokens of the whole request, cached ones included."""
        return self.input + self.cache_read + self.cache_write

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.reasoning + other.reasoning,
        )


class Failure(Struct, frozen=True, omit_defaults=True):
    """Why a response failed: the fields of the error event, and the HTTP status behind it. `params["detail"]` is the
    provider's own message, without secrets. `is_unsent`: the provider has not received the request, and bills
    nothing."""

    type: str
    message: str
    retryable: bool = False
    status: int | None = None
    code: str = ""
    params: Mapping[str, ErrorParam] = {}
    is_unsent: bool = False


class UserMessage(Struct, frozen=True, tag_field="role", tag="user", rename="camel"):
    content: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.content if isinstance(part, Text))


class AssistantMessage(Struct, frozen=True, tag_field="role", tag="assistant", rename="camel", omit_defaults=True):
    """One response of a model. `model` is `PROVIDER/MODEL`; `raw_stop_reason` is the provider's own word. `timestamp`:
    when it was complete, ISO 8601 in UTC, set when it is stored; it is not sent to providers. `parent`: the item of the
    plan whose own loop it belongs to; such a message is no part of the conversation."""

    content: tuple[Block, ...]
    stop_reason: StopReason
    model: str
    usage: Usage = field(default_factory=Usage)
    raw_stop_reason: str | None = None
    failure: Failure | None = None
    timestamp: str | None = None
    parent: str | None = None

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(block for block in self.content if isinstance(block, ToolCall))


class ToolResultMessage(Struct, frozen=True, tag_field="role", tag="toolResult", rename="camel", omit_defaults=True):
    """The result of one call: `content` is for the model, `artifact` and `images` are for the user. `timestamp`: when
    it was stored, and `parent` the item of the plan, as with a response."""

    tool_call_id: str
    tool_name: str
    content: tuple[Part, ...]
    is_error: bool = False
    artifact: dict[str, Any] | None = None
    images: tuple[ToolImage, ...] = ()
    timestamp: str | None = None
    parent: str | None = None

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.content if isinstance(part, Text))


Message: TypeAlias = UserMessage | AssistantMessage | ToolResultMessage


def user_message(text: str) -> UserMessage:
    """A user message of one text, the common case."""
    return UserMessage((Text(text),))


def call_ids(messages: Iterable[Message]) -> frozenset[str]:
    """Ids of every call in the conversation."""
    return frozenset(call.id for message in messages if isinstance(message, AssistantMessage) for call in message.calls)
