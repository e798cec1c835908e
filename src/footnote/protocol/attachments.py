"""How a model is told which files come with a message: a text of ours behind the user's own."""

import re
from collections.abc import Iterable

from footnote.protocol.files import FileRecord

_HEADING = "Files that come with this message:"
_LIST = re.compile(rf"(?:^|\n){re.escape(_HEADING)}\n((?:- [^\n]*\n?)+)\Z")
_ADDRESS = re.compile(r"^- .* \(to cite it: read_page (\S+)\)$", re.MULTILINE)


def listed(files: Iterable[tuple[FileRecord, str | None]]) -> str:
    """Each file with the address at which the library has its text, if it has."""
    rows = (f"- {file.path}" + (f" (to cite it: read_page {address})" if address else "") for file, address in files)
    return "\n".join((_HEADING, *rows))


def parted(text: str) -> tuple[str, tuple[str, ...]]:
    """What the user wrote, and the addresses of the files that come with it."""
    found = _LIST.search(text)
    if found is None:
        return text, ()
    return text[: found.start()], tuple(_ADDRESS.findall(found[1]))
