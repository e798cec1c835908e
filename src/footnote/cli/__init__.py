"""The command line: one module a command, imported only when it is asked for.

A command module has `register(subparsers)`, which adds its parser and sets `run`, a function that takes the
parsed arguments and returns an exit code. Data goes to stdout, everything else to stderr.
"""

import argparse
import os
import sys
from enum import IntEnum
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from footnote import __version__
from footnote.cli.terminal.clean import clean_line
from footnote.protocol.errors import ConfigError, FootnoteError, UsageError


class Exit(IntEnum):
    """The exit codes of every command."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    """Wrong arguments, or a configuration that cannot be used."""
    NO_REPORT = 3
    """A research run ended without a report."""
    INTERRUPTED = 130


COMMANDS = {
    "ask": ("footnote.cli.ask", "ask one question and read the answer as it is written"),
    "research": ("footnote.cli.research", "plan, read in parallel, and write a report within a budget"),
    "search": ("footnote.cli.search", "search the web, read the pages, and see how each of them went"),
    "check": ("footnote.cli.check", "compare the statements of a text with the pages that it links to"),
    "sessions": ("footnote.cli.sessions", "stored conversations: list, show, export, delete them"),
    "files": ("footnote.cli.files", "the files of a session: list, get, put, convert, compare them"),
    "bundle": ("footnote.cli.bundle", "verify or import an exported session"),
    "library": ("footnote.cli.library", "pages that were read before: list, show, add files, remove"),
    "serve": ("footnote.cli.serve", "the server with its page and its API"),
    "users": ("footnote.cli.users", "accounts of a shared server: add, list, disable, remove"),
    "tokens": ("footnote.cli.tokens", "tokens for programs that use the server: add, list, remove"),
    "backup": ("footnote.cli.backup", "write all stored data to one file"),
    "restore": ("footnote.cli.restore", "restore a backup into an empty Footnote"),
    "config": ("footnote.cli.config", "show every setting and where it comes from"),
    "doctor": ("footnote.cli.doctor", "check the set-up and say what to do about each problem"),
}
DEBUG_HINT = "Set FOOTNOTE_DEBUG=1 to see where it happened."


class CommandParser(argparse.ArgumentParser):
    """Accepts --home and --config before and after the name of the command: argparse makes the parsers of commands from
    the class of their parent, so that each of them has both options."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)
        places = self.add_argument_group("places")
        places.add_argument(
            "--home",
            metavar="DIR",
            type=Path,
            default=argparse.SUPPRESS,
            help="home folder (else $FOOTNOTE_HOME, else ~/.footnote)",
        )
        places.add_argument(
            "--config",
            metavar="FILE",
            type=Path,
            dest="config_file",
            default=argparse.SUPPRESS,
            help="read FILE instead of config.json in the home folder",
        )


def main(argv: list[str] | None = None) -> int:
    """Runs a command and returns its exit code. It never raises."""
    try:
        code = _run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except SystemExit as stop:  # argparse has printed the reason
        return stop.code if isinstance(stop.code, int) else Exit.OK
    except KeyboardInterrupt:
        return _print_error("Interrupted.", Exit.INTERRUPTED)
    except BrokenPipeError:
        _redirect_to_null(sys.stdout)
        return Exit.OK
    except FootnoteError as error:
        refused = isinstance(error, ConfigError | UsageError)
        return _print_error(error.message, Exit.USAGE if refused else Exit.FAILURE)
    except Exception as error:
        if os.environ.get("FOOTNOTE_DEBUG"):
            raise
        if isinstance(error, OSError) and not error.filename:
            # Perhaps stdout itself cannot be written: Python would flush it again at exit, and fail again.
            _redirect_to_null(sys.stdout)
        return _print_error(f"{_describe_error(error)} {DEBUG_HINT}", Exit.FAILURE)
    return code


def _run(argv: list[str]) -> int:
    _reopen_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        _escape_unencodable(stream)
    parser = _parser(argv)
    arguments = parser.parse_args(argv)
    if arguments.version:
        print(f"footnote {__version__}")
        return Exit.OK
    if arguments.command is None:
        parser.print_help(sys.stderr)
        return Exit.USAGE
    return arguments.run(arguments)


def _parser(argv: list[str]) -> CommandParser:
    parser = CommandParser(prog="footnote", description="A research agent whose footnotes can be checked.")
    parser.set_defaults(home=None, config_file=None)
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, (module, help_line) in COMMANDS.items():
        if name in argv:
            import_module(module).register(commands)
        else:
            commands.add_parser(name, help=help_line)
    return parser


def _print_error(message: str, code: Exit) -> Exit:
    for line in f"footnote: {message}".split("\n"):
        print(clean_line(line), file=sys.stderr)
    return code


def _describe_error(error: Exception) -> str:
    """One sentence. Only messages of the operating system are repeated: any other text may contain a secret."""
    if isinstance(error, OSError) and error.strerror:
        named = f" ({error.filename})" if error.filename else ""
        return f"{error.strerror}{named}."
    return f"Unexpected error: {type(error).__name__}."


def _reopen_closed_streams() -> None:
    """Replaces a stream that was closed before the start (`2>&-`), which Python sets to None, by the null device."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - until the end


def _escape_unencodable(stream: TextIO) -> None:
    """Characters that the encoding of the terminal lacks are escaped instead of raising an error."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _redirect_to_null(stream: TextIO) -> None:
    """The reader closed the pipe (`footnote … | head -1`), and Python would fail again when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
