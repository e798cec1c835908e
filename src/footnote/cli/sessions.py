"""`footnote sessions`: the conversations that were kept, in the home folder or on a server."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from footnote.cli import Exit
from footnote.cli.places import (
    SessionBackend,
    add_server_option,
    iter_sessions,
    open_backend,
    resolve_session,
    short_id,
)
from footnote.cli.presentation import OutputOptions, format_json, present
from footnote.cli.saving import save
from footnote.cli.terminal.answer import AnswerWriter
from footnote.cli.terminal.cells import one_line, pad, truncate, width
from footnote.cli.terminal.clean import clean_line
from footnote.cli.terminal.footnotes import Footnotes
from footnote.cli.terminal.layout import Layout
from footnote.cli.terminal.lines import symbols_for
from footnote.config.environment import process_environment
from footnote.protocol.errors import UsageError
from footnote.protocol.events import BlockDelta, BlockStart, CitationsGrowth, Event, TextBlock, ToolResultBlock
from footnote.protocol.history import History, PastAssistantMessage, PastMessage, PastText, PastToolMessage
from footnote.protocol.sessions import FoundSession

MAX_TITLE_WIDTH = 60
MAX_EXCERPT_WIDTH = 80

Action: TypeAlias = Callable[[SessionBackend, argparse.Namespace], Awaitable[int]]


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser("sessions", help="conversations that were kept: list, show, export, delete them")
    actions = parser.add_subparsers(metavar="ACTION", required=True, title="actions")

    listing = actions.add_parser("list", help="every session, the last used first")
    listing.add_argument("--query", metavar="TEXT", help="only those in which these words stand")
    listing.add_argument("--json", action="store_true", help="print one JSON array instead of a table")
    _add_common_options(listing, _list)

    show = actions.add_parser("show", help="the conversation, with its footnotes")
    _add_id(show)
    show.add_argument("--json", action="store_true", help="print one JSON object, as the server has it")
    _add_common_options(show, _show)

    exporting = actions.add_parser(
        "export",
        help="one zip file: what was said, read and written",
        description="Writes a research bundle: the conversation, the text of every source, all files with their "
        "versions, and every verdict, with hashes. `footnote bundle` checks it and opens it elsewhere.",
    )
    _add_id(exporting)
    exporting.add_argument("--output", metavar="FILE", type=Path, help="where to (default: session-ID.zip, here)")
    exporting.add_argument("--force", action="store_true", help="overwrite what is there")
    _add_common_options(exporting, _export)

    delete = actions.add_parser(
        "delete",
        help="for good, with all that was said and all files",
        description="Deletes a session with all that was said and all files. This cannot be undone. What was read "
        "stays in the library.",
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
    async with open_backend(arguments, process_environment()) as place:
        return await action(place, arguments)


async def _list(backend: SessionBackend, arguments: argparse.Namespace) -> int:
    found = [one async for one in iter_sessions(backend, arguments.query)]
    print(format_json(found, sys.stdout) if arguments.json else "\n".join(_table(found)))
    return Exit.OK


async def _show(backend: SessionBackend, arguments: argparse.Namespace) -> int:
    history = await backend.history(await resolve_session(backend, arguments.id))
    if arguments.json:
        print(format_json(history, sys.stdout))
    else:
        _print_history(history)
    return Exit.OK


async def _export(backend: SessionBackend, arguments: argparse.Namespace) -> int:
    from footnote.bundles.opening import opened as opened_bundle  # noqa: PLC0415 - slow to import, for this alone

    session_id = await resolve_session(backend, arguments.id)
    target: Path = arguments.output or Path(f"session-{short_id(session_id)}.zip")
    await save(target, backend.files.export(session_id), force=arguments.force)
    with opened_bundle(target) as bundle:
        seal = bundle.manifest.seal
    print(clean_line(str(target)))
    print(f"Seal: {seal}", file=sys.stderr)
    return Exit.OK


async def _delete(backend: SessionBackend, arguments: argparse.Namespace) -> int:
    session_id = await resolve_session(backend, arguments.id)
    if not arguments.yes:
        history = await backend.history(session_id)
        if not await asyncio.to_thread(_confirm_delete, history):
            print("Nothing was deleted.", file=sys.stderr)
            return Exit.FAILURE
    await backend.delete(session_id)
    return Exit.OK


def _confirm_delete(history: History) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("Nobody can be asked here whether to delete it. Give --yes to delete it all the same.")
    title = one_line(history.session.title) or history.session.id
    print(f"Delete “{title}” for good? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _print_history(history: History) -> None:
    """On a terminal formatted as answers are, elsewhere as markdown."""
    from footnote.bundles.transcript import heading, turns_of  # noqa: PLC0415 - slow to import, for this alone

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
    """Of the turn that has these messages. It may cite what an earlier one found."""
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
    rows = [("ID", "LAST USED", "TITLE", "")]
    rows += [
        (
            short_id(one.id),
            datetime.fromisoformat(one.updated_at).astimezone().strftime("%Y-%m-%d %H:%M"),
            truncate(one_line(one.title) or "Untitled", MAX_TITLE_WIDTH, "…"),
            "being answered" if one.active_run_id else truncate(one_line(one.excerpt or ""), MAX_EXCERPT_WIDTH, "…"),
        )
        for one in sessions
    ]
    widths = [max(width(row[column]) for row in rows) for column in range(3)]
    for *cells, last in rows:
        yield "  ".join([*map(pad, cells, widths), last]).rstrip()
