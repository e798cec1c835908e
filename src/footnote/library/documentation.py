"""Footnote's own documentation, which is part of every library."""

import hashlib
import posixpath
import re
from functools import cache
from pathlib import Path

from msgspec import Struct

from footnote.db.library import LibraryEntry
from footnote.library.snapshots import pack
from footnote.protocol.sources import Link, Snapshot

SITE = "Footnote"
SCHEME = "footnote://"
_PACKAGE = Path(__file__).parents[1]
_CODE_IMAGE_LINK = re.compile(
    r"(?P<code>```.*?```|``.+?``|`[^`\n]+`)|!\[[^\]]{0,300}\]\([^)]{0,300}\)|\[(?P<label>[^\]]{1,300})\]\((?P<target>[^)\s]{1,300})\)",
    re.DOTALL,
)
_BOLD = re.compile(r"\*\*([^*`]+)\*\*")
_TITLE = re.compile(r"^# +(.+)$", re.MULTILINE)
_FORMAT_VERSION = "4"
"""Part of the edition: with another number, every installation indexes the documentation again."""


class Documentation(Struct, frozen=True):
    """`edition` is a hash of all pages."""

    edition: str
    pages: tuple[Snapshot, ...]


@cache
def load_documentation() -> Documentation:
    root = _root()
    files = [*sorted(root.glob("docs/**/*.md")), root / "README.md"]
    texts = {file.relative_to(root).as_posix(): file.read_text(encoding="utf-8") for file in files if file.is_file()}
    joined = "\0".join(f"{name}\0{text}" for name, text in texts.items())
    edition = hashlib.sha256(f"{_FORMAT_VERSION}\0{joined}".encode()).hexdigest()
    return Documentation(edition, tuple(_to_snapshot(name, text) for name, text in texts.items()))


@cache
def pack_documentation() -> tuple[LibraryEntry, ...]:
    """The entries for the database, which take a moment to make. Fenced code is not indexed: a question that a page
    gives as an example would find that page."""
    return tuple(pack(page, include_code=False) for page in load_documentation().pages)


def _root() -> Path:
    """The folder of the documentation: inside an installed package, or the root of a working copy."""
    packaged = _PACKAGE / "documentation"
    return packaged if packaged.is_dir() else _PACKAGE.parents[1]


def _to_snapshot(name: str, markdown: str) -> Snapshot:
    text, links = _extract_links(_BOLD.sub(r"\1", markdown), name)
    title = _TITLE.search(text)
    return Snapshot(
        url=SCHEME + name,
        text=text,
        title=title.group(1) if title else name,
        language="en",
        site_name=SITE,
        media_type="text/markdown",
        links=links,
    )


def _extract_links(markdown: str, name: str) -> tuple[str, tuple[Link, ...]]:
    """The text with links replaced by their labels and without images, and the links with their offsets in it."""
    parts: list[str] = []
    links: list[Link] = []
    length = end = 0
    for found in _CODE_IMAGE_LINK.finditer(markdown):
        content = found["code"] or found["label"] or ""
        before = markdown[end : found.start()]
        start = length + len(before)
        parts += [before, content]
        length, end = start + len(content), found.end()
        if found["label"]:
            links.append(Link(_absolute_url(found["target"], name), start, length))
    return "".join([*parts, markdown[end:]]), tuple(links)


def _absolute_url(target: str, name: str) -> str:
    if re.match(r"[a-z][a-z0-9+.-]*:", target):
        return target
    if target.startswith("#"):
        return SCHEME + name + target
    return SCHEME + posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
