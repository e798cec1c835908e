"""Notes as a list at the end of a document, for one whose pages cannot have them at their feet."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from footnote.documents.markdown.notes import numbers_of
from footnote.documents.tree import (
    Block,
    Bullets,
    Document,
    Emphasis,
    Heading,
    Inline,
    Item,
    Link,
    NoteMark,
    Numbers,
    Paragraph,
    Quotation,
    Rule,
    Strike,
    Strong,
    Table,
    Text,
)


def with_notes_at_the_end(document: Document) -> Document:
    """The same document, its marks as numbers in brackets."""
    numbers = numbers_of(document.notes)
    blocks = [_block(block, numbers) for block in document.blocks]
    notes: list[Block] = [Rule()] if numbers else []
    for key, number in sorted(numbers.items(), key=lambda item: item[1]):
        first, *rest = [_block(block, numbers) for block in document.notes[key]] or [Paragraph(())]
        if isinstance(first, Paragraph):
            notes += (Paragraph((Text(f"[{number}] "), *first.content)), *rest)
        else:
            notes += (Paragraph((Text(f"[{number}]"),)), first, *rest)
    return replace(document, blocks=(*blocks, *notes), notes={})


def _block(block: Block, numbers: Mapping[str, int]) -> Block:
    match block:
        case Paragraph(content) | Heading(content=content):
            return replace(block, content=_line(content, numbers))
        case Quotation(content):
            return Quotation(tuple(_block(part, numbers) for part in content))
        case Bullets(items=items) | Numbers(items=items):
            return replace(block, items=tuple(_item(item, numbers) for item in items))
        case Table(head=head, rows=rows):
            return replace(block, head=_row(head, numbers), rows=tuple(_row(row, numbers) for row in rows))
        case _:
            return block


def _item(item: Item, numbers: Mapping[str, int]) -> Item:
    return replace(item, content=tuple(_block(part, numbers) for part in item.content))


def _row(row: Sequence[tuple[Inline, ...]], numbers: Mapping[str, int]) -> tuple[tuple[Inline, ...], ...]:
    return tuple(_line(cell, numbers) for cell in row)


def _line(content: Sequence[Inline], numbers: Mapping[str, int]) -> tuple[Inline, ...]:
    parts: list[Inline] = []
    for part in content:
        match part:
            case NoteMark(key):
                parts.append(Text(f"\u00a0[{numbers[key]}]" if key in numbers else ""))
            case Emphasis(inner) | Strong(inner) | Strike(inner) | Link(content=inner):
                parts.append(replace(part, content=_line(inner, numbers)))
            case _:
                parts.append(part)
    return tuple(parts)
