"""Images that a model can see, and images that a provider would refuse."""

import pytest

from documents.samples import JPEG, png
from footnote.protocol.messages import Image
from footnote.workspace.files import MAX_IMAGE_BYTES, NotText, load_image
from workspace.in_memory import in_memory_workspace

PNG = png(30, 7)
GIF = b"GIF89a\x1e\0\7\0\0\0\0;"
WEBP = b"RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f\0\0\0\x10\x07\x10\x11\x11\x88\x88\xfe\x07\0"


def png_of_size(width: int, height: int) -> bytes:
    """A PNG that only claims this size."""
    return PNG[:16] + width.to_bytes(4) + height.to_bytes(4) + PNG[24:]


async def load_from_workspace(content: bytes, name: str = "chart.png") -> Image:
    workspace = in_memory_workspace()
    return await load_image(workspace, await workspace.write(f"/{name}", content, message_id="m1"))


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (PNG, "image/png"),
        (PNG + b"more", "image/png"),
        (png_of_size(8_000, 8_000), "image/png"),
        (JPEG, "image/jpeg"),
        (GIF, "image/gif"),
        (WEBP, "image/webp"),
    ],
)
async def test_a_whole_picture_is_shown_as_what_it_is_by_its_first_bytes(content: bytes, kind: str):
    assert await load_from_workspace(content) == Image(kind, content)


@pytest.mark.parametrize(
    "content",
    [
        PNG[:12],
        PNG[:40],
        PNG[:-12],
        JPEG[:20],
        JPEG[:-2],
        GIF[:8],
        WEBP[:20],
        WEBP[:-1],
        png_of_size(0, 7),
        png_of_size(30, 0),
    ],
)
async def test_a_picture_of_which_a_part_is_missing_is_not_shown(content: bytes):
    with pytest.raises(NotText, match=r"^chart\.png is damaged: a part of the image is missing"):
        await load_from_workspace(content)


@pytest.mark.parametrize(("width", "height"), [(8_001, 1), (1, 8_001), (2**31, 2**31)])
async def test_a_picture_with_a_side_that_no_provider_takes_is_not_shown(width: int, height: int):
    with pytest.raises(NotText) as raised:
        await load_from_workspace(png_of_size(width, height))

    assert str(raised.value) == (
        f"chart.png has {width:,} by {height:,} pixels, and models look at images of up to 8,000 on a side."
    )


@pytest.mark.parametrize("content", [b"", b"BM....", b"<svg/>"])
async def test_what_no_model_knows_is_not_shown(content: bytes):
    with pytest.raises(NotText, match="is not an image that models can look at"):
        await load_from_workspace(content)


async def test_a_picture_of_too_many_bytes_is_not_shown():
    with pytest.raises(NotText, match="has 3,750,001 bytes"):
        await load_from_workspace(PNG + b"\0" * (MAX_IMAGE_BYTES + 1 - len(PNG)))
