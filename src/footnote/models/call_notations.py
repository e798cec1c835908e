"""Tool calls that a model writes into its text, in the notation that its family was trained on.

A server that knows the chat template of its model parses these notations and sends `tool_calls`; others pass them on as
text. The decoder below finds them: `feed` takes text as it arrives, cut anywhere, and returns text and calls in order.
Only calls of the tools that the request offered count. Everything else, such as an example in an answer about JSON,
stays text, and text that cannot become a call is never held back.

Qwen, Hermes    <tool_call>{"name": …, "arguments": {…}}</tool_call>
Qwen Coder      <tool_call><function=NAME><parameter=KEY>VALUE</parameter></function></tool_call>
Llama           {"name": …, "parameters": {…}} or [NAME(key=value)], also after <|python_tag|>;
                <function=NAME>{…}</function>
Mistral         [TOOL_CALLS][{"name": …, "arguments": {…}}] or [TOOL_CALLS]NAME[ARGS]{…}
Gemma           a fence with the tag tool_code around NAME(key=value), or
                <start_function_call>call:NAME{key:<escape>value<escape>}<end_function_call>
DeepSeek        its own begin, separator and end tokens around NAME and a fence with JSON
Phi, Granite    <|tool_call|>[{"name": …, "arguments": {…}}]<|/tool_call|>
LFM             <|tool_call_start|>[NAME(key=value)]<|tool_call_end|>
any             one of these objects in a fence
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from footnote.models.call_payloads import (
    FIRST_KEYS,
    OfferedTools,
    WrittenCall,
    deepseek_token,
    parse_any,
    parse_deepseek,
    parse_gemma,
    parse_json,
    parse_mistral,
    parse_named_function,
)
from footnote.protocol.tools import ToolSpec

MAX_HELD = 100_000
"""Characters that are held back for one call. A longer text is no call."""
MAX_OPENING = 120
"""Characters that tell whether a call in Python notation begins: the longest name of a tool, and what is around it."""
MAX_ATTEMPTS = 100
"""After so many openings in one response that turned out to be text, the rest is text too."""
MAX_SEARCHED = 100_000
"""Characters of text, before or after calls, in which an opening is looked for: an answer that long is no call, and
looking through megabytes of it would block the event loop."""

Decoded: TypeAlias = str | WrittenCall
_Parser: TypeAlias = Callable[[str, OfferedTools], list[WrittenCall]]


class _Notation(Struct, frozen=True):
    """`closing` None: the call ends with the response, or with one of the tokens that end a message.

    `is_checked`: the text after the opening is held back only while it can still become a call.
    """

    closing: str | None
    parse: _Parser
    is_checked: bool = False


_FENCE = "```"
_NOTATIONS: dict[str, _Notation] = {
    "<tool_call>": _Notation("</tool_call>", parse_any),
    "<|tool_call|>": _Notation("<|/tool_call|>", parse_any),
    "<|tool_call_start|>": _Notation("<|tool_call_end|>", parse_any),
    "<function_call>": _Notation("</function_call>", parse_any),
    "<tools>": _Notation("</tools>", parse_any, is_checked=True),
    "<function=": _Notation("</function>", parse_named_function),
    "<|python_tag|>": _Notation(None, parse_any, is_checked=True),
    "[TOOL_CALLS]": _Notation(None, parse_mistral),
    "<start_function_call>": _Notation("<end_function_call>", parse_gemma),
    deepseek_token("calls▁begin"): _Notation(deepseek_token("calls▁end"), parse_deepseek),
    _FENCE: _Notation(_FENCE, parse_any, is_checked=True),
    "{": _Notation("", parse_json, is_checked=True),
    "[": _Notation("", parse_any, is_checked=True),
}
"""By their opening. A bracket opens one at the beginning of a line; its call ends where the bracket is closed."""
_LONG_OPENINGS = tuple(opening for opening in _NOTATIONS if len(opening) > 1)
_OPENINGS = re.compile(
    "|".join(map(re.escape, sorted(_LONG_OPENINGS, key=len, reverse=True)))
    + r"|(?:\A|(?<=\n))[ \t]{0,8}(?P<first>[{\[])"
)
"""A bracket counts as the first character of a line."""
_FIRST_CHARACTERS = frozenset(opening[0] for opening in _NOTATIONS)
_END_TOKENS = re.compile(r"<\|(?:im_end|eom_id|eot_id|end)\|>|</s>|<end_of_turn>")
_FENCE_TAGS = frozenset({"", "json", "tool_code", "tool_call", "tool_calls", "python", "xml", "tool", "tools"})
_MAX_TAG = 16
_CHUNK = 4_096
"""A longer piece is decoded in parts: releasing text copies the rest of what is held."""
_BRACKETS = re.compile(r"""\\.|["'{}\[\]()]""", re.DOTALL)


