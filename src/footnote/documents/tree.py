"""A document as a tree: the content of markdown without its notation. Both writers read this and nothing else.

Everything in it is text of a user or a model. A writer escapes all of it; there is no node for markup of any output.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct, field

from footnote.protocol.sources import Verdict

Alignment: TypeAlias = Literal["left", "center", "right"] | None

# Inside a line ----------------------------------------------------------------------------------------------


class PlainText(Struct, frozen=True):
    """`statement`: the index of the statement of the conversion that the text belongs to; None: it is not marked."""

    text: str
    statement: int | None = None


class Emphasis(Struct, frozen=True):
    content: "tuple[Inline, ...]"


class Strong(Struct, frozen=True):
    content: "tuple[Inline, ...]"


class Strike(Struct, frozen=True):
    content: "tuple[Inline, ...]"


class Code(Struct, frozen=True):
    text: str
    statement: int | None = None


class Hyperlink(Struct, frozen=True):
    """`url` is http, https or mailto, or the `#anchor` of a heading of the same document; other links become text."""

    url: str
    content: "tuple[Inline, ...]"


class TreeImage(Struct, frozen=True):
    """`name` is a key of the images that come with the document. An image that is missing is shown as its `alt`."""

    name: str
    alt: str


class Maths(Struct, frozen=True):
    """A formula, as LaTeX."""

    latex: str


class Break(Struct, frozen=True):
    """A line break."""


class NoteMark(Struct, frozen=True):
    """A reference to a footnote: a key of `Document.notes`. The same note may be referred to more than once."""

    key: str


class Marked(Struct, frozen=True):
    """A part of a statement that its sources do not support, or not wholly. Its note says why."""

    content: "tuple[Inline, ...]"
    verdict: Verdict


Inline: TypeAlias = (
    PlainText | Emphasis | Strong | Strike | Code | Hyperlink | TreeImage | Maths | Break | NoteMark | Marked
)

# Blocks -----------------------------------------------------------------------------------------------------


class Heading(Struct, frozen=True):
    """`level` from 1 to 6. `anchor` is what `#anchor` links name, unique in the document."""

    level: int
    content: tuple[Inline, ...]
    anchor: str


class Paragraph(Struct, frozen=True):
    content: tuple[Inline, ...]


class Item(Struct, frozen=True):
    """`checked`: of a task list; None: it is not one."""

    content: "tuple[Block, ...]"
    checked: bool | None = None


class Bullets(Struct, frozen=True):
    items: tuple[Item, ...]
    tight: bool = True


class Numbers(Struct, frozen=True):
    items: tuple[Item, ...]
    start: int = 1
    tight: bool = True


class Quotation(Struct, frozen=True):
    content: "tuple[Block, ...]"


class CodeBlock(Struct, frozen=True):
    """`language` is a word, or empty."""

    text: str
    language: str = ""


class Table(Struct, frozen=True):
    """`left_out`: rows that were too many to be shown."""

    head: tuple[tuple[Inline, ...], ...]
    rows: tuple[tuple[tuple[Inline, ...], ...], ...]
    alignments: tuple[Alignment, ...]
    left_out: int = 0


class ThematicBreak(Struct, frozen=True):
    pass


class MathsBlock(Struct, frozen=True):
    latex: str


Block: TypeAlias = Heading | Paragraph | Bullets | Numbers | Quotation | CodeBlock | Table | ThematicBreak | MathsBlock


class Document(Struct, frozen=True, kw_only=True):
    """`title` is that of the metadata, or the first heading, or the name of the file. `language` is a BCP 47 tag
    (`en`, `vi`, `zh-Hans`, `ja`, `ko`, `ar`, …) of most of the text. `notes` are in the order of their first mark.
    `proof`: a line that counts the statements by verdict; empty: none was judged. `warnings`: a sentence for each part
    that is not shown as it was written."""

    title: str
    language: str
    blocks: tuple[Block, ...]
    notes: Mapping[str, tuple[Block, ...]] = field(default_factory=dict[str, "tuple[Block, ...]"])
    author: str | None = None
    date: str | None = None
    proof: str = ""
    warnings: tuple[str, ...] = ()


def walk_document(document: Document) -> Iterator[Block | Inline]:
    """All parts of a document, its notes last."""
    for blocks in (document.blocks, *document.notes.values()):
        yield from walk(blocks)


def walk(parts: Sequence[Block | Inline]) -> Iterator[Block | Inline]:
    """The parts, each before the parts in it."""
    for part in parts:
        yield part
        match part:
            case (
                Paragraph(content)
                | Heading(content=content)
                | Emphasis(content)
                | Strong(content)
                | Strike(content)
                | Hyperlink(content=content)
                | Marked(content)
            ):
                yield from walk(content)
            case Quotation(content):
                yield from walk(content)
            case Bullets(items=items) | Numbers(items=items):
                for item in items:
                    yield from walk(item.content)
            case Table(head=head, rows=rows):
                for row in (head, *rows):
                    for cell in row:
                        yield from walk(cell)
            case _:
                pass
