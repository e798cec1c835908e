"""Thinking, in the forms in which OpenAI-compatible servers send it beside the plain fields."""

from collections.abc import Iterator
from typing import Any, Literal, cast

_OPEN, _CLOSE = "<think>", "</think>"
_LONGEST_BEGINNING = 64
"""White space before the mark; where there is more of it, no mark is waited for."""


class Records:
    """A router's own reasoning records, which come in pieces: texts grow, other fields are replaced by later ones."""

    def __init__(self) -> None:
        self._fields: dict[str, dict[str, Any]] = {}
        self._texts: dict[tuple[str, str], list[str]] = {}

    def add(self, details: list[dict[str, Any]]) -> None:
        for detail in details:
            key = f"{detail.get('type')} {detail.get('index')}"
            record = self._fields.setdefault(key, {})
            for name, value in detail.items():
                if name in ("text", "summary", "data") and isinstance(value, str):
                    self._texts.setdefault((key, name), []).append(value)
                if value is not None:
                    record[name] = value

    def joined(self) -> tuple[dict[str, Any], ...]:
        for (key, name), pieces in self._texts.items():
            self._fields[key][name] = "".join(pieces)
        return tuple(self._fields.values())


def text_of(details: list[dict[str, Any]]) -> str:
    """What the records of one piece say in words, for routers that say it nowhere else."""
    said = (detail.get("text") or detail.get("summary") for detail in details)
    return "".join(words for words in said if isinstance(words, str))


def text_in_parts(content: Any) -> str:
    """The thinking among the parts of a piece: `{"type": "thinking", "thinking": [{"type": "text", "text": …}]}`, or
    with a plain text in the place of the list."""
    parts = cast("list[Any]", content) if isinstance(content, list) else []
    thoughts = [cast("dict[str, Any]", part).get("thinking") for part in parts if isinstance(part, dict)]
    return "".join(_words(thought) for thought in thoughts)


def _words(thought: Any) -> str:
    if isinstance(thought, str):
        return thought
    pieces = cast("list[Any]", thought) if isinstance(thought, list) else []
    return text_of([cast("dict[str, Any]", piece) for piece in pieces if isinstance(piece, dict)])


class Once:
    """Thinking that comes in a field, in records, or in both: each word of it once."""

    def __init__(self) -> None:
        self._ahead: list[str] = []
        """What fields said and records have not repeated yet."""

    def of(self, field: str, recorded: str) -> str:
        """What is new in one piece. Records may follow the field they repeat, in the same piece or at the end."""
        if field:
            self._ahead.append(field)
        if not recorded:
            return field
        ahead = "".join(self._ahead)
        repeats = ahead.startswith(recorded)
        self._ahead = [ahead[len(recorded) :]] if repeats else []
        return field if field or repeats else recorded.removeprefix(ahead)


class InlineThinking:
    """`<think>…</think>` at the very beginning of an answer, wherever it is cut into pieces.

    Servers that do not know the model's template send it so. Anywhere else the mark is text like any other.
    """

    def __init__(self) -> None:
        self._place: Literal["beginning", "thinking", "after", "text"] = "beginning"
        self._held = ""
        self._blank = True

    @property
    def over(self) -> bool:
        """Nothing but text follows."""
        return self._place == "text"

    def feed(self, piece: str) -> Iterator[tuple[bool, str]]:
        """What is certain with this piece: whether it is thinking, and its text."""
        text, self._held = self._held + piece, ""
        if self._place == "beginning":
            start = text.lstrip()
            if len(start) < len(_OPEN) and _OPEN.startswith(start) and len(text) <= _LONGEST_BEGINNING:
                self._held = text
                return
            self._place = "thinking" if start.startswith(_OPEN) else "text"
            text = start.removeprefix(_OPEN) if self._place == "thinking" else text
        if self._place == "thinking":
            thought, closed, text = text.partition(_CLOSE)
            if not closed:
                thought, self._held = _before_mark(thought)
            yield from self._thought(thought)
            if not closed:
                return
            self._place = "after"
        if self._place == "after":
            text = text.lstrip()
            if not text:
                return
            self._place = "text"
        yield False, text

    def release(self) -> Iterator[tuple[bool, str]]:
        """What was held back, now that nothing can complete a mark any more."""
        held, self._held = self._held, ""
        place, self._place = self._place, "text"
        if held and place == "thinking":
            yield from self._thought(held)
        elif held:
            yield False, held

    def _thought(self, text: str) -> Iterator[tuple[bool, str]]:
        """Without white space at its beginning: a model that was told not to think sends nothing else."""
        text = text.lstrip() if self._blank else text
        if text:
            self._blank = False
            yield True, text


def _before_mark(text: str) -> tuple[str, str]:
    """`text`, and at its end what may be the beginning of the closing mark."""
    longest = next((size for size in range(len(_CLOSE) - 1, 0, -1) if text.endswith(_CLOSE[:size])), 0)
    return text[: len(text) - longest], text[len(text) - longest :]
