"""A question on the command line: its run is started, followed on the screen and stopped, and its files are saved."""

import argparse
import asyncio
import re
import sys
from collections.abc import Sequence
from contextlib import aclosing, suppress
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from footnote.cli import Exit
from footnote.cli.approval import ApprovalRequests, Keyboard, TerminalApproval
from footnote.cli.backends import (
    LocalBackend,
    SessionBackend,
    add_server_option,
    open_backend,
    resolve_session,
    short_id,
)
from footnote.cli.budget import add_budget_options, budget_from
from footnote.cli.output import LiveCommand, redraw_periodically
from footnote.cli.saving import check_readable
from footnote.cli.terminal.lines import Line, StyledText, Symbols, format_dollars
from footnote.config.load import home_folder
from footnote.protocol.errors import FootnoteError, UsageError
from footnote.protocol.events import (
    AttachmentsBlock,
    BlockDelta,
    BlockStart,
    BudgetUpdate,
    ContextReport,
    ErrorBody,
    ErrorEvent,
    Event,
    MessageDelta,
    MessageStart,
    RoundRestart,
    TextBlock,
    TextGrowth,
    TurnStopReason,
    TurnUsage,
    item_of,
)
from footnote.protocol.files import FileRecord
from footnote.protocol.plans import Budget
from footnote.protocol.sessions import Approval, NewMessage, NewSession, StartedRun
from footnote.protocol.tools import Locale
from footnote.workspace.export import save_to
from footnote.workspace.text import pluralize

# Chinese and Japanese are written without spaces: there a character counts as a word.
_word = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")

SavedFile: TypeAlias = tuple[str, Path]
"""The path of a file in the workspace, and on this machine."""

UNSOURCED: dict[Locale, tuple[str, str]] = {
    "en": ("Nothing was looked up for this answer. To have it looked up:", "Look it up"),
    "vi": ("Câu trả lời này chưa được tra cứu. Để tra cứu:", "Hãy tra cứu câu trả lời trên"),
    "zh": ("这个回答没有查证任何资料。要查证：", "请搜索并查证上面的回答"),  # noqa: RUF001 - Chinese punctuation
}
"""What is said of an answer that states facts without a source, and the request that has it looked up."""

_STOP_MESSAGES: dict[TurnStopReason, str] = {
    "length": "The answer reached the maximum length of the model and was cut there. Ask for a shorter "
    "answer, or ask about one part at a time.",
    "max_rounds": "The agent used up its tool rounds and answered with what it had found by then. For more, raise "
    "maxToolRounds of the agent in agents.json, or ask a narrower question.",
}


CUT_BY_BUDGET = "The answer was cut where its budget ended. Ask again with more time or money (--within, --spend)."


def add_question_options(parser: argparse.ArgumentParser) -> None:
    """The options of every command that asks a question."""
    parser.add_argument("question", nargs="*", metavar="QUESTION", help="the question; - or nothing reads stdin")
    parser.add_argument("--agent", metavar="ID", help="the agent of agents.json that answers (default: the first)")
    parser.add_argument("--model", metavar="PROVIDER/MODEL", help="the model that answers")
    parser.add_argument("--session", metavar="ID", help="go on with a session, or with the `last` (default: a new one)")
    parser.add_argument(
        "--file", metavar="FILE", type=Path, action="append", default=[], help="a file to ask about; again for more"
    )
    add_server_option(parser)
    add_budget_options(parser)


def check_question_options(arguments: argparse.Namespace) -> None:
    """Before anything is opened or sent."""
    if arguments.session is not None and arguments.agent is not None:
        raise UsageError("A session keeps its agent: leave out --agent or --session.")
    check_readable(arguments.file)


