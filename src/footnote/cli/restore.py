"""`footnote restore`: a backup into an empty database and storage."""

import argparse
from typing import Any

from footnote.cli import Exit
from footnote.cli.backup import EPILOG, format_counts, open_input, open_stores
from footnote.cli.output import print_note, run_interruptible


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "restore",
        help="restore a backup into an empty Footnote",
        description="Checks the whole backup, then puts all of it into the database and the storage of the settings, "
        "which must be empty: all of it, or nothing. No server may run on them meanwhile.",
        epilog=EPILOG,
    )
    parser.add_argument("file", metavar="FILE", help="as `footnote backup` wrote it; - for stdin")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    return run_interruptible(lambda: _restore(arguments), "Stopped. Nothing was restored.")


async def _restore(arguments: argparse.Namespace) -> int:
    from footnote.backup.restore import restore  # noqa: PLC0415 - slow to import, and Ctrl-C must work meanwhile

    with open_input(arguments.file) as file:
        async with open_stores(arguments) as (database, storage):
            checked = await restore(file, database, storage)
    print_note(f"Restored {format_counts(checked.end)}, as of {checked.head.made_at}.")
    return Exit.OK
