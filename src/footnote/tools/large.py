"""Results that are too large for a model: the whole goes into a file, a preview takes its place."""

import logging
import re
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from msgspec.structs import replace

from footnote.protocol.messages import Image, Text
from footnote.protocol.tools import ToolResult
from footnote.tools.base import ToolContext
from footnote.workspace.paths import LARGE_RESULTS
from footnote.workspace.text import count_lines, counted

log = logging.getLogger(__name__)

Spill: TypeAlias = Callable[[str, ToolContext], Awaitable[str | None]]
"""Keeps a text and gives the path of its file; None if there is nowhere to keep it."""

BYTES_PER_TOKEN = 4
"""A rule of thumb: in UTF-8 it holds for English and, roughly, for Vietnamese and Chinese too."""

_PREVIEW_LINES = 5
_PREVIEW_CHARACTERS = 1000


async def spill_to_workspace(text: str, context: ToolContext) -> str | None:
    workspace = context.abilities.workspace
    if workspace is None:
        return None
    # Ids come from a provider: any characters, any length.
    name = re.sub(r"[^A-Za-z0-9_-]", "_", context.call_id)[:100] or "result"
    record = await workspace.write(f"{LARGE_RESULTS}{name}.txt", text, message_id=context.message_id)
    return record.path


async def shortened(result: ToolResult, tokens: int, spill: Spill, context: ToolContext) -> ToolResult:
    """The result with at most about `tokens` of text. Images, artifact, files and status stay."""
    text = result.text
    if len(text) <= tokens or len(text.encode(errors="replace")) <= tokens * BYTES_PER_TOKEN:
        return result
    path = await _keep(text, spill, context)
    shown = _preview(text, path) if path else _cut(text, tokens)
    images = (part for part in result.content if isinstance(part, Image))
    return replace(result, content=(Text(shown), *images))


async def _keep(text: str, spill: Spill, context: ToolContext) -> str | None:
    try:
        return await spill(text, context)
    except Exception:  # a full disk or a lost database must not cost the model the answer that it waited for
        log.exception("A large tool result could not be kept")
        return None


def _preview(text: str, path: str) -> str:
    lines = text.split("\n")
    head = "\n".join(line[:_PREVIEW_CHARACTERS] for line in lines[:_PREVIEW_LINES])
    tail = "\n".join(line[-_PREVIEW_CHARACTERS:] for line in lines[_PREVIEW_LINES:][-_PREVIEW_LINES:])
    return (
        f"The result is too large to show: {len(text):,} characters in {counted(count_lines(text), 'line')}."
        f" All of it is in {path}: read it with read_file, using offset and limit, or look for words in it with"
        " search_files."
        f"\n\nIt begins:\n{head}\n\nIt ends:\n{tail}"
    )


def _cut(text: str, tokens: int) -> str:
    kept = text.encode(errors="replace")[: tokens * BYTES_PER_TOKEN].decode(errors="ignore")
    return f"{kept}\n\n[Cut here: the result has {len(text):,} characters, and only the first {len(kept):,} are shown.]"
