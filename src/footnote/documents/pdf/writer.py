"""A document tree as source of the typesetter."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from footnote.documents.markdown.inlines import plain
from footnote.documents.pdf.arabic import WHOLE, headings
from footnote.documents.pdf.formulas import MATHS
from footnote.documents.pdf.lines import HALVES, KEYCAPS, Lines, Parts, breakable, has_keycap, literal, shown
from footnote.documents.pdf.page import page
from footnote.documents.pdf.tables import SIZES, Columns, columns_of, stays_whole
from footnote.documents.tree import (
    Block,
    Break,
    Bullets,
    Code,
    CodeBlock,
    Document,
    Heading,
    Inline,
    Item,
    MathsBlock,
    NoteMark,
    Numbers,
    Paragraph,
    Picture,
    Quotation,
    Rule,
    Table,
    Text,
)
from footnote.documents.walk import parts_of, walk
from footnote.documents.wording import contents_title, left_out

_LONGEST_CODE_WORD = 76
_HIGHLIGHTED_LINES = 2000
_HIGHLIGHTED_LETTERS = 100_000
_PIECE = 500
_CONTENTS_HEADINGS = 8
_CONTENTS_LETTERS = 9000
_MOST_CONTENTS = 100
"""Headings: of more, only the upper levels are listed."""
_DEEPEST = 6
_SHORT_TITLE = 90
_MOST_KEYWORDS = 8
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def source_of(document: Document, parts: Parts, families: frozenset[str], *, named: str) -> str:
    """The whole source. `named`: the title that a document has only because its file is called so."""
    levels = _levels(document.blocks)
    labels = {anchor: f"h{at}" for at, anchor in enumerate(levels)}
    title = _title_heading(document.blocks, levels)
    for_notes = _Blocks(Lines(document.language, parts, labels, {}), document.language, parts, {}, None)
    notes = {key: for_notes.written(content) for key, content in document.notes.items()}
    lines = Lines(document.language, parts, labels, notes)
    writer = _Blocks(lines, document.language, parts, levels, title)
    body = [writer.block(block) for block in document.blocks]
    front = _front(document, levels, labels, title)
    first = document.blocks[0] if document.blocks else None
    if document.title not in (_words(first), named):
        body[:0] = ["#title()", *front]
    else:
        at = 1 if isinstance(first, Heading) else 0
        body[at:at] = front
    return "\n".join(
        (
            WHOLE,
            HALVES,
            MATHS,
            f"#let short-title = [{shown(_short(document.title))}]",
            _about(document),
            page(document.language, families),
            *_numbering(lines),
            *_arabic(document),
            *([KEYCAPS] if "Noto Emoji" in families and any(map(has_keycap, _texts(document))) else []),
            # Without a heading for a title, those of the first level are sections.
            *([] if title else ["#show: untitled"]),
            "\n\n".join(body),
            "",
        )
    )


class _Blocks:
    """Writes blocks. `levels` of the headings by anchor; one that has none stands in a note, and is a line. `title` is
    the heading that is the document's own, and not one of its contents."""

    def __init__(
        self, lines: Lines, language: str, parts: Parts, levels: Mapping[str, int], title: Heading | None
    ) -> None:
        self._lines = lines
        self._language = language
        self._parts = parts
        self._levels = levels
        self._labels = {anchor: f"h{at}" for at, anchor in enumerate(levels)}
        self._title = title

    def written(self, blocks: Sequence[Block]) -> str:
        """A list joins the line before it; two paragraphs stand apart."""
        sources: list[str] = []
        for at, block in enumerate(blocks):
            if at:
                apart = isinstance(block, Paragraph) and isinstance(blocks[at - 1], Paragraph)
                sources.append("\n\n" if apart else "\n")
            sources.append(self.block(block))
        return "".join(sources)

    def block(self, block: Block) -> str:
        match block:
            case Paragraph(content):
                source = self._paragraph(content)
            case Heading():
                source = self._heading(block)
            case Bullets(items, tight):
                marker = "marker: none, body-indent: 0pt, " if any(item.checked is not None for item in items) else ""
                source = f"#list({marker}tight: {_flag(tight)}, {self._items(items)})"
            case Numbers(items, start, tight):
                source = f"#enum(start: {start}, tight: {_flag(tight)}, {self._items(items)})"
            case Quotation(content):
                source = f"#quoted[{self.written(content)}]"
            case CodeBlock(text, language):
                source = _listing(breakable(text, _LONGEST_CODE_WORD), language)
            case Table():
                source = self._table(block)
            case Rule():
                source = "#rule"
            case MathsBlock(latex):
                formula = self._parts.formulas.get(latex)
                source = _code(latex, "latex") if formula is None else f"#display({literal(formula)}, {literal(latex)})"
        return source

    def _paragraph(self, content: tuple[Inline, ...]) -> str:
        pictures = [part for part in content if isinstance(part, Picture) and part.name in self._parts.pictures]
        others = [part for part in content if part not in pictures and not isinstance(part, Break)]
        if pictures and not any(plain((part,)).strip() for part in others):
            return "".join(map(self._shown, pictures))
        return self._within(content, self._lines.written(content))

    def _within(self, content: Sequence[Inline], source: str) -> str:
        setting = self._lines.setting(content)
        return f"#[{setting}{source}\n]" if setting else source

    def _shown(self, picture: Picture) -> str:
        image = self._parts.pictures[picture.name]
        return f"#shown({literal(image.path)}, {image.width:.1f}pt, {literal(picture.alt or picture.name)})"

    def _heading(self, heading: Heading) -> str:
        line = self._lines.written(heading.content, in_heading=True)
        level = self._levels.get(heading.anchor)
        if level is None:
            return f"#strong[{line}]\n\n"
        unlisted = ", outlined: false, bookmarked: true" if heading is self._title else ""
        source = f"#heading(level: {level}{unlisted})[{line}]<{self._labels[heading.anchor]}>"
        return self._within(heading.content, source)

    def _items(self, items: Sequence[Item]) -> str:
        return "".join(f"[{self._item(item)}], " for item in items)

    def _item(self, item: Item) -> str:
        if item.checked is None:
            return self.written(item.content)
        first, *rest = item.content or (Paragraph(()),)
        more = f"[{self.written(rest)}]" if rest else ""
        return f"#task({_flag(item.checked)})[{self.block(first)}]{more}"

    def _table(self, table: Table) -> str:
        columns = columns_of(table)
        before = self._lines.longest
        if table.rows:
            with self._lines.notes_apart() as notes:
                head = self._row(table.head, columns)
        else:
            head, notes = self._row(table.head, columns), []
        rows = "\n".join(self._row(row, columns, "" if at else "".join(notes)) for at, row in enumerate(table.rows))
        self._lines.longest = before
        aligned = "".join(f"{alignment or 'start'}, " for alignment in table.alignments)
        shares = "".join(f"{width}fr, " for width in columns.widths or ())
        widths = f"({shares})" if shares else str(len(table.head))
        small = "" if columns.size == SIZES[0] else f"size: {columns.size}pt, inset: {columns.inset}pt, "
        call = "#small-table" if small else "#table"
        source = f"{call}({small}columns: {widths}, align: ({aligned}), table.header({head}),\n{rows})"
        if table.left_out:
            source += f"\n#missing({literal(left_out(self._language, table.left_out))})"
        return source

    def _row(self, row: Sequence[tuple[Inline, ...]], columns: Columns, notes: str = "") -> str:
        """`notes`: of the head above it."""
        sources: list[str] = []
        call = "" if stays_whole(row, columns) else "high"
        for cell, longest in zip(row, columns.longest, strict=True):
            self._lines.longest = longest
            sources.append(f"{call}[{notes}{self._lines.setting(cell)}{self._lines.written(cell)}], ")
            notes = ""
        return "".join(sources)


