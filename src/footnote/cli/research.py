"""`footnote research`: a plan, many readers and one report. The summary goes to stdout, everything else to stderr."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from footnote.cli import Exit
from footnote.cli.backends import SessionBackend
from footnote.cli.output import LiveCommand, add_output_options, read_text
from footnote.cli.question import (
    QuestionCommand,
    SavedFile,
    add_question_options,
    check_question_options,
    make_folder,
)
from footnote.cli.saving import already_exists_error, save
from footnote.cli.terminal.lines import Line, StyledText
from footnote.cli.terminal.research import MESSAGES
from footnote.config.environment import process_environment
from footnote.protocol.errors import FootnoteError, UsageError
from footnote.protocol.files import ConvertType, FileRecord
from footnote.protocol.sessions import NewMessage, StartedRun
from footnote.workspace.export import safe_name

EPILOG = (
    "Exit codes: 0 there is a report, 1 the run failed, 2 wrong usage or configuration, 3 the run ended without a "
    "report, 130 stopped by Ctrl-C. The first Ctrl-C asks for the report now, the second one stops the run."
)
FORMATS: dict[str, ConvertType] = {".md": "md", ".pdf": "pdf", ".docx": "docx"}


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "research", help="plan, read in parallel, and write a report within a budget", epilog=EPILOG
    )
    add_question_options(parser)
    parser.add_argument("--template", metavar="NAME", help="that of the report (default: one that fits the question)")
    parser.add_argument(
        "--output",
        "--out",
        metavar="FILE|DIR",
        type=Path,
        help="save the report as FILE (.md, .pdf or .docx), or all files of the run in DIR",
    )
    parser.add_argument("--force", action="store_true", help="overwrite the FILE of --output")
    add_output_options(
        parser,
        locale="language of titles, footnotes and the report, which else has that of the question",
        json="print every event as one line of JSON",
        plain="a line for each step, draw nothing",
        quiet="only the summary and errors",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    environ = process_environment()
    question = read_text(arguments.question, sys.stdin, "question", 'footnote research "Compare …"')
    check_question_options(arguments)
    target = _ReportTarget(arguments.output, force=arguments.force) if arguments.output is not None else None
    live = LiveCommand(arguments, environ)
    command = _ResearchCommand(arguments, live, target)
    return live.run(lambda: command.answer(question), command.stopped_line)


class _ReportTarget:
    """Where the report goes: a file in one of the formats, or a folder for all files of the run. It is checked before
    the question is asked, so that a wrong one costs no tokens."""

    def __init__(self, path: Path, *, force: bool) -> None:
        if str(path) == "-":
            hint = "Save it, and print it with `footnote files get last /report.md --output -`."
            raise UsageError(f"--output: stdout has the summary, and cannot have the report too. {hint}")
        self.path = path
        self.force = force
        suffix = path.suffix.lower()
        self.format = None if path.is_dir() else FORMATS.get(suffix)
        if self.format is None:
            if suffix and not path.is_dir():
                raise UsageError(
                    f"--output: a report can be saved as {', '.join(FORMATS)}, or in a folder; not {suffix}."
                )
            make_folder(path)
        else:
            make_folder(path.parent)
            if path.exists() and not force:
                raise already_exists_error(path)


class _ResearchCommand(QuestionCommand):
    """One research run, followed on the screen."""

    folder = "research"

    def __init__(self, arguments: argparse.Namespace, live: LiveCommand, target: _ReportTarget | None) -> None:
        super().__init__(arguments, live)
        self._target = target
        self._finishing: asyncio.Task[None] | None = None

    def _handle_interrupts(self, backend: SessionBackend, run: StartedRun) -> None:
        """The first Ctrl-C asks for the report with what is there."""
        self._live.interrupts.on_interrupt(
            lambda: self._stop(backend, run), finish=lambda: self._finish_early(backend, run)
        )

    def _finish_early(self, backend: SessionBackend, run: StartedRun) -> None:
        self._live.renderer.show_finishing()
        if self._live.options.quiet or not self._screen.live_notes:  # otherwise the live hint says so
            self._screen.note((StyledText(MESSAGES[self._live.options.locale].cancel_hint),))
        self._finishing = asyncio.create_task(self._finish(backend, run))

    async def _finish(self, backend: SessionBackend, run: StartedRun) -> None:
        try:
            await backend.finish(run.run_id)
        except FootnoteError as error:
            self._screen.note((StyledText(f"The report could not be asked for: {error.message}", "bad"),))

    async def _follow(self, backend: SessionBackend, run: StartedRun) -> None:
        await super()._follow(backend, run)
        super()._handle_interrupts(backend, run)  # there is nothing left to finish
        if self._finishing is not None:
            await self._finishing

    def _message(self, question: str, files: Sequence[str]) -> NewMessage:
        """The report is in the language of the question, whatever that of the terminal is, unless one was given."""
        message = super()._message(question, files)
        locale = self._arguments.locale
        return replace(message, mode="research", template=self._arguments.template, locale=locale)

    async def _save(self, backend: SessionBackend, run: StartedRun) -> tuple[list[SavedFile], list[Line]]:
        target = self._target
        if target is None:
            return await super()._save(backend, run)
        report = _report_in(self._summary.files)
        if report is None:
            return [], []
        try:
            if target.format is None:
                files = [await self._fetch(backend, run, file, target.path) for file in self._summary.files]
                return files, []
            return [await self._convert(backend, run, report, target)], []
        except FootnoteError as error:
            return [], [(StyledText(f"Error: {error.message}", "bad"),)]

    async def _fetch(self, backend: SessionBackend, run: StartedRun, file: FileRecord, folder: Path) -> SavedFile:
        path = await asyncio.to_thread(_free_path, folder / safe_name(file.filename))
        await save(path, backend.files.content(run.session_id, file.path))
        return file.path, path

    async def _convert(
        self, backend: SessionBackend, run: StartedRun, report: FileRecord, target: _ReportTarget
    ) -> SavedFile:
        if target.format == "md":
            chunks = backend.files.content(run.session_id, report.path)
        else:
            document = await backend.files.convert(run.session_id, report.path, cast("ConvertType", target.format))
            for note in document.notes:
                self._screen.note((StyledText(f"Note: {note}", "dim"),))
            chunks = document.chunks
        await save(target.path, chunks, force=target.force)
        return report.path, target.path

    def _outcome(self, files: int) -> tuple[Exit, list[Line]]:
        code, lines = super()._outcome(files)
        if code is not Exit.OK or self._live.has_reader_left or _report_in(self._summary.files) is not None:
            return code, lines
        return Exit.NO_REPORT, [*lines, (StyledText("The run ended without a report.", "bad"),)]


def _report_in(files: Sequence[FileRecord]) -> FileRecord | None:
    """The report of a run among the files that it wrote: the markdown file that is named so, or else the first one."""
    texts = [file for file in files if file.icon_type == "md"]
    return next((file for file in texts if file.filename.startswith("report")), texts[0] if texts else None)


def _free_path(path: Path) -> Path:
    """`report-2.md` where there is a `report.md` already."""
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_stem(f"{path.stem}-{number}")
    return free
