"""Results that are too large for a model: the whole goes into a file, a preview takes its place."""

import logging
import re
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from footnote.protocol.messages import Image, Text
from footnote.protocol.tools import ToolResult
from footnote.tools.base import ToolContext
from footnote.workspace.files import Workspace
from footnote.workspace.paths import LARGE_RESULTS
from footnote.workspace.text import MAX_ROW, count_lines, pluralize

log = logging.getLogger(__name__)

Spill: TypeAlias = Callable[[str, ToolContext], Awaitable[str | None]]
"""Keeps a text and gives the path of its file; None if there is nowhere to keep it."""

BYTES_PER_TOKEN = 4
"""A rule of thumb: in UTF-8 it holds for English and, roughly, for Vietnamese and Chinese too."""

_PREVIEW_LINES = 5
_PREVIEW_CHARACTERS = 1000
_MAX_JSON_LENGTH = 2_000_000
_MAX_JSON_DEPTH = 20
# A string that is not closed goes on to the end: looking for its end again and again would take for ever.
_json_parts = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)


async def spill_to_workspace(text: str, context: ToolContext) -> str | None:
    workspace = context.abilities.workspace
    if workspace is None:
        return None
    path = await result_path(workspace, context, ".txt")
    record = await workspace.write(path, text, message_id=context.message_id)
    return record.path


async def result_path(workspace: Workspace, context: ToolContext, suffix: str) -> str:
    """Where a part of a call's result is kept that has no place in the result itself."""
    # Ids come from a provider: any characters, any length.
    name = re.sub(r"[^A-Za-z0-9_-]", "_", context.call_id)[:100] or "result"
    path = f"{LARGE_RESULTS}{name}{suffix}"
    if await workspace.exists(path) and (await workspace.record(path)).message_id != context.message_id:
        # In another branch of the session a call may have the same id, and its result is still read there.
        path = f"{LARGE_RESULTS}{name}-{context.message_id}{suffix}"
    return path


async def shorten_result(result: ToolResult, tokens: int, spill: Spill, context: ToolContext) -> ToolResult:
    """The result with at most about `tokens` of text. Images, artifact, files and status stay."""
    text = result.text
    if len(text) <= tokens or len(text.encode(errors="replace")) <= tokens * BYTES_PER_TOKEN:
        return result
    kept = _reformat_json(text)
    path = await _try_spill(kept, spill, context)
    shown = _preview(kept, path, is_changed=kept is not text) if path else _truncate(text, tokens)
    images = (part for part in result.content if isinstance(part, Image))
    return replace(result, content=(Text(shown), *images))


async def _try_spill(text: str, spill: Spill, context: ToolContext) -> str | None:
    try:
        return await spill(text, context)
    except Exception:  # a full disk or a lost database must not cost the model the answer that it waited for
        log.exception("A large tool result could not be kept")
        return None


def _reformat_json(text: str) -> str:
    """JSON that was sent as one line, in many: line by line is how files are read and searched."""
    is_long = len(text) <= _MAX_JSON_LENGTH and any(len(line) > MAX_ROW for line in text.split("\n"))
    if not is_long or not text.lstrip().startswith(("{", "[")) or _depth(text) > _MAX_JSON_DEPTH:
        return text
    try:
        return msgspec.json.format(text, indent=2)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return text


def _depth(text: str) -> int:
    """How deep JSON is nested. Indented, what is deep grows out of all proportion."""
    depth = deepest = 0
    for part in _json_parts.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(part.group(), 0)
        deepest = max(depth, deepest)
    return deepest


def _preview(text: str, path: str, *, is_changed: bool) -> str:
    lines = text.split("\n")
    head = "\n".join(line[:_PREVIEW_CHARACTERS] for line in lines[:_PREVIEW_LINES])
    tail = "\n".join(line[-_PREVIEW_CHARACTERS:] for line in lines[-_PREVIEW_LINES:])
    added = ", with line breaks added" if is_changed else ""
    return (
        f"The result is too large to show: {len(text):,} characters in {pluralize(count_lines(text), 'line')}."
        f" All of it is in {path}{added}: read it with read_file, using offset and limit, or look for words in it with"
        " search_files."
        f"\n\nIt begins:\n{head}\n\nIt ends:\n{tail}"
    )


def _truncate(text: str, tokens: int) -> str:
    kept = text.encode(errors="replace")[: tokens * BYTES_PER_TOKEN].decode(errors="ignore")
    return f"{kept}\n\n[Cut here: the result has {len(text):,} characters, and only the first {len(kept):,} are shown.]"
