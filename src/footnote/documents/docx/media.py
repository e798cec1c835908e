"""The pictures of a document: each kept once, whatever number of times it is shown."""

import hashlib
from collections.abc import Mapping

from msgspec import Struct

from footnote.documents.pictures import Kind, Seen, look_at
from footnote.sandbox.jobs import Refused

try:
    from footnote.documents.docx.drawing import drawn
except ImportError:
    # What Word does not draw by itself is then shown as its description.
    drawn = None

EMU_PER_PIXEL = 9525
"""English metric units, 914,400 to the inch."""

PIXEL = 15
"""In twips, which are twentieths of a point: there are 96 pixels to the inch."""

_WORD_DRAWS = frozenset(("png", "jpeg", "gif"))
_LARGEST_DRAWN = 640, 900
"""Pixels: the text of a page, roughly. Nothing is drawn larger than it is shown."""


class Shown(Struct, frozen=True):
    """A picture of the file: where it is kept there, and its size in pixels."""

    target: str
    width: int
    height: int


class Media:
    def __init__(self, images: Mapping[str, bytes]) -> None:
        self._images = images
        self._shown: dict[str, Shown | Refused] = {}
        self._targets: dict[bytes, str] = {}
        self.files: dict[str, bytes] = {}

    def shown(self, name: str) -> Shown | Refused:
        """A picture by its name, or why it is not there: half a sentence that goes on from `The picture NAME`."""
        found = self._shown.get(name)
        if found is None:
            found = self._shown[name] = self._show(name)
        return found

    def _show(self, name: str) -> Shown | Refused:
        content = self._images.get(name)
        if content is None:
            return Refused("is not among the files of the workspace")
        seen = look_at(content)
        if isinstance(seen, Refused):
            return seen
        if seen.kind in _WORD_DRAWS:
            return Shown(self._kept(content, seen.kind), seen.width, seen.height)
        width, height = fitted(seen, *_LARGEST_DRAWN)
        made = drawn(content, seen.kind, width, height) if drawn else None
        if made is None:
            return Refused("could not be drawn")
        return Shown(self._kept(made, "png"), width, height)

    def _kept(self, content: bytes, kind: Kind) -> str:
        digest = hashlib.sha256(content).digest()
        target = self._targets.get(digest)
        if target is None:
            target = self._targets[digest] = f"media/picture{len(self._targets) + 1}.{kind}"
            self.files[target] = content
        return target


def fitted(size: Seen | Shown, width: int, height: int) -> tuple[int, int]:
    """Pixels that keep the proportions of a picture and are no more than these."""
    scale = min(1.0, width / size.width, height / size.height)
    return max(1, round(size.width * scale)), max(1, round(size.height * scale))
