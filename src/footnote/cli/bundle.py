"""`footnote bundle`: verifies an exported session, or imports it."""

import argparse
import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footnote.cli import Exit
from footnote.cli.backends import add_server_option, open_backend, short_id
from footnote.cli.output import format_json, print_note
from footnote.cli.saving import check_readable
from footnote.cli.terminal.clean import clean_line
from footnote.config.environment import process_environment
from footnote.protocol.errors import UsageError
from footnote.protocol.sessions import BundleCheck

if TYPE_CHECKING:
    from footnote.bundles.verify import Report

VERIFY_EPILOG = "Exit codes: 0 all is right, 1 something is wrong, 2 it is not a bundle."


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser("bundle", help="verify or import an exported session")
    actions = parser.add_subparsers(metavar="ACTION", required=True, title="actions")

    verifying = actions.add_parser(
        "verify",
        help="check that a bundle is unchanged and that its verdicts hold",
        description="Checks every hash, and judges every quotation and verdict again. It needs no network.",
        epilog=VERIFY_EPILOG,
    )
    _add_file(verifying)
    verifying.add_argument("--seal", metavar="HASH", help="the seal that the bundle must have")
    verifying.add_argument("--json", action="store_true", help="print one JSON object")
    verifying.set_defaults(run=_verify)

    importing = actions.add_parser(
        "import",
        help="import a bundle as a new session",
        description="Imports a session with its files, versions and sources. A damaged bundle is refused.",
    )
    _add_file(importing)
    importing.add_argument("--json", action="store_true", help="print the session as one JSON object")
    add_server_option(importing)
    importing.set_defaults(run=_import)


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="a bundle that `footnote sessions export` wrote")


def _verify(arguments: argparse.Namespace) -> int:
    from footnote.bundles.verify import verify  # noqa: PLC0415 - slow to import, and Ctrl-C must work meanwhile

    wanted = None if arguments.seal is None else arguments.seal.strip().lower()
    if wanted is not None and (len(wanted) != 64 or wanted.strip("0123456789abcdef")):
        raise UsageError("--seal is not a seal: a seal has 64 hexadecimal digits.")
    report = verify(arguments.file)
    has_other_seal = wanted is not None and report.seal != wanted
    print(format_json(report) if arguments.json else "\n".join(_lines(report)))
    if has_other_seal:
        print(
            f"footnote: The seal is not the one that you gave: this is another bundle ({report.seal}).", file=sys.stderr
        )
    return Exit.OK if report.ok and not has_other_seal else Exit.FAILURE


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
    """The counts of what was verified before the import."""
    yield f"{check.entries:,} {'hash' if check.entries == 1 else 'hashes'}"
    yield f"{check.quotations:,} {'quotation' if check.quotations == 1 else 'quotations'}"
    same = check.verdicts - check.otherwise
    yield f"{same:,} {'verdict' if same == 1 else 'verdicts'} judged again"
    if check.otherwise:
        yield f"{check.otherwise:,} more that this version of Footnote would give differently"


def _counts(report: "Report") -> Iterator[str]:
    for count, one, more in (
        (report.entries, "entry", "entries"),
        (report.runs, "answer", "answers"),
        (report.verdicts - report.file_verdicts, "footnote", "footnotes"),
        (report.file_verdicts, "verdict on files", "verdicts on files"),
        (report.quotations, "quotation", "quotations"),
        (report.snapshots, "text that was read", "texts that were read"),
        (report.versions, "version of files", "versions of files"),
    ):
        if count or one != "verdict on files":  # most sessions have no such file
            yield f"{count:,} {one if count == 1 else more}"


def _import(arguments: argparse.Namespace) -> int:
    return asyncio.run(_import_bundle(arguments))


async def _import_bundle(arguments: argparse.Namespace) -> int:
    check_readable([arguments.file])
    async with open_backend(arguments, process_environment()) as backend:
        head = await backend.files.import_bundle(arguments.file)
    if arguments.json:
        print(format_json(head))
        return Exit.OK
    print(head.id)
    print_note(f"Verified: {', '.join(_check_counts(head.checked))}.")
    for note in head.checked.notes:
        print_note(f"Note: {note}")
    server = "" if arguments.server is None else f" --server {arguments.server}"
    print_note(f'To continue: footnote ask --session {short_id(head.id)}{server} "…"')
    return Exit.OK
