"""The built-in reader: a model that needs no key, no weights and no network.

It decides by rule whether a question needs a search, requests it, and answers with the passages that match best,
quoted and footnoted. It does not reason, and says so. It has no state: each reply follows from the context alone.

- `reply`         the module to read first: what to do next, the answer at the end of a turn, the report as a file
- `conversation`  the question, what the tools of this turn found, what came before
- `question`      what a message asks for, and the searches for it; `phrases` are the tables behind it
- `messages`      sentences of its own, in each language
"""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing

from footnote.cancel import Cancelled, CancelScope
from footnote.models import errors
from footnote.models.accumulate import Accumulator
from footnote.models.base import MODEL_CALLS, Context, Options, record_call
from footnote.models.profiles import Price, Profile
from footnote.models.reader.reply import ReaderText, Reply, ToolRequest, reply_to
from footnote.models.wire import dumps, replace_surrogates
from footnote.protocol.messages import AssistantMessage, call_ids
from footnote.protocol.stream import Done, Failed, Start, StreamEvent

_TEXT_PIECE = re.compile(r"\A\s*+\S{1,24}+\s*+|\S{1,24}+\s*+")
_ARGUMENT_PIECE_LENGTH = 200


class ReaderModel:
    """The reader as a model. Its window is large because it reads the last turns only, and its price is 0."""

    id = "footnote/reader"
    profile = Profile(window=10_000_000, max_output=1_000_000, thinking="none", price=Price(input=0.0, output=0.0))

    async def stream(
        self,
        context: Context,
        options: Options,  # noqa: ARG002 - no option changes a quotation
        cancel: CancelScope,
    ) -> AsyncGenerator[StreamEvent, None]:
        with MODEL_CALLS(self.id) as call:
            message: AssistantMessage | None = None
            # A run that is cancelled already should not begin the work.
            reply = () if cancel.is_cancelled else reply_to(context)
            try:
                async with aclosing(emit_reply(self.id, reply, context, cancel)) as events:
                    async for event in events:
                        message = event.message if isinstance(event, Done | Failed) else message
                        yield event
            finally:
                record_call(call, self.id, message)


async def emit_reply(
    model_id: str, reply: Reply, context: Context, cancel: CancelScope
) -> AsyncGenerator[StreamEvent, None]:
    """A reply that was made by rule, as the events of a response."""
    fold = Accumulator(model_id, call_ids(context.messages))
    yield Start(model_id)
    try:
        await cancel.wait(asyncio.sleep(0))
        for part in (reply,) if isinstance(reply, ReaderText) else reply:
            async for event in _emit_part(part, fold, cancel):
                yield event
        last = fold.finish("stop", None)
    except Cancelled:
        last = fold.fail("aborted", errors.ABORTED)
    for event in last:
        yield event


async def _emit_part(
    part: ReaderText | ToolRequest, fold: Accumulator, cancel: CancelScope
) -> AsyncIterator[StreamEvent]:
    start = fold.open_text() if isinstance(part, ReaderText) else fold.open_call("", part.name)
    yield start
    for piece in _pieces(part):
        # The event loop runs other tasks between two pieces, as with a stream from the network.
        await cancel.wait(asyncio.sleep(0))
        if event := fold.append(start.index, piece):
            yield event
    if end := fold.close(start.index):
        yield end


def _pieces(part: ReaderText | ToolRequest) -> Iterator[str]:
    if isinstance(part, ReaderText):
        for found in _TEXT_PIECE.finditer(replace_surrogates(part.text)):
            yield found.group()
        return
    arguments = dumps(part.arguments).decode()
    for start in range(0, len(arguments), _ARGUMENT_PIECE_LENGTH):
        yield arguments[start : start + _ARGUMENT_PIECE_LENGTH]
