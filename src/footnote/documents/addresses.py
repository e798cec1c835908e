"""Which files of a workspace a text shows. This needs no parser, so that it can be asked before there is one."""

import posixpath
import re
import unicodedata
from urllib.parse import unquote

MAX_IMAGES = 200
"""Of one document."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|\\\\")
_ADDRESS = re.compile(
    r"\]\(\s{0,5}(?:<([^<>\n]{1,1000})>|([^\s()<>]{1,1000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200})?))"
    r"|^[ ]{0,3}\[[^\]\n]{1,200}\]:[ \t]*<?([^\s<>]{1,1000})",
    re.MULTILINE,
)
_IMAGE_SUFFIX = re.compile(r"\.(?:png|jpe?g|gif|webp|svg)$", re.IGNORECASE)


def image_paths(markdown: str) -> tuple[str, ...]:
    """The workspace paths of the pictures that a text shows, such as `/charts/one.png`: what `images` should hold."""
    names: dict[str, None] = {}
    for found in _ADDRESS.finditer(markdown):
        name = image_path(found[1] or found[2] or found[3])
        if name is not None and _IMAGE_SUFFIX.search(name):
            names[name] = None
            if len(names) == MAX_IMAGES:
                break
    return tuple(names)


def image_path(address: str) -> str | None:
    """The workspace path that a picture's address means, such as `/charts/one.png`; None for what lies elsewhere."""
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
