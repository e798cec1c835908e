"""`footnote library`: what was read and what was put in, opened, added to and removed from in the terminal."""

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
from footnote.cli.presentation import format_json
from footnote.cli.terminal.cells import one_line, pad, truncate, width
from footnote.cli.terminal.clean import clean, clean_line
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
    """What stands between two offsets of a snapshot, and some of what stands around it."""

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
    """A file that cannot be put into the library. The others still can."""


Action: TypeAlias = Callable[[Library, argparse.Namespace], Awaitable[int]]


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser("library", help="what was read before: list it, open it, add files, remove pages")
    actions = parser.add_subparsers(metavar="ACTION", required=True, title="actions")

    listing = actions.add_parser("list", help="every page, the last read first")
    listing.add_argument("--kind", choices=get_args(Kind), help="only pages of this kind")
    listing.add_argument("--json", action="store_true", help="print one JSON array instead of a table")
    listing.set_defaults(run=_run(_list))

    show = actions.add_parser(
        "show",
        help="the text that was read, or the passage that a footnote rests on",
        description="Prints the text to stdout, and the facts about it to stderr.",
    )
    show.add_argument("what", metavar="ID|URL", help="a snapshot id or a URL; the beginning of one will do")
    show.add_argument("--from", dest="start", type=int, metavar="N", help="only the passage that begins here")
    show.add_argument("--to", dest="end", type=int, metavar="M", help="only the passage that ends here")
    show.add_argument("--json", action="store_true", help="print one JSON object")
    show.set_defaults(run=_run(_show))

    add = actions.add_parser("add", help="put files into the library, to be searched as pages are")
    add.add_argument("files", nargs="+", type=Path, metavar="FILE", help="md, txt, html, pdf, csv or json")
    add.add_argument("--json", action="store_true", help="print one JSON array instead of URLs")
    add.set_defaults(run=_run(_add))

    remove = actions.add_parser(
        "remove",
        help="remove pages, with every text that was read there",
        description="Removes pages with every text that was read there, from the index and the caches too. Footnotes "
        "that rest on them cannot be opened any more. This cannot be undone.",
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
    print(_json(pages) if arguments.json else "\n".join(_table(pages)))
    return Exit.OK


async def _show(library: Library, arguments: argparse.Namespace) -> int:
    snapshot = await _resolve_snapshot(library, arguments.what)
    text = snapshot.text.encode("utf-8", "replace").decode()  # half a character cannot be printed
    passage = None
    if (arguments.start, arguments.end) != (None, None):
        passage = extract_passage(text, arguments.start or 0, arguments.end)
    if arguments.json:
        facts = {**msgspec.structs.asdict(snapshot), "text": text}
        print(_json({"id": snapshot.id, **facts, "passage": passage}))
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
                print(clean_line(f"footnote: {file}: {error}"), file=sys.stderr)
    if added or arguments.json:
        print(_json(added) if arguments.json else "\n".join(clean_line(one.url) for one in added))
    return Exit.OK if len(added) == len(arguments.files) else Exit.FAILURE


async def _remove(library: Library, arguments: argparse.Namespace) -> int:
    missing = [url for url in dict.fromkeys(arguments.urls) if not await library.remove(url)]
    if missing:
        raise UsageError(f"The library has no {' and no '.join(missing)}. `footnote library list` shows what there is.")
    return Exit.OK


async def _resolve_snapshot(library: Library, what: str) -> Snapshot:
    """What is meant by an id, a URL, or the beginning of one."""
    if snapshot := await library.latest(what) or await library.snapshot(what):
        return snapshot
    pages = [page for page in await library.list() if page.url.startswith(what) or page.snapshot_id.startswith(what)]
    if len(pages) == 1 and (snapshot := await library.latest(pages[0].url)):
        return snapshot
    if pages:
        some = ", ".join(page.url for page in pages[:MAX_SUGGESTIONS]) + ", …" * (len(pages) > MAX_SUGGESTIONS)
        raise UsageError(f"{len(pages)} pages begin with {what}. Say more of one of them: {some}")
    raise UsageError(f"The library has no {what}. `footnote library list` shows what there is.")


async def _add_file(library: Library, sandbox: SandboxPool, file: Path, max_bytes: int) -> Added:
    job, origin = await asyncio.to_thread(lambda: (_read(file, max_bytes), str(file.resolve())))
    snapshot = await _snapshot(sandbox, job, file.name)
    kept = await library.add(snapshot, origin)
    return Added(str(file), kept.url, kept.id, len(kept.text))


def _read(file: Path, max_bytes: int) -> ExtractPage:
    content_type = CONTENT_TYPES.get(file.suffix.lower())
    if content_type is None:
        raise NotAdded(f"this kind of file cannot be read; those that can end in {', '.join(CONTENT_TYPES)}")
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
            f"The text has {len(text):,} characters; --from and --to must lie in it, the first before the second."
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
    rows = [("KIND", "READ", "CHARACTERS", "TITLE", "URL")]
    rows += [
        (
            page.kind,
            page.fetched_at[:10],
            f"{page.characters:,}",
            truncate(one_line(page.title), MAX_TITLE_WIDTH, "…"),
            page.url,
        )
        for page in pages
    ]
    widths = [max(width(row[column]) for row in rows) for column in range(4)]
    for kind, read, size, title, url in rows:
        cells = (pad(kind, widths[0]), pad(read, widths[1]), size.rjust(widths[2]), pad(title, widths[3]))
        yield "  ".join((*cells, clean_line(url)))


def _json(value: Any) -> str:
    return format_json(value, sys.stdout)
