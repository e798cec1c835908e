"""`footnote ask`: one turn in the terminal. The answer goes to stdout, everything else to stderr."""

import argparse
import sys
from pathlib import Path
from typing import Any

from footnote.cli.output import LiveCommand, add_output_options, read_text
from footnote.cli.question import QuestionCommand, add_question_options, check_question_options, make_folder
from footnote.config.environment import process_environment
from footnote.protocol.errors import UsageError

EPILOG = "Exit codes: 0 answered, 1 the run failed, 2 wrong usage or configuration, 130 stopped by Ctrl-C."


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser("ask", help="ask one question and read the answer as it is written", epilog=EPILOG)
    add_question_options(parser)
    parser.add_argument("--output", metavar="DIR", type=Path, help="where files that the agent writes are saved")
    add_output_options(
        parser,
        locale="language of titles and footnotes",
        json="print every event as one line of JSON",
        plain="stream the answer as it is written, draw nothing",
        quiet="only the answer and errors",
    )
    parser.add_argument("--show-thinking", action="store_true", help="show the thinking of the model on stderr")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    environ = process_environment()
    question = read_text(arguments.question, sys.stdin, "question", 'footnote ask "What is …?"')
    check_question_options(arguments)
    if arguments.output is not None:
        if arguments.server is not None:
            raise UsageError("Files that are written on a server stay there: leave out --output or --server.")
        make_folder(arguments.output)
    live = LiveCommand(arguments, environ)
    command = QuestionCommand(arguments, live)
    return live.run(lambda: command.answer(question), command.stopped_line)
