"""`footnote config show`: every value that holds, and where it comes from. Secrets are masked."""

import argparse
from typing import Any

import msgspec

from footnote.cli import Exit
from footnote.cli.terminal.clean import clean_line
from footnote.config.configuration import Configuration, entries
from footnote.config.load import load

MAX_VALUE_WIDTH = 48


def register(subparsers: Any) -> None:
    config = subparsers.add_parser("config", help="show every setting and where it comes from")
    actions = config.add_subparsers(metavar="ACTION", required=True, title="actions")
    show = actions.add_parser("show", help="the configuration that holds, with the origin of each value")
    show.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    show.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    configuration = load(arguments.home, arguments.config_file)
    print(format_json(configuration) if arguments.json else format_table(configuration))
    return Exit.OK


def format_json(configuration: Configuration) -> str:
    shown = {
        "home": str(configuration.home),
        "settings": list(entries(configuration)),
        "ignored": configuration.ignored,
    }
    return msgspec.json.format(msgspec.json.encode(shown), indent=2).decode()


def format_table(configuration: Configuration) -> str:
    rows = [("SETTING", "VALUE", "ORIGIN")]
    rows += [(entry.key, _format_cell(entry.value), str(entry.origin)) for entry in entries(configuration)]
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    lines = [f"Home folder: {configuration.home}", ""]
    lines += [f"{key:<{first}}  {value:<{second}}  {origin}" for key, value, origin in rows]
    lines += [""] * bool(configuration.ignored)
    lines += [f"{one.variable} is set, but {one.place} in {one.file} wins over it." for one in configuration.ignored]
    return "\n".join(lines)


def _format_cell(value: Any) -> str:
    if value is None:
        return "-"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    line = " ".join(clean_line(text).split()) or '""'
    return line if len(line) <= MAX_VALUE_WIDTH else line[: MAX_VALUE_WIDTH - 1] + "…"
