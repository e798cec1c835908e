"""`footnote library`: pages that were read, and files that were added to them."""

import argparse
import asyncio
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias, get_args

import msgspec
from msgspec import Struct

from footnote.cli import Exit
from footnote.cli.output import format_json, print_note
from footnote.cli.terminal.clean import clean, clean_line
from footnote.cli.terminal.lines import format_table, one_line, truncate
from footnote.config.environment import process_environment
from footnote.config.load import load
from footnote.db.engine import Database
from footnote.library import Kind, Library, LibraryPage, file_url
from footnote.protocol.errors import UnprocessableFile, UsageError
from footnote.protocol.sources import Snapshot
from footnote.sandbox.jobs import ExtractionFailed, ExtractPage
from footnote.sandbox.pool import SandboxPool

CONTEXT = 300
"""Characters before and after a passage, cut where a line or a word begins."""
MAX_TITLE_WIDTH = 40
MAX_SUGGESTIONS = 5
READ_TIMEOUT_SECONDS = 60.0
_SPACE = re.compile(r"\s")
CONTENT_TYPES = {
    ".csv": "text/csv",
    ".htm": "text/html",
    ".html": "text/html",
    ".json": "application/json",
    ".markdown": "text/markdown",
    ".md": "text/markdown",
    ".pdf": "application/pdf",
    ".txt": "text/plain",
}


class ShownPassage(Struct, frozen=True):
    """The text between two offsets of a snapshot, with its context."""

    start: int
    end: int
    text: str
    before: str
    after: str


class Added(Struct, frozen=True):
    file: str
    url: str
    snapshot_id: str
    characters: int


class NotAdded(Exception):
    """A file that cannot be added to the library. The others still can."""


Action: TypeAlias = Callable[[Library, argparse.Namespace], Awaitable[int]]


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser("library", help="pages that were read before: list, show, add files, remove")
    actions = parser.add_subparsers(metavar="ACTION", required=True, title="actions")

    listing = actions.add_parser("list", help="every page, the last read first")
    listing.add_argument("--kind", choices=get_args(Kind), help="only pages of this kind")
    listing.add_argument("--json", action="store_true", help="print one JSON array instead of a table")
    listing.set_defaults(run=_run(_list))

    show = actions.add_parser(
        "show",
        help="the text of a page, or the passage that a footnote cites",
        description="Prints the text to stdout, and the facts about it to stderr.",
    )
    show.add_argument("what", metavar="ID|URL", help="a snapshot id or a URL; the beginning of one will do")
    show.add_argument("--from", dest="start", type=int, metavar="N", help="only the passage that begins here")
    show.add_argument("--to", dest="end", type=int, metavar="M", help="only the passage that ends here")
    show.add_argument("--json", action="store_true", help="print one JSON object")
    show.set_defaults(run=_run(_show))

    add = actions.add_parser("add", help="add files to the library, to be searched like pages")
    add.add_argument("files", nargs="+", type=Path, metavar="FILE", help="md, txt, html, pdf, csv or json")
    add.add_argument("--json", action="store_true", help="print one JSON array instead of URLs")
    add.set_defaults(run=_run(_add))

    remove = actions.add_parser(
        "remove",
        help="remove pages with all their stored texts",
        description="Removes pages with all their stored texts, from the index and the caches too. Footnotes "
        "that cite them can no longer be opened. This cannot be undone.",
    )
    remove.add_argument("urls", nargs="+", metavar="URL", help="the whole URL, as `footnote library list` shows it")
    remove.set_defaults(run=_run(_remove))


def _run(action: Action) -> Callable[[argparse.Namespace], int]:
    return lambda arguments: asyncio.run(_with_library(action, arguments))


async def _with_library(action: Action, arguments: argparse.Namespace) -> int:
    configuration = load(arguments.home, arguments.config_file)
    arguments.upload_bytes = configuration.settings.limits.upload_bytes
    async with Database.open(configuration.settings.database.url, configuration.home) as database:
        return await action(Library(database), arguments)


async def _list(library: Library, arguments: argparse.Namespace) -> int:
    pages = [page for page in await library.list() if arguments.kind in (None, page.kind)]
    print(format_json(pages) if arguments.json else "\n".join(_table(pages)))
    return Exit.OK


async def _show(library: Library, arguments: argparse.Namespace) -> int:
    snapshot = await _resolve_snapshot(library, arguments.what)
    text = snapshot.text.encode("utf-8", "replace").decode()  # half of a surrogate pair cannot be printed
    passage = None
    if (arguments.start, arguments.end) != (None, None):
        passage = extract_passage(text, arguments.start or 0, arguments.end)
    if arguments.json:
        facts = {**msgspec.structs.asdict(snapshot), "text": text}
        print(format_json({"id": snapshot.id, **facts, "passage": passage}))
        return Exit.OK
    for name, fact in _facts(snapshot):
        print(f"{name + ':':<10} {one_line(fact)}", file=sys.stderr)
    print(file=sys.stderr, flush=True)
    print(clean(text if passage is None else _mark_passage(passage, len(text))))
    return Exit.OK


