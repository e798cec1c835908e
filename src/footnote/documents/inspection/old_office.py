"""Office documents of before 2007, and those of today with a password: a small file system, whose files have names."""

from pathlib import Path

from msgspec import Struct

PROTECTED = "encryptedpackage"
MACROS = "_vba_project"
_PIECE = 1 << 20


class OldKind(Struct, frozen=True):
    """`stream`: what must be in it. `new`: the suffix of what took its place."""

    media_type: str
    stream: str
    new: str


_WORD = OldKind("application/msword", "worddocument", "docx")
_EXCEL = OldKind("application/vnd.ms-excel", "book", "xlsx")
_POWERPOINT = OldKind("application/vnd.ms-powerpoint", "powerpoint document", "pptx")
OLD = {"doc": _WORD, "dot": _WORD, "xls": _EXCEL, "xlt": _EXCEL, "ppt": _POWERPOINT, "pps": _POWERPOINT}

_NAMES = {
    # Each ends with a zero. A workbook is named `Book` or, since 1997, `Workbook`.
    name: f"{name}\0".encode("utf-16-le")
    for name in (PROTECTED, MACROS, *(kind.stream for kind in OLD.values()))
}
_LONGEST = max(map(len, _NAMES.values()))


def streams_in(path: Path) -> frozenset[str]:
    """Which of the names that matter here stand in it, in whatever case. The list of its files may lie anywhere, and is
    not trusted: a name that merely stands somewhere counts as well."""
    found: set[str] = set()
    tail = b""
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            seen = tail + piece.lower()
            found.update(name for name, letters in _NAMES.items() if letters in seen)
            tail = seen[-_LONGEST:]
    return frozenset(found)
