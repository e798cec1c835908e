"""The type and size of an image, by its first bytes."""

import pytest

from documents.samples import JPEG, SVG, png
from footnote.documents.images import ImageInfo, image_facts, inspect_image, raster_info
from footnote.sandbox.jobs import ImageFacts, JobRefused

XMLNS = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
GIF = b"GIF89a" + (300).to_bytes(2, "little") + (7).to_bytes(2, "little") + b"\0" * 10
WEBP = {
    "VP8X": b"VP8X\x0a\0\0\0" + b"\0" * 4 + (299).to_bytes(3, "little") + (6).to_bytes(3, "little"),
    "VP8L": b"VP8L\x0a\0\0\0\x2f" + (299 | 6 << 14).to_bytes(4, "little") + b"\0" * 5,
    "VP8": b"VP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a" + (300).to_bytes(2, "little") + (7).to_bytes(2, "little"),
}


def svg(content: str = "", root: str = "") -> bytes:
    return f"<svg {XMLNS} {root}>{content}</svg>".encode()


@pytest.mark.parametrize(
    ("content", "info"),
    [
        (png(300, 7), ImageInfo("png", 300, 7)),
        (JPEG, ImageInfo("jpeg", 8, 8)),
        (
            b"\xff\xd8\xff\xe1\x00\x04ab\xff\xff\xc2\x00\x11\x08\x00\x07\x01\x2c\x03" + b"\0" * 9,
            ImageInfo("jpeg", 300, 7),
        ),
        (GIF, ImageInfo("gif", 300, 7)),
        *((b"RIFF\0\0\0\0WEBP" + form, ImageInfo("webp", 300, 7)) for form in WEBP.values()),
        (SVG, ImageInfo("svg", 320, 120)),
    ],
)
def test_kind_and_size_are_read_from_the_beginning(content: bytes, info: ImageInfo) -> None:
    assert inspect_image(content) == info


@pytest.mark.parametrize(
    ("root", "width", "height"),
    [
        ('width="10" height="20"', 10, 20),
        ('width="1in" height="2.54cm"', 96, 96),
        ('width="100%" viewBox="0 0 30 40"', 30, 40),
        ('width="60" viewBox="0 0 30 40"', 60, 80),
        ('height="60" viewBox="0,0,30,40"', 45, 60),
        ("", 300, 150),
        ('viewBox="0 0 0 0"', 300, 150),
        ('width="abc" viewBox="a b c"', 300, 150),
    ],
)
def test_an_svg_has_the_size_that_it_says_or_that_of_its_box(root: str, width: int, height: int) -> None:
    assert inspect_image(svg(root=root)) == ImageInfo("svg", width, height)


@pytest.mark.parametrize(
    "drawn",
    [
        '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">',
        "<?xml version='1.0'?>\n<!-- drawn by hand -->\n",
        "\ufeff",
    ],
)
def test_what_drawing_programs_write_before_an_svg_is_harmless(drawn: str) -> None:
    content = drawn.encode() + svg(
        '<a xlink:href="https://example.org/"><use href="#b"/></a><image href="data:image/png;base64,x"/>'
    )
    assert inspect_image(content) == ImageInfo("svg", 300, 150)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is neither PNG, JPEG, GIF, WebP nor SVG, or it is damaged"),
        (b"root:x:0:0:root:/root:/bin/bash\n", "is neither PNG, JPEG, GIF, WebP nor SVG, or it is damaged"),
        (b"<html><p>text</p></html>", "is neither PNG, JPEG, GIF, WebP nor SVG, or it is damaged"),
        (svg().decode().encode("utf-16"), "is neither PNG, JPEG, GIF, WebP nor SVG, or it is damaged"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "is neither PNG, JPEG, GIF, WebP nor SVG, or it is damaged"),
        (b"\xff\xd8\xff\xd9" * 9, "is neither PNG, JPEG, GIF, WebP nor SVG, or it is damaged"),
        (png(1, 1)[:16] + b"\0" * 8 + b"x" * 20, "is damaged: it has no size"),
        (png(1, 1)[:16] + (30_000).to_bytes(4) * 2, "has 30000 by 30000 pixels, more than can be shown"),
        (png(1, 1) + b"\0" * 20_000_000, "is larger than 20 MB"),
        (svg("a" * 2_000_000), "is an SVG of more than 2 MB"),
        (b"<!DOCTYPE svg [<!ENTITY a 'b'>]>" + svg("&a;"), "is an SVG that defines entities"),
        (b"<!DOCTYPE svg [<!ENTITY % a SYSTEM 'file:///etc/passwd'> %a;]>" + svg(), "is an SVG that defines entities"),
        (b"<!DOCTYPE svg><!DOCTYPE svg>" + svg(), "is an SVG that defines entities"),
        (svg('<image href="file:///etc/passwd"/>'), "is an SVG that refers to other files"),
        (svg('<image xlink:href="http://127.0.0.1/x.png"/>'), "is an SVG that refers to other files"),
        (svg("<image href = ' /x.png'/>"), "is an SVG that refers to other files"),
        (svg('<image href="data:image/svg+xml;base64,x"/>'), "is an SVG that refers to other files"),
        (svg('<use href="#a"/>' * 201), "is an SVG with more than 200 repeated parts"),
        (svg(root='width="100000" height="100000"'), "has 100000 by 100000 pixels, more than can be shown"),
    ],
)
def test_what_must_not_be_shown_is_refused_with_its_reason(content: bytes, reason: str) -> None:
    assert inspect_image(content) == JobRefused(reason)


def test_a_jpeg_of_nothing_but_markers_is_not_read_to_its_end():
    size = b"\xff\xc0\x00\x11\x08\x00\x07\x00\x1e" + bytes(8)
    assert raster_info(b"\xff\xd8" + b"\xff" * 100 + size) == ImageInfo("jpeg", 30, 7)
    assert raster_info(b"\xff\xd8" + b"\xff" * 100_000 + size) is None


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        (b"\0\0\1\0\1\0\x20\0", ImageFacts(media_type="image/x-icon", width=32, height=256, is_whole=True)),
        (b"\x89PNG\r\n\x1a\n", ImageFacts(media_type="image/png")),
        (b"<svg/>", ImageFacts(media_type=None)),
    ],
)
def test_the_facts_of_an_image_are_what_its_header_says(content: bytes, facts: ImageFacts):
    assert image_facts(content) == facts
