"""`footnote ask`: one turn in the terminal. The answer goes to stdout, everything else to stderr."""

import argparse
import asyncio
import sys
from contextlib import aclosing, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from footnote.cli import Exit
from footnote.cli.approval import ApprovalRequests, Keyboard, TerminalApproval
from footnote.cli.live import LiveCommand, add_output_options, read_text, redraw_periodically
from footnote.cli.places import SessionBackend, add_server_option, open_backend, resolve_session, short_id
from footnote.cli.saving import check_readable
from footnote.cli.terminal.lines import Line, StyledText
from footnote.cli.terminal.summary import RunSummary, file_lines
from footnote.config.environment import process_environment
from footnote.config.load import home_folder
from footnote.protocol.errors import FootnoteError, UsageError
from footnote.protocol.sessions import NewMessage, StartedRun
from footnote.workspace.export import save_to

EPILOG = "Exit codes: 0 answered, 1 the run failed, 2 wrong usage or configuration, 130 stopped by Ctrl-C."


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser("ask", help="ask one question and read the answer as it is written", epilog=EPILOG)
    parser.add_argument("question", nargs="*", metavar="QUESTION", help="the question; - or nothing reads stdin")
    parser.add_argument("--agent", metavar="ID", help="the agent of agents.json that answers (default: the first)")
    parser.add_argument("--model", metavar="PROVIDER/MODEL", help="the model that answers")
    parser.add_argument("--session", metavar="ID", help="go on with a session, or with the `last` (default: a new one)")
    parser.add_argument(
        "--file", metavar="FILE", type=Path, action="append", default=[], help="a file to ask about; again for more"
    )
    add_server_option(parser)
    parser.add_argument("--output", metavar="DIR", type=Path, help="where files that the agent writes are saved")
    add_output_options(
        parser,
        locale="language of titles and footnotes",
        json="print every event as one line of JSON",
        plain="stream the answer as it is written, draw nothing",
        quiet="only the answer and errors",
    )
    parser.add_argument("--show-thinking", action="store_true", help="what the model thinks, on stderr")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    environ = process_environment()
    question = read_text(arguments.question, sys.stdin, "question", 'footnote ask "What is …?"')
    if arguments.session is not None and arguments.agent is not None:
        raise UsageError("A session keeps its agent: leave out --agent, or --session.")
    check_readable(arguments.file)
    if arguments.output is not None:
        if arguments.server is not None:
            raise UsageError("Files that are written on a server stay there: leave out --output, or --server.")
        _make_folder(arguments.output)
    live = LiveCommand(arguments, environ)
    ask = _Ask(arguments, live)
    return live.run(lambda: ask.answer(question), ask.stopped_line)


