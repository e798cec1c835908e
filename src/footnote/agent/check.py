"""The model of a check: it needs no weights, asks for the one tool of a check, and says what that has found."""

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from footnote.cancel import CancelScope
from footnote.models.accumulate import Accumulator
from footnote.models.base import Context, Model, Options
from footnote.models.profiles import Profile
from footnote.models.reader import emit_reply
from footnote.models.reader.reply import ReaderText, ToolRequest
from footnote.protocol.files import split_attachments
from footnote.protocol.messages import Failure, Message, ToolResultMessage, UserMessage, call_ids
from footnote.protocol.stream import Start, StreamEvent
from footnote.text.boundary import unwrap_web_text

CHECK_TOOL = "check_text"
_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)


class CheckModel:
    """Each reply follows from the conversation alone, so that a check goes on after a crash. `model` is that of the
    session, which may take a second look at statements."""

    id = "footnote/check"

    def __init__(self, model: Model) -> None:
        self.profile = Profile(
            window=10_000_000, max_output=1_000_000, thinking="none", style="agentic", price=model.profile.price
        )

    async def stream(
        self,
        context: Context,
        options: Options,  # noqa: ARG002 - no option changes what was found
        cancel: CancelScope,
    ) -> AsyncGenerator[StreamEvent, None]:
        asked, result = _turn_of(context.messages)
        if result is not None and result.is_error:
            fold = Accumulator(self.id, call_ids(context.messages))
            yield Start(self.id)
            failure = Failure("unprocessable", result.text, code="check_failed", params={"reason": result.text})
            for event in fold.fail("error", failure):
                yield event
            return
        reply = (_request(asked),) if result is None else ReaderText(unwrap_web_text(result.text))
        async with aclosing(emit_reply(self.id, reply, context, cancel)) as events:
            async for event in events:
                yield event


def _turn_of(messages: Sequence[Message]) -> tuple[UserMessage | None, ToolResultMessage | None]:
    """The question of a turn, and the result of its check."""
    for position in range(len(messages) - 1, -1, -1):
        message = messages[position]
        if isinstance(message, UserMessage):
            following = (one for one in messages[position + 1 :] if isinstance(one, ToolResultMessage))
            return message, next(following, None)
    return None, None


def _request(asked: UserMessage | None) -> ToolRequest:
    """The address in the question, or else the file that came with it."""
    text, attached = split_attachments(asked.text if asked else "")
    if found := _ADDRESS.search(text):
        return ToolRequest(CHECK_TOOL, {"url": found.group()})
    return ToolRequest(CHECK_TOOL, {"file_path": path} if (path := next(iter(attached.others), "")) else {})
