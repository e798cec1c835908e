"""Images of a workspace as a model can look at them."""

from footnote.documents.images import image_facts
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import Image
from footnote.workspace.files import NotText, Workspace

MAX_BYTES = 3_750_000
"""As base64 it is what providers take of one image."""
MAX_SIDE_PIXELS = 8_000
"""In pixels; a provider refuses the whole request for one image that is larger."""
_KINDS = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))


def is_image(record: FileRecord) -> bool:
    """Whether it is worth a try; a drawing in SVG is a text."""
    return record.icon_type == "image" and not record.filename.lower().endswith(".svg")


async def load_image(workspace: Workspace, record: FileRecord) -> Image:
    """`NotText`: no model can look at it, and why."""
    if (size := await workspace.size(record.path)) > MAX_BYTES:
        raise NotText(f"{record.filename} has {size:,} bytes, and models look at images of up to {MAX_BYTES:,}.")
    data = await workspace.read(record.path)
    # Only the header is read, by a few lines of Python that cost the same for every image: no process of its own.
    facts = image_facts(data)
    if facts.media_type not in _KINDS:
        raise NotText(f"{record.filename} is not an image that models can look at; PNG, JPEG, GIF and WebP are.")
    if not (facts.width and facts.height and facts.is_whole):
        raise NotText(f"{record.filename} is damaged: a part of the image is missing, so no model can look at it.")
    if max(facts.width, facts.height) > MAX_SIDE_PIXELS:
        size = f"{facts.width:,} by {facts.height:,} pixels"
        raise NotText(
            f"{record.filename} has {size}, and models look at images of up to {MAX_SIDE_PIXELS:,} on a side."
        )
    return Image(facts.media_type, data)
