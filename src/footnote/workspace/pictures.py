"""Images of a workspace as a model can look at them."""

from footnote.protocol.files import FileRecord
from footnote.protocol.messages import Image
from footnote.workspace.files import NotText, Workspace

MOST_BYTES = 3_750_000
"""As base64 it is what providers take of one image."""
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
    return Image(kind, data)


def _kind(data: bytes) -> str | None:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _KINDS if data.startswith(start)), None)
