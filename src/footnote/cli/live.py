"""What commands that work before somebody's eyes have in common: their options, the screen, Ctrl-C, redrawing."""

import argparse
import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TextIO

from footnote.cli import Exit
from footnote.cli.interrupts import Interrupts
from footnote.cli.presentation import OutputOptions, present
from footnote.cli.terminal.lines import Line, StyledText
from footnote.cli.terminal.warnings import show_warnings
from footnote.protocol.errors import UsageError
from footnote.protocol.tools import LOCALES, Locale

REDRAWS_PER_SECOND = 15


def add_output_options(parser: argparse.ArgumentParser, *, locale: str, json: str, plain: str, quiet: str) -> None:
    """The options about the output, with what each of them means to this command."""
    parser.add_argument("--locale", choices=LOCALES, help=f"{locale} (default: from LC_ALL or LANG)")
    shown = parser.add_argument_group("output")
    shown.add_argument("--json", action="store_true", help=json)
    shown.add_argument("--plain", action="store_true", help=plain)
    shown.add_argument("--no-color", action="store_true", help="no colours (also: NO_COLOR in the environment)")
    shown.add_argument("--quiet", action="store_true", help=quiet)


class LiveCommand:
    """One command at work: what was wished for, the screen, and how it is stopped."""

    def __init__(self, arguments: argparse.Namespace, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.options = OutputOptions(
            json=arguments.json,
            plain=arguments.plain,
            color=not arguments.no_color,
            quiet=arguments.quiet,
            show_thinking=getattr(arguments, "show_thinking", False),
            locale=arguments.locale or locale_from_environ(environ),
        )
        view = present(self.options, sys.stdout, sys.stderr, environ)
        self.screen = view.screen
        self.answer = view.answer
        self.renderer = view.renderer
        self.interrupts = Interrupts()

    def run(self, work: Callable[[], Awaitable[int]], stopped_line: Callable[[], Line]) -> int:
        """Works to the end and returns the exit code. `stopped` is said if Ctrl-C came too early for the work to."""
        try:
            with self.interrupts, show_warnings(self.screen, quiet=self.options.quiet):
                return asyncio.run(self._run_cancellable(work))
        except asyncio.CancelledError:
            self.screen.note(stopped_line())
            return Exit.INTERRUPTED
        finally:
            for sink in (self.screen.out, self.screen.err):
                sink.close()

    async def _run_cancellable(self, work: Callable[[], Awaitable[int]]) -> int:
        task = asyncio.current_task()
        if task is not None:
            self.interrupts.on_interrupt(task.cancel)
        return await work()

    @property
    def has_reader_left(self) -> bool:
        """Whoever read stdout has seen enough: `| head -1`."""
        return isinstance(self.screen.out.failure, BrokenPipeError)

    def write_error_line(self, thing: str) -> Line | None:
        """What is said when stdout could not be written; nothing to a reader who left."""
        failure = self.screen.out.failure
        if failure is None or self.has_reader_left:
            return None
        return (StyledText(f"Error: {thing} could not be written: {failure.strerror}.", "bad"),)


@asynccontextmanager
async def redraw_periodically(tick: Callable[[], None], close: Callable[[], None]) -> AsyncGenerator[None, None]:
    """Calls `tick` some fifteen times a second until the work inside is over, then `close`."""
    redrawing = asyncio.create_task(_redraw(tick))
    try:
        yield
    finally:
        redrawing.cancel()
        with suppress(asyncio.CancelledError):
            await redrawing
        close()


async def _redraw(tick: Callable[[], None]) -> None:
    while True:
        tick()
        await asyncio.sleep(1 / REDRAWS_PER_SECOND)


def read_text(arguments: list[str], stdin: TextIO, thing: str, example: str) -> str:
    """The words of the command line, or all of stdin where there are none and nobody sits at it."""
    from_stdin = arguments == ["-"] or (not arguments and not stdin.isatty())
    try:
        text = stdin.buffer.read().decode("utf-8-sig") if from_stdin else " ".join(arguments)
        text.encode()  # words that were not UTF-8 hold surrogates
    except UnicodeError:
        raise UsageError(f"The {thing} is not text in UTF-8.") from None
    if not text.strip():
        raise UsageError(f"There is no {thing}. Give one: {example}")
    return text.strip()


def locale_from_environ(environ: Mapping[str, str]) -> Locale:
    """The language of the first of the usual variables that is set, if we speak it."""
    chosen = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
    for locale in LOCALES:
        if chosen.lower().startswith(locale):
            return locale
    return "en"
