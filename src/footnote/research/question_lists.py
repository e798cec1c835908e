"""Lists of questions in the answers of models, in whatever form they come.

A model is asked for JSON. Small ones answer with other keys, in fences, after their thoughts, with numbered lines, or
are cut off in the middle. Everything is data: a question is one line of limited length, and nothing else.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, cast

from footnote.protocol.plans import MAX_ITEM_LENGTH
from footnote.text.boundary import escape_tags
from footnote.text.terms import fold

MAX_ANSWER_LENGTH = 100_000
MAX_FOUND = 200
_MAX_BEGINNINGS = 200
_MAX_DEPTH = 6

_QUESTION_KEYS = (
    "question", "query", "text", "q", "item", "task", "subquestion", "sub_question", "search", "search_query",
    "content", "description", "value", "title", "topic", "name", "ask",
)  # fmt: skip
"""Of an object for one question, the key of it; the best first."""
_OTHER_KEYS = frozenset((
    "id", "key", "number", "index", "status", "note", "notes", "reason", "reasons", "rationale", "why", "purpose",
    "priority", "type", "language", "lang", "locale", "thought", "thoughts", "thinking", "reasoning", "analysis",
    "explanation", "comment", "summary", "goal", "template", "error", "message", "section", "drop", "remove", "dropped",
))  # fmt: skip
_THOUGHTS = re.compile(r"<(think|thinking|reasoning|thought)>", re.IGNORECASE)
_JSON_BEGIN = re.compile(r"[\[{]")
_STRING = re.compile(r'(?<!\\)"([^"\\\n]*+(?:\\.[^"\\\n]*+)*+)"(?=(\s{0,40}+:)?)')
_KEYED_LINE = re.compile(r"[\s{,*-]{0,20}[\"'“]?([A-Za-z_]{1,20})[\"'”]?\s?:\s?[\"'“]([^\n]+?)[\"'”][\s,}\]]{0,20}")
_LISTED = re.compile(
    r"(?:[-*+•–—]|#{1,6}|\(?\d{1,2}[.)、:：](?!\d)|\(?[A-Za-z]\)|Q(?:uestion)?\s?\d{1,2}\s?[.:：)]|"
    r"[一二三四五六七八九十]{1,3}[、.．])[ \t]*(\S.*)",
    re.IGNORECASE,
)
_TAG = re.compile(r"<(\w{1,20})>")
_CUT_LIST = re.compile(r"[\[{]\s{0,20}[\"'“{\[]")
_CHECKBOX = re.compile(r"\[[ xX]?\][ \t]+")
_NUMBERED = re.compile(r"\A\(?\d{1,2}[.)、:：][ \t]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_NO_WORD = re.compile(r"[\W_]*")
_KEY_NOISE = re.compile(r"[\W_]+")
_FENCE = re.compile(r"```[a-zA-Z]{0,12}")
_NONE = re.compile(
    r"(?:none|null|nil|n/?a|no(?:thing)?|empty|done|complete|there (?:is|are) (?:none|no|nothing)|"
    r"no(?:thing)? (?:further|more|additional|new|other|else|gaps?|questions?|items?|missing|is|needed)|"
    r"(?:the plan|everything|all) (?:is|are|was|has|have)|không|không có|không cần|không còn|"
    r"没有|无|無|无需|不需要|暂无|沒有)(?:\b|(?<=[\u4e00-\u9fff]))",
    re.IGNORECASE,
)
_MAX_NONE_LENGTH = 120
_MAX_BARE_LINE = 200


def read_questions(text: str) -> tuple[str, ...]:
    """The questions in an answer, each once; none if there is nothing like a list of questions in it."""
    answer = answer_without_thoughts(text[-MAX_ANSWER_LENGTH:])
    found = _from_json(answer) or _from_cut_json(answer) or _from_lines(answer)
    return distinct_questions(found)


def distinct_questions(questions: Iterable[str]) -> tuple[str, ...]:
    """The questions as lines, without those that say the same as one before them."""
    lines: dict[str, str] = {}
    for question in islice(questions, MAX_FOUND):
        line = question_line(_NUMBERED.sub("", question.strip(), count=1))
        if line and not _is_placeholder(line):
            lines.setdefault(question_key(line), line)
    return tuple(lines.values())


def question_line(text: str) -> str:
    """A question as one line of at most `MAX_ITEM_LENGTH` characters, without what the model wrote around it."""
    line = " ".join(_CONTROL.sub(" ", escape_tags(text[: 4 * MAX_ITEM_LENGTH])).split())
    line = _CHECKBOX.sub("", line, count=1) if _CHECKBOX.match(line) else line
    line = line.replace("**", "").replace("__", "").strip(" \t*`")
    if len(line) > 1 and line[0] in "\"“'「" and line[-1] in "\"”'」":
        line = line[1:-1].strip()
    if len(line) > MAX_ITEM_LENGTH:
        cut = line[: MAX_ITEM_LENGTH - 1]
        line = f"{cut[: cut.rfind(' ')] if ' ' in cut[MAX_ITEM_LENGTH // 2 :] else cut}…"
    return "" if _NO_WORD.fullmatch(line) else line


def question_key(line: str) -> str:
    """The same for questions that differ in case, width, spaces and punctuation only."""
    return _KEY_NOISE.sub("", fold(line)) or line


def shorten_middle(text: str, max_characters: int) -> str:
    """A long text from both ends."""
    shown = text.strip()
    if len(shown) <= max_characters:
        return shown
    head = 3 * max_characters // 4
    return f"{shown[:head].rstrip()}\n…\n{shown[len(shown) - (max_characters - head) :].lstrip()}"


def says_none(text: str) -> bool:
    """Whether an answer or a line says that there is nothing to add."""
    line = question_line(_FENCE.sub(" ", text[: 4 * _MAX_NONE_LENGTH])).strip(" .。!`[]{}()")
    is_question = line.endswith(("?", "？"))
    return len(line) <= _MAX_NONE_LENGTH and not is_question and _NONE.match(line) is not None


def _is_placeholder(line: str) -> bool:
    return says_none(line) or line.strip(" .…?<>[]").casefold() in ("", "question", "first question", "string")


def answer_without_thoughts(text: str) -> str:
    """What follows the thoughts of a model. Thoughts without an end are all that there is."""
    end = max((text.rfind(f"</{name}>") for name in ("think", "thinking", "reasoning", "thought")), default=-1)
    if end >= 0:
        return text[text.index(">", end) + 1 :]
    if found := _THOUGHTS.search(text):
        return text[: found.start()]
    return text


# JSON -----------------------------------------------------------------------------------------------------------------


def json_values(text: str) -> list[Any]:
    """The values in a text, whatever stands between them."""
    decoder = json.JSONDecoder(strict=False)
    values: list[Any] = []
    end = 0
    for begin in islice(_JSON_BEGIN.finditer(text), _MAX_BEGINNINGS):
        if begin.start() < end:
            continue
        try:
            value, end = decoder.raw_decode(text, begin.start())
        except (ValueError, RecursionError):
            continue
        values.append(value)
    return values


def _from_json(text: str) -> list[str]:
    """The last list in an answer, since drafts come first; objects that follow each other are one list."""
    best: list[str] = []
    row: list[str] = []
    for value in json_values(text):
        found = list(questions_in(value))
        if isinstance(value, dict) and len(found) == 1:
            row += found
        elif found:
            best, row = found, []
    return row if len(row) > 1 or not best else best


def questions_in(value: Any, depth: int = 0) -> Iterator[str]:
    """The questions in a decoded value: lists of them, objects of them by id, objects around either."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, str):
        yield from _from_string(value)
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from questions_in(one, depth + 1)
    elif isinstance(value, dict):
        yield from _questions_of_object(cast("dict[str, Any]", value), depth)