def _code(text: str, language: str) -> str:
    return f"#raw(block: true, lang: {literal(language)}, {literal(text)})"


def _listing(text: str, language: str) -> str:
    """Code in pieces, if it is so long that the typesetter would take ever more time for each line of it."""
    lines = text.split("\n")
    if len(lines) <= _HIGHLIGHTED_LINES and len(text) <= _HIGHLIGHTED_LETTERS:
        return _code(text, language)
    pieces = ("\n".join(lines[at : at + _PIECE]) for at in range(0, len(lines), _PIECE))
    return "\n".join(_code(piece, "") for piece in pieces)


def _flag(value: bool) -> str:  # noqa: FBT001 - it is the value that is written
    return "true" if value else "false"


def _words(block: Block | None) -> str:
    return " ".join(plain(block.content).split()) if isinstance(block, Heading) else ""


def _short(title: str) -> str:
    return title if len(title) <= _SHORT_TITLE else f"{title[:_SHORT_TITLE].rstrip()}…"


def _about(document: Document) -> str:
    words = [_words(block) for block in document.blocks if isinstance(block, Heading)]
    keywords = "".join(f"{literal(word)}, " for word in dict.fromkeys(words[1 : _MOST_KEYWORDS + 1]) if word)
    fields = [f"title: {literal(document.title)}", f"keywords: ({keywords})"]
    if document.author:
        fields.append(f"author: {literal(document.author)}")
    if day := _day(document.date):
        fields.append(f"date: datetime(year: {day.year}, month: {day.month}, day: {day.day})")
    return f"#set document({', '.join(fields)})"


