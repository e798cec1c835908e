"""A model for tests that ships with the package: it answers from a script, in the same twelve events as a real one.

    ScriptedModel([
        [call("web_search", {"query": "…"})],
        [text("The answer", " is 42.")],
    ])

Each item of the script is one response: a list of blocks, with a `ScriptedEnd` such as `fails(…)` last if it does not
end well. A response may also be a function of the context, for tests that react to a request.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from footnote.cancel import Cancelled, CancelScope
from footnote.models import errors
from footnote.models.accumulate import Accumulator
from footnote.models.base import Context, Options
from footnote.models.profiles import Profile
from footnote.protocol import new_id
from footnote.protocol.messages import Failure, Usage, call_ids
from footnote.protocol.stream import Start, StreamEvent


class ScriptedText(Struct, frozen=True):
    """Text, or thinking, in the given pieces."""

    pieces: tuple[str, ...]
    kind: Literal["text", "thinking"] = "text"
    signature: str = ""


class ScriptedCall(Struct, frozen=True):
    """A tool call whose arguments arrive in the given pieces of JSON."""

    name: str
    pieces: tuple[str, ...]
    id: str


class ScriptedPause(Struct, frozen=True):
    """Waits until `released`, so that a test can cancel here."""

    released: asyncio.Event


class ScriptedEnd(Struct, frozen=True):
    """The end of a response that does not end well."""

    reason: Literal["length", "error"]
    failure: Failure | None = None


Step: TypeAlias = ScriptedText | ScriptedCall | ScriptedPause | ScriptedEnd
Reply: TypeAlias = Sequence[Step] | Callable[[Context], Sequence[Step]]


def text(*pieces: str) -> ScriptedText:
    return ScriptedText(pieces)


def thinking(*pieces: str, signature: str = "") -> ScriptedText:
    return ScriptedText(pieces, "thinking", signature)


def call(name: str, arguments: object, *, id: str | None = None) -> ScriptedCall:  # noqa: A002 - the word of the wire
    return ScriptedCall(name, (msgspec.json.encode(arguments).decode(),), id or new_id("call"))


def fails(message: str = "The model failed.", *, type: str = "api_error") -> ScriptedEnd:  # noqa: A002 - as above
    return ScriptedEnd("error", Failure(type, message))


class ScriptedModel:
    """Answers each request with the next reply of its script, and records the `contexts` of the requests."""

    def __init__(
        self,
        replies: Iterable[Reply],
        *,
        id: str = "footnote/scripted",  # noqa: A002 - the word of the port
        profile: Profile | None = None,
        usage: Usage | None = None,
    ) -> None:
        self.id = id
        self.profile = profile or Profile(images=True)
        self.contexts: list[Context] = []
        self._replies = list(replies)
        self._usage = usage or Usage(input=10, output=5)

    async def stream(
        self,
        context: Context,
        options: Options,  # noqa: ARG002 - a script does not depend on options
        cancel: CancelScope,
    ) -> AsyncGenerator[StreamEvent, None]:
        fold = Accumulator(self.id, call_ids(context.messages))
        reply = self._next_reply(context)
        fold.usage = self._usage
        end: ScriptedEnd | None = None
        yield Start(self.id)
        try:
            for step in reply:
                if isinstance(step, ScriptedEnd):
                    end = step
                elif isinstance(step, ScriptedPause):
                    await cancel.wait(_wait_released(step))
                else:
                    async for event in _perform(step, fold, cancel):
                        yield event
        except Cancelled:
            for event in fold.fail("aborted", errors.ABORTED):
                yield event
            return
        for event in _final_events(fold, end):
            yield event

    def _next_reply(self, context: Context) -> Sequence[Step]:
        position = len(self.contexts)
        self.contexts.append(context)
        if position >= len(self._replies):
            return [fails(f"The script has {len(self._replies)} replies and was asked for one more.")]
        reply = self._replies[position]
        return reply(context) if callable(reply) else reply


async def _perform(
    step: ScriptedText | ScriptedCall, fold: Accumulator, cancel: CancelScope
) -> AsyncIterator[StreamEvent]:
    if isinstance(step, ScriptedCall):
        start = fold.open_call(step.id, step.name)
    else:
        start = fold.open_text() if step.kind == "text" else fold.open_thinking()
    yield start
    for piece in step.pieces:
        # As with a real stream, the event loop runs other tasks between two pieces.
        await cancel.wait(asyncio.sleep(0))
        if event := fold.append(start.index, piece):
            yield event
    if isinstance(step, ScriptedText) and step.signature:
        fold.add_signature(start.index, step.signature)
    if end := fold.close(start.index):
        yield end


async def _wait_released(step: ScriptedPause) -> None:
    await step.released.wait()


def _final_events(fold: Accumulator, end: ScriptedEnd | None) -> Iterable[StreamEvent]:
    if end is None:
        return fold.finish("stop", None)
    if end.reason == "length":
        return fold.finish("length", "length")
    return fold.fail("error", end.failure or Failure("api_error", "The model failed."))