class QuestionCommand:
    """One question: its run, followed on the screen. `folder`: where files are saved in the home folder."""

    folder = "ask"

    def __init__(self, arguments: argparse.Namespace, live: LiveCommand) -> None:
        self._arguments = arguments
        self._live = live
        self._screen = live.screen
        self._summary = RunSummary()
        self._task: asyncio.Task[Any] | None = None
        self._cancel_task: asyncio.Task[None] | None = None
        has_terminal = sys.stdin.isatty() and sys.stderr.isatty()
        self._approve = TerminalApproval(self._screen, Keyboard(sys.stdin.fileno())) if has_terminal else None

    async def answer(self, question: str) -> int:
        self._task = asyncio.current_task()
        # A new question is also answered where nothing can be stored; an existing session needs its history.
        must_persist = self._arguments.session is not None
        async with open_backend(
            self._arguments, self._live.environ, must_persist=must_persist, approve=self._approve
        ) as backend:
            session_id = await self._resolve_session(backend)
            run = await self._start(backend, session_id, question)
            await self._follow(backend, run)
            saved, unsaved = await self._save(backend, run)
        is_stored = not (isinstance(backend, LocalBackend) and backend.is_ephemeral)
        return self._close(run if is_stored else None, saved, unsaved)

    def stopped_line(self) -> Line:
        return self._summary.stopped_line(0)

    async def _resolve_session(self, backend: SessionBackend) -> str:
        if self._arguments.session is None:
            return (await backend.create_session(NewSession(agent_id=self._arguments.agent))).id
        session_id = await resolve_session(backend, self._arguments.session)
        groups = (await backend.history(session_id)).workspace.sources
        self._live.renderer.add_earlier_sources(source for group in groups for source in group.sources)
        return session_id

    async def _start(self, backend: SessionBackend, session_id: str, question: str) -> StartedRun:
        """A started run is cancelled by its id, so Ctrl-C is deferred until that id is known."""
        interrupts = self._live.interrupts
        try:
            files = [(await backend.files.upload(session_id, file)).path for file in self._arguments.file]
            interrupts.on_interrupt(lambda: None)
            run = await backend.start(session_id, self._message(question, files))
        except (FootnoteError, asyncio.CancelledError):
            if self._arguments.session is None:  # created for this question only
                with suppress(FootnoteError):
                    await backend.delete_session(session_id)
            raise
        self._handle_interrupts(backend, run)
        if interrupts.is_requested:
            self._stop(backend, run)
        return run

    def _handle_interrupts(self, backend: SessionBackend, run: StartedRun) -> None:
        self._live.interrupts.on_interrupt(lambda: self._stop(backend, run))

    def _message(self, question: str, files: Sequence[str]) -> NewMessage:
        budget = budget_from(self._arguments)
        locale = self._live.options.locale
        return NewMessage(question, tuple(files), self._arguments.model, locale, budget=budget)

    def _stop(self, backend: SessionBackend, run: StartedRun) -> None:
        if self._cancel_task is None:
            self._cancel_task = asyncio.create_task(self._cancel(backend, run))

    async def _cancel(self, backend: SessionBackend, run: StartedRun) -> None:
        try:
            await backend.cancel(run.run_id)
        except FootnoteError as error:
            self._screen.note((StyledText(f"The run could not be stopped: {error.message}", "bad"),))
            if self._task is not None:
                self._task.cancel()

    async def _follow(self, backend: SessionBackend, run: StartedRun) -> None:
        renderer = self._live.renderer
        requests = self._requests(backend, run)
        async with redraw_periodically(renderer.tick, renderer.close), aclosing(backend.follow(run.run_id)) as events:
            async for _, event in events:
                self._summary.feed(event)
                renderer.feed(event)
                requests.handle_event(event)
                if self._screen.out.failure:
                    self._stop(backend, run)
        await requests.close()
        if self._cancel_task is not None:
            await self._cancel_task

    def _requests(self, backend: SessionBackend, run: StartedRun) -> ApprovalRequests:
        """Only a server sends such events: a run in this process calls `approve` itself."""
        return ApprovalRequests(
            self._approve,
            lambda call_id, decision: backend.decide(run.run_id, call_id, Approval(decision)),
            lambda text: self._screen.note((StyledText(text),)),
            f"{self._arguments.server}/v2/runs/{run.run_id}/approvals",
        )

    async def _save(self, backend: SessionBackend, run: StartedRun) -> tuple[list[SavedFile], list[Line]]:
        """Saves the files of the run on this machine, or returns the error lines."""
        if not isinstance(backend, LocalBackend):
            return [], []
        workspace = backend.workspace(run.session_id)
        try:
            home = self._arguments.home or home_folder(self._live.environ)
            folder = self._arguments.output or home / self.folder / f"{datetime.now().astimezone():%Y-%m-%d-%H%M%S}"
            saved = await save_to(folder, workspace, message_id=run.message_id)
        except UsageError as error:
            return [], [(StyledText(f"Error: {error.message}", "bad"),)]
        return [(record.path, path) for record, path in saved], []

    def _close(self, run: StartedRun | None, saved: list[SavedFile], unsaved: list[Line]) -> Exit:
        code, lines = self._outcome(len(saved))
        lines = [*lines, *unsaved]
        options = self._live.options
        if not options.quiet and not self._live.has_reader_left:
            lines += self._unsourced_lines(run)
            lines += file_lines(saved)
            lines += self._remote_file_lines()
            lines += [] if options.json else [*self._summary.usage(self._screen.symbols), *self._resume_hint(run)]
        for line in lines:
            self._screen.note(line)
        return Exit.FAILURE if unsaved and code is Exit.OK else code

    def _unsourced_lines(self, run: StartedRun | None) -> list[Line]:
        """That the answer states facts without a source, and how to have it looked up."""
        if run is None or self._live.options.json or not self._summary.is_unsourced:
            return []
        said, request = UNSOURCED[self._live.options.locale]
        command = f'footnote ask --session {short_id(run.session_id)}{self._server_option()} "{request}"'
        return [(StyledText(f"{said} {command}", "doubtful"),)]

    def _server_option(self) -> str:
        return "" if self._arguments.server is None else f" --server {self._arguments.server}"

    def _remote_file_lines(self) -> list[Line]:
        if self._arguments.server is None or not self._summary.files:
            return []
        names = ", ".join(file.path for file in self._summary.files)
        return [(StyledText(f"On the server: {names}"),)]

    def _resume_hint(self, run: StartedRun | None) -> list[Line]:
        if run is None or self._summary.is_empty:
            return []
        command = f'footnote ask --session {short_id(run.session_id)}{self._server_option()} "…"'
        return [(StyledText(f"To continue: {command}", "dim"),)]

    def _outcome(self, files: int) -> tuple[Exit, list[Line]]:
        """The exit code, and the lines that explain it."""
        if self._live.has_reader_left:
            return Exit.OK, []
        if unwritten := self._live.write_error_line("the answer"):
            return Exit.FAILURE, [unwritten]
        if self._live.interrupts.is_requested:
            return Exit.INTERRUPTED, [self._summary.stopped_line(files)]
        return self._summary.exit_code, self._summary.problems()