class _Ask:
    """One question on its way from where it is answered to the screen."""

    def __init__(self, arguments: argparse.Namespace, live: LiveCommand) -> None:
        self._arguments = arguments
        self._live = live
        self._screen = live.screen
        self._summary = RunSummary()
        self._task: asyncio.Task[Any] | None = None
        self._cancel_task: asyncio.Task[None] | None = None

    async def answer(self, question: str) -> int:
        self._task = asyncio.current_task()
        # A question is answered also where nothing can be kept; one that goes on with a session needs its history.
        must_persist = self._arguments.session is not None
        async with open_backend(self._arguments, self._live.environ, must_persist=must_persist) as backend:
            session_id = await self._resolve_session(backend)
            run = await self._start(backend, session_id, question)
            await self._follow(backend, run)
            saved, unsaved = await self._save(backend, run)
        return self._close(None if backend.is_ephemeral else run, saved, unsaved)

    def stopped_line(self) -> Line:
        return self._summary.stopped_line(0)

    async def _resolve_session(self, backend: SessionBackend) -> str:
        if self._arguments.session is None:
            return (await backend.create(self._arguments.agent)).id
        session_id = await resolve_session(backend, self._arguments.session)
        groups = (await backend.history(session_id)).workspace.sources
        self._live.renderer.add_earlier_sources(source for group in groups for source in group.sources)
        return session_id

    async def _start(self, backend: SessionBackend, session_id: str, question: str) -> StartedRun:
        """A run that has begun is stopped by its id. So Ctrl-C must not come between the two."""
        interrupts = self._live.interrupts
        try:
            files = [(await backend.files.upload(session_id, file)).path for file in self._arguments.file]
            new = NewMessage(question, tuple(files), self._arguments.model, self._live.options.locale)
            interrupts.on_interrupt(lambda: None)
            run = await backend.start(session_id, new, self._approval())
        except (FootnoteError, asyncio.CancelledError):
            if self._arguments.session is None:  # made for this question alone
                with suppress(FootnoteError):
                    await backend.delete(session_id)
            raise
        interrupts.on_interrupt(lambda: self._stop(backend, run))
        if interrupts.is_requested:
            self._stop(backend, run)
        return run

    def _approval(self) -> TerminalApproval | None:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return None
        return TerminalApproval(self._screen, Keyboard(sys.stdin.fileno()))

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
            async for event in events:
                self._summary.feed(event)
                renderer.feed(event)
                requests.handle_event(event)
                if self._screen.out.failure:
                    self._stop(backend, run)
        await requests.close()
        if self._cancel_task is not None:
            await self._cancel_task

    def _requests(self, backend: SessionBackend, run: StartedRun) -> ApprovalRequests:
        """Only a server sends such an event: in this process somebody is asked at once."""
        return ApprovalRequests(
            self._approval(),
            lambda call_id, decision: backend.decide(run.run_id, call_id, decision),
            lambda text: self._screen.note((StyledText(text),)),
            f"{self._arguments.server}/v2/runs/{run.run_id}/approvals",
        )

    async def _save(self, backend: SessionBackend, run: StartedRun) -> tuple[list[tuple[str, Path]], list[Line]]:
        """Writes the agent's files to this machine: its name of each with its place, and what is said of the others."""
        workspace = backend.workspace(run.session_id)
        if workspace is None:
            return [], []
        try:
            home = self._arguments.home or home_folder(self._live.environ)
            folder = self._arguments.output or home / "ask" / datetime.now().astimezone().strftime("%Y-%m-%d-%H%M%S")
            saved = await save_to(folder, workspace, message_id=run.message_id)
        except UsageError as error:
            return [], [(StyledText(f"Error: {error.message}", "bad"),)]
        return [(record.path, path) for record, path in saved], []

    def _close(self, run: StartedRun | None, saved: list[tuple[str, Path]], unsaved: list[Line]) -> Exit:
        code, lines = self._outcome(len(saved))
        lines = [*lines, *unsaved]
        wishes = self._live.options
        if not wishes.quiet and not self._live.has_reader_left:
            lines += file_lines(saved)
            lines += self._remote_file_lines()
            lines += [] if wishes.json else [*self._summary.usage(self._screen.symbols), *self._resume_hint(run)]
        for line in lines:
            self._screen.note(line)
        return Exit.FAILURE if unsaved and code is Exit.OK else code

    def _remote_file_lines(self) -> list[Line]:
        if self._arguments.server is None or not self._summary.files:
            return []
        names = ", ".join(file.path for file in self._summary.files)
        return [(StyledText(f"On the server: {names}"),)]

    def _resume_hint(self, run: StartedRun | None) -> list[Line]:
        if run is None or self._summary.is_empty:
            return []
        server = "" if self._arguments.server is None else f" --server {self._arguments.server}"
        return [(StyledText(f'To go on: footnote ask --session {short_id(run.session_id)}{server} "…"', "dim"),)]

    def _outcome(self, files: int) -> tuple[Exit, list[Line]]:
        """The exit code, and what must be said about it."""
        if self._live.has_reader_left:
            return Exit.OK, []
        if unwritten := self._live.write_error_line("the answer"):
            return Exit.FAILURE, [unwritten]
        if self._live.interrupts.is_requested:
            return Exit.INTERRUPTED, [self._summary.stopped_line(files)]
        return self._summary.exit_code, self._summary.problems()


def _make_folder(folder: Path) -> None:
    """Now, and not when the answer has been paid for."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--output: {folder} cannot be a folder: {error.strerror}.") from error
