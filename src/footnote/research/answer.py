"""The end of a research run: its report is repaired once, and a short summary of it is the answer."""

import asyncio
import dataclasses
from collections.abc import AsyncGenerator
from contextlib import aclosing

from footnote.agent.repair import FileRepair
from footnote.agent.round import Round
from footnote.agent.turn import Step
from footnote.cancel import CancelScope
from footnote.models.base import Context, Model, Options
from footnote.models.reader import emit_reply
from footnote.models.reader.reply import ReaderText
from footnote.protocol.messages import user_message
from footnote.protocol.stream import StreamEvent
from footnote.research.context import ResearchContext
from footnote.research.report import summary_by_rule, summary_request

MAX_SUMMARY_TOKENS = 1_500


async def repair_report(context: ResearchContext) -> AsyncGenerator[Step, None]:
    """The model corrects once what does not hold in the report."""
    if context.has_answered or context.is_out_of_time:
        return
    repair = FileRepair(
        context.state,
        context.window,
        context.budget.model(context.model),
        context.toolbox,
        context.budget.limit(context.abilities),
        context.approver,
        precedes_answer=True,
    )
    with CancelScope.linked_to(context.cancel, context.budget.end_scope) as scope:
        async with aclosing(repair.steps(scope)) as steps:
            async for step in steps:
                yield step


async def answer(context: ResearchContext) -> AsyncGenerator[Step, None]:
    """By the model; by rule where no model can write it."""
    if context.has_answered:
        return
    question = context.setup.question
    path, report = await _written_report(context)
    if not path:
        async with aclosing(_respond(context, ComposedAnswer(context.model, report), "", question)) as steps:
            async for step in steps:
                yield step
        return
    if not context.is_by_rule and not context.is_out_of_time:
        model = context.budget.model(context.model)
        async with aclosing(_respond(context, model, *summary_request(question, report, context.locale))) as steps:
            async for step in steps:
                yield step
    if not context.has_answered and not context.cancel.is_cancelled:
        findings = await asyncio.to_thread(context.findings)
        summary = summary_by_rule(question, findings, path, context.locale)
        async with aclosing(_respond(context, ComposedAnswer(context.model, summary), "", question)) as steps:
            async for step in steps:
                yield step


async def _respond(context: ResearchContext, model: Model, system: str, prompt: str) -> AsyncGenerator[Step, None]:
    state, abilities = context.state, context.budget.limit(context.abilities)
    if context.is_out_of_time:
        abilities = dataclasses.replace(abilities, second_look=None)
    looked_up = (*state.messages, *context.records.in_order(context.plan.state.items))
    response = Round(model, state.indexes, str, abilities, looked_up)
    request = Context(system, (user_message(prompt),))
    options = Options(max_tokens=min(MAX_SUMMARY_TOKENS, model.profile.max_output))
    async with aclosing(response.events(request, options, context.cancel)) as events:
        async for event in events:
            yield event
    if response.message.content:
        yield state.append_response(response.message, response.review)


async def _written_report(context: ResearchContext) -> tuple[str, str]:
    """Its path, and its text as it is after the repair."""
    call, workspace = context.write_call, context.abilities.workspace
    if call is None:
        return "", context.report
    path, written = str(call.arguments.get("file_path", "")), str(call.arguments.get("content", ""))
    if workspace is not None and await workspace.exists(path):
        return path, await workspace.read_text(path)
    return path, written


class ComposedAnswer:
    """A model whose response was composed by rule."""

    def __init__(self, model: Model, text: str) -> None:
        self.id = model.id
        self.profile = model.profile
        self._text = text

    async def stream(
        self,
        context: Context,
        options: Options,  # noqa: ARG002 - the text is there already
        cancel: CancelScope,
    ) -> AsyncGenerator[StreamEvent, None]:
        async with aclosing(emit_reply(self.id, ReaderText(self._text), context, cancel)) as events:
            async for event in events:
                yield event
