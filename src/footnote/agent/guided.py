"""The guided style, for models that are too small to decide what to look up.

The product decides by rule what a question needs and makes the calls for it, as the built-in reader does. The model is
asked once, to answer from the evidence. An answer that nothing supports is followed by the best quotations; a report is
written section by section. Each response follows from the conversation alone, so that a turn resumes after a crash.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from functools import partial

from msgspec.structs import replace

from footnote.agent.guided_footnotes import FootnoteMover, footnotes_moved
from footnote.agent.guided_report import ReportSection, finished_report_reply, plan_report
from footnote.agent.guided_task import GuidedTask
from footnote.cancel import CancelScope
from footnote.evidence.sources import Sources
from footnote.models.accumulate import Accumulator
from footnote.models.base import Context, Model, Options
from footnote.models.errors import TOOLS_UNSUPPORTED
from footnote.models.profiles import Profile
from footnote.models.reader import emit_reply
from footnote.models.reader.conversation import WRITE_TOOL
from footnote.models.reader.reply import Reply, requests_without_freshness
from footnote.protocol.messages import (
    AssistantMessage,
    Message,
    Text,
    ToolResultMessage,
    UserMessage,
    call_ids,
    user_message,
)
from footnote.protocol.stream import Done, Failed, Start, StreamEvent, TextDelta, TextEnd, TextStart
from footnote.text.boundary import MARK_ID

MAX_ANSWER_TOKENS = 1_024
"""The limit for one text of a model without tools. Some repeat themselves without end."""
MAX_EARLIER_TURNS = 2
MAX_EARLIER_LENGTH = 600
"""How much of the conversation before the question a model without tools is given: turns, and characters a message."""


class GuidedModel:
    """A model with the guidance of the product around it. `sources` are those of the session."""

    def __init__(self, model: Model, sources: Sources) -> None:
        self._model = model
        self._sources = sources
        self._keeps_tools = model.profile.keeps_tools

    @property
    def id(self) -> str:
        return self._model.id

    @property
    def profile(self) -> Profile:
        return self._model.profile

    async def stream(
        self, context: Context, options: Options, cancel: CancelScope
    ) -> AsyncGenerator[StreamEvent, None]:
        task = GuidedTask.of(context, self.profile.window)
        if reply := _reply_by_rule(task, context):
            events = emit_reply(self.id, reply, context, cancel)
        elif task.writes_report:
            events = self._write_report(task, context, cancel)
        else:
            events = self._answer(task, context, options, cancel)
        async with aclosing(events):
            async for event in events:
                yield event

    # The answer ------------------------------------------------------------------------------------------------------

    async def _answer(
        self, task: GuidedTask, context: Context, options: Options, cancel: CancelScope
    ) -> AsyncGenerator[StreamEvent, None]:
        """The model's answer, with the quotations that follow it if nothing in it is supported."""
        last_text: TextEnd | None = None
        async with aclosing(self._responses(task, context, options, cancel)) as events:
            async for event in events:
                if isinstance(event, Done):
                    for last in await self._with_quotations(task, event, last_text):
                        yield last
                    return
                if last_text is not None:
                    yield last_text
                last_text = event if isinstance(event, TextEnd) else None
                if last_text is None:
                    yield event

    async def _responses(
        self, task: GuidedTask, context: Context, options: Options, cancel: CancelScope
    ) -> AsyncGenerator[StreamEvent, None]:
        """The events of the model. A server that refuses tools is asked again without them."""
        yield Start(self.id)
        if self._keeps_tools and context.tools:
            async with aclosing(self._model.stream(context, options, cancel)) as events:
                async for event in events:
                    if isinstance(event, Failed) and _refuses_tools(event):
                        self._keeps_tools = False
                    elif not isinstance(event, Start):
                        yield event
            if self._keeps_tools:
                return
        request = Context(context.system, _messages_without_tools(task, context.messages))
        async with aclosing(self._model.stream(request, _limited(options), cancel)) as events:
            # A text that rests on no evidence may have brackets of its own, such as those of a list or of code.
            async for event in _with_moved_footnotes(events, request) if task.has_looked_up else events:
                if not isinstance(event, Start):
                    yield event

    async def _with_quotations(self, task: GuidedTask, done: Done, last_text: TextEnd | None) -> list[StreamEvent]:
        """The last events of an answer. `last_text`: the end of its last text, which is not yet passed on."""
        message = done.message
        added = "" if message.calls else await asyncio.to_thread(task.text_after_answer, message.text, self._sources)
        if not added:
            return [done] if last_text is None else [last_text, done]
        if last_text is None:
            index, text = len(message.content), added
            events: list[StreamEvent] = [TextStart(index), TextDelta(index, added)]
            content = (*message.content, Text(text))
        else:
            index, text = last_text.index, f"{last_text.content}\n\n{added}"
            events = [TextDelta(index, f"\n\n{added}")]
            content = (*message.content[:index], Text(text), *message.content[index + 1 :])
        return [*events, TextEnd(index, text), Done(done.reason, replace(message, content=content))]

    # The report ------------------------------------------------------------------------------------------------------

    async def _write_report(
        self, task: GuidedTask, context: Context, cancel: CancelScope
    ) -> AsyncGenerator[StreamEvent, None]:
        """The call that writes the report. Its sections are requested one by one, while the call is streamed."""
        fold = Accumulator(self.id, call_ids(context.messages))
        yield Start(self.id)
        report = plan_report(task, self._sources)
        call = fold.open_call("", WRITE_TOOL)
        yield call
        for event in _grow(fold, call.index, report.opening):
            yield event
        for section in report.sections:
            text, failure = await self._write_section(task, section, context.system, fold, cancel)
            if failure is not None and (cancel.is_cancelled or section is report.sections[0]):
                for event in _fail(fold, failure):
                    yield event
                return
            shown = await asyncio.to_thread(task.section_with_quotations, text, section.passages, self._sources)
            for event in _grow(fold, call.index, report.section_piece(section, shown)):
                yield event
        for event in _grow(fold, call.index, report.closing):
            yield event
        for event in fold.finish("stop", None):
            yield event

    async def _write_section(
        self, task: GuidedTask, section: ReportSection, system: str, fold: Accumulator, cancel: CancelScope
    ) -> tuple[str, Failed | None]:
        """The text of a section, empty if the model failed."""
        request = Context(system, (user_message(task.section_prompt(section.heading, section.passages)),))
        async with aclosing(self._model.stream(request, _limited(Options()), cancel)) as events:
            async for event in events:
                if isinstance(event, Done | Failed):
                    fold.usage += event.message.usage
                    text = footnotes_moved(event.message.text, _ids_of_marks(request))
                    return (text.strip(), None) if isinstance(event, Done) else ("", event)
        return "", None


