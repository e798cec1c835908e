"""What a turn is given, and what it hands up beside the events that a client follows."""

from typing import TypeAlias

from msgspec import Struct

from footnote.protocol.events import Event
from footnote.protocol.messages import AssistantMessage, Message, ToolResultMessage
from footnote.protocol.tools import Locale


class Digest(Struct, frozen=True):
    """What the first `upto` messages of a session said, in few words, for a model whose window is too small."""

    upto: int
    text: str


class Turn(Struct, frozen=True):
    """One question and everything that its answer is made from.

    `messages` is the session so far, the question last; after a crash, the finished rounds of this turn follow
    it and `first_index` says how many blocks they had: the loop goes on from there.
    """

    session_id: str
    run_id: str
    message_id: str
    system: str
    messages: tuple[Message, ...]
    locale: Locale = "en"
    max_tool_rounds: int = 5
    thinking_budget: int | None = None
    digest: Digest | None = None
    first_index: int = 0


class Kept(Struct, frozen=True):
    """A message that is whole: to be stored, once, now."""

    message: AssistantMessage | ToolResultMessage


class Digested(Struct, frozen=True):
    """Old turns were summarised: to be stored, so that it need not be done again."""

    digest: Digest


Step: TypeAlias = Event | Kept | Digested
