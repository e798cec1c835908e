"""The type and the size of an image by its header, and whether it may be shown.

The file name is ignored. Only headers are read, so that a small file that claims to be a huge image costs nothing.
"""

import posixpath
import re
import unicodedata
from typing import Literal, TypeAlias
from urllib.parse import unquote

from msgspec import Struct

from footnote.sandbox.jobs import ImageFacts, JobRefused

Kind: TypeAlias = Literal["png", "jpeg", "gif", "webp", "svg"]

MAX_BYTES = 20_000_000
MAX_PIXELS = 40_000_000
MAX_SVG_BYTES = 2_000_000
MAX_SVG_USES = 200
"""`use` elements may be nested: a few lines of them expand to billions of shapes."""

_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_ALONE = frozenset((0x01, *range(0xD0, 0xD9)))
_MAX_MARKERS = 10_000
"""Limit for the markers before the size of a JPEG, so that a file of nothing but markers is not read to its end."""
_MEDIA_TYPES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))
_ICON_HEADER = b"\0\0\1\0"
_SVG_ROOT = re.compile(r"<(?:\w+:)?svg\b[^>]*>", re.IGNORECASE)
_PLAIN_DOCTYPE = re.compile(r"<!DOCTYPE\s+svg\b[^\[\]<>]*>", re.IGNORECASE)
_REFERENCE = re.compile(r"\b(?:href|src)\s*=\s*[\"']\s*([^\"']*)", re.IGNORECASE)
_DRAWN_HERE = re.compile(r"#|data:image/(?:png|jpe?g|gif|webp)[;,]|$", re.IGNORECASE)
_LINK = re.compile(r"<(?:\w+:)?a\b[^>]*>", re.IGNORECASE)
_USE = re.compile(r"<(?:\w+:)?use\b", re.IGNORECASE)
_LENGTH = re.compile(r"\s*+(\d++(?:\.\d*+)?|\.\d++)\s*+(?:(px|pt|pc|mm|cm|in|em|ex)\s*+)?$")
_PIXELS = {"px": 1, "pt": 96 / 72, "pc": 16, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96, "em": 16, "ex": 8}
_SVG_SIZE = 300.0, 150.0
"""The size of an SVG that declares none, as in browsers."""


class ImageInfo(Struct, frozen=True):
    """In pixels; those of an SVG are at 96 to the inch."""

    kind: Kind
    width: int
    height: int


def inspect_image(content: bytes) -> ImageInfo | JobRefused:
    """The type and size of an image, or why it is not shown: half a sentence that goes on from `The picture NAME`."""
    info = raster_info(content) or (_svg(content) if b"<" in content[:4] else None)
    if info is None:
        return JobRefused("is neither PNG, JPEG, GIF, WebP nor SVG, or it is damaged")
    if isinstance(info, JobRefused):
        return info
    if len(content) > MAX_BYTES:
        return JobRefused(f"is larger than {MAX_BYTES // 1_000_000} MB")
    if info.width < 1 or info.height < 1:
        return JobRefused("is damaged: it has no size")
    if info.width * info.height > MAX_PIXELS:
        return JobRefused(f"has {info.width} by {info.height} pixels, more than can be shown")
    return info


def raster_info(content: bytes) -> ImageInfo | None:
    """None: it is not a raster image, or truncated before its size."""
    if content[:8] == b"\x89PNG\r\n\x1a\n" and content[12:16] == b"IHDR" and len(content) >= 24:
        return ImageInfo("png", int.from_bytes(content[16:20]), int.from_bytes(content[20:24]))
    if content[:6] in (b"GIF87a", b"GIF89a") and len(content) >= 10:
        return ImageInfo("gif", int.from_bytes(content[6:8], "little"), int.from_bytes(content[8:10], "little"))
    if content[:3] == b"\xff\xd8\xff":
        return _jpeg(content)
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP" and len(content) >= 30:
        return _webp(content)
    return None


def image_facts(content: bytes) -> ImageFacts:
    """The header of a raster image or icon."""
    if content.startswith(_ICON_HEADER) and len(content) >= 8:
        # In an icon, 0 means 256.
        return ImageFacts(media_type="image/x-icon", width=content[6] or 256, height=content[7] or 256, is_whole=True)
    info = raster_info(content)
    if info is None:
        return ImageFacts(media_type=image_media_type(content))
    return ImageFacts(
        media_type=f"image/{info.kind}", width=info.width, height=info.height, is_whole=_is_whole(content)
    )


