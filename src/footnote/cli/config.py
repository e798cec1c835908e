"""`footnote config show`: every effective setting, and where it comes from. Secrets are masked."""

import argparse
from typing import Any

import msgspec

from footnote.cli import Exit
from footnote.cli.terminal.lines import format_table, one_line, truncate
from footnote.config.load import Configuration, entries, load

MAX_VALUE_WIDTH = 48


def register(subparsers: Any) -> None:
    config = subparsers.add_parser("config", help="show every setting and where it comes from")
    actions = config.add_subparsers(metavar="ACTION", required=True, title="actions")
    show = actions.add_parser("show", help="the effective configuration, with the origin of each value")
    show.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    show.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    configuration = load(arguments.home, arguments.config_file)
    print(_json(configuration) if arguments.json else _table(configuration))
    return Exit.OK


def _json(configuration: Configuration) -> str:
    shown = {
        "home": str(configuration.home),
        "settings": list(entries(configuration)),
        "ignored": configuration.ignored,
    }
    return msgspec.json.format(msgspec.json.encode(shown), indent=2).decode()


def _table(configuration: Configuration) -> str:
    rows = [(entry.key, _format_cell(entry.value), str(entry.origin)) for entry in entries(configuration)]
    lines = [f"Home folder: {configuration.home}", "", *format_table(("SETTING", "VALUE", "ORIGIN"), rows)]
    lines += [""] * bool(configuration.ignored)
    lines += [
        f"{ignored.variable} is set, but {ignored.place} in {ignored.file} wins over it."
        for ignored in configuration.ignored
    ]
    return "\n".join(lines)


def _format_cell(value: Any) -> str:
    if value is None:
        return "-"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return truncate(one_line(text) or '""', MAX_VALUE_WIDTH, "…")
