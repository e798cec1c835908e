"""The words of an error: where something stands, what stands there, what was probably meant."""

import difflib
import json
import re
from collections.abc import Iterable
from typing import Any, TypeAlias

Path: TypeAlias = tuple[str | int, ...]

_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST_QUOTE = 24
"""Keys are longer than this. A longer string in the wrong place may be one, and is not repeated."""


def place(path: Path) -> str:
    """`agents[0].mcpServers.files.env`; names that are no plain words in brackets."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{quoted(step)}]"
    return text


def quoted(text: str) -> str:
    """`text` between quotation marks, on one line and of bearable length."""
    return json.dumps(text if len(text) <= 60 else text[:59] + "…", ensure_ascii=False)


def found(value: Any, *, quote: bool) -> str:
    """What stands somewhere: the value itself where that is harmless and short, else what sort of thing it is."""
    match value:
        case None | bool():
            return json.dumps(value)
        case int() | float():
            text = repr(value)
            return text if quote and len(text) <= _LONGEST_QUOTE else "a number"
        case "":
            return "an empty string"
        case str():
            return quoted(value) if quote and len(value) <= _LONGEST_QUOTE else "a string"
        case list():
            return "a list"
        case _:
            return "an object"


def nearest(name: str, known: Iterable[str]) -> str:
    """The valid name that looks most like `name`, however little that is."""
    lowered = {candidate.lower(): candidate for candidate in known}
    closest = difflib.get_close_matches(name[:100].lower(), lowered, n=1, cutoff=0.0)
    return lowered[closest[0]]
