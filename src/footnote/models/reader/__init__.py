"""The built-in reader: a model that needs no key, no weights and no network.

It decides by rule whether a question needs a search, has it made, and answers with the passages that match best,
quoted and footnoted. It never reasons, and says so. It keeps nothing: each reply follows from the context.

- `reply`         the page to read first: what to do next
- `conversation`  the question, what this turn found, what came before
- `question`      what a message asks for; `phrases` are the tables behind it
- `query`         what a search engine is asked
- `findings`      what the search tools found
- `answer`        the last words of a turn; `report` the file
- `quotation`     web text as markdown that does nothing
- `words`         what it says of its own, in each language
"""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator

from footnote.cancel import Cancelled, CancelScope
from footnote.models import errors, metrics
from footnote.models.accumulate import Accumulator
from footnote.models.base import Context, Options
from footnote.models.profiles import Price, Profile
from footnote.models.reader.reply import ReaderText, Request, reply_to
from footnote.models.wire import dumps, replace_surrogates
from footnote.protocol.messages import call_ids
from footnote.protocol.stream import Start, StreamEvent

_TEXT_PIECE = re.compile(r"\A\s*+\S{1,24}+\s*+|\S{1,24}+\s*+")
_ARGUMENT_PIECE_LENGTH = 200


class ReaderModel:
    """Asked like any model. Its window is large because it reads the last turns only, and it is known to be free."""

    id = "footnote/reader"
    profile = Profile(window=10_000_000, max_output=1_000_000, thinking="none", price=Price(input=0.0, output=0.0))

    async def stream(
        self,
        context: Context,
        options: Options,  # noqa: ARG002 - quotations are the same however they are asked for
        cancel: CancelScope,
    ) -> AsyncGenerator[StreamEvent, None]:
        fold = Accumulator(self.id, call_ids(context.messages))
        yield Start(self.id)
        with metrics.CALLS(self.id) as call:
            try:
                # Before the work, too: a run that was stopped should not begin it.
                await cancel.wait(asyncio.sleep(0))
                reply = reply_to(context)
                for part in (reply,) if isinstance(reply, ReaderText) else reply:
                    async for event in _emit(part, fold, cancel):
                        yield event
                last = fold.finish("stop", None)
            except Cancelled:
                last = fold.fail("aborted", errors.ABORTED)
            try:
                for event in last:
                    yield event
            finally:
                metrics.record_call(call, self.id, fold.message)


async def _emit(part: ReaderText | Request, fold: Accumulator, cancel: CancelScope) -> AsyncIterator[StreamEvent]:
    start = fold.open_text() if isinstance(part, ReaderText) else fold.open_call("", part.name)
    yield start
    for piece in _pieces(part):
        # The event loop gets its turn between two pieces, as with a stream from outside.
        await cancel.wait(asyncio.sleep(0))
        if event := fold.append(start.index, piece):
            yield event
    if end := fold.close(start.index):
        yield end


def _pieces(part: ReaderText | Request) -> Iterator[str]:
    if isinstance(part, ReaderText):
        for found in _TEXT_PIECE.finditer(replace_surrogates(part.text)):
            yield found.group()
        return
    arguments = dumps(part.arguments).decode()
    for start in range(0, len(arguments), _ARGUMENT_PIECE_LENGTH):
        yield arguments[start : start + _ARGUMENT_PIECE_LENGTH]
