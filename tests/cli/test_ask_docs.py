"""docs/cli.md lists every option of every command, and no other."""

import argparse
import re
from pathlib import Path
from typing import get_args

import pytest

from footnote.cli import COMMANDS, CommandParser, Exit, ask, research, search, sessions
from footnote.protocol.events import Event

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


def section(command: str) -> str:
    _, text = PAGE.split(f"\n## footnote {command}\n")
    return text.partition("\n## ")[0]


def options(command: str) -> set[str]:
    commands = CommandParser().add_subparsers()
    {"ask": ask, "research": research, "search": search}[command].register(commands)
    hidden = {"--help", "--home", "--config"}
    return {
        option
        for action in commands.choices[command]._actions
        if not isinstance(action, argparse._HelpAction)
        for option in action.option_strings
        if option.startswith("--")
    } - hidden


@pytest.mark.parametrize("command", ["ask", "search"])
def test_the_table_has_every_option_and_no_other(command: str) -> None:
    assert named_options(command) == options(command)


def test_the_table_of_research_has_what_ask_does_not_have() -> None:
    assert named_options("research") == options("research") - options("ask") | {"--output"}
    assert options("ask") - options("research") == {"--show-thinking"}


def named_options(command: str) -> set[str]:
    """The options in the first column."""
    rows = [line for line in section(command).splitlines() if line.startswith("| `--")]
    return {option for row in rows for option in re.findall(r"--[a-z-]+", re.split(r"(?<!\\)\|", row)[1])}


def test_every_option_of_the_actions_of_sessions_is_named() -> None:
    commands = CommandParser().add_subparsers()
    sessions.register(commands)
    (actions,) = (one for one in commands.choices["sessions"]._actions if isinstance(one, argparse._SubParsersAction))
    there = {
        option for parser in actions.choices.values() for action in parser._actions for option in action.option_strings
    }
    named = set(re.findall(r"`(--[a-z-]+)", section("sessions")))
    assert named == there - {"-h", "--help", "--home", "--config"}
    assert set(re.findall(r"^\| `sessions ([a-z]+)", section("sessions"), re.MULTILINE)) == set(actions.choices)


def test_every_command_is_named() -> None:
    assert set(re.findall(r"`footnote ([a-z]+)", PAGE)) == set(COMMANDS)


def test_every_exit_code_is_explained() -> None:
    assert set(re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)) == {str(int(code)) for code in Exit}


def test_every_event_that_a_run_can_yield_is_named() -> None:
    tags = {str(kind.__struct_config__.tag) for kind in get_args(Event)}
    assert {tag for tag in tags if f"`{tag}`" not in section("ask")} == {"ping"}
