"""The history of a request, repaired so that any provider accepts it.

Runs are stopped half-way, models are changed between turns, servers invent call ids: an API would refuse the history as
it is stored. Only this module repairs it, and only for the request; the stored history stays as it is.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from footnote.protocol.messages import (
    AssistantMessage,
    Block,
    Foreign,
    Image,
    Message,
    Part,
    Plan,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

NO_RESULT = "No result: the run was stopped before this call finished."
INVALID_ARGUMENTS = "The arguments of this call were cut off or were not valid JSON; it was not executed."
IMAGE_UNSUPPORTED = Text(
    "[An image stood here. It could not be shown to you: this model cannot see images. Say so if it matters.]"
)
IMAGE_REFUSED = Text(
    "[An image stood here. It could not be shown to you: the provider refused it, or another one with it."
    " Say so if it matters.]"
)
EARLIER_OMITTED = UserMessage((Text("[The beginning of this conversation is not shown.]"),))
CONTINUE = UserMessage((Text("Go on."),))

_INVALID_NAME_CHARACTERS = re.compile(r"[^a-zA-Z0-9_-]")


class HistoryRules(Struct, frozen=True):
    """What one API accepts from one model."""

    model: str
    images: bool
    max_id_length: int
    thinking: bool
    """Whether the API takes thinking, and blocks of unknown kinds: signed thinking is sent back unchanged, unsigned
    thinking as text."""


def repair(messages: Sequence[Message], rules: HistoryRules) -> list[Message]:
    """`messages` with a question first and last, every call answered right after it, ids unique and well formed,
    and nothing empty. Two responses in a row have a question between them."""
    repaired: list[Message] = []
    for message in _pair_results(messages, rules):
        if repaired and isinstance(repaired[-1], AssistantMessage) and isinstance(message, AssistantMessage):
            repaired.append(CONTINUE)
        repaired.append(message)
    if repaired and not isinstance(repaired[0], UserMessage):
        repaired.insert(0, EARLIER_OMITTED)
    if not repaired or isinstance(repaired[-1], AssistantMessage):
        repaired.append(CONTINUE)
    return repaired


def images_in(messages: Sequence[Message]) -> frozenset[Image]:
    return frozenset(part for message in messages for part in message.content if isinstance(part, Image))


def has_evidence(messages: Sequence[Message]) -> bool:
    """Whether a result has passages that an API can be asked to cite."""
    results = (message.artifact for message in messages if isinstance(message, ToolResultMessage))
    return any(artifact.get("evidence") for artifact in results if artifact)


def without_refused_images(messages: Sequence[Message], refused: frozenset[Image]) -> tuple[Message, ...]:
    """`messages` with a note in the place of each image that the provider refused."""
    return tuple(_replace_refused(message, refused) for message in messages)


def _replace_refused(message: Message, refused: frozenset[Image]) -> Message:
    if isinstance(message, AssistantMessage) or not any(part in refused for part in message.content):
        return message
    content = tuple(IMAGE_REFUSED if part in refused else part for part in message.content)
    return msgspec.structs.replace(message, content=content)


def _pair_results(messages: Sequence[Message], rules: HistoryRules) -> Iterator[Message]:
    used_ids: set[str] = set()
    position = 0
    while position < len(messages):
        message = messages[position]
        position += 1
        match message:
            case UserMessage():
                if content := _parts(message.content, rules):
                    yield UserMessage(content)
            case AssistantMessage():
                results: list[ToolResultMessage] = []
                while position < len(messages) and isinstance(result := messages[position], ToolResultMessage):
                    results.append(result)
                    position += 1
                yield from _exchange(message, results, rules, used_ids)
            case ToolResultMessage():
                pass  # its call is missing, and no API accepts a result without one


def _exchange(
    message: AssistantMessage, results: list[ToolResultMessage], rules: HistoryRules, used_ids: set[str]
) -> Iterator[Message]:
    """One response and the results of its calls, in call order; a missing result becomes an error."""
    content: list[Block] = []
    answers: list[ToolResultMessage] = []
    same_model = message.model == rules.model
    for block in message.content:
        if isinstance(block, ToolCall):
            call_id = _unique_id(block.id, rules.max_id_length, used_ids)
            extra = block.extra if same_model else None
            content.append(ToolCall(call_id, _valid_name(block.name), block.arguments, extra=extra))
            answers.append(_result_for(block, call_id, results, rules))
        elif not isinstance(block, Plan) and (repaired := _block(block, rules, same_model=same_model)) is not None:
            content.append(repaired)
    while rules.thinking and content and isinstance(content[-1], Thinking):
        content.pop()  # a message may not end with thinking
    if any(not isinstance(block, Thinking) for block in content):
        yield msgspec.structs.replace(message, content=tuple(content))
        yield from answers


def _block(block: Thinking | Text | Foreign, rules: HistoryRules, *, same_model: bool) -> Block | None:
    match block:
        case Text():
            return block if block.text.strip() else None
        case Foreign():
            return block if same_model and rules.thinking else None
        case Thinking():
            proof = (block.signature or block.redacted) if rules.thinking else block.details
            if same_model and proof:
                return block
            is_readable = rules.thinking and not block.redacted and block.text.strip()
            return Text(block.text) if is_readable else None


def _result_for(
    call: ToolCall, call_id: str, results: list[ToolResultMessage], rules: HistoryRules
) -> ToolResultMessage:
    for position, result in enumerate(results):
        if result.tool_call_id == call.id:
            del results[position]
            content = _parts(result.content, rules) or (Text("(no output)"),)
            return msgspec.structs.replace(result, tool_call_id=call_id, content=content)
    reason = INVALID_ARGUMENTS if call.invalid is not None else NO_RESULT
    return ToolResultMessage(call_id, call.name, (Text(reason),), is_error=True)


def _parts(content: tuple[Part, ...], rules: HistoryRules) -> tuple[Part, ...]:
    shown = (IMAGE_UNSUPPORTED if isinstance(part, Image) and not rules.images else part for part in content)
    return tuple(part for part in shown if isinstance(part, Image) or part.text.strip())


def _valid_name(name: str) -> str:
    """A model may invent a tool whose name no API accepts in a history."""
    return _INVALID_NAME_CHARACTERS.sub("_", name)[:64] or "unnamed"


def _unique_id(call_id: str, max_length: int, used_ids: set[str]) -> str:
    """A well-formed id that no other call of the conversation has. The same id always becomes the same one, so
    that the provider's prompt cache stays valid."""
    clean = _INVALID_NAME_CHARACTERS.sub("_", call_id)
    if clean != call_id or not clean or len(clean) > max_length:
        digest = hashlib.blake2b(call_id.encode("utf-8", "replace"), digest_size=5).hexdigest()
        clean = f"{clean[: max_length - 11]}_{digest}"
    unique, count = clean, 1
    while unique in used_ids:
        count += 1
        unique = f"{clean[: max_length - 4]}_{count}"
    used_ids.add(unique)
    return unique