def _questions_of_object(fields: dict[str, Any], depth: int) -> Iterator[str]:
    named = {name.casefold(): field for name, field in fields.items()}
    own = next((field for name in _QUESTION_KEYS if isinstance(field := named.get(name), str) and field.strip()), None)
    nested: list[Any] = [
        field for name, field in named.items() if isinstance(field, list | dict) and name not in _OTHER_KEYS
    ]
    inner = [found for field in nested for found in questions_in(field, depth + 1)]
    if inner:
        if isinstance(named.get("question"), str):
            yield named["question"]
        yield from inner
    elif own is not None:
        yield own
    else:
        yield from (name for name in fields if name.rstrip().endswith(("?", "？")))
        for name, field in named.items():
            if isinstance(field, str) and name not in _OTHER_KEYS and not name.rstrip().endswith(("?", "？")):
                yield from _from_string(field)


def _from_string(text: str) -> list[str]:
    """A string is one question, unless each of its lines is an entry of a list."""
    entries = listed_lines(text)
    is_list = len(entries) > 1 and len(entries) == sum(bool(line.strip()) for line in text.splitlines())
    return entries if is_list else [text]


def listed_lines(text: str) -> list[str]:
    """The lines that begin with the number or the mark of a list, without it."""
    return [found[1] for line in text.splitlines() if (found := _LISTED.fullmatch(line.strip()))]


