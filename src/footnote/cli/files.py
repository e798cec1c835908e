"""`footnote files`: the files of a session, in the home folder or on a server."""

import argparse
import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias, get_args

from footnote.cli import Exit
from footnote.cli.backends import SessionBackend, add_server_option, open_backend, resolve_session
from footnote.cli.output import confirm, format_json, print_note
from footnote.cli.saving import check_readable, save
from footnote.cli.terminal.clean import clean, clean_line
from footnote.cli.terminal.lines import format_table, one_line
from footnote.config.environment import process_environment
from footnote.protocol.errors import FootnoteError, UnprocessableFile, UsageError
from footnote.protocol.files import ConvertType, FileRecord, FileVersion, ProofOption
from footnote.workspace.export import safe_name
from footnote.workspace.paths import key_of
from footnote.workspace.text import pluralize

STDOUT = "-"

Action: TypeAlias = Callable[[SessionBackend, str, argparse.Namespace], Awaitable[int]]


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser("files", help="the files of a session: list, get, put, convert, compare them")
    actions = parser.add_subparsers(metavar="ACTION", required=True, title="actions")

    listing = actions.add_parser("list", help="every file, by path")
    _add_session(listing)
    _add_common_options(listing, _list, json="print one JSON array instead of a table")

    getting = actions.add_parser("get", help="fetch a file")
    _add_path(getting)
    _add_output(getting)
    getting.add_argument(
        "--version", metavar="N", type=_number, dest="number", help="an earlier version (default: the newest)"
    )
    _add_common_options(getting, _get)

    putting = actions.add_parser(
        "put",
        help="upload files to the session",
        description="Uploads files. With --as, the text of one file becomes that of a file of the workspace, which the "
        "agent can change.",
    )
    _add_session(putting)
    putting.add_argument("files", metavar="FILE", type=Path, nargs="+")
    putting.add_argument("--as", metavar="PATH", dest="path", help="create or replace this file of the workspace")
    _add_common_options(putting, _put, json="print the records as one JSON array")

    converting = actions.add_parser("convert", help="a file as PDF, DOCX or markdown")
    _add_path(converting)
    converting.add_argument("--to", choices=get_args(ConvertType), required=True, help="the target format")
    converting.add_argument(
        "--proof",
        choices=get_args(ProofOption),
        default="mark",
        help="statements that their sources do not support are marked (default), left plain, or refuse the document",
    )
    _add_output(converting)
    _add_common_options(converting, _convert)
    _register_versions(actions)

    unpacking = actions.add_parser("unpack", help="the files of a zip file as uploads of their own")
    _add_path(unpacking)
    _add_common_options(unpacking, _unpack, json="print the records as one JSON array")

    deleting = actions.add_parser("delete", help="delete a file with all its versions")
    _add_path(deleting)
    deleting.add_argument("--yes", action="store_true", help="do not ask")
    _add_common_options(deleting, _delete)


def _register_versions(actions: Any) -> None:
    versions = actions.add_parser("versions", help="all versions of a file, the newest first")
    _add_path(versions)
    _add_common_options(versions, _versions, json="print one JSON array instead of a table")

    diff = actions.add_parser("diff", help="the difference between two versions")
    _add_path(diff)
    diff.add_argument("--from", metavar="N", type=_number, dest="older", help="default: the one before the other")
    diff.add_argument("--to", metavar="N", type=_number, dest="newer", help="default: the newest")
    _add_common_options(diff, _diff, json="print one JSON object")

    restoring = actions.add_parser("restore", help="restore an earlier version, as the newest")
    _add_path(restoring)
    restoring.add_argument("number", metavar="N", type=_number, help="the number of the version")
    _add_common_options(restoring, _restore)


def _add_path(parser: argparse.ArgumentParser) -> None:
    _add_session(parser)
    parser.add_argument("path", metavar="PATH", help="as `files list` shows it; of an upload its name will do")


