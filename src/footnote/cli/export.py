"""A session as one zip file: what was said, what was read, and the files of the agent."""

import os
import zipfile
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec

from footnote.cli.places import Place
from footnote.cli.transcript import markdown
from footnote.protocol.errors import Unknown, UsageError
from footnote.protocol.history import History
from footnote.protocol.sessions import SourceSnapshot, SourceView
from footnote.workspace.export import safe_name


async def export(place: Place, history: History, target: Path) -> None:
    """Writes the zip beside its place and moves it there when it is whole. Nothing is overwritten."""
    names: set[str] = set()
    with _beside(target) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        async for name, content in _entries(place, history):
            archive.writestr(_unused(name, names), content)


async def _entries(place: Place, history: History) -> AsyncGenerator[tuple[str, bytes], None]:
    yield "transcript.md", markdown(history).encode("utf-8", "replace")
    yield "history.json", msgspec.json.format(msgspec.json.encode(history), indent=2)
    found = (source.number for group in history.workspace.sources for source in group.sources)
    for number in sorted({number for number in found if number is not None}):
        try:
            view = await place.source(history.session.id, number)
        except Unknown:
            continue
        for snapshot in view.snapshots:
            name = safe_name(f"{number}-{view.title or view.domain}"[:80])
            yield f"sources/{name}.txt", _text(view, snapshot).encode("utf-8", "replace")
    if (workspace := place.workspace(history.session.id)) is not None:
        for record in await workspace.list():
            parts = map(safe_name, record.path.strip("/").split("/"))
            yield "/".join(("files", *parts)), await workspace.read(record.path)


def _text(view: SourceView, snapshot: SourceSnapshot) -> str:
    facts = {
        "Title": snapshot.title or view.title,
        "URL": view.url,
        "Published": view.published,
        "Read": snapshot.fetched_at,
        "Snapshot": snapshot.id,
    }
    lines = [f"{name}: {' '.join(fact.split())}" for name, fact in facts.items() if fact]
    return "\n".join([*lines, "", snapshot.text, ""])


def _unused(name: str, names: set[str]) -> str:
    """The name, or one with a number where it is taken; compared as file systems do that know no case."""
    stem, dot, suffix = name.rpartition(".") if "." in name.rpartition("/")[2] else (name, "", "")
    candidates = chain([name], (f"{stem}-{number}{dot}{suffix}" for number in count(2)))
    unused = next(one for one in candidates if one.casefold() not in names)
    names.add(unused.casefold())
    return unused


@contextmanager
def _beside(target: Path) -> Generator[Path, None, None]:
    """A file in the same folder, which takes its place in the end."""
    if target.exists():
        raise _taken(target)
    try:
        with NamedTemporaryFile(prefix=f".{target.name}-", dir=target.parent, delete=False) as made:
            aside = Path(made.name)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}.") from error
    try:
        yield aside
        _move(aside, target)
    finally:
        with suppress(OSError):
            aside.unlink()


def _move(aside: Path, target: Path) -> None:
    """A link is made or refused at once, so that nothing that came meanwhile is lost."""
    try:
        os.link(aside, target)
    except FileExistsError:
        raise _taken(target) from None
    except OSError:  # a file system without links
        aside.rename(target)


def _taken(target: Path) -> UsageError:
    return UsageError(f"{target} is there already, and is not overwritten. Remove it, or choose another: --output FILE")