def image_media_type(content: bytes) -> str | None:
    """The media type, if models and browsers can show it, by the first bytes."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _MEDIA_TYPES if content.startswith(start)), None)


def _is_whole(content: bytes) -> bool:
    """Whether the file is not truncated, as far as the format shows it without decoding; GIF does not."""
    if content.startswith(b"\x89PNG"):
        return b"IEND" in content
    if content.startswith(b"\xff\xd8"):
        return b"\xff\xd9" in content
    return content[:4] != b"RIFF" or len(content) >= 8 + int.from_bytes(content[4:8], "little")


def _jpeg(content: bytes) -> ImageInfo | None:
    at = 2
    for _ in range(_MAX_MARKERS):
        if at + 9 > len(content) or content[at] != 0xFF:
            return None
        marker = content[at + 1]
        if marker == 0xFF:
            at += 1
        elif marker in _START_OF_FRAME:
            return ImageInfo("jpeg", int.from_bytes(content[at + 7 : at + 9]), int.from_bytes(content[at + 5 : at + 7]))
        else:
            at += 2 if marker in _ALONE else 2 + max(2, int.from_bytes(content[at + 2 : at + 4]))
    return None


def _webp(content: bytes) -> ImageInfo | None:
    form, data = content[12:16], content[20:30]
    if form == b"VP8X":
        return ImageInfo("webp", int.from_bytes(data[4:7], "little") + 1, int.from_bytes(data[7:10], "little") + 1)
    if form == b"VP8L" and data[0] == 0x2F:
        bits = int.from_bytes(data[1:5], "little")
        return ImageInfo("webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if form == b"VP8 " and data[3:6] == b"\x9d\x01\x2a":
        width, height = int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
        return ImageInfo("webp", width & 0x3FFF, height & 0x3FFF)
    return None


def _svg(content: bytes) -> ImageInfo | JobRefused | None:
    if len(content) > MAX_SVG_BYTES:
        return JobRefused(f"is an SVG of more than {MAX_SVG_BYTES // 1_000_000} MB")
    try:
        # In another encoding, the checks below would miss what an XML parser sees.
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    root = _SVG_ROOT.search(text)
    if root is None:
        return None
    refusal = _svg_refusal(text)
    if refusal:
        return JobRefused(refusal)
    width, height = _svg_size(root[0])
    return ImageInfo("svg", round(max(width, 1)), round(max(height, 1)))


def _svg_refusal(text: str) -> str | None:
    # Most drawing programs write a document type without definitions.
    rest = _PLAIN_DOCTYPE.sub("", text, count=1).lower()
    if "<!doctype" in rest or "<!entity" in rest:
        return "is an SVG that defines entities"
    if any(not _DRAWN_HERE.match(target) for target in _REFERENCE.findall(_LINK.sub("", text))):
        return "is an SVG that refers to other files"
    if len(_USE.findall(text)) > MAX_SVG_USES:
        return f"is an SVG with more than {MAX_SVG_USES} repeated parts"
    return None


def _svg_size(root: str) -> tuple[float, float]:
    attributes = dict(re.findall(r"\b(width|height|viewBox)\s*=\s*[\"']([^\"']*)", root))
    box = re.findall(r"-?[\d.]+", attributes.get("viewBox", ""))
    natural = _SVG_SIZE
    if len(box) == 4:
        numbers = [_parse_float(part) for part in box[2:]]
        natural = (numbers[0] or _SVG_SIZE[0], numbers[1] or _SVG_SIZE[1])
    width, height = (_pixels(attributes.get(name, "")) for name in ("width", "height"))
    if width and height:
        return width, height
    if width:
        return width, width * natural[1] / natural[0]
    if height:
        return height * natural[0] / natural[1], height
    return natural


def _pixels(length: str) -> float | None:
    found = _LENGTH.match(length)
    return float(found[1]) * _PIXELS[found[2] or "px"] if found else None


def _parse_float(digits: str) -> float | None:
    try:
        return float(digits)
    except ValueError:
        return None


MAX_IMAGES = 200
"""Limit for one document."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|\\\\")
_ADDRESS = re.compile(
    r"\]\(\s{0,5}(?:<([^<>\n]{1,1000})>|([^\s()<>]{1,1000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200})?))"
    r"|^[ ]{0,3}\[[^\]\n]{1,200}\]:[ \t]*<?([^\s<>]{1,1000})",
    re.MULTILINE,
)
_IMAGE_SUFFIX = re.compile(r"\.(?:png|jpe?g|gif|webp|svg)$", re.IGNORECASE)


def image_paths(markdown: str) -> tuple[str, ...]:
    """The workspace paths of the pictures that a text shows, such as `/charts/one.png`: the keys for
    `ConvertDocument.images`."""
    names: dict[str, None] = {}
    for found in _ADDRESS.finditer(markdown):
        name = image_path(found[1] or found[2] or found[3])
        if name is not None and _IMAGE_SUFFIX.search(name):
            names[name] = None
            if len(names) == MAX_IMAGES:
                break
    return tuple(names)


def image_path(address: str) -> str | None:
    """The workspace path for the address of a picture, such as `/charts/one.png`; None: it is not in the workspace."""
    name = unicodedata.normalize("NFC", unquote(address.strip()))
    if not name or _SCHEME.match(name) or "\0" in name or name.startswith("#"):
        return None
    parts: list[str] = []
    for part in name.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return posixpath.join("/", *parts) if parts else None
