"""The output of commands: its options, how it is shown in a terminal or a pipe, as JSON, and how Ctrl-C stops it."""

import argparse
import asyncio
import os
import signal
import stat
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, Self, TextIO

import msgspec
from msgspec import Struct

from footnote.cli import Exit
from footnote.cli.terminal.answer import AnswerWriter, PaintedAnswer, PlainAnswer
from footnote.cli.terminal.clean import clean_line, escape_json
from footnote.cli.terminal.lines import Line, StyledText
from footnote.cli.terminal.renderer import JsonRenderer, Renderer, TerminalRenderer
from footnote.cli.terminal.screen import LiveRegion, OutputSink, Screen, show_warnings, size_of
from footnote.protocol.errors import UsageError
from footnote.protocol.tools import LOCALES, Locale

if TYPE_CHECKING:
    from footnote.cli.terminal.painting import Painter

RICH_HINT = 'For formatted answers: pip install "footnote[terminal]"'
REDRAWS_PER_SECOND = 15


class OutputOptions(Struct, frozen=True):
    """What the options of the command line say about the output."""

    json: bool = False
    plain: bool = False
    color: bool = True
    quiet: bool = False
    show_thinking: bool = False
    locale: Locale = "en"


def add_output_options(parser: argparse.ArgumentParser, *, locale: str, json: str, plain: str, quiet: str) -> None:
    """The options about the output, with the help text of each for this command."""
    parser.add_argument("--locale", choices=LOCALES, help=f"{locale} (default: from LC_ALL or LANG)")
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help=json)
    group.add_argument("--plain", action="store_true", help=plain)
    group.add_argument("--no-color", action="store_true", help="no colours (also: NO_COLOR in the environment)")
    group.add_argument("--quiet", action="store_true", help=quiet)


def locale_from_environ(environ: Mapping[str, str]) -> Locale:
    """The language of the first of the usual variables that is set, if Footnote has it; otherwise English."""
    chosen = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
    for locale in LOCALES:
        if chosen.lower().startswith(locale):
            return locale
    return "en"


class Presentation(Struct, frozen=True):
    """`answer` writes text on the screen; `renderer` shows a whole run there."""

    screen: Screen
    answer: AnswerWriter
    renderer: Renderer


def present(options: OutputOptions, stdout: TextIO, stderr: TextIO, environ: Mapping[str, str]) -> Presentation:
    out, err = OutputSink(stdout), OutputSink(stderr)
    drawable = None if options.plain or options.json else _drawable_stream(stdout, stderr, environ)
    painter = _painter(color=options.color and not environ.get("NO_COLOR")) if drawable else None
    if drawable is None or painter is None:
        screen = Screen(out, err)
        answer = PlainAnswer(screen)
    else:
        region = LiveRegion(out if drawable is stdout else err, painter, size_of(drawable))
        screen = Screen(out, err, region=region, live_notes=stderr.isatty())
        answer = PaintedAnswer(screen, painter) if drawable is stdout else PlainAnswer(screen)
    if options.json:
        return Presentation(screen, answer, JsonRenderer(out, on_terminal=stdout.isatty()))
    if drawable is stdout and painter is None and not options.quiet:
        screen.note((StyledText(RICH_HINT),))
    renderer = TerminalRenderer(
        screen, answer, quiet=options.quiet, show_thinking=options.show_thinking, locale=options.locale
    )
    return Presentation(screen, answer, renderer)


def _painter(*, color: bool) -> "Painter | None":
    try:
        from footnote.cli.terminal.painting import Painter  # noqa: PLC0415 - rich is optional, and slow to import
    except ImportError:
        return None
    return Painter(color=color)


def _drawable_stream(stdout: TextIO, stderr: TextIO, environ: Mapping[str, str]) -> TextIO | None:
    """The stream on which lines can be redrawn: a terminal that knows escape sequences and that no other program
    writes to. If stdout is a pipe, its reader may write to the terminal of our stderr at any moment.
    """
    if environ.get("TERM") == "dumb":
        return None
    if stdout.isatty():
        return stdout if _is_utf8(stdout) else None
    is_pipe = stat.S_ISFIFO(os.fstat(stdout.fileno()).st_mode)
    return stderr if stderr.isatty() and _is_utf8(stderr) and not is_pipe else None


