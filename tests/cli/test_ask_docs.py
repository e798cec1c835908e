"""docs/cli.md is true: every option of the command is in it, and no other."""

import argparse
import re
from pathlib import Path
from typing import get_args

from footnote.cli import COMMANDS, CommandParser, Exit
from footnote.cli.ask import register
from footnote.protocol.events import Event

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
_, ASK = PAGE.split("\n## footnote ask\n")


def options() -> set[str]:
    commands = CommandParser().add_subparsers()
    register(commands)
    ask = commands.choices["ask"]
    hidden = {"--help", "--home", "--config"}
    return {
        option
        for action in ask._actions
        if not isinstance(action, argparse._HelpAction)
        for option in action.option_strings
        if option.startswith("--")
    } - hidden


def test_the_table_has_every_option_and_no_other() -> None:
    assert set(re.findall(r"^\| `(--[a-z-]+)", ASK, re.MULTILINE)) == options()


def test_every_command_is_named() -> None:
    assert set(re.findall(r"`footnote ([a-z]+)", PAGE)) == set(COMMANDS)


def test_every_exit_code_is_explained() -> None:
    assert set(re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)) == {str(int(code)) for code in Exit}


def test_every_event_that_a_run_can_yield_is_named() -> None:
    tags = {str(kind.__struct_config__.tag) for kind in get_args(Event)}
    of_a_server = {"ping", "round_restart"}
    assert {tag for tag in tags if f"`{tag}`" not in ASK} == of_a_server