def _from_cut_json(text: str) -> list[str]:
    """The whole strings of JSON that is cut off or malformed."""
    if not _CUT_LIST.search(text):
        return []
    lines = map(_KEYED_LINE.fullmatch, text.splitlines())
    keyed = [line[2] for line in lines if line and line[1].casefold() in _QUESTION_KEYS]
    if keyed:
        return keyed
    found: list[str] = []
    key = ""
    for string in islice(_STRING.finditer(text, max(0, text.find("{"), text.find("["))), 5 * MAX_FOUND):
        if string[2]:
            key = string[1].casefold()
        elif key not in _OTHER_KEYS:
            found.append(_unescaped(string[1]))
        else:
            key = ""
    return found


def _unescaped(string: str) -> str:
    try:
        return str(json.loads(f'"{string}"', strict=False))
    except ValueError:
        return string


# Lines ----------------------------------------------------------------------------------------------------------------


def _from_lines(text: str) -> list[str]:
    """The outermost list of an answer; else its lines that ask something; else a row of short lines."""
    lines = [line for line in text.expandtabs(4).splitlines() if line.strip() and not line.lstrip().startswith("```")]
    listed = [
        (len(line) - len(line.lstrip()), found[1]) for line in lines if (found := _LISTED.fullmatch(line.strip()))
    ]
    if listed:
        outermost = min(indent for indent, _ in listed)
        top = [words for indent, words in listed if indent <= outermost + 1]
        chosen = top if len(top) > 1 else [words for _, words in listed]
        asked = [words for words in chosen if not words.rstrip("*_ ").endswith((":", "："))]
        return asked or chosen
    tagged = [words for line in lines if (words := _tagged(line.strip()))]
    if tagged:
        return tagged
    asked = [line for line in lines if line.rstrip(" *_\"”'").endswith(("?", "？"))]
    if asked:
        return asked
    return lines if _are_short_lines(lines) else []


def _tagged(line: str) -> str:
    """What stands between a pair of tags; empty for any other line."""
    opening = _TAG.match(line)
    closing = f"</{opening[1]}>" if opening else ""
    return line[opening.end() : -len(closing)] if opening and line.endswith(closing) else ""


def _are_short_lines(lines: Sequence[str]) -> bool:
    return len(lines) > 1 and all(
        len(line) <= _MAX_BARE_LINE and not line.rstrip().endswith((".", "。", ":", "：", "!", ",")) for line in lines
    )
