"""`footnote search`: one search in the terminal, without an agent around it.

The summary and the sources go to stdout, where the search is and what it took to stderr.
"""

import argparse
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import msgspec

from footnote.cli import Exit
from footnote.cli.output import LiveCommand, add_output_options, read_text, redraw_periodically
from footnote.cli.terminal.clean import escape_json
from footnote.cli.terminal.disagreements import disagreement_table
from footnote.cli.terminal.footnotes import Layout
from footnote.cli.terminal.lines import Line, StyledText, symbols_for
from footnote.cli.terminal.receipt import receipt_lines, source_table
from footnote.cli.terminal.screen import Screen
from footnote.config.environment import process_environment
from footnote.protocol.errors import InvalidArguments, UsageError
from footnote.protocol.sources import SearchArtifact
from footnote.protocol.tools import Progress
from footnote.text.markdown import blockquote

if TYPE_CHECKING:
    from footnote.web_search.pipeline import SearchAnswer

EPILOG = (
    "Exit codes: 0 searched, also if nothing was found; 1 no provider answered; 2 wrong usage or configuration; "
    "130 stopped by Ctrl-C."
)


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "search", help="search the web, read the pages, and see how each of them went", epilog=EPILOG
    )
    parser.add_argument("query", nargs="*", metavar="QUERY", help="what to search for; - or nothing reads stdin")
    parser.add_argument("--prompt", metavar="TEXT", help="what you want to know, if the query does not say it")
    parser.add_argument("--provider", metavar="NAME", help="the search provider to ask first")
    parser.add_argument("--count", metavar="N", type=int, help="how many results, 1 to 10")
    parser.add_argument("--country", metavar="CODE", help="results for a country: two letters, such as VN")
    parser.add_argument(
        "--freshness", metavar="WHEN", help="pd, pw, pm, py (past day, week, month, year), or 2024-01-01to2024-03-31"
    )
    parser.add_argument("--model", metavar="PROVIDER/MODEL", help="the model that summarises")
    add_output_options(
        parser,
        locale="language of the verdicts",
        json="print everything as one JSON object",
        plain="text as it is written, draw nothing",
        quiet="only the summary, the sources and errors",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    environ = process_environment()
    query = read_text(arguments.query, sys.stdin, "query", 'footnote search "…"')
    live = LiveCommand(arguments, environ)
    search = _SearchCommand(arguments, live)
    try:
        return live.run(lambda: search.answer(query), lambda: (StyledText("Stopped."),))
    except InvalidArguments as error:
        raise UsageError(error.message) from error


class _SearchCommand:
    """One search, followed on the screen."""

    def __init__(self, arguments: argparse.Namespace, live: LiveCommand) -> None:
        self._arguments = arguments
        self._live = live
        self._screen = live.screen
        self._options = live.options

    async def answer(self, query: str) -> int:
        from footnote.app import App  # noqa: PLC0415 - slow to import, and Ctrl-C must work meanwhile

        arguments = self._arguments
        async with App.open(home=arguments.home, config=arguments.config_file, environ=self._live.environ) as app:
            answer = await self._follow(
                app.search(
                    query,
                    prompt=arguments.prompt,
                    provider=arguments.provider,
                    count=arguments.count,
                    country=arguments.country,
                    freshness=arguments.freshness,
                    model=arguments.model,
                )
            )
        if self._options.json:
            self._show_json(answer.artifact)
        else:
            self._show(answer.artifact)
            self._show_receipt(answer)
        return self._exit_code()

    async def _follow(self, steps: "AsyncGenerator[Progress | SearchAnswer, None]") -> "SearchAnswer":
        shown = SearchProgress(self._screen, quiet=self._options.quiet)
        async with redraw_periodically(shown.tick, lambda: self._screen.show([], [])), aclosing(steps):
            async for step in steps:
                if not isinstance(step, Progress):
                    return step
                shown.feed(step)
        raise AssertionError("a search ends with its answer")

    def _show_json(self, artifact: SearchArtifact) -> None:
        data = msgspec.json.format(msgspec.json.encode(artifact), indent=2) + b"\n"
        self._screen.out.write_bytes(escape_json(data) if self._screen.out.columns else data)

    def _show(self, artifact: SearchArtifact) -> None:
        screen = self._screen
        answer = self._live.answer
        # Without a summary, which a setting leaves out, the best quotations.
        if text := artifact.summary or "\n\n".join(blockquote(one.text, one.number) for one in artifact.passages):
            answer.begin()
            answer.push(text)
            answer.end()
        if artifact.sources:
            layout = Layout(screen.answer_columns, symbols_for(screen.out.encoding), self._options.locale)
            answer.add(disagreement_table(artifact.disagreements, layout))
            answer.add(source_table(artifact, layout))
        else:
            screen.note((StyledText("Nothing was found. Try other words, or another provider (--provider)."),))

    def _show_receipt(self, answer: "SearchAnswer") -> None:
        """The figures of the search."""
        if self._options.quiet or self._screen.out.failure is not None:
            return
        for line in receipt_lines(answer.artifact.receipt, self._screen.symbols, answer.usage):
            self._screen.note(line)

    def _exit_code(self) -> Exit:
        unwritten = self._live.write_error_line("the sources")
        if unwritten is None:
            return Exit.OK
        self._screen.note(unwritten)
        return Exit.FAILURE


class SearchProgress:
    """The progress of a search: one line that is redrawn, or a line per stage where nothing can be redrawn."""

    def __init__(self, screen: Screen, *, quiet: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._screen = screen
        self._quiet = quiet
        self._clock = clock
        self._began = clock()
        self._stage = ""
        self._at: Progress | None = None

    def feed(self, step: Progress) -> None:
        is_new, self._stage, self._at = step.stage != self._stage, step.stage, step
        if is_new and not self._quiet and not self._screen.live_notes:
            self._screen.note(self._line(step))

    def tick(self) -> None:
        region = self._screen.region
        if self._at is None or region is None or self._quiet or not self._screen.live_notes:
            return
        line = self._line(self._at, f"{int(self._clock() - self._began)}s")
        self._screen.show([], [region.paint.line(line, self._screen.size[0])])

    def _line(self, step: Progress, duration: str = "") -> Line:
        symbols = self._screen.symbols
        counted = f" {step.done}/{step.total}" if step.total is not None else ""
        page = step.label if step.total is not None else ""
        rest = "".join(f"{symbols.dot}{part}" for part in (page, duration) if part)
        return (StyledText(f"{symbols.waiting} {step.stage}{counted}"), StyledText(rest, "dim"))
