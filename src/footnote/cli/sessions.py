"""`footnote sessions`: the stored conversations, in the home folder or on a server."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from footnote.cli import Exit
from footnote.cli.backends import (
    SessionBackend,
    add_server_option,
    iter_sessions,
    open_backend,
    resolve_session,
    short_id,
)
from footnote.cli.output import OutputOptions, confirm, format_json, present
from footnote.cli.saving import save
from footnote.cli.terminal.answer import AnswerWriter
from footnote.cli.terminal.clean import clean_line
from footnote.cli.terminal.footnotes import Footnotes, Layout
from footnote.cli.terminal.lines import format_table, one_line, symbols_for, truncate
from footnote.config.environment import process_environment
from footnote.protocol.events import BlockDelta, BlockStart, CitationsGrowth, Event, TextBlock, ToolResultBlock
from footnote.protocol.history import History, PastAssistantMessage, PastMessage, PastText, PastToolMessage
from footnote.protocol.sessions import FoundSession

MAX_TITLE_WIDTH = 60
MAX_EXCERPT_WIDTH = 80

Action: TypeAlias = Callable[[SessionBackend, argparse.Namespace], Awaitable[int]]


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser("sessions", help="stored conversations: list, show, export, delete them")
    actions = parser.add_subparsers(metavar="ACTION", required=True, title="actions")

    listing = actions.add_parser("list", help="every session, the last used first")
    listing.add_argument("--query", metavar="TEXT", help="only those that contain these words")
    listing.add_argument("--json", action="store_true", help="print one JSON array instead of a table")
    _add_common_options(listing, _list)

    show = actions.add_parser("show", help="the conversation with its footnotes")
    _add_id(show)
    show.add_argument("--json", action="store_true", help="print one JSON object, as the server has it")
    _add_common_options(show, _show)

    exporting = actions.add_parser(
        "export",
        help="a zip file with all messages, sources and files",
        description="Writes a research bundle: the conversation, the text of every source, all files with their "
        "versions, and every verdict, with hashes. `footnote bundle` checks it and opens it elsewhere.",
    )
    _add_id(exporting)
    exporting.add_argument("--output", metavar="FILE", type=Path, help="where to (default: session-ID.zip, here)")
    exporting.add_argument("--force", action="store_true", help="overwrite an existing file")
    _add_common_options(exporting, _export)

    delete = actions.add_parser(
        "delete",
        help="delete a session with all its messages and files",
        description="Deletes a session with all its messages and files. This cannot be undone. Pages that were "
        "read stay in the library.",
    )
    _add_id(delete)
    delete.add_argument("--yes", action="store_true", help="do not ask")
    _add_common_options(delete, _delete)


def _add_id(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the id of a session, its beginning or its end, or `last`")


def _add_common_options(parser: argparse.ArgumentParser, action: Action) -> None:
    add_server_option(parser)
    parser.set_defaults(run=_run(action))


def _run(action: Action) -> Callable[[argparse.Namespace], int]:
    return lambda arguments: asyncio.run(_with_backend(action, arguments))


async def _with_backend(action: Action, arguments: argparse.Namespace) -> int:
    async with open_backend(arguments, process_environment()) as backend:
        return await action(backend, arguments)


async def _list(backend: SessionBackend, arguments: argparse.Namespace) -> int:
    found = [session async for session in iter_sessions(backend, arguments.query)]
    print(format_json(found) if arguments.json else "\n".join(_table(found)))
    return Exit.OK


async def _show(backend: SessionBackend, arguments: argparse.Namespace) -> int:
    history = await backend.history(await resolve_session(backend, arguments.id))
    if arguments.json:
        print(format_json(history))
    else:
        _print_history(history)
    return Exit.OK


async def _export(backend: SessionBackend, arguments: argparse.Namespace) -> int:
    from footnote.bundles.manifest import open_bundle  # noqa: PLC0415 - slow to import, and only used here

    session_id = await resolve_session(backend, arguments.id)
    target: Path = arguments.output or Path(f"session-{short_id(session_id)}.zip")
    await save(target, backend.files.export(session_id), force=arguments.force)
    with open_bundle(target) as bundle:
        seal = bundle.manifest.seal
    print(clean_line(str(target)))
    print(f"Seal: {seal}", file=sys.stderr)
    return Exit.OK


async def _delete(backend: SessionBackend, arguments: argparse.Namespace) -> int:
    session_id = await resolve_session(backend, arguments.id)
    if not arguments.yes:
        head = (await backend.history(session_id)).session
        if not await asyncio.to_thread(confirm, f"Delete “{one_line(head.title) or head.id}” permanently?"):
            print("Nothing was deleted.", file=sys.stderr)
            return Exit.FAILURE
    await backend.delete_session(session_id)
    return Exit.OK


def _print_history(history: History) -> None:
    """On a terminal formatted as answers are, elsewhere as markdown."""
    from footnote.bundles.transcript import heading, turns_of  # noqa: PLC0415 - slow to import, and only used here

    view = present(OutputOptions(quiet=True), sys.stdout, sys.stderr, process_environment())
    screen, answer = view.screen, view.answer
    layout = Layout(screen.answer_columns, symbols_for(screen.out.encoding))
    try:
        _write_text(answer, heading(history))
        for turn in turns_of(history):
            _write_text(answer, f"## Question\n\n{turn.question}\n\n## Answer\n\n{turn.answer}")
            answer.add(_footnotes_of(history, turn.messages).lines(layout))
    finally:
        for sink in (screen.out, screen.err):
            sink.close()


def _footnotes_of(history: History, messages: Sequence[PastMessage]) -> Footnotes:
    """The footnotes of a turn. It may cite what an earlier turn found."""
    footnotes = Footnotes()
    footnotes.add_earlier_sources(source for group in history.workspace.sources for source in group.sources)
    for event in _events(messages):
        footnotes.feed(event)
    return footnotes


def _events(messages: Sequence[PastMessage]) -> Iterator[Event]:
    """The events that footnotes are made of."""
    index = count()
    for message in messages:
        if isinstance(message, PastToolMessage):
            result = ToolResultBlock(message.tool_call_id, message.name, message.status, "", message.artifact)
            yield BlockStart(next(index), result)
        elif isinstance(message, PastAssistantMessage):
            for block in message.content:
                if isinstance(block, PastText):
                    place = next(index)
                    yield BlockStart(place, TextBlock(block.text))
                    yield BlockDelta(place, CitationsGrowth(block.citations))


def _write_text(answer: AnswerWriter, text: str) -> None:
    answer.begin()
    answer.push(text)
    answer.end()


def _table(sessions: Iterable[FoundSession]) -> Iterator[str]:
    rows = [
        (
            short_id(session.id),
            datetime.fromisoformat(session.updated_at).astimezone().strftime("%Y-%m-%d %H:%M"),
            truncate(one_line(session.title) or "Untitled", MAX_TITLE_WIDTH, "…"),
            "being answered"
            if session.active_run_id
            else truncate(one_line(session.excerpt or ""), MAX_EXCERPT_WIDTH, "…"),
        )
        for session in sessions
    ]
    return format_table(("ID", "LAST USED", "TITLE", ""), rows)