def make_folder(folder: Path) -> None:
    """Before the question is asked, so that a wrong folder costs no tokens."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--output: {folder} cannot be created: {error.strerror}.") from error


# The outcome of a run ----------------------------------------------------------------------------------------


class RunSummary:
    """Fed every event of a run."""

    def __init__(self) -> None:
        self._texts: dict[int, list[str]] = {}
        self._model = ""
        self._stop_reason: TurnStopReason | None = None
        self._usage: TurnUsage | None = None
        self._context: ContextReport | None = None
        self._error: ErrorBody | None = None
        self._has_budget = False
        self.is_unsourced = False
        """The answer states facts, and nothing was looked up for it."""
        self.files: tuple[FileRecord, ...] = ()
        """The files that the run attached."""

    def feed(self, event: Event) -> None:
        match event:
            case _ if item_of(event) is not None:  # no part of the answer
                pass
            case BlockDelta(index, TextGrowth(text)) | BlockStart(index, TextBlock(text)):
                self._texts.setdefault(index, []).append(text)
            case BlockStart(content_block=AttachmentsBlock(files)):
                self.files = files
            case RoundRestart(from_index):
                self._texts = {index: texts for index, texts in self._texts.items() if index < from_index}
            case MessageStart(message):
                self._model = message.model
            case MessageDelta(delta, usage, context):
                self._stop_reason, self._usage, self._context = delta.stop_reason, usage, context
                self.is_unsourced = delta.unsourced is True
            case ErrorEvent(error):
                self._error = error
            case BudgetUpdate(budget):
                self._has_budget = Budget(pages=budget.pages) != budget
            case _:
                pass

    @property
    def exit_code(self) -> Exit:
        failed = self._error is not None or self._stop_reason in ("error", "aborted", None)
        return Exit.FAILURE if failed or self.is_empty else Exit.OK

    @property
    def is_empty(self) -> bool:
        """The run has neither text nor files."""
        return not self.files and not self._text.strip()

    @property
    def _text(self) -> str:
        return "".join(chain.from_iterable(self._texts.values()))

    def problems(self) -> list[Line]:
        """Errors and warnings that the user can act on."""
        if self._error is not None:
            again = " This may pass: try again in a moment." if self._error.retryable else ""
            return [(StyledText(f"Error: {self._error.message}{again}", "bad"),)]
        if self._stop_reason == "error":
            return [(StyledText("Error: the model failed without a reason. Try again, or try another model.", "bad"),)]
        if self._stop_reason is None:
            return [(StyledText("Error: the run ended early. Try again.", "bad"),)]
        if self._stop_reason != "aborted" and self.is_empty:
            return [(StyledText("The model returned an empty answer. Ask again, or try another model.", "bad"),)]
        is_cut = self._stop_reason == "length" and self._has_budget
        ending = CUT_BY_BUDGET if is_cut else _STOP_MESSAGES.get(self._stop_reason)
        return [(StyledText(ending, "bad"),)] if ending else []

    def usage(self, symbols: Symbols) -> list[Line]:
        """One line about tokens and cost, one about what was left out to fit into the model's window."""
        if self._usage is None:
            return []
        sent = self._usage.input_tokens + self._usage.cache_read_tokens + self._usage.cache_write_tokens
        if not sent and not self._usage.output_tokens:
            return []
        cached = f" ({self._usage.cache_read_tokens:,} cached)" if self._usage.cache_read_tokens else ""
        parts = [self._model, f"{sent:,} tokens in{cached}", f"{self._usage.output_tokens:,} out"]
        if self._usage.cost is not None:
            parts.append(format_dollars(self._usage.cost))
        if self._stop_reason not in ("stop", None):
            parts.append(f"ended: {self._stop_reason}")
        lines: list[Line] = [(StyledText(symbols.dot.join(part for part in parts if part), "dim"),)]
        if trimmed := _trimmed_text(self._context):
            lines.append((StyledText(f"To fit into the model's window: {trimmed}.", "dim"),))
        return lines

    def stopped_line(self, files: int) -> Line:
        """What a cancelled run has produced."""
        words = len(_word.findall(self._text))
        parts = [f"{pluralize(words, 'word')} of the answer"] if words else []
        if files:
            parts.append(pluralize(files, "file"))
        return (StyledText(f"Stopped. Kept: {', '.join(parts)}." if parts else "Stopped. There was no answer yet."),)


def file_lines(saved: Sequence[SavedFile]) -> list[Line]:
    """Where the files were saved: the path of each in the workspace and on this machine."""
    return [(StyledText(f"Saved {name} as "), StyledText(str(path), "good")) for name, path in saved]


def _trimmed_text(context: ContextReport | None) -> str:
    if context is None:
        return ""
    parts = [
        f"{pluralize(context.shortened_results, 'old tool result')} shortened" if context.shortened_results else "",
        f"{pluralize(context.shortened_texts, 'long text')} cut in the middle" if context.shortened_texts else "",
        f"{pluralize(context.summarised_turns, 'old turn')} summarised" if context.summarised_turns else "",
    ]
    return ", ".join(part for part in parts if part)
