"""The numbered steps that bring a database from any earlier format to the newest: SQL, in a folder for each engine."""

import re
from importlib.resources import files
from typing import Literal

from msgspec import Struct

_WORKS_WITH = re.compile(r"^-- works with: (\d+)$", re.MULTILINE)


class Step(Struct, frozen=True):
    """`works_with`: the oldest format whose programs can go on beside it. None: nobody's but the newest."""

    number: int
    text: str
    works_with: int | None


def load_migrations(engine: Literal["sqlite", "postgresql"]) -> list[Step]:
    """In order: `0001_….sql` is the first."""
    folder = files("footnote.db") / "migrations" / engine
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return [
        _parse_migration(number, (folder / name).read_text(encoding="utf-8")) for number, name in enumerate(names, 1)
    ]


def _parse_migration(number: int, text: str) -> Step:
    declared = _WORKS_WITH.search(text)
    return Step(number, text, int(declared[1]) if declared else None)
