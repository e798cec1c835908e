"""Documents that are zip files inside: their parts, and what the parts say about each other."""

import io
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from msgspec import Struct

from footnote.documents.office.xml import ENTITIES_REASON, NotReadable, iter_elements

MAX_UNPACKED_BYTES = 200_000_000
"""Of all parts that are read, unpacked. What the zip file says about their sizes is not asked."""
_MAX_PARTS = 10_000
_CHUNK_BYTES = 1 << 17
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    ValueError,
    struct.error,
    RuntimeError,
    OSError,
)
_SCHEMES = ("http://", "https://", "mailto:")


class Relation(Struct, frozen=True):
    """`kind` is the last word of what it is called; `target` a part of the same document, or where a link leads."""

    kind: str
    target: str
    is_external: bool


class DocumentMetadata(Struct, frozen=True):
    """What a document says about itself."""

    title: str = ""
    author: str | None = None
    published: str | None = None


class Package:
    def __init__(self, content: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except _ZIP_ERRORS as error:
            raise NotReadable("is damaged") from error
        if len(self._zip.namelist()) > _MAX_PARTS:
            raise NotReadable("holds too many parts", is_hostile=True)
        self._remaining_bytes = MAX_UNPACKED_BYTES
        self.names = frozenset(self._zip.namelist())

    def read_chunks(self, name: str) -> Iterator[bytes]:
        """A part, unpacked; nothing, if there is no such part."""
        if name not in self.names:
            return
        try:
            with self._zip.open(name) as part:
                while piece := part.read(_CHUNK_BYTES):
                    self._remaining_bytes -= len(piece)
                    if self._remaining_bytes < 0:
                        raise NotReadable(f"unpacks to more than {MAX_UNPACKED_BYTES // 1_000_000} MB", is_hostile=True)
                    yield piece
        except _ZIP_ERRORS as error:
            raise NotReadable("is damaged") from error

    def relations(self, name: str) -> Mapping[str, Relation]:
        """What a part refers to, by the names that it uses for it."""
        folder, _, file = name.rpartition("/")
        found: dict[str, Relation] = {}
        for node in iter_elements(self.read_chunks(f"{folder}/_rels/{file}.rels".lstrip("/")), ("Relationships",)):
            said = node.attributes
            outside = said.get("TargetMode") == "External"
            target = said.get("Target", "")
            if not outside:
                target = posixpath.normpath(posixpath.join("/", folder, unquote(target))).lstrip("/")
            found[said.get("Id", "")] = Relation(said.get("Type", "").rpartition("/")[2], target, outside)
        return found

    def reject_doctypes(self) -> None:
        """For libraries that read the parts in their own way."""
        for name in self.names:
            if name.endswith((".xml", ".rels")) and b"<!DOCTYPE" in next(self.read_chunks(name), b""):
                raise NotReadable(ENTITIES_REASON, is_hostile=True)

    def main_part(self, default: str) -> str:
        """The part that holds the document itself; `usual` is what it is called almost always."""
        targets = [one.target for one in self.relations("").values() if one.kind == "officeDocument"]
        found = next((target for target in (*targets, default) if target in self.names), None)
        if found is None:
            raise NotReadable("is damaged: there is nothing in it")
        return found

    def link_targets(self, name: str) -> Mapping[str, str]:
        """Where the links of a part lead, those that may be followed."""
        return {
            key: relation.target
            for key, relation in self.relations(name).items()
            if relation.is_external and relation.target.lower().startswith(_SCHEMES)
        }

    def metadata(self) -> DocumentMetadata:
        said = {
            node.name: " ".join(node.text.split())
            for node in iter_elements(self.read_chunks("docProps/core.xml"), ("coreProperties",))
        }
        return DocumentMetadata(
            said.get("title", ""), said.get("creator") or None, said.get("created", "")[:10] or None
        )