def _is_utf8(stream: TextIO) -> bool:
    return stream.encoding.lower().replace("-", "") == "utf8"


# Progress, and how Ctrl-C stops it ----------------------------------------------------------------------------


class Interrupts:
    """Ctrl-C and SIGTERM: the first one asks the command to stop, the second one ends the process at once. A command
    that can finish early does so at the first Ctrl-C, and stops at the next signal.

    Active inside its `with`. `is_requested` is true once the command shall stop.

    The handlers are plain signal handlers, not the event loop's own, so that the second signal also ends a
    process whose loop is stuck, for example in a write to a pager that does not read.
    """

    def __init__(self) -> None:
        self.is_requested = False
        self._callback: Callable[[], object] | None = None
        self._finish: Callable[[], object] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._previous_handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            # A shell makes its background jobs ignore Ctrl-C, which is meant for the job in the foreground.
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._previous_handlers[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous_handlers.items():
            signal.signal(number, handler)

    def on_interrupt(self, callback: Callable[[], object], *, finish: Callable[[], object] | None = None) -> None:
        """Sets what the first signal calls, in the event loop. `finish`: what the first Ctrl-C calls instead."""
        self._loop, self._callback, self._finish = asyncio.get_running_loop(), callback, finish

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self.is_requested:
            os._exit(Exit.INTERRUPTED)
        if self._loop is not None and self._finish is not None and number == signal.SIGINT:
            finish, self._finish = self._finish, None
            self._loop.call_soon_threadsafe(finish)
            return
        self.is_requested = True
        if self._loop is None or self._callback is None:
            raise KeyboardInterrupt
        self._loop.call_soon_threadsafe(self._callback)


def run_interruptible(work: Callable[[], Any], stopped_message: str) -> int:
    """Ctrl-C and SIGTERM cancel `work`, so that it cleans up."""

    async def cancellable() -> int:
        task = asyncio.current_task()
        if task is not None:
            interrupts.on_interrupt(task.cancel)
        return await work()

    with Interrupts() as interrupts:
        try:
            return asyncio.run(cancellable())
        except asyncio.CancelledError:
            print(stopped_message, file=sys.stderr)
            return Exit.INTERRUPTED


class LiveCommand:
    """A command that shows its progress: its options, the screen, and how it is stopped."""

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
        """Runs `work` and returns its exit code. `stopped_line`: for a Ctrl-C that came before `work` handles it."""
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
        """The reader of stdout closed the pipe: `| head -1`."""
        return isinstance(self.screen.out.failure, BrokenPipeError)

    def write_error_line(self, name: str) -> Line | None:
        """The error if stdout could not be written; None if its reader closed the pipe."""
        failure = self.screen.out.failure
        if failure is None or self.has_reader_left:
            return None
        return (StyledText(f"Error: {name} could not be written: {failure.strerror}.", "bad"),)


@asynccontextmanager
async def redraw_periodically(tick: Callable[[], None], close: Callable[[], None]) -> AsyncGenerator[None, None]:
    """Calls `tick` some fifteen times a second until the block is left, then `close`."""
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


# Text in, text out -------------------------------------------------------------------------------------------


def read_text(arguments: list[str], stdin: TextIO, name: str, example: str) -> str:
    """The words of the command line, or all of stdin if there are none and stdin is not a terminal."""
    from_stdin = arguments == ["-"] or (not arguments and not stdin.isatty())
    try:
        text = stdin.buffer.read().decode("utf-8-sig") if from_stdin else " ".join(arguments)
        text.encode()  # arguments that are not UTF-8 contain surrogates
    except UnicodeError:
        raise UsageError(f"The {name} is not UTF-8 text.") from None
    if not text.strip():
        raise UsageError(f"There is no {name}. Give one: {example}")
    return text.strip()


def confirm(question: str) -> bool:
    """Asks before something is deleted."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("This needs a confirmation, and there is no terminal to ask on. Give --yes to delete it.")
    print(clean_line(question), end=" [y/N] ", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def format_json(value: Any) -> str:
    """A value as JSON for stdout; on a terminal, control characters in its strings are escaped."""
    encoded = msgspec.json.format(msgspec.json.encode(value), indent=2)
    return (escape_json(encoded) if sys.stdout.isatty() else encoded).decode()


def print_note(text: str) -> None:
    """A line about the result, on stderr."""
    print(clean_line(text), file=sys.stderr)
