"""Office documents of before 2007, and those of today with a password: a small file system, whose files have names.

Macros cannot be ruled out in the old ones: in a presentation they are packed, in a workbook of Excel 4 they are cells.
"""

from typing import IO

PROTECTED = "encryptedpackage"
MACROS = "_vba_project"
NEW = {"doc": "docx", "dot": "docx", "xls": "xlsx", "xlt": "xlsx", "ppt": "pptx", "pps": "pptx"}
"""The suffix of what took the place of the one with this suffix."""
DOCUMENTS = frozenset(("worddocument", "book", "powerpoint document"))
"""What a document must hold to be one. A workbook is named `Book` or, since 1997, `Workbook`."""
_PIECE = 1 << 20
_NAMES = {name: f"{name}\0".encode("utf-16-le") for name in (PROTECTED, MACROS, *DOCUMENTS)}
"""Each ends with a zero."""
_LONGEST = max(map(len, _NAMES.values()))


def streams_in(file: IO[bytes]) -> frozenset[str]:
    """Which of the names that matter here stand in it, in whatever case. The list of its files may lie anywhere, and is
    not trusted: a name that merely stands somewhere counts as well."""
    found: set[str] = set()
    tail = b""
    file.seek(0)
    while piece := file.read(_PIECE):
        seen = tail + piece.lower()
        found.update(name for name, letters in _NAMES.items() if letters in seen)
        tail = seen[-_LONGEST:]
    return frozenset(found)
