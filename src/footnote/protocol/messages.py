"""What was said. In JSON the fields are camelCase (`toolCallId`, `isError`)."""

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from footnote.protocol.files import ToolImage
from footnote.protocol.sources import Citation

StopReason: TypeAlias = Literal["stop", "length", "toolUse", "error", "aborted"]


class Text(Struct, frozen=True, tag="text", omit_defaults=True):
    """`citations`: how the footnoted sentences of a finished answer rest on their sources. No provider is sent them."""

    text: str
    citations: tuple[Citation, ...] = ()


class Image(Struct, frozen=True, tag="image", rename="camel"):
    """An image in a message; `data` is base64 in JSON."""

    media_type: str
    data: bytes


class Thinking(Struct, frozen=True, tag="thinking", omit_defaults=True):
    """What the model thought before it spoke.

    `signature` proves to the provider that the text is its own; `redacted` is an encrypted block that comes
    instead of text; `details` are a router's own reasoning records. All of them go back unchanged.
    """

    text: str
    signature: str | None = None
    redacted: str | None = None
    details: tuple[dict[str, Any], ...] = ()


class ToolCall(Struct, frozen=True, tag="toolCall", omit_defaults=True):
    """A call that the model asks for. `invalid` holds the raw text of arguments that are not a JSON object,
    because they were cut or malformed; such a call is answered with an error and never executed. `title` is what the
    person saw of it, in the language of the run. No provider is sent it. `extra` are fields of the provider's own
    beside the call, such as the signature of the thought that led to it: they go back to the same model unchanged."""

    id: str
    name: str
    arguments: dict[str, Any]
    invalid: str | None = None
    title: str = ""
    extra: dict[str, Any] | None = None


class Foreign(Struct, frozen=True, tag="foreign"):
    """A block of a kind that we do not know, kept so that it can go back to its provider unchanged."""

    block: dict[str, Any]


Part: TypeAlias = Text | Image
Block: TypeAlias = Thinking | Text | ToolCall | Foreign


class Usage(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Tokens of one response. `input` counts neither of the cache fields; `reasoning` is a part of `output`."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def context(self) -> int:
        """Everything that the model had before it when it answered."""
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
    """Why a response ended badly: the wire's `{type, message, retryable}` and the HTTP status behind it."""

    type: str
    message: str
    retryable: bool = False
    status: int | None = None


class UserMessage(Struct, frozen=True, tag_field="role", tag="user", rename="camel"):
    content: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.content if isinstance(part, Text))


class AssistantMessage(Struct, frozen=True, tag_field="role", tag="assistant", rename="camel", omit_defaults=True):
    """One response of a model. `model` is `PROVIDER/MODEL`; `raw_stop_reason` is the provider's own word. `timestamp`:
    when it was whole, ISO 8601 in UTC, set where it is stored. No provider is sent it."""

    content: tuple[Block, ...]
    stop_reason: StopReason
    model: str
    usage: Usage = field(default_factory=Usage)
    raw_stop_reason: str | None = None
    failure: Failure | None = None
    timestamp: str | None = None

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(block for block in self.content if isinstance(block, ToolCall))


class ToolResultMessage(Struct, frozen=True, tag_field="role", tag="toolResult", rename="camel", omit_defaults=True):
    """The answer to one call: `content` is what the model reads, `artifact` and `images` what the person sees.
    `timestamp`: when it was stored, as with a response."""

    tool_call_id: str
    tool_name: str
    content: tuple[Part, ...]
    is_error: bool = False
    artifact: dict[str, Any] | None = None
    images: tuple[ToolImage, ...] = ()
    timestamp: str | None = None

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.content if isinstance(part, Text))


Message: TypeAlias = UserMessage | AssistantMessage | ToolResultMessage


def user_message(text: str) -> UserMessage:
    """A user message of one text, the common case."""
    return UserMessage((Text(text),))


def call_ids(messages: Iterable[Message]) -> frozenset[str]:
    """Ids of every call in the conversation."""
    return frozenset(call.id for said in messages if isinstance(said, AssistantMessage) for call in said.calls)
