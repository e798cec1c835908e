"""Thinking, in the forms in which OpenAI-compatible servers send it beside the plain fields."""

from collections.abc import Iterator
from typing import Any, Literal, cast

_OPEN_TAG, _CLOSE_TAG = "<think>", "</think>"
_MAX_LEADING_SPACE = 64
"""White space before the mark; where there is more of it, no mark is waited for."""


class ReasoningRecords:
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

    def join(self) -> tuple[dict[str, Any], ...]:
        for (key, name), pieces in self._texts.items():
            self._fields[key][name] = "".join(pieces)
        return tuple(self._fields.values())


def record_text(details: list[dict[str, Any]]) -> str:
    """What the records of one piece say in words, for routers that say it nowhere else."""
    said = (detail.get("text") or detail.get("summary") for detail in details)
    return "".join(words for words in said if isinstance(words, str))


def thinking_in_parts(content: Any) -> str:
    """The thinking among the parts of a piece: `{"type": "thinking", "thinking": [{"type": "text", "text": …}]}`, or
    with a plain text in the place of the list."""
    parts = cast("list[Any]", content) if isinstance(content, list) else []
    thoughts = [cast("dict[str, Any]", part).get("thinking") for part in parts if isinstance(part, dict)]
    return "".join(_thinking_text(thought) for thought in thoughts)


def _thinking_text(thought: Any) -> str:
    if isinstance(thought, str):
        return thought
    pieces = cast("list[Any]", thought) if isinstance(thought, list) else []
    return record_text([cast("dict[str, Any]", piece) for piece in pieces if isinstance(piece, dict)])


class ThinkingDeduplicator:
    """Thinking that comes in a field, in records, or in both: each word of it once."""

    def __init__(self) -> None:
        self._unconfirmed: list[str] = []
        """What fields said and records have not repeated yet."""

    def new_text(self, field: str, recorded: str) -> str:
        """What is new in one piece. Records may follow the field they repeat, in the same piece or at the end."""
        if field:
            self._unconfirmed.append(field)
        if not recorded:
            return field
        ahead = "".join(self._unconfirmed)
        repeats = ahead.startswith(recorded)
        self._unconfirmed = [ahead[len(recorded) :]] if repeats else []
        return field if field or repeats else recorded.removeprefix(ahead)


class InlineThinking:
    """`<think>…</think>` at the very beginning of an answer, wherever it is cut into pieces.

    Servers that do not know the model's template send it so. Anywhere else the mark is text like any other.
    """

    def __init__(self) -> None:
        self._state: Literal["beginning", "thinking", "after", "text"] = "beginning"
        self._buffer = ""
        self._is_blank = True

    @property
    def is_over(self) -> bool:
        """Nothing but text follows."""
        return self._state == "text"

    def feed(self, piece: str) -> Iterator[tuple[bool, str]]:
        """What is certain with this piece: whether it is thinking, and its text."""
        text, self._buffer = self._buffer + piece, ""
        if self._state == "beginning":
            start = text.lstrip()
            if len(start) < len(_OPEN_TAG) and _OPEN_TAG.startswith(start) and len(text) <= _MAX_LEADING_SPACE:
                self._buffer = text
                return
            self._state = "thinking" if start.startswith(_OPEN_TAG) else "text"
            text = start.removeprefix(_OPEN_TAG) if self._state == "thinking" else text
        if self._state == "thinking":
            thought, closed, text = text.partition(_CLOSE_TAG)
            if not closed:
                thought, self._buffer = _split_partial_tag(thought)
            yield from self._emit_thinking(thought)
            if not closed:
                return
            self._state = "after"
        if self._state == "after":
            text = text.lstrip()
            if not text:
                return
            self._state = "text"
        yield False, text

    def flush(self) -> Iterator[tuple[bool, str]]:
        """What was held back, now that nothing can complete a mark any more."""
        held, self._buffer = self._buffer, ""
        place, self._state = self._state, "text"
        if held and place == "thinking":
            yield from self._emit_thinking(held)
        elif held:
            yield False, held

    def _emit_thinking(self, text: str) -> Iterator[tuple[bool, str]]:
        """Without white space at its beginning: a model that was told not to think sends nothing else."""
        text = text.lstrip() if self._is_blank else text
        if text:
            self._is_blank = False
            yield True, text


def _split_partial_tag(text: str) -> tuple[str, str]:
    """`text`, and at its end what may be the beginning of the closing mark."""
    longest = next((size for size in range(len(_CLOSE_TAG) - 1, 0, -1) if text.endswith(_CLOSE_TAG[:size])), 0)
    return text[: len(text) - longest], text[len(text) - longest :]
