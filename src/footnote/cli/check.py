"""`footnote check`: the statements of a text, each compared with the pages that the text itself links to."""

import argparse
import asyncio
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from footnote.cli import Exit
from footnote.cli.backends import SessionBackend, add_server_option, open_backend, short_id
from footnote.cli.output import LiveCommand, add_output_options, read_text, redraw_periodically
from footnote.cli.saving import save
from footnote.cli.search import SearchProgress
from footnote.cli.terminal.clean import escape_json
from footnote.cli.terminal.footnotes import QUOTE_CELLS, Layout
from footnote.cli.terminal.lines import UNICODE, Line, StyledText, Tone, symbols_for
from footnote.config.environment import process_environment
from footnote.evidence.check_report import WORDS, JudgedStatement, counts_line, judged_statements
from footnote.evidence.links import with_markdown_links
from footnote.evidence.unread_reasons import unread_reason
from footnote.protocol.errors import FootnoteError, UsageError
from footnote.protocol.events import BlockStart, ErrorBody, ErrorEvent, MessageDelta, ToolProgress, ToolResultBlock
from footnote.protocol.files import FileCitations
from footnote.protocol.sessions import NewCheck, StartedRun
from footnote.protocol.sources import Citation, ProofCounts, Receipt, Source, SourceStatus, Verdict, sources_in
from footnote.protocol.tools import Progress
from footnote.sandbox.jobs import Inspection, ReadText
from footnote.sandbox.pool import SandboxPool

