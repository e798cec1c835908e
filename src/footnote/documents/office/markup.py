"""XML of others, element by element. A document type is refused: entities that it declares can expand without end, or
name files of this machine."""

from collections import deque
from collections.abc import Container, Iterable, Iterator
from typing import NoReturn
from xml.parsers import expat

from footnote.documents.office.refusal import DECLARES, NotReadable

MOST_DEEP = 200
_RELATIONSHIPS = "/relationships"


class Node:
    """An element. Names are without their namespace, but for `r:id` and its like, which stand beside an `id`."""

    __slots__ = ("attributes", "kids", "name")

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name = name
        self.attributes = attributes
        self.kids: list[Node | str] = []

    def nodes(self, name: str | None = None) -> "Iterator[Node]":
        return (kid for kid in self.kids if isinstance(kid, Node) and name in (None, kid.name))

    def first(self, *path: str) -> "Node | None":
        """The first element down a path of names."""
        found: Node | None = self
        for name in path:
            found = next(found.nodes(name), None) if found else None
        return found

    def value(self, *path: str) -> str | None:
        """The attribute `val` of the first element down a path."""
        found = self.first(*path)
        return found.attributes.get("val") if found else None

    def within(self, name: str) -> "Iterator[Node]":
        """All elements of that name below, in their order."""
        for kid in self.nodes():
            if kid.name == name:
                yield kid
            yield from kid.within(name)

    @property
    def text(self) -> str:
        return "".join(kid if isinstance(kid, str) else kid.text for kid in self.kids)


class _Builder:
    def __init__(self, parents: Container[str] | None) -> None:
        self.done: deque[Node] = deque()
        self._parents = parents
        self._open: list[Node] = []
        self._path: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._path) >= MOST_DEEP:
            raise NotReadable("is nested too deeply")
        name = name.rpartition(" ")[2]
        if self._open or self._parents is None or (self._path and self._path[-1] in self._parents):
            node = Node(name, {_local(key): value for key, value in attributes.items()})
            if self._open:
                self._open[-1].kids.append(node)
            self._open.append(node)
        self._path.append(name)

    def end(self, _: str) -> None:
        self._path.pop()
        if self._open:
            node = self._open.pop()
            if not self._open:
                self.done.append(node)

    def text(self, text: str) -> None:
        if self._open:
            self._open[-1].kids.append(text)


def _local(name: str) -> str:
    space, _, local = name.rpartition(" ")
    return f"r:{local}" if space.endswith(_RELATIONSHIPS) else local


def elements(pieces: Iterable[bytes], parents: Container[str] | None = None) -> Iterator[Node]:
    """Every element right below one with a name out of `parents`, as soon as it is read, and with all that is in it;
    without `parents` the whole document. A part that is not there has none."""
    builder = _Builder(parents)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.StartDoctypeDeclHandler = _refuse
    is_empty = True
    try:
        for piece in pieces:
            is_empty = False
            parser.Parse(piece, False)  # noqa: FBT003 - the library's
            while builder.done:
                yield builder.done.popleft()
        if not is_empty:
            parser.Parse(b"", True)  # noqa: FBT003 - the library's
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise NotReadable("is damaged") from error


def whole(pieces: Iterable[bytes]) -> Node:
    """The root, or an empty one if there is nothing."""
    return next(elements(pieces), Node("", {}))


def _refuse(*_: object) -> NoReturn:
    raise NotReadable(DECLARES, is_hostile=True)