class CallNotations:
    """The decoder of one response."""

    def __init__(self, specs: Sequence[ToolSpec]) -> None:
        self._tools = OfferedTools(specs)
        self._attempts = 0 if specs else MAX_ATTEMPTS + 1
        self._searched = 0
        self._held = ""
        self._opening: str | None = None
        self._at_line_start = True
        self._is_after_call = False
        """White space between calls, and after the last one, is dropped."""
        self._scanned = 0
        self._open_brackets = 0
        self._quote = ""

    def is_plain(self, piece: str) -> bool:
        """Whether this piece is nothing but text, as most pieces are; it then need not be fed."""
        if self._held or self._is_after_call or self._can_open(piece):
            return False
        self._searched += len(piece)
        self._note_line_start(piece)
        return True

    @property
    def _is_searching(self) -> bool:
        return self._attempts <= MAX_ATTEMPTS and self._searched <= MAX_SEARCHED

    def _can_open(self, piece: str) -> bool:
        return self._is_searching and not _FIRST_CHARACTERS.isdisjoint(piece[:MAX_SEARCHED])

    def feed(self, piece: str) -> list[Decoded]:
        """The text and calls that are certain with this piece."""
        if self.is_plain(piece):
            return [piece] if piece else []
        decoded: list[Decoded] = []
        position = 0
        while position < len(piece):
            # After the search, the rest is not split.
            end = position + _CHUNK if self._is_searching else len(piece)
            self._held += piece[position:end]
            decoded += self._decode(at_end=False)
            position = end
        return _join_texts(decoded)

    def flush(self) -> list[Decoded]:
        """What was held back, at the end of the response."""
        decoded = list(self._decode(at_end=True))
        rest, self._held = self._held, ""
        return [*decoded, rest] if rest else decoded

    def _decode(self, *, at_end: bool) -> Iterator[Decoded]:
        while self._held:  # each step consumes a part of it, or opens a call
            step = self._decode_text(at_end=at_end) if self._opening is None else self._decode_call(at_end=at_end)
            if step is None:
                return
            yield from step

    def _decode_text(self, *, at_end: bool) -> list[Decoded] | None:
        """The text before the next opening. None: nothing is certain."""
        if self._is_after_call:
            self._held = self._held.lstrip()
            self._is_after_call = not self._held
            return []
        if not self._is_searching:
            return self._release(len(self._held))
        for found in _OPENINGS.finditer(self._held):
            if found.group("first") and found.start() == 0 and not self._at_line_start:
                continue
            start = found.end() - 1 if found.group("first") else found.start()
            if not at_end and start == len(self._held) - _partial_opening(self._held):
                break  # `[` may become `[TOOL_CALLS]`
            self._opening = self._held[start : found.end()]
            self._scanned = len(self._opening)
            self._open_brackets, self._quote = 1, ""
            return self._release(start)
        certain = len(self._held) if at_end else len(self._held) - _partial_opening(self._held)
        return self._release(certain) if certain else None

    def _decode_call(self, *, at_end: bool) -> list[Decoded] | None:
        """The calls of the notation that is open, or its text if it has none. None: it is incomplete."""
        assert self._opening is not None  # noqa: S101 - see `_decode`
        notation = _NOTATIONS[self._opening]
        end = self._end_of_call(notation)
        if end is None and at_end:
            end = (len(self._held), len(self._held))
        if notation.is_checked and not self._can_become_call():
            return self._give_up(len(self._opening))
        if end is None:
            return self._give_up(len(self._held)) if len(self._held) > MAX_HELD else None
        payload = self._held[0 if notation.closing == "" else len(self._opening) : end[0]]
        if self._opening == _FENCE:
            tag, _, body = payload.partition("\n")
            payload = body if tag.strip() in _FENCE_TAGS else payload
        calls = notation.parse(_END_TOKENS.sub("", payload), self._tools)
        if not calls:
            return self._give_up(end[1])
        self._held = self._held[end[1] :]
        self._opening, self._at_line_start, self._is_after_call = None, True, True
        return [*calls]

    def _end_of_call(self, notation: _Notation) -> tuple[int, int] | None:
        """The end of the payload, and the beginning of the text after it."""
        if notation.closing is None:
            found = _END_TOKENS.search(self._held, max(0, self._scanned - 16))
            self._scanned = len(self._held)
            return found.span() if found else None
        if notation.closing == "":
            return self._end_of_brackets()
        found = self._held.find(notation.closing, max(len(self._opening or ""), self._scanned - len(notation.closing)))
        self._scanned = len(self._held)
        return None if found < 0 else (found, found + len(notation.closing))

    def _end_of_brackets(self) -> tuple[int, int] | None:
        for found in _BRACKETS.finditer(self._held, self._scanned):
            sign = found.group()
            self._scanned = found.end()
            if self._quote:
                self._quote = "" if sign == self._quote else self._quote
            elif sign in "\"'":
                self._quote = sign
            elif len(sign) == 1:
                self._open_brackets += 1 if sign in "{[(" else -1
                if self._open_brackets == 0:
                    return found.end(), found.end()
        # A backslash at the end may belong to a character that has not arrived.
        self._scanned = len(self._held) - self._held.endswith("\\")
        return None

    def _can_become_call(self) -> bool:
        opening = self._opening or ""
        rest = self._held[len(opening) :]
        if opening in ("{", "["):
            return self._begins_call(self._held)
        if opening == _FENCE:
            tag, newline, rest = rest.partition("\n")
            if not newline:
                return len(tag) <= _MAX_TAG and any(known.startswith(tag.strip()) for known in _FENCE_TAGS)
            if tag.strip() not in _FENCE_TAGS:
                return False
        return self._begins_call(rest)

    def _begins_call(self, text: str) -> bool:
        """Whether a call may begin so: with an object that names a tool, or with the name of a tool."""
        text = text.lstrip()
        if text.startswith("["):
            text = text[1:].lstrip()
            return not text or text[0] == "{" or self._begins_python(text)
        if text.startswith("{"):
            key = text[1:].lstrip()
            name, closed, _ = key[1:].partition('"')
            return not key or (key[0] == '"' and (name in FIRST_KEYS if closed else _is_prefix(name, FIRST_KEYS)))
        return self._begins_python(text) or _is_prefix(text, ("<function=",)) or text.startswith("<function=")

    def _begins_python(self, text: str) -> bool:
        start = text[:MAX_OPENING].casefold()
        return start.startswith(self._tools.openings) or _is_prefix(start, self._tools.openings)

    def _give_up(self, length: int) -> list[Decoded]:
        """Releases the beginning of what was held back: it is text after all."""
        self._opening = None
        self._attempts += 1
        return self._release(length)

    def _release(self, length: int) -> list[Decoded]:
        text, self._held = self._held[:length], self._held[length:]
        self._searched += length
        self._note_line_start(text)
        return [text] if text else []

    def _note_line_start(self, text: str) -> None:
        line = text.rpartition("\n")
        self._at_line_start = not line[2].strip() and (bool(line[1]) or self._at_line_start)


def _join_texts(decoded: list[Decoded]) -> list[Decoded]:
    """Pieces of text side by side become one, so that a long piece does not become many events."""
    joined: list[list[str] | WrittenCall] = []
    for part in decoded:
        if isinstance(part, str) and joined and isinstance(joined[-1], list):
            joined[-1].append(part)
        else:
            joined.append([part] if isinstance(part, str) else part)
    return ["".join(part) if isinstance(part, list) else part for part in joined]


def _is_prefix(text: str, candidates: Sequence[str] | frozenset[str]) -> bool:
    return any(candidate.startswith(text) for candidate in candidates)


def _partial_opening(text: str) -> int:
    """How many characters at the end of `text` may be the beginning of an opening."""
    max_length = max(len(opening) for opening in _NOTATIONS)
    for size in range(min(max_length - 1, len(text)), 0, -1):
        if text[-size] in _FIRST_CHARACTERS and _is_prefix(text[-size:], _LONG_OPENINGS):
            return size
    return 0
