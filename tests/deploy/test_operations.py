"""The operations guide and the comments of `deploy/` match the code: commands, settings, alerts and numbers."""

import argparse
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from deploy.deploy_files import FILES, FOLDER, PAGE, document
from footnote.cli import COMMANDS, CommandParser
from footnote.config.environment import read_environ, setting_keys
from footnote.db.postgresql.driver import READERS, RETRY_SECONDS, WRITERS
from footnote.server.http_server import GRACE_SECONDS, KEEP_ALIVE_SECONDS
from footnote.server.responses import PING_SECONDS
from footnote.sessions.follow import FALLBACK_POLL_SECONDS
from footnote.sessions.supervisor import SHARED_LEASE_SECONDS
from shape.tree import PACKAGE, ROOT, name_of

COMMAND = re.compile(r"(?:^|(?<!-n)[\s`/(])footnote ([a-z]+)((?: +(?:--)?[a-z][a-z-]*)*)", re.MULTILINE)
WORDS = PAGE.read_text(encoding="utf-8")


@cache
def _parser(command: str) -> argparse.ArgumentParser:
    parser = CommandParser(prog="footnote")
    import_module(COMMANDS[command][0]).register(parser.add_subparsers())
    return _choices(parser)[command]


def _choices(parser: argparse.ArgumentParser) -> dict[str, Any]:
    return next((dict(action.choices) for action in parser._actions if isinstance(action.choices, dict)), {})


def _commands(text: str) -> list[tuple[str, list[str]]]:
    """The code of a page: between backticks, and in blocks."""
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL) + re.findall(r"`([^`\n]+)`", text)
    return [(name, rest.split()) for block in blocks for name, rest in COMMAND.findall(block)]


@pytest.mark.parametrize("path", [PAGE, *FILES], ids=name_of)
def test_every_command_and_option_exists(path: Path) -> None:
    for name, words in _commands(path.read_text(encoding="utf-8")):
        assert name in COMMANDS, name
        parser = _parser(name)
        actions = _choices(parser)
        if actions:
            assert words, f"footnote {name}"
            assert words[0] in actions, f"footnote {name} {words[0]}"
            parser = actions[words[0]]
        options = {option for action in parser._actions for option in action.option_strings}
        assert {word for word in words if word.startswith("--")} <= options, (name, words)


def test_every_variable_and_every_key_is_a_setting() -> None:
    variables = set(re.findall(r"\b(FOOTNOTE_[A-Z0-9_]+)\b", WORDS)) - {
        "FOOTNOTE_PORT"
    }  # documented as not being a metric
    _, problems = read_environ(dict.fromkeys(variables, "1"), {"anthropic"})
    assert [str(problem) for problem in problems if "no such setting" in str(problem)] == []
    keys = {".".join(key.path) for key in setting_keys()}
    heads = {key.partition(".")[0] for key in keys}
    named = {word for word in re.findall(r"`([a-z]+\.[a-zA-Z.]+)`", WORDS) if word.partition(".")[0] in heads}
    assert named
    assert named - keys == set()


def test_every_alert_has_its_section() -> None:
    rules = document(FOLDER / "prometheus" / "footnote.rules.yml")
    alerts = {rule["alert"] for group in rules["groups"] for rule in group["rules"] if "alert" in rule}
    sections = set(re.findall(r"^### (Footnote\w+)$", WORDS, re.MULTILINE))
    assert {"missing": alerts - sections, "gone": sections - alerts} == {"missing": set(), "gone": set()}


@pytest.mark.parametrize(
    "documented",
    [
        f"| connections to PostgreSQL | {READERS + WRITERS}, ",
        f"tried again for {RETRY_SECONDS:g} s",
        f"sees events up to {FALLBACK_POLL_SECONDS:g} s late",
        f"longer than a lease ({SHARED_LEASE_SECONDS:g} s)",
        f"a `ping` comes every {PING_SECONDS:g} s",
        f"close idle connections to replicas before {KEEP_ALIVE_SECONDS} s",
        f"at most {GRACE_SECONDS} for clients that do not read",
    ],
)
def test_the_figures_are_those_of_the_code(documented: str) -> None:
    assert documented in " ".join(WORDS.split())


def test_every_file_and_table_that_is_named_is_there() -> None:
    for name in re.findall(r"`(deploy/[\w./-]*)`", WORDS):
        assert (ROOT / name).exists(), name
    migrations = "".join(path.read_text() for path in (PACKAGE / "db" / "migrations" / "postgresql").glob("*.sql"))
    for table in re.findall(r"ALTER TABLE (\w+)", WORDS):
        assert re.search(rf"CREATE TABLE (IF NOT EXISTS )?{table}\b", migrations), table
