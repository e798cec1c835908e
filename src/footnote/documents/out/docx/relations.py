"""What the parts of the file refer to: links and pictures, each once."""

import re
from collections.abc import Iterable
from urllib.parse import quote, urlsplit

from footnote.documents.out.docx.markup import DECLARATION, clean, escape_attribute

_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_MAX_URL_CHARS = 2000
"""Word does not open a file that links further."""
_HOST = re.compile(r"[A-Za-z0-9._~-]+|[0-9A-Fa-f.]*+:[0-9A-Fa-f:.]*+")
_SAFE = "/?@!$&'()*+,;=:%-._~"
_HALF_ESCAPED = re.compile("%(?![0-9A-Fa-f]{2})")


class Relations:
    """Of one part: its notes have a list of their own."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str], str] = {}

    def id_of(self, kind: str, target: str) -> str:
        return self._ids.setdefault((kind, target), f"rId{len(self._ids) + 1}")

    def link_id(self, url: str) -> str | None:
        """None: it is no address that Word would take."""
        target = normalize_url(url)
        return None if target is None else self.id_of("hyperlink", target)

    def __bool__(self) -> bool:
        return bool(self._ids)

    def xml(self) -> str:
        return relationships_xml(
            (name, f"{_TYPES}/{kind}", target, kind == "hyperlink") for (kind, target), name in self._ids.items()
        )


def relationships_xml(entries: Iterable[tuple[str, str, str, bool]]) -> str:
    """Of name, kind, target, and whether it lies outside the file."""
    lines = (
        f'<Relationship Id="{name}" Type="{kind}" Target="{escape_attribute(target)}"'
        + (' TargetMode="External"/>' if outside else "/>")
        for name, kind, target, outside in entries
    )
    return f'{DECLARATION}<Relationships xmlns="{_PACKAGE}">{"".join(lines)}</Relationships>'


def normalize_url(url: str) -> str | None:
    """A URL as strictly as Word wants it: a single wrong character there, and the file counts as damaged."""
    try:
        parts = urlsplit(clean(url).strip())
        port = parts.port
        host = (parts.hostname or "").encode("idna" if "[" not in parts.netloc else "ascii").decode()
    except ValueError:
        return None
    if parts.scheme == "mailto":
        made = f"mailto:{_percent_encode(parts.path)}"
    elif parts.scheme in ("http", "https") and _HOST.fullmatch(host):
        place = f"[{host}]" if ":" in host else host
        made = f"{parts.scheme}://{place}{f':{port}' if port else ''}{_percent_encode(parts.path)}"
    else:
        return None
    made += (f"?{_percent_encode(parts.query)}" if parts.query else "") + (
        f"#{_percent_encode(parts.fragment)}" if parts.fragment else ""
    )
    return made if len(made) <= _MAX_URL_CHARS else None


def _percent_encode(text: str) -> str:
    return _HALF_ESCAPED.sub("%25", quote(text, safe=_SAFE))