async def _add(library: Library, arguments: argparse.Namespace) -> int:
    added: list[Added] = []
    async with SandboxPool(environ=process_environment()) as sandbox:
        for file in arguments.files:
            try:
                added.append(await _add_file(library, sandbox, file, arguments.upload_bytes))
            except NotAdded as error:
                print_note(f"footnote: {file}: {error}")
    if added or arguments.json:
        print(format_json(added) if arguments.json else "\n".join(clean_line(page.url) for page in added))
    return Exit.OK if len(added) == len(arguments.files) else Exit.FAILURE


async def _remove(library: Library, arguments: argparse.Namespace) -> int:
    missing = [url for url in dict.fromkeys(arguments.urls) if not await library.remove(url)]
    if missing:
        raise UsageError(f"The library has no {' and no '.join(missing)}. `footnote library list` shows all pages.")
    return Exit.OK


async def _resolve_snapshot(library: Library, what: str) -> Snapshot:
    """The snapshot with this id or URL, or the only one that begins with it."""
    if snapshot := await library.latest(what) or await library.snapshot(what):
        return snapshot
    pages = [page for page in await library.list() if page.url.startswith(what) or page.snapshot_id.startswith(what)]
    if len(pages) == 1 and (snapshot := await library.latest(pages[0].url)):
        return snapshot
    if pages:
        some = ", ".join(page.url for page in pages[:MAX_SUGGESTIONS]) + ", …" * (len(pages) > MAX_SUGGESTIONS)
        raise UsageError(f"{len(pages)} pages begin with {what}. Give more of it: {some}")
    raise UsageError(f"The library has no {what}. `footnote library list` shows all pages.")


async def _add_file(library: Library, sandbox: SandboxPool, file: Path, max_bytes: int) -> Added:
    job, origin = await asyncio.to_thread(lambda: (_read(file, max_bytes), str(file.resolve())))
    snapshot = await _snapshot(sandbox, job, file.name)
    stored = await library.add(snapshot, origin)
    return Added(str(file), stored.url, stored.id, len(stored.text))


def _read(file: Path, max_bytes: int) -> ExtractPage:
    content_type = CONTENT_TYPES.get(file.suffix.lower())
    if content_type is None:
        raise NotAdded(f"this type of file cannot be read; supported are {', '.join(CONTENT_TYPES)}")
    try:
        if file.stat().st_size > max_bytes:
            raise NotAdded(f"it is larger than {max_bytes:,} bytes (limits.uploadBytes in config.json)")
        body = file.read_bytes()
    except OSError as error:
        raise NotAdded(error.strerror or type(error).__name__) from error
    return ExtractPage(content=body, content_type=content_type, url=file_url(file.name), filename=file.name)


async def _snapshot(sandbox: SandboxPool, job: ExtractPage, name: str) -> Snapshot:
    try:
        read = await sandbox.run(job, READ_TIMEOUT_SECONDS)
    except UnprocessableFile as error:
        raise NotAdded(error.message) from error
    if isinstance(read, ExtractionFailed):
        raise NotAdded(read.reason)
    return Snapshot(
        url=job.url,
        text=read.text,
        title=read.title or name,
        author=read.author,
        published=read.published,
        language=read.language,
        media_type=read.media_type,
        fetched_at=datetime.now(UTC).isoformat(timespec="seconds"),
        links=read.links,
        pages=read.pages,
    )


def extract_passage(text: str, start: int, end: int | None) -> ShownPassage:
    end = len(text) if end is None else end
    if not 0 <= start < end <= len(text):
        raise UsageError(
            f"The text has {len(text):,} characters; --from and --to must be inside it, --from before --to."
        )
    before = text[max(start - CONTEXT, 0) : start]
    after = text[end : end + CONTEXT]
    if start > CONTEXT:
        before = before[_first_word(before) :]
    if end + CONTEXT < len(text):
        after = after[: len(after) - _first_word(after[::-1])]
    return ShownPassage(start, end, text[start:end], before, after)


def _first_word(text: str) -> int:
    """Where the first whole word begins, or the text if it has no spaces."""
    found = _SPACE.search(text)
    return found.end() if found else 0


def _mark_passage(passage: ShownPassage, length: int) -> str:
    """The passage between marks, and an ellipsis where the text goes on."""
    ahead = "" if passage.start == len(passage.before) else "… "
    behind = "" if passage.end + len(passage.after) == length else " …"
    return f"{ahead}{passage.before}>>>{passage.text}<<<{passage.after}{behind}"


def _facts(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    named = {
        "Title": snapshot.title,
        "URL": snapshot.url,
        "Site": snapshot.site_name,
        "Author": snapshot.author,
        "Published": snapshot.published,
        "Language": snapshot.language,
        "Type": snapshot.media_type,
        "Read": snapshot.fetched_at,
        "Snapshot": f"{snapshot.id} ({len(snapshot.text):,} characters)",
    }
    return ((name, fact) for name, fact in named.items() if fact)


def _table(pages: Iterable[LibraryPage]) -> Iterator[str]:
    rows = [
        (
            page.kind,
            page.fetched_at[:10],
            f"{page.characters:,}",
            truncate(one_line(page.title), MAX_TITLE_WIDTH, "…"),
            clean_line(page.url),
        )
        for page in pages
    ]
    return format_table(("KIND", "READ", "CHARACTERS", "TITLE", "URL"), rows, right="CHARACTERS")