def _add_session(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SESSION", help="its id, a beginning or an end of it, or `last`")


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", metavar="FILE", help="where to (default: its own name, here); - is stdout")
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")


def _add_common_options(parser: argparse.ArgumentParser, action: Action, *, json: str | None = None) -> None:
    if json is not None:
        parser.add_argument("--json", action="store_true", help=json)
    add_server_option(parser)
    parser.set_defaults(run=_run(action))


def _run(action: Action) -> Callable[[argparse.Namespace], int]:
    return lambda arguments: asyncio.run(_with_backend(action, arguments))


async def _with_backend(action: Action, arguments: argparse.Namespace) -> int:
    _check_arguments(arguments)
    async with open_backend(arguments, process_environment()) as backend:
        return await action(backend, await resolve_session(backend, arguments.session), arguments)


def _check_arguments(arguments: argparse.Namespace) -> None:
    """Before anything is opened or sent."""
    files: list[Path] = getattr(arguments, "files", [])
    check_readable(files)
    if files and arguments.path is not None and len(files) > 1:
        raise UsageError("--as names one file of the workspace: give one FILE with it.")


# Download -----------------------------------------------------------------------------------------------------------


async def _list(backend: SessionBackend, session_id: str, arguments: argparse.Namespace) -> int:
    records = await backend.files.list(session_id)
    print(format_json(records) if arguments.json else "\n".join(_table(records)))
    return Exit.OK


async def _get(backend: SessionBackend, session_id: str, arguments: argparse.Namespace) -> int:
    name = arguments.path.rstrip("/").rpartition("/")[2]
    return await _save_or_print(backend.files.content(session_id, arguments.path, arguments.number), name, arguments)


async def _convert(backend: SessionBackend, session_id: str, arguments: argparse.Namespace) -> int:
    try:
        document = await backend.files.convert(session_id, arguments.path, arguments.to, arguments.proof)
    except UnprocessableFile as error:
        if not error.refused_statements:
            raise
        for one in error.refused_statements:
            print_note(f"{one.verdict}: {' '.join(one.statement.split())}")
        print_note(f"footnote: {error.message}")
        return Exit.FAILURE
    for note in document.notes:
        print_note(f"footnote: {note}")
    return await _save_or_print(document.chunks, document.filename, arguments)


async def _save_or_print(chunks: AsyncGenerator[bytes, None], name: str, arguments: argparse.Namespace) -> int:
    if arguments.output == STDOUT:
        await _print(chunks)
        return Exit.OK
    target = Path(arguments.output or safe_name(name))
    await save(target, chunks, force=arguments.force)
    print(clean_line(str(target)))
    return Exit.OK


async def _print(chunks: AsyncGenerator[bytes, None]) -> None:
    """Unchanged; on a terminal only text, without control characters."""
    async with aclosing(chunks):
        if not sys.stdout.isatty():
            async for piece in chunks:
                sys.stdout.buffer.write(piece)
            return
        content = b"".join([piece async for piece in chunks])
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise UsageError("The file is not text, so it is not printed on a terminal. Save it: --output FILE") from None
    print(clean(text), end="" if text.endswith("\n") else "\n")


# Upload ------------------------------------------------------------------------------------------------------------


async def _put(backend: SessionBackend, session_id: str, arguments: argparse.Namespace) -> int:
    if arguments.path is not None:
        records = [await _edit(backend, session_id, arguments.path, arguments.files[0])]
    else:
        records = await _upload(backend, session_id, arguments.files)
    if records or arguments.json:
        print(format_json(records) if arguments.json else "\n".join(clean_line(record.path) for record in records))
    return Exit.OK if len(records) == len(arguments.files) else Exit.FAILURE


async def _edit(backend: SessionBackend, session_id: str, path: str, file: Path) -> FileRecord:
    """Sends the hash of the current version with it: the edit is refused if the file was written meanwhile."""
    try:
        text = (await asyncio.to_thread(file.read_bytes)).decode()
    except UnicodeDecodeError:
        raise UsageError(f"{file} is not UTF-8 text. Leave out --as to upload it as it is.") from None
    key = key_of(path)
    known = key in {record.path for record in await backend.files.list(session_id)}
    base = (await backend.files.versions(session_id, key))[0].hash if known else None
    return await backend.files.put(session_id, key, text, base)


async def _upload(backend: SessionBackend, session_id: str, files: Sequence[Path]) -> list[FileRecord]:
    """One by one: a file that is refused does not stop the others."""
    records: list[FileRecord] = []
    for file in files:
        try:
            records.append(await backend.files.upload(session_id, file))
        except FootnoteError as error:
            if len(files) == 1:
                raise
            print_note(f"footnote: {file}: {error.message}")
    return records


async def _unpack(backend: SessionBackend, session_id: str, arguments: argparse.Namespace) -> int:
    records = await backend.files.unpack(session_id, arguments.path)
    print(format_json(records) if arguments.json else "\n".join(clean_line(record.path) for record in records))
    return Exit.OK


# Versions ------------------------------------------------------------------------------------------------------


async def _versions(backend: SessionBackend, session_id: str, arguments: argparse.Namespace) -> int:
    versions = await backend.files.versions(session_id, arguments.path)
    print(format_json(versions) if arguments.json else "\n".join(_version_table(versions)))
    return Exit.OK


async def _diff(backend: SessionBackend, session_id: str, arguments: argparse.Namespace) -> int:
    diff = await backend.files.diff(session_id, arguments.path, arguments.older, arguments.newer)
    if arguments.json:
        print(format_json(diff))
    elif diff.diff is None:
        raise UsageError("The file is not text, so its versions cannot be compared.")
    else:
        print(clean(diff.diff) if sys.stdout.isatty() else diff.diff, end="")
    numbers = f"version {diff.older} and version {diff.newer}"
    print(f"Between {numbers}: {pluralize(diff.added, 'line')} added, {diff.removed} removed.", file=sys.stderr)
    return Exit.OK


async def _restore(backend: SessionBackend, session_id: str, arguments: argparse.Namespace) -> int:
    record = await backend.files.restore(session_id, arguments.path, arguments.number)
    newest = (await backend.files.versions(session_id, record.path))[0]
    print_note(f"Restored version {arguments.number} of {record.path} as version {newest.number}.")
    return Exit.OK


async def _delete(backend: SessionBackend, session_id: str, arguments: argparse.Namespace) -> int:
    if not arguments.yes and not await asyncio.to_thread(
        confirm, f"Delete {one_line(arguments.path)} permanently, with all versions?"
    ):
        print("Nothing was deleted.", file=sys.stderr)
        return Exit.FAILURE
    await backend.files.delete(session_id, arguments.path)
    return Exit.OK


# Tables --------------------------------------------------------------------------------------------------------


def _table(records: Iterable[FileRecord]) -> Iterator[str]:
    rows = [(file.source, file.icon_type, _local(file.created_at), clean_line(file.path)) for file in records]
    return format_table(("KIND", "TYPE", "CREATED", "PATH"), rows)


def _version_table(versions: Iterable[FileVersion]) -> Iterator[str]:
    rows = [
        (str(version.number), _local(version.created_at), version.author, f"{version.size:,}", clean_line(version.hash))
        for version in versions
    ]
    return format_table(("VERSION", "WRITTEN", "BY", "BYTES", "SHA-256"), rows)


def _local(moment: str) -> str:
    try:
        return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return one_line(moment)[:16]


def _number(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text) <= 10**9:
        raise argparse.ArgumentTypeError(f"{text!r} is not the number of a version, which count from 1")
    return int(text)