EPILOG = (
    "Exit codes: 0 nothing is contradicted or unsupported, 1 something is, or the check failed, 2 wrong usage, or the "
    "text cannot be read, 130 stopped by Ctrl-C."
)
CHECKED_PATH = "/checked.md"
MAX_FILE_BYTES = 50_000_000
READ_SECONDS = 60.0
_PLAIN_SUFFIXES = frozenset(("", ".md", ".markdown", ".txt", ".text"))
_SIGNS: dict[Verdict, tuple[str, str, Tone]] = {
    "supported": ("✓", "ok", "good"),
    "partial": ("~", "~", "doubtful"),
    "contradicted": ("✗", "x", "bad"),
    "unsupported": ("✗", "x", "bad"),
    "unread": ("?", "?", "doubtful"),
    "uncited": ("!", "!", "doubtful"),
}
_FAILING: tuple[Verdict, ...] = ("contradicted", "unsupported")
_FINE: tuple[Verdict, ...] = ("supported", "partial")


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "check", help="compare the statements of a text with the pages that it links to", epilog=EPILOG
    )
    parser.add_argument(
        "text",
        metavar="FILE|-|URL",
        help="a text (md, txt, html, docx, pdf, …), - for stdin, or the address of a page",
    )
    parser.add_argument("--output", metavar="FILE", type=Path, help="save the text with its footnotes as markdown")
    parser.add_argument("--force", action="store_true", help="overwrite the file of --output")
    add_server_option(parser)
    add_output_options(
        parser,
        locale="language of the verdicts",
        json="print everything as one JSON object",
        plain="a line for each stage, draw nothing",
        quiet="only statements that are not supported, and errors",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    live = LiveCommand(arguments, process_environment())
    check = _CheckCommand(arguments, live)
    if arguments.text == "-":
        check.text = read_text(["-"], sys.stdin, "text", "footnote check report.md")
    return live.run(check.answer, lambda: (StyledText("Stopped."),))


class CheckedSource(Struct, frozen=True):
    """A source of the text. `reason`: why it was not read."""

    number: int | None
    url: str
    title: str
    status: SourceStatus | None
    reason: str | None = None


class CheckedStatement(Struct, frozen=True):
    """`verdict` is the best of its citations, or `contradicted` if one of them is. `sources` are their numbers; offsets
    are those in `text` of the check."""

    text: str
    verdict: Verdict
    start: int
    end: int
    sources: tuple[int, ...]
    citations: tuple[Citation, ...]


class CheckOutput(Struct, frozen=True, kw_only=True):
    """What `--json` prints. `text` is the text with its footnotes."""

    session_id: str
    run_id: str
    counts: ProofCounts
    statements: tuple[CheckedStatement, ...]
    sources: tuple[CheckedSource, ...]
    text: str


class _CheckResult(Struct, frozen=True):
    """The artifact of the call that checked the text."""

    proof: FileCitations
    receipt: Receipt
    sources: tuple[Source, ...]


class _CheckCommand:
    """One check, followed on the screen."""

    def __init__(self, arguments: argparse.Namespace, live: LiveCommand) -> None:
        self.text = ""
        self._arguments = arguments
        self._live = live
        self._screen = live.screen
        self._result: _CheckResult | None = None
        self._error: ErrorBody | None = None
        self._is_stopped = False

    async def answer(self) -> int:
        new = await self._new_check()
        async with open_backend(self._arguments, self._live.environ, must_persist=False) as backend:
            run = await backend.check(new)
            self._live.interrupts.on_interrupt(lambda: self._stop(backend, run))
            if self._live.interrupts.is_requested:
                self._stop(backend, run)
            await self._follow(backend, run)
            if self._result is None:
                return self._failure()
            text = await _content(backend, run.session_id)
        if self._arguments.output is not None:
            await save(self._arguments.output, _chunks(text), force=self._arguments.force)
        return self._show(run, self._result, text)

    async def _new_check(self) -> NewCheck:
        given, locale = self._arguments.text, self._live.options.locale
        if self._arguments.output is not None and self._arguments.output.exists() and not self._arguments.force:
            raise UsageError(f"{self._arguments.output} already exists. Give --force to overwrite it.")
        if given.lower().startswith(("http://", "https://")):
            return NewCheck(url=given, locale=locale)
        text = self.text or await read_document(Path(given), self._live)
        if not text.strip():
            raise UsageError(f"{given} has no text.")
        return NewCheck(text=text, locale=locale)

    def _stop(self, backend: SessionBackend, run: StartedRun) -> None:
        if not self._is_stopped:
            self._is_stopped = True
            self._stopping = asyncio.create_task(backend.cancel(run.run_id))

    async def _follow(self, backend: SessionBackend, run: StartedRun) -> None:
        shown = SearchProgress(self._screen, quiet=self._live.options.quiet or self._live.options.json)
        close = redraw_periodically(shown.tick, lambda: self._screen.show([], []))
        async with close, aclosing(backend.follow(run.run_id)) as events:
            async for _, event in events:
                match event:
                    case ToolProgress(_, stage, done, total, label):
                        shown.feed(Progress(stage, done, total, label))
                    case BlockStart(content_block=ToolResultBlock(status="success", artifact=dict(artifact))):
                        proof = msgspec.convert(artifact.get("proof"), FileCitations)
                        receipt = msgspec.convert(artifact.get("receipt"), Receipt)
                        self._result = _CheckResult(proof, receipt, tuple(sources_in(artifact)))
                    case ErrorEvent(error):
                        self._error = error
                    case MessageDelta(delta) if delta.stop_reason == "aborted":
                        self._is_stopped = True
                    case _:
                        pass

    def _failure(self) -> Exit:
        """The exit code of a check without a result. A text that cannot be read is the caller's to replace."""
        if self._is_stopped:
            self._screen.note((StyledText("Stopped."),))
            return Exit.INTERRUPTED
        message = self._error.message if self._error else "the check ended without a result. Try again."
        self._screen.note((StyledText(f"Error: {message}", "bad"),))
        return Exit.USAGE if self._error is not None and self._error.code == "check_failed" else Exit.FAILURE

    # The result --------------------------------------------------------------------------------------------------

    def _show(self, run: StartedRun, result: _CheckResult, text: str) -> Exit:
        statements = judged_statements(text, result.proof.citations)
        if self._live.options.json:
            self._show_json(_output(run, result, statements, text))
        else:
            self._show_lines(run, result, statements)
        if unwritten := self._live.write_error_line("the result"):
            self._screen.note(unwritten)
            return Exit.FAILURE
        return Exit.FAILURE if any(one.verdict in _FAILING for one in statements) else Exit.OK

    def _show_json(self, output: CheckOutput) -> None:
        data = msgspec.json.format(msgspec.json.encode(output), indent=2) + b"\n"
        self._screen.out.write_bytes(escape_json(data) if self._screen.out.columns else data)

    def _show_lines(self, run: StartedRun, result: _CheckResult, statements: tuple[JudgedStatement, ...]) -> None:
        screen, options = self._screen, self._live.options
        words = WORDS[options.locale]
        layout = Layout(screen.answer_columns, symbols_for(screen.out.encoding), options.locale)
        reasons = {page.url: unread_reason(page, options.locale) for page in result.receipt.pages if page.reason}
        by_number = {source.number: reasons.get(source.url) for source in result.sources}
        shown = [one for one in statements if not (options.quiet and one.verdict in _FINE)]
        if rows := [row for one in shown for row in _statement_lines(one, by_number, layout, options.locale)]:
            self._live.answer.add(rows)
        line = counts_line(result.proof.citations, options.locale) or f"{words.nothing}. {words.no_links}"
        self._live.answer.add(layout.rows((StyledText(line),)))
        if not options.quiet and screen.out.failure is None:
            server = "" if self._arguments.server is None else f" --server {self._arguments.server}"
            hint = f"To see it with its sources: footnote sessions show {short_id(run.session_id)}{server}"
            screen.note((StyledText(hint, "dim"),))


def _statement_lines(
    one: JudgedStatement, reasons: dict[int | None, str | None], layout: Layout, locale: Any
) -> Iterator[Line]:
    words = WORDS[locale]
    unicode, plain, tone = _SIGNS[one.verdict]
    sign = unicode if layout.symbols is UNICODE else plain
    numbers = "".join(dict.fromkeys(f"[{cite.number}]" for cite in one.citations if cite.number))
    head = StyledText(f"{sign} {words.labels[one.verdict]}: ", tone)
    yield from layout.rows((head, StyledText(f"{one.text} {numbers}".rstrip())), indent=2)
    if one.verdict in ("contradicted", "partial"):
        quoted = next((cite.quote for cite in one.citations if cite.verdict == one.verdict and cite.quote), None)
        if quoted:
            said = (StyledText(f"{words.page_says}: ", "dim"), StyledText(layout.quote(quoted, QUOTE_CELLS), "dim"))
            yield from layout.rows(said, first=4, indent=6)
        for missing in dict.fromkeys(
            cite.missing for cite in one.citations if cite.verdict == "partial" and cite.missing
        ):
            yield from layout.rows((StyledText(f"{words.lacking}: {missing}", "dim"),), first=4, indent=6)
    elif one.verdict == "unread":
        for reason in dict.fromkeys(filter(None, (reasons.get(cite.number) for cite in one.citations))):
            yield from layout.rows((StyledText(reason, "dim"),), first=4, indent=6)


def _output(run: StartedRun, result: _CheckResult, statements: tuple[JudgedStatement, ...], text: str) -> CheckOutput:
    reasons = {page.url: page.reason for page in result.receipt.pages}
    return CheckOutput(
        session_id=run.session_id,
        run_id=run.run_id,
        counts=result.proof.counts,
        statements=tuple(
            CheckedStatement(
                one.text,
                one.verdict,
                one.citations[0].start,
                one.citations[0].end,
                tuple(dict.fromkeys(cite.number for cite in one.citations if cite.number)),
                one.citations,
            )
            for one in statements
        ),
        sources=tuple(
            CheckedSource(one.number, one.url, one.title, one.status, reasons.get(one.url)) for one in result.sources
        ),
        text=text,
    )


async def _content(backend: SessionBackend, session_id: str) -> str:
    async with aclosing(backend.files.content(session_id, CHECKED_PATH)) as chunks:
        return b"".join([chunk async for chunk in chunks]).decode()


async def _chunks(text: str) -> AsyncGenerator[bytes, None]:
    yield text.encode()


# The text to check -----------------------------------------------------------------------------------------------


async def read_document(path: Path, live: LiveCommand) -> str:
    """The text of a file; that of a document with its links, extracted in the sandbox. `UsageError`: it has none."""
    content, resolved = await asyncio.to_thread(_read_bytes, path)
    if path.suffix.lower() in _PLAIN_SUFFIXES:
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise UsageError(f"{path} is not UTF-8 text.") from None
    try:
        async with SandboxPool(environ=live.environ) as sandbox:
            inspected = await sandbox.run(Inspection(path=resolved, filename=path.name), READ_SECONDS)
            job = ReadText(content=content, filename=path.name, media_type=inspected.media_type)
            document = await sandbox.run(job, READ_SECONDS)
    except FootnoteError as error:
        raise UsageError(error.message) from error
    if document.text is None:
        raise UsageError(f"{path} cannot be checked: {inspected.unreadable or document.reason}.")
    return with_markdown_links(document.text, document.links)


def _read_bytes(path: Path) -> tuple[bytes, str]:
    """The content of a file, and its absolute path."""
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise UsageError(f"{path} has {size:,} bytes, and {MAX_FILE_BYTES:,} can be read.")
        return path.read_bytes(), str(path.resolve())
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
