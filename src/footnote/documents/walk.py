"""Every part of a document, in order."""

from collections.abc import Iterator, Sequence

from footnote.documents.tree import (
    Block,
    Bullets,
    Document,
    Emphasis,
    Heading,
    Hyperlink,
    Inline,
    Numbers,
    Paragraph,
    Quotation,
    Strike,
    Strong,
    Table,
)


def walk_document(document: Document) -> Iterator[Block | Inline]:
    """All that a document shows, its notes last."""
    for blocks in (document.blocks, *document.notes.values()):
        yield from walk(blocks)


def walk(parts: Sequence[Block | Inline]) -> Iterator[Block | Inline]:
    """The parts, each before what stands in it."""
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
