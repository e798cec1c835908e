"""What a server answers to a call, as a result of ours."""

from base64 import b64decode
from binascii import Error as BadBase64

import msgspec
from mcp import types

from footnote.protocol.messages import Image, Part, Text
from footnote.protocol.tools import Progress, ToolResult

_SEEN_BY_MODELS = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def result_of(answer: types.CallToolResult) -> ToolResult:
    """Text and images for the model; structured content is the artifact, and the text if there is no other."""
    parts = tuple(_part(block) for block in answer.content)
    structured = answer.structured_content
    if not parts and structured is not None:
        parts = (Text(msgspec.json.encode(structured).decode()),)
    return ToolResult(
        content=parts or (Text("The tool answered with nothing."),),
        is_error=answer.is_error,
        artifact=None if structured is None else {"structured_content": structured},
    )


def progress_of(progress: float, total: float | None, message: str | None) -> Progress:
    """Steps where the server counts steps, hundredths where it measures a part of a whole."""
    label = message or ""
    if total is None:
        return Progress("working", int(progress), None, label)
    if progress == int(progress) and total == int(total) and total > 1:
        return Progress("working", int(progress), int(total), label)
    return Progress("working", round(100 * progress / total) if total > 0 else 0, 100, label)


def _part(block: types.ContentBlock) -> Part:
    match block:
        case types.TextContent():
            return Text(block.text)
        case types.ImageContent():
            return _image(block.data, block.mime_type)
        case types.AudioContent():
            return Text(f"[audio of type {block.mime_type}, which cannot be shown here]")
        case types.ResourceLink():
            return Text(f"[resource {block.title or block.name}: {block.uri}] {block.description or ''}".rstrip())
        case types.EmbeddedResource():
            return _resource(block.resource)


def _resource(resource: types.TextResourceContents | types.BlobResourceContents) -> Part:
    if isinstance(resource, types.TextResourceContents):
        return Text(f"[resource {resource.uri}]\n{resource.text}")
    return _image(resource.blob, resource.mime_type or "application/octet-stream")


def _image(data: str, media_type: str) -> Part:
    try:
        content = b64decode(data, validate=True)
    except BadBase64:
        return Text(f"[content of type {media_type}, which is not valid base64]")
    if media_type in _SEEN_BY_MODELS:
        return Image(media_type, content)
    return Text(f"[content of type {media_type}, {len(content):,} bytes, which cannot be shown here]")
