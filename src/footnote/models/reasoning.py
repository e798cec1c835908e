"""Thinking in the forms that OpenAI-compatible servers use beside plain fields: records, parts, tags in the text."""

import re
from collections.abc import Iterator
from typing import Any, Literal, cast

_THINK_CLOSE = "</think>"
_HARMONY_OPENINGS = ("<|channel|>analysis<|message|>", "<|start|>assistant<|channel|>analysis<|message|>")
_CLOSING_TAGS: dict[str, str] = {
    "<think>": _THINK_CLOSE,
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "◁think▷": "◁/think▷",  # Kimi
    "[THINK]": "[/THINK]",  # Magistral
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|START_THINKING|>": "<|END_THINKING|>",  # Command
    "<|channel>thought": "<channel|>",  # Gemma
    **dict.fromkeys(_HARMONY_OPENINGS, "<|end|>"),  # gpt-oss
}
"""The closing tag for each opening tag."""
_HEADERS = (
    "<|channel|>final<|message|>",
    "<|start|>assistant<|channel|>final<|message|>",
    "<|begin_of_solution|>",
    "<|START_RESPONSE|>",
)
"""What stands between thinking and answer, or before an answer without thinking."""
_FORCED_THINKING = re.compile(r"(?<![a-z0-9])(?:r1|qwq|think|thinking|minimax-m[12])(?![a-z0-9])")
_QUOTES = frozenset("`\"'")
_MAX_HELD = 400_000
"""Characters that are held back for a closing tag: more than any model thinks."""
_MAX_LEADING_SPACE = 64
"""White space before the opening tag. With more of it, no tag is expected any more."""


class ReasoningRecords:
    """A router's own reasoning records, which arrive in pieces: texts are joined, other fields are replaced by later
    ones."""

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
    """The text of the records of one chunk, for routers that send it nowhere else."""
    texts = (detail.get("text") or detail.get("summary") for detail in details)
    return "".join(text for text in texts if isinstance(text, str))