def _reply_by_rule(task: GuidedTask, context: Context) -> Reply | None:
    """The step that needs no model: what has to be looked up, or the answer after a report was written."""
    tools = {tool.name: tool for tool in context.tools}
    if not task.has_looked_up:
        return task.lookups(tools) or None
    if task.hits and (requests := requests_without_freshness(task.turn, task.hits, tools)):
        return requests
    return finished_report_reply(task)


async def _with_moved_footnotes(
    events: AsyncGenerator[StreamEvent, None], request: Context
) -> AsyncGenerator[StreamEvent, None]:
    """The events of a response, with each footnote behind its sentence."""
    movers: defaultdict[int, FootnoteMover] = defaultdict(partial(FootnoteMover, _ids_of_marks(request)))
    texts: defaultdict[int, str] = defaultdict(str)
    async for event in events:
        match event:
            case TextDelta(index, delta):
                piece = movers[index].feed(delta)
            case TextEnd(index):
                piece = movers[index].flush()
            case Done() | Failed():
                content = (
                    Text(texts[index]) if isinstance(block, Text) and index in texts else block
                    for index, block in enumerate(event.message.content)
                )
                yield replace(event, message=replace(event.message, content=tuple(content)))
                continue
            case _:
                yield event
                continue
        texts[index] += piece
        if piece:
            yield TextDelta(index, piece)
        if isinstance(event, TextEnd):
            yield TextEnd(index, texts[index])


def _ids_of_marks(request: Context) -> tuple[str, ...]:
    """The ids of the marks around web text, which small models take for those of passages."""
    return tuple(MARK_ID.findall(request.messages[-1].text)) if request.messages else ()


def _refuses_tools(event: Failed) -> bool:
    failure = event.message.failure
    return failure is not None and failure.type == TOOLS_UNSUPPORTED and not event.message.content


def _limited(options: Options) -> Options:
    max_tokens = min(options.max_tokens or MAX_ANSWER_TOKENS, MAX_ANSWER_TOKENS)
    return replace(options, max_tokens=max_tokens, temperature=0.0)


def _messages_without_tools(task: GuidedTask, messages: Sequence[Message]) -> tuple[Message, ...]:
    """The conversation for a model without tools: the evidence stands beside the question."""
    if not task.has_looked_up:
        return tuple(_texts_of(messages))
    earlier = list(_texts_of(task.turn.history))[-2 * MAX_EARLIER_TURNS :]
    shortened = (
        replace(message, content=(Text(message.text[:MAX_EARLIER_LENGTH]),)) for message in earlier if message.text
    )
    return (*shortened, UserMessage((Text(task.answer_prompt()), *task.images)))


def _texts_of(messages: Sequence[Message]) -> Iterator[UserMessage | AssistantMessage]:
    """What user and model said, without calls and results."""
    for message in messages:
        if isinstance(message, UserMessage):
            yield message
        elif not isinstance(message, ToolResultMessage) and message.text.strip():
            yield replace(message, content=(Text(message.text),))


def _grow(fold: Accumulator, index: int, piece: str) -> Iterator[StreamEvent]:
    if event := fold.append(index, piece):
        yield event


def _fail(fold: Accumulator, failed: Failed) -> Iterator[StreamEvent]:
    failure = failed.message.failure
    assert failure is not None  # noqa: S101 - a failed response has its reason
    yield from fold.fail(failed.reason, failure)
