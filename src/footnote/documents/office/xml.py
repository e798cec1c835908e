"""XML of others, element by element. A document type is refused: entities that it declares can expand without end, or
name files of this machine."""

from collections import deque
from collections.abc import Container, Iterable, Iterator
from typing import NoReturn
from xml.parsers import expat

ENTITIES_REASON = "declares entities, which can be made to expand without end"


class NotReadable(Exception):
    """`reason` goes on from the name of the file: half a sentence, such as "is damaged". `is_hostile`: it is made to do
    harm to whoever reads it."""

    def __init__(self, reason: str, *, is_hostile: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_hostile = is_hostile


MAX_DEPTH = 200
_RELATIONSHIPS = "/relationships"


class XmlNode:
    """An element. Names are without their namespace, but for `r:id` and its like, which stand beside an `id`."""

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
        """All elements of that name below, in their order."""
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
    """Every element right below one with a name out of `parents`, as soon as it is read, and with all that is in it;
    without `parents` the whole document. A part that is not there has none."""
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
    """The root, or an empty one if there is nothing."""
    return next(iter_elements(pieces), XmlNode("", {}))


def _reject_doctype(*_: object) -> NoReturn:
    raise NotReadable(ENTITIES_REASON, is_hostile=True)
