"""Images of a workspace as a model can look at them."""

from footnote.documents.pictures import raster
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import Image
from footnote.workspace.files import NotText, Workspace

MOST_BYTES = 3_750_000
"""As base64 it is what providers take of one image."""
LONGEST_SIDE = 8_000
"""In pixels; a provider refuses the whole request for one image that is larger."""
_KINDS = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))


def is_picture(record: FileRecord) -> bool:
    """Whether it is worth a try; a drawing in SVG is a text."""
    return record.icon_type == "image" and not record.filename.lower().endswith(".svg")


async def picture_of(workspace: Workspace, record: FileRecord) -> Image:
    """`NotText`: no model can look at it, and why."""
    if (size := await workspace.size(record.path)) > MOST_BYTES:
        raise NotText(f"{record.filename} has {size:,} bytes, and models look at images of up to {MOST_BYTES:,}.")
    data = await workspace.read(record.path)
    kind = _kind(data)
    if kind is None:
        raise NotText(f"{record.filename} is not an image that models can look at; PNG, JPEG, GIF and WebP are.")
    seen = raster(data)
    if seen is None or not (seen.width and seen.height and _is_whole(data)):
        raise NotText(f"{record.filename} is damaged: a part of the image is missing, so no model can look at it.")
    if max(seen.width, seen.height) > LONGEST_SIDE:
        size = f"{seen.width:,} by {seen.height:,} pixels"
        raise NotText(f"{record.filename} has {size}, and models look at images of up to {LONGEST_SIDE:,} on a side.")
    return Image(kind, data)


def _kind(data: bytes) -> str | None:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _KINDS if data.startswith(start)), None)


def _is_whole(data: bytes) -> bool:
    """Whether the end is there, as far as the format tells without decoding it; a GIF does not tell."""
    if data.startswith(b"\x89PNG"):
        return b"IEND" in data
    if data.startswith(b"\xff\xd8"):
        return b"\xff\xd9" in data
    return data[:4] != b"RIFF" or len(data) >= 8 + int.from_bytes(data[4:8], "little")
