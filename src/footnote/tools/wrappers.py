"""What every tool gets without asking for it: small wrappers, each a tool around a tool.

`standard` puts them together. From the inside out: a transient failure is tried again, all attempts share one
time limit, the output is cut to size, and whatever still goes wrong becomes a result that the model can read. For
the approval of a call see `approval`: it is asked for before any of this starts.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import msgspec

from footnote.models.wire import replace_surrogates
from footnote.protocol.errors import FootnoteError, ToolFailed, TransientFailure
from footnote.protocol.tools import Progress, ToolResult, failed
from footnote.tools.base import Outcome, Tool, ToolContext
from footnote.tools.images import store_images
from footnote.tools.large_results import Spill, shorten_result, spill_to_workspace
from footnote.workspace.files import Workspace

log = logging.getLogger(__name__)

MAX_RETRIES = 2
INITIAL_BACKOFF = 0.5
MAX_OUTPUT_TOKENS = 20_000
TRANSIENT = (TransientFailure, ConnectionError, TimeoutError, asyncio.IncompleteReadError)


def wrap_tool(
    tool: Tool,
    *,
    output_tokens: int = MAX_OUTPUT_TOKENS,
    spill: Spill = spill_to_workspace,
    files: Workspace | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Tool:
    """The tool as the loop runs it: it ends with exactly one result and raises nothing but cancellation.

    `files`: where the images of its results are kept, whether the tools of the run may use it or not.
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

    return replace(tool, run=run)


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

    return replace(tool, run=run)


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

    return replace(tool, run=run)


def with_stored_images(tool: Tool, files: Workspace | None) -> Tool:
    """Keeps the images of a result for the person who asked."""

    async def run(params: Any, context: ToolContext) -> AsyncIterator[Outcome]:
        async with _steps(tool, params, context) as steps:
            async for outcome in steps:
                yield await store_images(outcome, files, context) if isinstance(outcome, ToolResult) else outcome

    return replace(tool, run=run)


def with_readable_errors(tool: Tool) -> Tool:
    """Makes exactly one result of whatever happens. Messages of our own errors are written to be read; of any
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
        yield failed(problem)

    return replace(tool, run=run)


def _ensure_encodable(result: ToolResult) -> ToolResult:
    """The result as it can travel: without half characters. What is not JSON at all raises, and is an error."""
    try:
        msgspec.json.encode(result)
    except UnicodeEncodeError:
        return msgspec.convert(replace_surrogates(msgspec.to_builtins(result)), ToolResult)
    return result


@asynccontextmanager
async def _steps(tool: Tool, params: Any, context: ToolContext) -> AsyncGenerator[AsyncIterator[Outcome]]:
    """The steps of a call, closed at the end: a generator that is left half-way must not wait for the collector."""
    steps = tool.run(params, context)
    try:
        yield steps
    finally:
        if close := getattr(steps, "aclose", None):
            await close()
