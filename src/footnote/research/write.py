"""Writes the report of a research run: a request for each section, and by code what no request could write.

A finished section is stored before the next one counts, so that no section is written twice.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from functools import partial

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from footnote.agent.calls import Calls, context_of_call
from footnote.agent.turn import ProgressMade, Step
from footnote.models.base import Options
from footnote.models.completion import complete
from footnote.models.reader import ReaderModel
from footnote.protocol.events import BlockStart, BlockStop, ToolProgress, ToolStatus, ToolUseBlock
from footnote.protocol.messages import AssistantMessage, ToolCall, Usage
from footnote.research.context import WRITE_TOOL, ResearchContext
from footnote.research.findings import Finding
from footnote.research.investigate import NOTES, drop_items
from footnote.research.plan import PlanState
from footnote.research.report import (
    SectionPlan,
    assemble_report,
    checked_section,
    plan_sections,
    quoted_section,
    report_pointers,
    section_request,
    unsettled_section,
)

REPORT_PATH = "/report.md"
SECTIONS_AT_ONCE = 4
MAX_SECTION_TOKENS = 2_000
MAX_SECTION_SECONDS = 120.0


class WritingProgress(Struct, frozen=True):
    """The sections that are written, by their number, and what their requests used."""

    sections: Mapping[int, str] = {}
    usage: Usage = Usage()


_decoder = msgspec.json.Decoder(WritingProgress)


async def write_report(context: ResearchContext) -> AsyncGenerator[Step, None]:
    """Writes the file. From here on, the plan stays as it is."""
    state = context.state
    if context.write_call is None:
        if context.plan.state.phase != "writing":
            for step in await context.plan.change(partial(_writing, note=NOTES[context.locale].no_time)):
                yield step
        async with aclosing(_request_writing(context)) as steps:
            async for step in steps:
                yield step
    open_calls = state.open_calls()
    if context.write_call in open_calls:
        of_call = partial(context_of_call, state.turn, context.abilities)
        calls = Calls(open_calls, context.toolbox, state.indexes, of_call, context.approver)
        executed = calls.steps(state.messages, context.cancel, refused={}, resumed=state.turn.resumed)
        async with aclosing(executed) as steps:
            async for step in steps:
                yield step
        for step in state.append_results(calls):
            yield step


def _writing(plan: PlanState, note: str) -> PlanState:
    """An item that its user added after the last reader had ended is not read for."""
    return replace(drop_items(plan, ("pending",), note), phase="writing")


async def _request_writing(context: ResearchContext) -> AsyncGenerator[Step, None]:
    """The call that writes the report, as if a model had made it."""
    state = context.state
    findings = await asyncio.to_thread(context.findings)
    plans = await asyncio.to_thread(plan_sections, context.plan.state, findings, context.setup.template, context.locale)
    call_id = context.call_ids.unique("call_report")
    writer = SectionWriter(context, call_id)
    async with aclosing(writer.steps(plans)) as steps:
        async for step in steps:
            yield step
    if context.cancel.is_cancelled:
        return
    sections = [(plan.heading, writer.progress.sections[number]) for number, plan in enumerate(plans)]
    context.report = await asyncio.to_thread(_assembled, context, sections, findings)
    if context.toolbox.get(WRITE_TOOL) is None:
        return  # the agent has no workspace, so that the report is the answer
    arguments = {"file_path": await _report_path(context), "content": context.report}
    pointers = await asyncio.to_thread(report_pointers, context.report, findings)
    call = ToolCall(
        call_id,
        WRITE_TOOL,
        arguments,
        title=context.toolbox.title(WRITE_TOOL, context.locale),
        pointers={"content": pointers} if pointers else {},
    )
    index = next(state.indexes)
    yield BlockStart(index, ToolUseBlock(call.id, call.name, call.title, call.arguments))
    yield BlockStop(index)
    yield ToolStatus(call.id, "pending")
    yield state.append_response(AssistantMessage((call,), "toolUse", context.model.id, writer.progress.usage))


def _assembled(context: ResearchContext, sections: Sequence[tuple[str, str]], findings: Sequence[Finding]) -> str:
    plan, records, locale = context.plan.state, context.records, context.locale
    disagreements, messages = records.disagreements(plan.items), records.in_order(plan.items)
    unsettled = unsettled_section(plan, findings, disagreements, messages, locale)
    sources, question = context.abilities.sources, context.setup.question
    is_quoted = isinstance(context.model, ReaderModel)
    return assemble_report(
        question,
        sections,
        unsettled,
        sources,
        locale,
        is_quoted=is_quoted,
        is_by_small_model=context.is_by_rule and not is_quoted,
    )


async def _report_path(context: ResearchContext) -> str:
    """`/report.md`, unless the session has a file of that name from another turn."""
    workspace, path, number = context.abilities.workspace, REPORT_PATH, 1
    while workspace is not None and await workspace.exists(path):
        if (await workspace.record(path)).message_id == context.state.turn.message_id:
            break
        number += 1
        path = f"/report-{number}.md"
    return path


class SectionWriter:
    """Writes the sections of one report, some side by side. `progress` has those that are done."""

    def __init__(self, context: ResearchContext, call_id: str) -> None:
        """`call_id`: of the call that will write the file, under which followers see how far it is."""
        stored = context.setup.progress
        self.progress = _decoder.decode(stored) if stored else WritingProgress()
        self._context = context
        self._call_id = call_id
        self._slots = asyncio.Semaphore(SECTIONS_AT_ONCE)

    async def steps(self, plans: Sequence[SectionPlan]) -> AsyncGenerator[Step, None]:
        missing = [number for number in range(len(plans)) if number not in self.progress.sections]
        tasks = {asyncio.create_task(self._write(plans[number])): number for number in missing}
        try:
            waiting = set(tasks)
            while waiting:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in sorted(done, key=tasks.__getitem__):
                    number, (text, usage) = tasks[task], task.result()
                    sections = {**self.progress.sections, number: text}
                    self.progress = WritingProgress(sections, self.progress.usage + usage)
                    yield ToolProgress(self._call_id, "writing", len(sections), len(plans), plans[number].heading)
                    yield ProgressMade(msgspec.json.encode(self.progress))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _write(self, section: SectionPlan) -> tuple[str, Usage]:
        """The text of a section, and what it used. By code: without a model, and if there is no time or money left."""
        context = self._context
        async with self._slots:
            seconds = min(context.seconds_left, MAX_SECTION_SECONDS)
            if isinstance(context.model, ReaderModel) or seconds <= 0 or context.cancel.is_cancelled:
                return await asyncio.to_thread(quoted_section, section, context.locale), Usage()
            setup, steering = context.setup, context.plan.state.steering
            system, prompt = await asyncio.to_thread(
                section_request, setup.question, section, setup.template, context.locale, steering
            )
            options = Options(max_tokens=min(MAX_SECTION_TOKENS, context.model.profile.max_output))
            model = context.budget.model(context.model)
            reply = await complete(model, system, prompt, options, context.cancel, seconds)
            sources = context.abilities.sources
            text = await asyncio.to_thread(checked_section, reply.text, section, sources, context.locale)
            return text, reply.usage
