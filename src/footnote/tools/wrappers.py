"""The wrappers that every tool gets, each a tool around a tool.

`wrap_tool` combines them. From the inside out: a transient failure is tried again, all attempts share one time limit,
a long text and images become files of the session, and any other failure becomes a result that the model can
read. The approval of a call (`approval`) comes before all of this.
"""

import asyncio
import dataclasses
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from footnote.documents.images import inspect_image
from footnote.models.wire import replace_surrogates
from footnote.protocol.errors import FootnoteError, ToolFailed, TransientFailure
from footnote.protocol.files import ToolImage
from footnote.protocol.messages import Image, Part, Text
from footnote.protocol.tools import Progress, ToolResult, error_result
from footnote.sandbox.jobs import JobRefused
from footnote.tools.base import Outcome, Tool, ToolContext
from footnote.workspace.files import MAX_IMAGE_BYTES, MAX_IMAGE_SIDE, Workspace
from footnote.workspace.paths import LARGE_RESULTS
from footnote.workspace.text import MAX_ROW, count_lines, pluralize

log = logging.getLogger(__name__)

MAX_RETRIES = 2
INITIAL_BACKOFF = 0.5
MAX_OUTPUT_TOKENS = 20_000
TRANSIENT = (TransientFailure, ConnectionError, TimeoutError, asyncio.IncompleteReadError)
Spill: TypeAlias = Callable[[str, ToolContext], Awaitable[str | None]]
"""Stores a text and returns the path of its file; None: there is no place for it."""


async def spill_to_workspace(text: str, context: ToolContext) -> str | None:
    workspace = context.abilities.workspace
    if workspace is None:
        return None
    path = await result_path(workspace, context, ".txt")
    record = await workspace.write(path, text, message_id=context.message_id)
    return record.path


