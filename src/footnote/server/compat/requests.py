"""Requests of other APIs as questions to an agent. Pure."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, Literal, TypeAlias, cast

import msgspec
from msgspec import Raw, Struct, UnsetType

from footnote.config.settings import Agent
from footnote.protocol.errors import Unknown, UsageError
from footnote.protocol.messages import AssistantMessage, Message, Text, user_message
from footnote.protocol.sessions import MAX_QUESTION_LENGTH
from footnote.server.requests import reject_nul

Role: TypeAlias = Literal["user", "assistant"]
MAX_TITLE_LENGTH = 80
MAX_BODY_BYTES = 8_000_000
"""A few times the text that fits into the largest context windows."""
MAX_MESSAGES = 10_000
_MAX_SMALL_BYTES = 10_000
GREETING_PLACEHOLDER = "(The assistant begins.)"
"""The question before a conversation that begins with the assistant, because a session begins with a question."""
TOOLS_REJECTED_MESSAGE = (
    "`{field}` cannot be used here: an agent of Footnote has its own tools and runs them itself. "
    "Leave it out, and choose the agent with `model`."
)


class UnknownModel(Unknown):
    type = "model_not_found"


class CompatMessage(Struct, frozen=True):
    """One message of the conversation, as text."""

    role: Role
    text: str


class CompatQuestion(Struct, frozen=True):
    """A question with the conversation before it. `model`: None for that of the agent."""

    agent_id: str
    model: str | None
    history: tuple[Message, ...]
    text: str
    title: str


def build_question(
    agents: Sequence[Agent], model: str, system: str, messages: Iterable[CompatMessage]
) -> CompatQuestion:
    """The last message, which must be the user's, is the question. `model` names the agent, or, as PROVIDER/MODEL, the
    model with which the first agent answers."""
    agent_id, agent_model = _resolve_model(agents, model)
    *earlier, last = _merge_turns(messages)
    if len(earlier) >= MAX_MESSAGES:
        raise UsageError(f"The conversation has more than {MAX_MESSAGES:,} messages; leave out the oldest.")
    if last.role != "user" or not last.text.strip():
        raise UsageError("The last message must be the user's, and not be empty: it is the question.")
    text = f"<instructions>\n{system}\n</instructions>\n\n{last.text}" if system.strip() else last.text
    if len(text) > MAX_QUESTION_LENGTH:
        raise UsageError(f"The question has {len(text):,} characters; {MAX_QUESTION_LENGTH:,} are allowed.")
    history = tuple(_to_message(message, model) for message in earlier)
    return CompatQuestion(agent_id, agent_model, history, text, _title(last.text))


def _resolve_model(agents: Sequence[Agent], model: str) -> tuple[str, str | None]:
    if any(agent.id == model for agent in agents):
        return model, None
    provider, _, name = model.partition("/")
    if provider and name:
        return agents[0].id, model
    known = ", ".join(agent.id for agent in agents[:10])
    raise UnknownModel(
        f"There is no agent {model[:100]!r}. `model` is the id of an agent ({known}), or PROVIDER/MODEL for a model "
        "that the first of them answers with."
    )


def _merge_turns(messages: Iterable[CompatMessage]) -> list[CompatMessage]:
    """Joins consecutive messages of one role, and drops empty ones."""
    texts = (message for message in messages if message.text.strip())
    turns = [
        CompatMessage(role, "\n\n".join(message.text for message in group))
        for role, group in groupby(texts, attrgetter("role"))
    ]
    if turns and turns[0].role == "assistant":
        turns.insert(0, CompatMessage("user", GREETING_PLACEHOLDER))
    return turns or [CompatMessage("assistant", "")]


def _to_message(message: CompatMessage, model: str) -> Message:
    if message.role == "user":
        return user_message(message.text)
    return AssistantMessage(content=(Text(message.text),), stop_reason="stop", model=model)


def _title(question: str) -> str:
    line = " ".join(question.split())
    return line if len(line) <= MAX_TITLE_LENGTH else f"{line[: MAX_TITLE_LENGTH - 1].rstrip()}…"


class _ContentPart(Struct, frozen=True, gc=False):
    type: str
    text: str | None = None


_Content: TypeAlias = str | list[_ContentPart] | None
_content_decoder: "msgspec.json.Decoder[_Content]" = msgspec.json.Decoder(_Content)


def extract_text(content: Raw | UnsetType, path: str, *, skipped_types: frozenset[str] = frozenset()) -> str:
    """The text of a message, which both APIs send as a string or as a list of parts. Parts of `skipped_types` are
    ignored; others that are not text are refused."""
    if isinstance(content, UnsetType):
        return ""
    try:
        decoded = _content_decoder.decode(content)
    except msgspec.MsgspecError as error:
        reason = str(error).rstrip(".").replace("at `$", f"at `{path}")
        raise UsageError(f"{path} must be a text or a list of parts: {reason}.") from error
    except RecursionError as error:
        raise UsageError(f"{path} is nested too deeply.") from error
    if not isinstance(decoded, list):
        return reject_nul(decoded or "")
    texts: list[str] = []
    for index, part in enumerate(decoded):
        if part.type in skipped_types:
            continue
        if part.type != "text" or part.text is None:
            raise UsageError(
                f"{path}[{index}] is of the type {part.type[:40]!r}. Only text can be given to an agent here: "
                "images, documents and results of tools cannot."
            )
        texts.append(part.text)
    return reject_nul("\n\n".join(texts))


def decode_field(raw: Raw | UnsetType) -> Any:
    """The value of a field that an agent does not support, so that the caller sees whether it asks for something. None
    if the field is missing; True for a long value, which asks for something in any case and is not decoded."""
    if isinstance(raw, UnsetType):
        return None
    return msgspec.json.decode(raw) if len(memoryview(raw)) <= _MAX_SMALL_BYTES else True


def reject_tools(**fields: Raw | UnsetType) -> None:
    """Refuses tools of the client, which would wait for calls that never come."""
    for name, raw in fields.items():
        value = decode_field(raw)
        choice = cast("dict[str, Any]", value).get("type") if isinstance(value, dict) else value
        if value and choice not in ("none", "auto"):
            raise UsageError(TOOLS_REJECTED_MESSAGE.format(field=name))
