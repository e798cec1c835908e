"""The package of an Office document: a zip file with XML parts and the relations between them."""

import io
import posixpath
import struct
import zipfile
import zlib
from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import NoReturn
from urllib.parse import unquote
from xml.parsers import expat

from msgspec import Struct

ENTITIES_REASON = "declares entities, which can be made to expand without end"


class NotReadable(Exception):
    """`reason` goes on from the name of the file: half a sentence, such as "is damaged". `is_hostile`: the file
    is made to do harm."""

    def __init__(self, reason: str, *, is_hostile: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_hostile = is_hostile


MAX_DEPTH = 200
_RELATIONSHIPS = "/relationships"


class XmlNode:
    """An XML element. Names have no namespace, except attributes such as `r:id`, which occur beside an `id`."""

    __slots__ = ("attributes", "kids", "name")

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name = name
        self.attributes = attributes
        self.kids: list[XmlNode | str] = []

    def child_elements(self, name: str | None = None) -> "Iterator[XmlNode]":
        return (kid for kid in self.kids if isinstance(kid, XmlNode) and name in (None, kid.name))

    def find(self, *path: str) -> "XmlNode | None":
        """The first element down a path of names."""
        found: XmlNode | None = self
        for name in path:
            found = next(found.child_elements(name), None) if found else None
        return found

    def find_value(self, *path: str) -> str | None:
        """The attribute `val` of the first element down a path."""
        found = self.find(*path)
        return found.attributes.get("val") if found else None

    def descendants(self, name: str) -> "Iterator[XmlNode]":
        """All descendants of that name, in document order."""
        for kid in self.child_elements():
            if kid.name == name:
                yield kid
            yield from kid.descendants(name)

    @property
    def text(self) -> str:
        return "".join(kid if isinstance(kid, str) else kid.text for kid in self.kids)


class _XmlBuilder:
    def __init__(self, parents: Container[str] | None) -> None:
        self.completed: deque[XmlNode] = deque()
        self._parents = parents
        self._open: list[XmlNode] = []
        self._path: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._path) >= MAX_DEPTH:
            raise NotReadable("is nested too deeply")
        name = name.rpartition(" ")[2]
        if self._open or self._parents is None or (self._path and self._path[-1] in self._parents):
            node = XmlNode(name, {_local(key): value for key, value in attributes.items()})
            if self._open:
                self._open[-1].kids.append(node)
            self._open.append(node)
        self._path.append(name)

    def end(self, _: str) -> None:
        self._path.pop()
        if self._open:
            node = self._open.pop()
            if not self._open:
                self.completed.append(node)

    def text(self, text: str) -> None:
        if self._open:
            self._open[-1].kids.append(text)


def _local(name: str) -> str:
    space, _, local = name.rpartition(" ")
    return f"r:{local}" if space.endswith(_RELATIONSHIPS) else local


def iter_elements(pieces: Iterable[bytes], parents: Container[str] | None = None) -> Iterator[XmlNode]:
    """Yields each complete element whose parent has a name out of `parents`, as soon as it is parsed; without
    `parents`, the root. A missing part has none."""
    builder = _XmlBuilder(parents)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.StartDoctypeDeclHandler = _reject_doctype
    is_empty = True
    try:
        for piece in pieces:
            is_empty = False
            parser.Parse(piece, False)  # noqa: FBT003 - the library's
            while builder.completed:
                yield builder.completed.popleft()
        if not is_empty:
            parser.Parse(b"", True)  # noqa: FBT003 - the library's
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise NotReadable("is damaged") from error


def parse_root(pieces: Iterable[bytes]) -> XmlNode:
    """The root; an empty element if the part is missing."""
    return next(iter_elements(pieces), XmlNode("", {}))


def _reject_doctype(*_: object) -> NoReturn:
    raise NotReadable(ENTITIES_REASON, is_hostile=True)


MAX_UNPACKED_BYTES = 200_000_000
"""Limit for all parts that are read, unpacked. The declared sizes are not trusted."""
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
    """`kind` is the last segment of the type; `target` is a part of the package, or the URL of a link."""

    kind: str
    target: str
    is_external: bool


class DocumentMetadata(Struct, frozen=True):
    """The metadata that a document declares."""

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
        """The content of a part; empty if it is missing."""
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
        """The relations of a part, by their ids."""
        folder, _, file = name.rpartition("/")
        found: dict[str, Relation] = {}
        for node in iter_elements(self.read_chunks(f"{folder}/_rels/{file}.rels".lstrip("/")), ("Relationships",)):
            attributes = node.attributes
            outside = attributes.get("TargetMode") == "External"
            target = attributes.get("Target", "")
            if not outside:
                target = posixpath.normpath(posixpath.join("/", folder, unquote(target))).lstrip("/")
            found[attributes.get("Id", "")] = Relation(attributes.get("Type", "").rpartition("/")[2], target, outside)
        return found

    def reject_doctypes(self) -> None:
        """Called before a library with its own XML parser reads the parts."""
        for name in self.names:
            if name.endswith((".xml", ".rels")) and b"<!DOCTYPE" in next(self.read_chunks(name), b""):
                raise NotReadable(ENTITIES_REASON, is_hostile=True)

    def main_part(self, default: str) -> str:
        """The name of the main part; `default` is used if no relation names it."""
        targets = [relation.target for relation in self.relations("").values() if relation.kind == "officeDocument"]
        found = next((target for target in (*targets, default) if target in self.names), None)
        if found is None:
            raise NotReadable("is damaged: there is nothing in it")
        return found

    def link_targets(self, name: str) -> Mapping[str, str]:
        """The URLs of a part's links that may be followed, by id."""
        return {
            key: relation.target
            for key, relation in self.relations(name).items()
            if relation.is_external and relation.target.lower().startswith(_SCHEMES)
        }

    def metadata(self) -> DocumentMetadata:
        fields = {
            node.name: " ".join(node.text.split())
            for node in iter_elements(self.read_chunks("docProps/core.xml"), ("coreProperties",))
        }
        return DocumentMetadata(
            fields.get("title", ""), fields.get("creator") or None, fields.get("created", "")[:10] or None
        )
