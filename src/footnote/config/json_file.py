"""JSON from a file or a variable: its value, and the line of each part."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from footnote.config.validation import Path, Problem, format_path, json_quote

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\],\n]|[^\s{}\[\],":]+')


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """The content of `source`. `is_absent`: there is none, or it cannot be read, as `problems` reports."""

    source: str
    value: Any = field(default=None, repr=False)
    lines: dict[Path, int] = field(default_factory=dict[Path, int])
    problems: tuple[Problem, ...] = ()
    is_absent: bool = False

    def line(self, path: Path) -> int | None:
        """The line of the part at `path`, or of the nearest part around it."""
        return next((self.lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in self.lines), None)

    def problem(self, path: Path, message: str) -> Problem:
        return Problem(self.source, message, self.line(path), format_path(path))


def read_json(file: FilePath, *, required: bool) -> JsonDocument:
    """Reads a file, which may be absent unless it is `required`."""
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        missing = Problem(str(file), "there is no such file; check the name, or leave the option out")
        return JsonDocument(str(file), problems=(missing,) if required else (), is_absent=True)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        return _unreadable(str(file), f"cannot be read ({reason}); it must be a readable file")
    except UnicodeDecodeError:
        return _unreadable(str(file), "is not UTF-8 text; save it with that encoding")
    return parse_json(str(file), text)


def parse_json(source: str, text: str) -> JsonDocument:
    if not text.strip():
        return _unreadable(source, "is empty; write {} into it, or delete it")
    try:
        value = json.loads(text, parse_constant=_reject_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        message = f"not valid JSON in column {error.colno}: {error.msg}. {_remedy(text, error)}"
        return _unreadable(source, message, error.lineno)
    except RecursionError:
        return _unreadable(source, "is nested too deeply to be a configuration")
    except UnicodeEncodeError:
        return _unreadable(source, r"holds half a character (a \ud800 to \udfff escape without its partner)")
    except ValueError as error:
        return _unreadable(source, f"is not valid JSON: {error}")
    lines: dict[Path, int] = {}
    duplicates: list[Problem] = []
    for path, line in _positions(text):
        if path in lines:
            message = f"{json_quote(str(path[-1]))} stands here and on line {lines[path]}; keep one of them"
            duplicates.append(Problem(source, message, line, format_path(path)))
        lines[path] = line
    return JsonDocument(source, value, lines, tuple(duplicates))


def _reject_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON number")


def _remedy(text: str, error: json.JSONDecodeError) -> str:
    rest = text[error.pos : error.pos + 2]
    before = text[: error.pos].rstrip()[-1:]
    if rest.startswith(("//", "#", "/*")):
        return "JSON has no comments: remove it"
    if before == "," or rest[:1] in (",", "}", "]"):
        return "Remove the comma before the closing bracket, or write what should follow it"
    if rest.startswith("'"):
        return 'Strings stand between double quotation marks: "…"'
    if not rest:
        return "The file ends too early: a bracket or a quotation mark is not closed"
    return "Look at this place, and at the end of the line before it, for a missing comma or quotation mark"


def _unreadable(source: str, message: str, line: int | None = None) -> JsonDocument:
    return JsonDocument(source, problems=(Problem(source, message, line),), is_absent=True)


def _positions(text: str) -> Iterator[tuple[Path, int]]:
    """The line of each key and list item of valid JSON. A duplicate key yields its path twice."""
    path: list[str | int] = []
    awaits_key = False
    line = 1
    for match in _TOKEN.finditer(text):
        lexeme = match.group()
        if lexeme == "\n":
            line += 1
        elif lexeme in "}]":
            path.pop()
            awaits_key = False
        elif lexeme == ",":
            last = path[-1]
            awaits_key = isinstance(last, str)
            if isinstance(last, int):
                path[-1] = last + 1
        elif awaits_key:
            path[-1] = json.loads(lexeme)
            awaits_key = False
            yield tuple(path), line
        else:
            if path and isinstance(path[-1], int):
                yield tuple(path), line
            if lexeme in "{[":
                path.append("" if lexeme == "{" else 0)
                awaits_key = lexeme == "{"
