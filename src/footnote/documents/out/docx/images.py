"""The pictures of a document: each kept once, whatever number of times it is shown."""

import hashlib
from collections.abc import Mapping

from msgspec import Struct

from footnote.documents.images import ImageInfo, Kind, inspect_image
from footnote.sandbox.jobs import JobRefused

try:
    from footnote.documents.out.docx.drawing import rasterize
except ImportError:
    # What Word does not draw by itself is then shown as its description.
    rasterize = None

EMU_PER_PIXEL = 9525
"""English metric units, 914,400 to the inch."""

TWIPS_PER_PIXEL = 15
"""In twips, which are twentieths of a point: there are 96 pixels to the inch."""

_WORD_DRAWS = frozenset(("png", "jpeg", "gif"))
_MAX_RASTER_SIZE = 640, 900
"""Pixels: the text of a page, roughly. Nothing is drawn larger than it is shown."""


class EmbeddedImage(Struct, frozen=True):
    """A picture of the file: where it is kept there, and its size in pixels."""

    target: str
    width: int
    height: int


class Media:
    def __init__(self, images: Mapping[str, bytes]) -> None:
        self._images = images
        self._cache: dict[str, EmbeddedImage | JobRefused] = {}
        self._targets: dict[bytes, str] = {}
        self.files: dict[str, bytes] = {}

    def image(self, name: str) -> EmbeddedImage | JobRefused:
        """A picture by its name, or why it is not there: half a sentence that goes on from `The picture NAME`."""
        found = self._cache.get(name)
        if found is None:
            found = self._cache[name] = self._load_image(name)
        return found

    def _load_image(self, name: str) -> EmbeddedImage | JobRefused:
        content = self._images.get(name)
        if content is None:
            return JobRefused("is not among the files of the workspace")
        seen = inspect_image(content)
        if isinstance(seen, JobRefused):
            return seen
        if seen.kind in _WORD_DRAWS:
            return EmbeddedImage(self._store(content, seen.kind), seen.width, seen.height)
        width, height = fit_size(seen, *_MAX_RASTER_SIZE)
        made = rasterize(content, seen.kind, width, height) if rasterize else None
        if made is None:
            return JobRefused("could not be drawn")
        return EmbeddedImage(self._store(made, "png"), width, height)

    def _store(self, content: bytes, kind: Kind) -> str:
        digest = hashlib.sha256(content).digest()
        target = self._targets.get(digest)
        if target is None:
            target = self._targets[digest] = f"media/picture{len(self._targets) + 1}.{kind}"
            self.files[target] = content
        return target


def fit_size(size: ImageInfo | EmbeddedImage, width: int, height: int) -> tuple[int, int]:
    """Pixels that keep the proportions of a picture and are no more than these."""
    scale = min(1.0, width / size.width, height / size.height)
    return max(1, round(size.width * scale)), max(1, round(size.height * scale))