def _day(text: str | None) -> date | None:
    found = _DAY.match(text or "")
    try:
        return date.fromisoformat(found.group()) if found else None
    except ValueError:
        return None


def _front(
    document: Document, levels: Mapping[str, int], labels: Mapping[str, str], title: Heading | None
) -> list[str]:
    """What stands above the text: who wrote it and when, and the contents if it is long."""
    front: list[str] = []
    if line := " · ".join(filter(None, (document.author, document.date))):
        front.append(f"#byline[{shown(line)}]")
    length = sum(len(part.text) for part in walk(document.blocks) if isinstance(part, Text | Code | CodeBlock))
    if len(levels) >= _CONTENTS_HEADINGS and length >= _CONTENTS_LETTERS:
        base = 1 if title else 0
        depth = base + 1
        while depth < _DEEPEST and sum(1 for level in levels.values() if base < level <= depth + 1) <= _MOST_CONTENTS:
            depth += 1
        lines = _entries(document, labels)
        front.append(f"#contents([{shown(contents_title(document.language))}], {depth}, {base}, ({lines}))")
    return front


def _entries(document: Document, labels: Mapping[str, str]) -> str:
    """What the contents say of headings that have notes."""
    noted = (
        part
        for part in walk(document.blocks)
        if isinstance(part, Heading) and any(isinstance(inner, NoteMark) for inner in walk(part.content))
    )
    return "".join(f'"{labels[part.anchor]}": [{shown(_words(part))}], ' for part in noted) or ":"


def _texts(document: Document) -> Iterator[str]:
    return (part.text for part in parts_of(document) if isinstance(part, Text | Code | CodeBlock))


def _arabic(document: Document) -> list[str]:
    texts = [plain(part.content) for part in walk(document.blocks) if isinstance(part, Heading)]
    source = headings([*texts, document.title])
    return [source] if source else []


def _numbering(lines: Lines) -> list[str]:
    """The numbers of the notes in the order in which they are set."""
    numbers = [lines.numbers.get(key, 0) for key in lines.marked]
    if numbers == [*range(1, len(numbers) + 1)]:
        return []
    listed = "".join(f'"{number}", ' for number in numbers)
    return [f"#set footnote(numbering: n => ({listed}).at(n - 1, default: str(n)))"]


def _title_heading(blocks: Sequence[Block], levels: Mapping[str, int]) -> Heading | None:
    """The heading that the document begins with, if no other is of its level."""
    first = blocks[0] if blocks else None
    if not isinstance(first, Heading):
        return None
    return first if sum(1 for level in levels.values() if level == 1) == 1 else None


def _levels(blocks: Sequence[Block]) -> dict[str, int]:
    """The levels of the headings by anchor, none left out between two: those who listen to a document count on that."""
    levels: dict[str, int] = {}
    opened: list[int] = []
    for part in walk(blocks):
        if isinstance(part, Heading):
            while opened and opened[-1] >= part.level:
                opened.pop()
            opened.append(part.level)
            levels[part.anchor] = len(opened)
    return levels
