"""Images that a tool returns: checked by their first bytes, kept as files of the session, and named in the result, so
that a person sees them too, also after a reload."""

import logging

from msgspec.structs import replace

from footnote.documents.images import inspect_image
from footnote.protocol.errors import FootnoteError
from footnote.protocol.files import ToolImage
from footnote.protocol.messages import Image, Part, Text
from footnote.protocol.tools import ToolResult
from footnote.sandbox.jobs import JobRefused
from footnote.tools.base import ToolContext
from footnote.tools.large_results import result_path
from footnote.workspace.files import Workspace
from footnote.workspace.images import MAX_BYTES, MAX_SIDE_PIXELS

MAX_IMAGES = 8
"""Images of one result. A tool that returns a film frame by frame would fill the storage and the model's window."""

log = logging.getLogger(__name__)


async def store_images(result: ToolResult, workspace: Workspace | None, context: ToolContext) -> ToolResult:
    """The result with its images in the workspace. What is no image is left out, for the model too; one that is too
    large for a model is kept for the person."""
    if result.images or not any(isinstance(part, Image) for part in result.content):
        return result
    content: list[Part] = []
    kept: list[ToolImage] = []
    found = 0
    for part in result.content:
        if not isinstance(part, Image):
            content.append(part)
            continue
        found += 1
        shown, image = await _check_image(part, found, workspace, context)
        content.append(shown)
        kept += [image] if image is not None else []
    return replace(result, content=tuple(content), images=tuple(kept))


async def _check_image(
    image: Image, number: int, workspace: Workspace | None, context: ToolContext
) -> tuple[Part, ToolImage | None]:
    """What the model gets in the place of an image, and where the image is kept."""
    if number > MAX_IMAGES:
        return Text(f"[An image was left out: a result may have {MAX_IMAGES}.]"), None
    seen = inspect_image(image.data)
    if isinstance(seen, JobRefused):
        return Text(f"[An image was left out: it {seen.reason}.]"), None
    if seen.kind == "svg":
        return Text("[An image was left out: it is an SVG, which no model can look at.]"), None
    media_type = f"image/{seen.kind}"
    path = await _store_image(image.data, f"-{number}.{seen.kind}", workspace, context)
    kept = ToolImage(path, media_type, seen.width, seen.height) if path else None
    if len(image.data) > MAX_BYTES or max(seen.width, seen.height) > MAX_SIDE_PIXELS:
        said = "The user sees it; you cannot" if kept else "Nobody sees it"
        return Text(f"[An image is too large to be looked at by a model. {said}.]"), kept
    return Image(media_type, image.data), kept


async def _store_image(data: bytes, suffix: str, workspace: Workspace | None, context: ToolContext) -> str | None:
    """The path of the file; None: there is nowhere to keep it."""
    if workspace is None:
        return None
    try:
        path = await result_path(workspace, context, suffix)
        return (await workspace.write(path, data, message_id=context.message_id)).path
    except FootnoteError as error:  # a full disk must not cost the model the answer that it waited for
        log.warning("An image of a tool could not be kept: %s", error.message)
        return None
