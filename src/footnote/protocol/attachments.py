"""How a model is told which files come with a message: a text of ours behind the user's own."""

import re
from collections.abc import Iterable

from msgspec import Struct

from footnote.protocol.files import FileRecord

_HEADING = "Files that come with this message:"
_LIST = re.compile(rf"(?:^|\n){re.escape(_HEADING)}\n((?:- [^\n]*\n?)+)\Z")
_ROW = re.compile(r"^- (?P<path>.*?)(?: \(to cite it: read_page (?P<address>\S+)\))?$", re.MULTILINE)


class Attached(Struct, frozen=True):
    """The files that come with a message: the addresses of those that the library has, and the paths of the others."""

    addresses: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def format_attachments(files: Iterable[tuple[FileRecord, str | None]]) -> str:
    """Each file with the address at which the library has its text, if it has."""
    rows = (f"- {file.path}" + (f" (to cite it: read_page {address})" if address else "") for file, address in files)
    return "\n".join((_HEADING, *rows))


def split_attachments(text: str) -> tuple[str, Attached]:
    """What the user wrote, and the files that come with it."""
    found = _LIST.search(text)
    if found is None:
        return text, Attached()
    rows = list(_ROW.finditer(found[1].rstrip("\n")))
    return text[: found.start()], Attached(
        addresses=tuple(row["address"] for row in rows if row["address"]),
        others=tuple(row["path"] for row in rows if not row["address"]),
    )