def wrap_tool(
    tool: Tool,
    *,
    output_tokens: int = MAX_OUTPUT_TOKENS,
    spill: Spill = spill_to_workspace,
    files: Workspace | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Tool:
    """The tool as the loop runs it: it ends with exactly one result and raises nothing but cancellation.

    `files`: the workspace for the images of its results, whether the tools of the run may use it or not.
    """
    tool = with_timeout(with_retry(tool, sleep=sleep))
    return with_readable_errors(with_stored_images(with_output_cap(tool, output_tokens, spill), files))


def with_timeout(tool: Tool) -> Tool:
    """Ends the call when `tool.timeout` seconds have passed since its start."""

    async def run(params: Any, context: ToolContext) -> AsyncIterator[Outcome]:
        deadline = asyncio.get_running_loop().time() + tool.timeout
        async with _steps(tool, params, context) as steps:
            while True:
                # One for each step: a time limit may not stay open over a yield.
                limit = asyncio.timeout_at(deadline)
                try:
                    async with limit:
                        outcome = await anext(steps, None)
                except TimeoutError:
                    if limit.expired():
                        raise ToolFailed(f"{tool.name} was stopped: it took longer than {tool.timeout:g} s.") from None
                    raise
                if outcome is None:
                    return
                yield outcome

    return dataclasses.replace(tool, run=run)


def with_retry(tool: Tool, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> Tool:
    """Tries an idempotent tool again, twice, after a failure that may pass."""
    if not tool.idempotent:
        return tool

    async def run(params: Any, context: ToolContext) -> AsyncIterator[Outcome]:
        for attempt in range(MAX_RETRIES):
            try:
                async with _steps(tool, params, context) as steps:
                    async for outcome in steps:
                        yield outcome
            except TRANSIENT as error:
                log.info("%s failed and is tried again.", tool.name, extra={"error": type(error).__name__})
            else:
                return
            yield Progress("retrying", attempt + 1, MAX_RETRIES)
            await sleep(INITIAL_BACKOFF * 2**attempt)
        async with _steps(tool, params, context) as steps:
            async for outcome in steps:
                yield outcome

    return dataclasses.replace(tool, run=run)


def with_output_cap(tool: Tool, tokens: int = MAX_OUTPUT_TOKENS, spill: Spill = spill_to_workspace) -> Tool:
    """Puts a text of more than `tokens` into a file and a preview in its place, unless the tool is `bounded`."""
    if tool.bounded:
        return tool

    async def run(params: Any, context: ToolContext) -> AsyncIterator[Outcome]:
        async with _steps(tool, params, context) as steps:
            async for outcome in steps:
                yield (
                    await shorten_result(outcome, tokens, spill, context)
                    if isinstance(outcome, ToolResult)
                    else outcome
                )

    return dataclasses.replace(tool, run=run)


def with_stored_images(tool: Tool, files: Workspace | None) -> Tool:
    """Stores the images of a result, for the user."""

    async def run(params: Any, context: ToolContext) -> AsyncIterator[Outcome]:
        async with _steps(tool, params, context) as steps:
            async for outcome in steps:
                yield await store_images(outcome, files, context) if isinstance(outcome, ToolResult) else outcome

    return dataclasses.replace(tool, run=run)


def with_readable_errors(tool: Tool) -> Tool:
    """Ends every call with exactly one result. Messages of our own errors are written to be read; of any
    other exception the model learns only that there was one, and the log gets the rest."""

    async def run(params: Any, context: ToolContext) -> AsyncIterator[Outcome]:
        problem = f"{tool.name} ended without a result."
        try:
            async with _steps(tool, params, context) as steps:
                async for outcome in steps:
                    if isinstance(outcome, ToolResult):
                        yield _ensure_encodable(outcome)
                        return
                    yield outcome
        except FootnoteError as error:
            problem = error.public_message
        except Exception:  # foreign code may raise anything, and the run must go on
            log.exception("The tool %s failed", tool.name)
            problem = f"{tool.name} failed because of an internal error. Go on without it, or try it another way."
        yield error_result(problem)

    return dataclasses.replace(tool, run=run)


def _ensure_encodable(result: ToolResult) -> ToolResult:
    """The result without lone surrogates, which cannot be encoded. One that is not JSON at all raises an error."""
    try:
        msgspec.json.encode(result)
    except UnicodeEncodeError:
        return msgspec.convert(replace_surrogates(msgspec.to_builtins(result)), ToolResult)
    return result


@asynccontextmanager
async def _steps(tool: Tool, params: Any, context: ToolContext) -> AsyncGenerator[AsyncIterator[Outcome]]:
    """The steps of a call, closed at the end: an unfinished generator must not wait for the garbage collector."""
    steps = tool.run(params, context)
    try:
        yield steps
    finally:
        if close := getattr(steps, "aclose", None):
            await close()


# Long texts ----------------------------------------------------------------------------------------------------------

BYTES_PER_TOKEN = 4
"""A rule of thumb: in UTF-8 it holds for English and, roughly, for Vietnamese and Chinese too."""

_PREVIEW_LINES = 5
_PREVIEW_CHARACTERS = 1000
_MAX_JSON_LENGTH = 2_000_000
_MAX_JSON_DEPTH = 20
# An unclosed string extends to the end of the text; otherwise its end would be searched for again and again.
_JSON_PARTS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)


async def result_path(workspace: Workspace, context: ToolContext, suffix: str) -> str:
    """The path of a file for a part of a call's result that does not fit into the result itself."""
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
    formatted = _reformat_json(text)
    path = await _try_spill(formatted, spill, context)
    short = _preview(formatted, path, is_changed=formatted is not text) if path else _truncate(text, tokens)
    images = (part for part in result.content if isinstance(part, Image))
    return replace(result, content=(Text(short), *images))


async def _try_spill(text: str, spill: Spill, context: ToolContext) -> str | None:
    try:
        return await spill(text, context)
    except Exception:  # a full disk or a lost database must not cost the model the result
        log.exception("A large tool result could not be kept")
        return None


def _reformat_json(text: str) -> str:
    """JSON of one long line in many lines, because files are read and searched by lines."""
    has_long_line = len(text) <= _MAX_JSON_LENGTH and any(len(line) > MAX_ROW for line in text.split("\n"))
    if not has_long_line or not text.lstrip().startswith(("{", "[")) or _depth(text) > _MAX_JSON_DEPTH:
        return text
    try:
        return msgspec.json.format(text, indent=2)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return text


def _depth(text: str) -> int:
    """The nesting depth of JSON. Indentation would make deeply nested JSON many times larger."""
    depth = max_depth = 0
    for part in _JSON_PARTS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(part.group(), 0)
        max_depth = max(depth, max_depth)
    return max_depth


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
    start = text.encode(errors="replace")[: tokens * BYTES_PER_TOKEN].decode(errors="ignore")
    note = f"the result has {len(text):,} characters, and only the first {len(start):,} are shown."
    return f"{start}\n\n[Cut here: {note}]"


# Images --------------------------------------------------------------------------------------------------------------

MAX_IMAGES = 8
"""Limit for one result: a tool that returns a film frame by frame would fill the storage and the model's window."""


async def store_images(result: ToolResult, workspace: Workspace | None, context: ToolContext) -> ToolResult:
    """The result with its images in the workspace. Data that is not an image is left out, for the model too; an image
    that is too large for a model is stored for the user."""
    if result.images or not any(isinstance(part, Image) for part in result.content):
        return result
    content: list[Part] = []
    stored: list[ToolImage] = []
    count = 0
    for part in result.content:
        if not isinstance(part, Image):
            content.append(part)
            continue
        count += 1
        replacement, image = await _check_image(part, count, workspace, context)
        content.append(replacement)
        stored += [image] if image is not None else []
    return replace(result, content=tuple(content), images=tuple(stored))


async def _check_image(
    image: Image, number: int, workspace: Workspace | None, context: ToolContext
) -> tuple[Part, ToolImage | None]:
    """What the model gets in the place of an image, and the stored image."""
    if number > MAX_IMAGES:
        return Text(f"[An image was left out: a result may have {MAX_IMAGES}.]"), None
    info = inspect_image(image.data)
    if isinstance(info, JobRefused):
        return Text(f"[An image was left out: it {info.reason}.]"), None
    if info.kind == "svg":
        return Text("[An image was left out: it is an SVG, which no model can look at.]"), None
    media_type = f"image/{info.kind}"
    path = await _store_image(image.data, f"-{number}.{info.kind}", workspace, context)
    stored = ToolImage(path, media_type, info.width, info.height) if path else None
    if len(image.data) > MAX_IMAGE_BYTES or max(info.width, info.height) > MAX_IMAGE_SIDE:
        note = "The user sees it; you cannot" if stored else "Nobody sees it"
        return Text(f"[An image is too large to be looked at by a model. {note}.]"), stored
    return Image(media_type, image.data), stored


async def _store_image(data: bytes, suffix: str, workspace: Workspace | None, context: ToolContext) -> str | None:
    """The path of the file; None: there is no place for it."""
    if workspace is None:
        return None
    try:
        path = await result_path(workspace, context, suffix)
        return (await workspace.write(path, data, message_id=context.message_id)).path
    except FootnoteError as error:  # a full disk must not cost the model the result
        log.warning("An image of a tool could not be kept: %s", error.message)
        return None
