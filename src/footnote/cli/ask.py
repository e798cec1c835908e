"""`footnote ask`: one turn in the terminal. The answer goes to stdout, everything else to stderr."""

import argparse
import asyncio
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from footnote.cli import Exit
from footnote.cli.approval import Approval, Keyboard
from footnote.cli.interrupts import Interrupts
from footnote.cli.presentation import Presentation, Wishes, present
from footnote.cli.terminal.lines import Line, Span
from footnote.cli.terminal.renderer import Renderer
from footnote.cli.terminal.summary import Summary, file_lines
from footnote.cli.terminal.warnings import warnings_on
from footnote.config.environment import process_environment
from footnote.protocol.errors import UsageError
from footnote.protocol.tools import LOCALES, Locale
from footnote.workspace.export import is_for_the_user, save_to

if TYPE_CHECKING:
    from footnote.app import Run

REDRAWS_PER_SECOND = 15
EPILOG = "Exit codes: 0 answered, 1 the run failed, 2 wrong usage or configuration, 130 stopped by Ctrl-C."


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser("ask", help="ask one question and read the answer as it is written", epilog=EPILOG)
    parser.add_argument("question", nargs="*", metavar="QUESTION", help="the question; - or nothing reads stdin")
    parser.add_argument("--agent", metavar="ID", help="the agent of agents.json that answers (default: the first)")
    parser.add_argument("--model", metavar="PROVIDER/MODEL", help="the model that answers")
    parser.add_argument(
        "--locale", choices=LOCALES, help="language of titles and footnotes (default: from LC_ALL or LANG)"
    )
    parser.add_argument("--output", metavar="DIR", type=Path, help="where files that the agent writes are saved")
    shown = parser.add_argument_group("output")
    shown.add_argument("--json", action="store_true", help="print every event as one line of JSON")
    shown.add_argument("--plain", action="store_true", help="stream the answer as it is written, draw nothing")
    shown.add_argument("--no-color", action="store_true", help="no colours (also: NO_COLOR in the environment)")
    shown.add_argument("--quiet", action="store_true", help="only the answer and errors")
    shown.add_argument("--show-thinking", action="store_true", help="what the model thinks, on stderr")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    environ = process_environment()
    question = text_from(arguments.question, sys.stdin, "question", 'footnote ask "What is …?"')
    if arguments.output is not None:
        _make_folder(arguments.output)
    wishes = Wishes(
        json=arguments.json,
        plain=arguments.plain,
        color=not arguments.no_color,
        quiet=arguments.quiet,
        show_thinking=arguments.show_thinking,
        locale=arguments.locale or locale_from(environ),
    )
    view = present(wishes, sys.stdout, sys.stderr, environ)
    ask = _Ask(arguments, environ, view, wishes)
    try:
        with ask.interrupts, warnings_on(view.screen, quiet=wishes.quiet):
            return asyncio.run(ask.answer(question))
    except asyncio.CancelledError:
        view.screen.note(Summary().kept(0))
        return Exit.INTERRUPTED
    finally:
        for sink in (view.screen.out, view.screen.err):
            sink.close()


class _Ask:
    """One question on its way from the engine to the screen."""

    def __init__(
        self, arguments: argparse.Namespace, environ: Mapping[str, str], view: Presentation, wishes: Wishes
    ) -> None:
        self.interrupts = Interrupts()
        self._arguments = arguments
        self._environ = environ
        self._screen = view.screen
        self._renderer = view.renderer
        self._wishes = wishes
        self._summary = Summary()

    async def answer(self, question: str) -> int:
        task = asyncio.current_task()
        if task is not None:
            self.interrupts.stop_with(task.cancel)
        from footnote.app import App  # noqa: PLC0415 - slow to import, and Ctrl-C must work meanwhile

        arguments = self._arguments
        async with App.open(home=arguments.home, config=arguments.config_file, environ=self._environ) as app:
            run = await app.ask(
                question,
                agent_id=arguments.agent,
                model=arguments.model,
                locale=self._wishes.locale,
                approve=self._approval(),
            )
            self.interrupts.stop_with(run.cancel)
            await self._follow(run)
            saved, unsaved = await self._save(run, app.configuration.home)
        return self._close(saved, unsaved)

    def _approval(self) -> Approval | None:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return None
        return Approval(self._screen, Keyboard(sys.stdin.fileno()))

    async def _follow(self, run: "Run") -> None:
        redrawing = asyncio.create_task(_redraw(self._renderer))
        try:
            async for event in run.events():
                self._summary.feed(event)
                self._renderer.feed(event)
                if self._screen.out.failure:
                    run.cancel()
        finally:
            redrawing.cancel()
            with suppress(asyncio.CancelledError):
                await redrawing
            self._renderer.close()

    async def _save(self, run: "Run", home: Path) -> tuple[list[tuple[str, Path]], list[Line]]:
        """Writes the agent's files to this machine: its name of each with its place, and what went wrong."""
        workspace = run.workspace
        if workspace is None or not any(map(is_for_the_user, await workspace.list())):
            return [], []
        folder = self._arguments.output or home / "ask" / datetime.now().astimezone().strftime("%Y-%m-%d-%H%M%S")
        try:
            return [(record.path, path) for record, path in await save_to(folder, workspace)], []
        except UsageError as error:
            return [], [(Span(f"Error: {error.message}", "bad"),)]

    def _close(self, saved: list[tuple[str, Path]], unsaved: list[Line]) -> Exit:
        code, lines = self._ending(len(saved))
        lines = [*lines, *unsaved]
        if not self._wishes.quiet and not isinstance(self._screen.out.failure, BrokenPipeError):
            lines += file_lines(saved)
            lines += [] if self._wishes.json else self._summary.usage(self._screen.symbols)
        for line in lines:
            self._screen.note(line)
        return Exit.FAILURE if unsaved and code is Exit.OK else code

    def _ending(self, files: int) -> tuple[Exit, list[Line]]:
        """The exit code, and what must be said about it."""
        failure = self._screen.out.failure
        if isinstance(failure, BrokenPipeError):
            return Exit.OK, []  # the reader has seen enough: `| head -1`
        if failure is not None:
            return Exit.FAILURE, [(Span(f"Error: the answer could not be written: {failure.strerror}.", "bad"),)]
        if self.interrupts.asked:
            return Exit.INTERRUPTED, [self._summary.kept(files)]
        return self._summary.exit_code, self._summary.problems()


async def _redraw(renderer: Renderer) -> None:
    while True:
        await asyncio.sleep(1 / REDRAWS_PER_SECOND)
        renderer.tick()


def text_from(words: list[str], stdin: TextIO, thing: str, example: str) -> str:
    """The words of the command line, or all of stdin where there are none and nobody sits at it."""
    from_stdin = words == ["-"] or (not words and not stdin.isatty())
    try:
        text = stdin.buffer.read().decode("utf-8-sig") if from_stdin else " ".join(words)
        text.encode()  # words that were not UTF-8 hold surrogates
    except UnicodeError:
        raise UsageError(f"The {thing} is not text in UTF-8.") from None
    if not text.strip():
        raise UsageError(f"There is no {thing}. Give one: {example}")
    return text.strip()


def locale_from(environ: Mapping[str, str]) -> Locale:
    """The language of the first of the usual variables that is set, if we speak it."""
    chosen = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
    for locale in LOCALES:
        if chosen.lower().startswith(locale):
            return locale
    return "en"


def _make_folder(folder: Path) -> None:
    """Now, and not when the answer has been paid for."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--output: {folder} cannot be a folder: {error.strerror}.") from error
