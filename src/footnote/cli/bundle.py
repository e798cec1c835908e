"""`footnote bundle`: a session that somebody exported: check it, and open it here."""

import argparse
import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footnote.cli import Exit
from footnote.cli.places import add_server_option, open_backend, short_id
from footnote.cli.presentation import format_json
from footnote.cli.saving import check_readable
from footnote.cli.terminal.clean import clean_line
from footnote.config.environment import process_environment
from footnote.protocol.errors import UsageError
from footnote.protocol.sessions import BundleCheck

if TYPE_CHECKING:
    from footnote.bundles.verify import Report

VERIFY_EPILOG = "Exit codes: 0 all is right, 1 something is wrong, 2 it is not a bundle."


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser("bundle", help="a session that was exported: check it, open it here")
    actions = parser.add_subparsers(metavar="ACTION", required=True, title="actions")

    verifying = actions.add_parser(
        "verify",
        help="whether it is as it was exported, and whether what it says holds",
        description="Checks every hash, then every quotation and every verdict anew. It needs no network.",
        epilog=VERIFY_EPILOG,
    )
    _add_file(verifying)
    verifying.add_argument("--seal", metavar="HASH", help="the seal that it must have: that of the bundle you know")
    verifying.add_argument("--json", action="store_true", help="print one JSON object")
    verifying.set_defaults(run=_verify)

    importing = actions.add_parser(
        "import",
        help="open it here, as a session of your own",
        description="Makes a session of the bundle, with its files, versions and sources. A damaged bundle is refused.",
    )
    _add_file(importing)
    importing.add_argument("--json", action="store_true", help="print the session as one JSON object")
    add_server_option(importing)
    importing.set_defaults(run=_import)


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="as `footnote sessions export` wrote it")


def _verify(arguments: argparse.Namespace) -> int:
    from footnote.bundles.verify import verify  # noqa: PLC0415 - slow to import, and Ctrl-C must work meanwhile

    wanted = None if arguments.seal is None else arguments.seal.strip().lower()
    if wanted is not None and (len(wanted) != 64 or wanted.strip("0123456789abcdef")):
        raise UsageError("--seal is not a seal: that has 64 digits from 0 to f.")
    report = verify(arguments.file)
    is_other = wanted is not None and report.seal != wanted
    print(format_json(report, sys.stdout) if arguments.json else "\n".join(_lines(report)))
    if is_other:
        print(
            f"footnote: The seal is not the one that you gave: this is another bundle ({report.seal}).", file=sys.stderr
        )
    return Exit.OK if report.ok and not is_other else Exit.FAILURE


def _lines(report: "Report") -> Iterator[str]:
    if report.session is not None:
        yield clean_line(f"Session   {report.session.title or 'Untitled'} ({report.session.id})")
        yield clean_line(f"Exported  {report.exported_at} by Footnote {report.footnote}")
        yield clean_line(f"Seal      {report.seal}")
    if report.ok:
        yield f"Checked   {', '.join(_counts(report))}"
    for note in report.notes:
        yield clean_line(f"Note      {note}")
    for one in report.findings:
        yield clean_line(f"{one.problem:<10} {one.entry}: {one.message}")
    count = len(report.findings)
    yield "All is right." if report.ok else f"{count} {'thing is' if count == 1 else 'things are'} wrong."


def _check_counts(check: BundleCheck) -> Iterator[str]:
    """What held before the bundle was taken."""
    yield f"{check.entries:,} {'hash' if check.entries == 1 else 'hashes'}"
    yield f"{check.quotations:,} {'quotation' if check.quotations == 1 else 'quotations'}"
    same = check.verdicts - check.otherwise
    yield f"{same:,} {'verdict' if same == 1 else 'verdicts'} made anew"
    if check.otherwise:
        yield f"{check.otherwise:,} more that this version of Footnote would give differently"


def _counts(report: "Report") -> Iterator[str]:
    for count, one, more in (
        (report.entries, "entry", "entries"),
        (report.runs, "answer", "answers"),
        (report.verdicts, "footnote", "footnotes"),
        (report.quotations, "quotation", "quotations"),
        (report.snapshots, "text that was read", "texts that were read"),
        (report.versions, "version of files", "versions of files"),
    ):
        yield f"{count:,} {one if count == 1 else more}"


def _import(arguments: argparse.Namespace) -> int:
    return asyncio.run(_import_bundle(arguments))


async def _import_bundle(arguments: argparse.Namespace) -> int:
    check_readable([arguments.file])
    async with open_backend(arguments, process_environment()) as place:
        head = await place.files.import_bundle(arguments.file)
    if arguments.json:
        print(format_json(head, sys.stdout))
        return Exit.OK
    print(head.id)
    print(f"Verified: {', '.join(_check_counts(head.checked))}.", file=sys.stderr)
    for note in head.checked.notes:
        print(clean_line(f"Note: {note}"), file=sys.stderr)
    server = "" if arguments.server is None else f" --server {arguments.server}"
    print(clean_line(f'To go on: footnote ask --session {short_id(head.id)}{server} "…"'), file=sys.stderr)
    return Exit.OK
