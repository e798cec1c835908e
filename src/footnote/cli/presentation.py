"""Chooses how a run is shown from where its output goes and from what was asked for."""

import os
import stat
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

import msgspec
from msgspec import Struct

from footnote.cli.terminal.answer import AnswerWriter, PaintedAnswer, PlainAnswer
from footnote.cli.terminal.clean import escape_json
from footnote.cli.terminal.lines import StyledText
from footnote.cli.terminal.renderer import JsonRenderer, Renderer, TerminalRenderer
from footnote.cli.terminal.screen import LiveRegion, OutputSink, Screen, size_of
from footnote.protocol.tools import Locale

if TYPE_CHECKING:
    from footnote.cli.terminal.painting import Painter

RICH_HINT = 'For formatted answers: pip install "footnote[terminal]"'


class OutputOptions(Struct, frozen=True):
    """What the person asked for."""

    json: bool = False
    plain: bool = False
    color: bool = True
    quiet: bool = False
    show_thinking: bool = False
    locale: Locale = "en"


class Presentation(Struct, frozen=True):
    """`answer` writes what was asked for on the screen; `renderer` shows a whole run there."""

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


def format_json(value: Any, stdout: TextIO) -> str:
    """A value as JSON to be printed; on a terminal its strings steer nothing."""
    encoded = msgspec.json.format(msgspec.json.encode(value), indent=2)
    return (escape_json(encoded) if stdout.isatty() else encoded).decode()


def _painter(*, color: bool) -> "Painter | None":
    try:
        from footnote.cli.terminal.painting import Painter  # noqa: PLC0415 - rich is optional, and slow to import
    except ImportError:
        return None
    return Painter(color=color)


def _drawable_stream(stdout: TextIO, stderr: TextIO, environ: Mapping[str, str]) -> TextIO | None:
    """The stream on which lines can be redrawn: a terminal that obeys, and on which nobody else writes.

    If stdout is a pipe, its reader may well write to the terminal of our stderr, at any moment.
    """
    if environ.get("TERM") == "dumb":
        return None
    if stdout.isatty():
        return stdout if _is_utf8(stdout) else None
    is_pipe = stat.S_ISFIFO(os.fstat(stdout.fileno()).st_mode)
    return stderr if stderr.isatty() and _is_utf8(stderr) and not is_pipe else None


def _is_utf8(stream: TextIO) -> bool:
    return stream.encoding.lower().replace("-", "") == "utf8"
