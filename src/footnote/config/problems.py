"""What is said about a wrong configuration: where, what stands there, what was probably meant; all of it at once."""

import difflib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from msgspec import Struct

from footnote.protocol.errors import ConfigError

Path: TypeAlias = tuple[str | int, ...]
"""The keys and list positions that lead to a value."""

_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST_QUOTE = 24
"""Keys are longer than this. A longer string in the wrong place may be one, and is not repeated."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong at `path`. `message` says what was expected, and never repeats a secret."""

    path: Path
    message: str


class Problem(Struct, frozen=True):
    """One thing to put right: in which file or variable (`source`), on which line, at which key."""

    source: str
    message: str
    line: int | None = None
    place: str = ""

    def __str__(self) -> str:
        line = f", line {self.line}" if self.line else ""
        place = f", {self.place}" if self.place else ""
        return f"{self.source}{line}{place}: {self.message}."


class InvalidConfiguration(ConfigError):
    """The settings cannot be used. `problems` are all of them."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        if len(problems) == 1:
            super().__init__(str(problems[0]))
        else:
            lines = "".join(f"\n  {problem}" for problem in problems)
            super().__init__(f"The configuration has {len(problems)} problems:{lines}")


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