def thinking_in_parts(content: Any) -> str:
    """The thinking among the parts of a chunk: `{"type": "thinking", "thinking": [{"type": "text", "text": …}]}`, or
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
    """Joins thinking that arrives in a field, in records, or in both, without repeating any of it."""

    def __init__(self) -> None:
        self._unconfirmed: list[str] = []
        """The text of fields that records have not repeated yet."""

    def new_text(self, field: str, recorded: str) -> str:
        """The new text of one chunk. Records may follow the field they repeat, in the same chunk or at the end."""
        if field:
            self._unconfirmed.append(field)
        if not recorded:
            return field
        pending = "".join(self._unconfirmed)
        is_repeated = pending.startswith(recorded)
        self._unconfirmed = [pending[len(recorded) :]] if is_repeated else []
        return field if field or is_repeated else recorded.removeprefix(pending)


class InlineThinking:
    """Thinking at the very beginning of an answer, between the tags of the model, however it is cut into pieces.

    Servers that do not know the model's template send it as text. Anywhere else a tag is text like any other, and so is
    a quoted one. `may_lack_opening`: the template of the model has the opening tag, so that only the closing one is
    sent. Then everything is held back until that comes; what has none is text.
    """

    def __init__(self, *, may_lack_opening: bool = False) -> None:
        self._state: Literal["beginning", "thinking", "unopened", "header", "after", "text"] = "beginning"
        self._may_lack_opening = may_lack_opening
        self._close = ""
        self._buffer = ""
        self._held: list[str] = []
        self._held_length = 0
        self._is_blank = True

    @property
    def is_over(self) -> bool:
        """Whether nothing but text follows."""
        return self._state == "text"

    def feed(self, piece: str) -> Iterator[tuple[bool, str]]:
        """The text that is certain with this piece, in parts: whether a part is thinking, and its text."""
        text, self._buffer = self._buffer + piece, ""
        while text:
            match self._state:
                case "beginning":
                    text = self._begin(text)
                case "thinking":
                    thought, text = self._split_thinking(text)
                    yield from self._emit_thinking(thought)
                case "unopened":
                    thought, text = self._split_unopened(text)
                    yield from self._emit_thinking(thought)
                case "header":
                    text = self._skip_header(text)
                case "after":
                    text = text.lstrip()
                    self._state = "text" if text else "after"
                case "text":
                    yield False, text
                    return

    def flush(self) -> Iterator[tuple[bool, str]]:
        """The text that was held back as a possible tag, at the end of the response."""
        rest, self._buffer, self._held = "".join([*self._held, self._buffer]), "", []
        state, self._state = self._state, "text"
        if state == "thinking":
            yield from self._emit_thinking(rest)
        elif rest := rest.lstrip() if state == "header" else rest:
            yield False, rest

    def _begin(self, text: str) -> str:
        """What follows the opening tag; everything, where there is none; nothing, while there may be one."""
        start = text.lstrip()
        if len(text) - len(start) <= _MAX_LEADING_SPACE:
            opening = next((opening for opening in _CLOSING_TAGS if start.startswith(opening)), None)
            if opening is not None:
                self._state, self._close = "thinking", _CLOSING_TAGS[opening]
                return start.removeprefix(opening)
            if start.startswith(_HEADERS):
                self._state = "header"
                return start
            if _is_beginning_of(start, (*_CLOSING_TAGS, *_HEADERS)):
                self._buffer = text
                return ""
        self._state = "unopened" if self._may_lack_opening else "text"
        return text

    def _split_thinking(self, text: str) -> tuple[str, str]:
        """The thinking, and what follows its closing tag."""
        end, held_from = _find_closing_tag(text, self._close)
        if end is None:
            self._buffer = text[held_from:]
            return text[:held_from], ""
        self._state = "header"
        return text[:end], text[end + len(self._close) :]

    def _split_unopened(self, text: str) -> tuple[str, str]:
        """Holds back what may be thinking. Without its closing tag within any reasonable length it is text."""
        end, held_from = _find_closing_tag(text, _THINK_CLOSE)
        if end is not None:
            held, self._held = "".join(self._held), []
            self._state = "after"
            return held + text[:end], text[end + len(_THINK_CLOSE) :]
        self._held.append(text[:held_from])
        self._held_length += held_from
        self._buffer = text[held_from:]
        if self._held_length <= _MAX_HELD:
            return "", ""
        held, self._buffer, self._held = "".join([*self._held, self._buffer]), "", []
        self._state = "text"
        return "", held

    def _skip_header(self, text: str) -> str:
        """The answer without the tokens that some models put between thinking and answer."""
        start = text.lstrip()
        header = next((header for header in _HEADERS if start.startswith(header)), None)
        if header is not None:
            self._state = "after"
            return start.removeprefix(header)
        if _is_beginning_of(start, _HEADERS):
            self._buffer = text
            return ""
        opening = next((opening for opening in _HARMONY_OPENINGS if start.startswith(opening)), None)
        if opening is not None:  # a second thought
            self._state = "thinking"
            return start.removeprefix(opening)
        if _is_beginning_of(start, _HARMONY_OPENINGS):
            self._buffer = text
            return ""
        self._state = "after"
        return text

    def _emit_thinking(self, text: str) -> Iterator[tuple[bool, str]]:
        """Thinking without white space at its beginning: with thinking switched off, models send nothing else."""
        text = text.lstrip() if self._is_blank else text
        if text:
            self._is_blank = False
            yield True, text


def omits_opening_tag(model: str) -> bool:
    """Whether the chat template of a model writes the opening tag, so that the model itself writes the closing one
    only, as far as its name tells."""
    return _FORCED_THINKING.search(model.lower()) is not None


def _is_beginning_of(text: str, tags: tuple[str, ...]) -> bool:
    return any(len(text) < len(tag) and tag.startswith(text) for tag in tags)


def _find_closing_tag(text: str, tag: str) -> tuple[int | None, int]:
    """Where the first closing tag stands that is not quoted, or None. Then, from where on `text` may be one."""
    end = text.find(tag)
    while end >= 0:
        quote, after = text[max(0, end - 1) : end], text[end + len(tag) : end + len(tag) + 1]
        if quote not in _QUOTES or (after and after != quote):
            return end, 0
        if not after:
            return None, end - 1
        end = text.find(tag, end + len(tag))
    sizes = range(min(len(tag) - 1, len(text)), 0, -1)
    partial = next((size for size in sizes if text.endswith(tag[:size])), 0)
    start = len(text) - partial
    return None, start - 1 if start and text[start - 1] in _QUOTES else start
