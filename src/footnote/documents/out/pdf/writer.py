"""A document tree as Typst source."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from msgspec import Struct
from msgspec.structs import replace

from footnote.documents.languages import contents_title, omitted_rows_note
from footnote.documents.markdown.inlines import plain_text
from footnote.documents.markdown.notes import label_notes
from footnote.documents.out.pdf.arabic import WHOLE_MACRO, heading_rules
from footnote.documents.out.pdf.inlines import (
    HALVES_MACRO,
    KEYCAP_RULE,
    MATHS_MACROS,
    TEXT_WIDTH,
    InlineWriter,
    Parts,
    has_keycap,
    insert_breaks,
    string_literal,
    text_source,
)
from footnote.documents.out.pdf.template import page_template
from footnote.documents.tree import (
    Block,
    Break,
    Bullets,
    Code,
    CodeBlock,
    Document,
    Emphasis,
    Heading,
    Hyperlink,
    Inline,
    Item,
    Marked,
    MathsBlock,
    NoteMark,
    Numbers,
    Paragraph,
    PlainText,
    Quotation,
    Strike,
    Strong,
    Table,
    ThematicBreak,
    TreeImage,
    walk,
    walk_document,
)

FONT_SIZES = (9.2, 8.2, 7.2, 6.2)
"""In points, by the number of columns."""

_LETTER = 0.58
"""The average width of a character in relation to the font size."""
_INSET = 0.62
_SAMPLE = 200
"""Rows by which the widths of columns are estimated."""
_WIDE = re.compile("[\u1100-\u115f\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff60\U0001f300-\U0003ffff]")
_WIDER = 0.75
"""The additional width of a wide character, in Latin letters."""
_MAX_WORD_CHARS = 20.0
_MAX_CELL_CHARS = 110.0
_EVENNESS = 0.8
_MAX_ROW_LINES = 15
"""Limit for a row that is not broken across pages."""


class Columns(Struct, frozen=True):
    """`widths` are shares of the line, or None: as wide as their cells. `size` and `inset` are in points.
    `max_word_chars`: the longest word of each column without break opportunities."""

    widths: tuple[float, ...] | None
    size: float
    inset: float
    max_word_chars: tuple[int, ...]


def fit_columns(table: Table) -> Columns:
    """The columns of a table, fitted to the page."""
    words, cells = _measure(table)
    minimum = [min(word, _MAX_WORD_CHARS) for word in words]
    for size in FONT_SIZES:
        inset = round(size * _INSET, 1)
        room = (TEXT_WIDTH - 2 * inset * len(words)) / (size * _LETTER)
        if sum(cells) <= room and max(words) <= room / 2:
            return Columns(None, size, inset, tuple(int(max(cell, 1)) + 1 for cell in cells))
        if sum(minimum) <= room:
            widths = _share_width(minimum, cells, room)
            margin = 2 * inset / (size * _LETTER)
            return Columns(
                tuple(round(width + margin, 1) for width in widths),
                size,
                inset,
                tuple(max(1, int(width)) for width in widths),
            )
    each = max(1, int((TEXT_WIDTH / len(words) - 2) / (FONT_SIZES[-1] * _LETTER)))
    return Columns(tuple(1.0 for _ in words), FONT_SIZES[-1], 1.0, tuple(each for _ in words))


def fits_one_page(row: Sequence[tuple[Inline, ...]], columns: Columns) -> bool:
    """Whether a row is short enough not to be broken across pages."""
    for cell, max_chars in zip(row, columns.max_word_chars, strict=True):
        breaks = sum(1 for part in cell if isinstance(part, Break))
        if len(cell) == 1 and isinstance(cell[0], PlainText) and len(cell[0].text) < max_chars:
            continue
        if breaks + _text_width(plain_text(cell))[1] / max_chars > _MAX_ROW_LINES:
            return False
    return True


def _share_width(minimum: list[float], cells: list[float], room: float) -> list[float]:
    """Distributes the remaining width by content; a very long cell does not get all of it."""
    shares = [max(0.0, min(cell, _MAX_CELL_CHARS) - low) ** _EVENNESS for cell, low in zip(cells, minimum, strict=True)]
    spare = (room - sum(minimum)) / (sum(shares) or 1.0)
    return [low + share * spare for low, share in zip(minimum, shares, strict=True)]


def _measure(table: Table) -> tuple[list[float], list[float]]:
    """The longest word and the longest cell of each column."""
    words, cells = [2.0] * len(table.head), [2.0] * len(table.head)
    for row in (table.head, *table.rows[:_SAMPLE]):
        for at, cell in enumerate(row):
            word, whole = _text_width(plain_text(cell))
            words[at], cells[at] = max(words[at], word), max(cells[at], whole)
    return words, cells


def _text_width(text: str) -> tuple[float, float]:
    if text.isascii():
        return max(map(len, text.split()), default=0), len(text)
    whole = len(text) + _WIDER * len(_WIDE.findall(text))
    # A Chinese word may be broken anywhere, and needs only the width of a few characters.
    word = max(map(len, _WIDE.sub(" ", text).split()), default=0)
    return max(word, min(whole, 6.0)), whole


def move_notes_to_end(document: Document) -> Document:
    """The same document with endnotes: its marks are numbers in brackets."""
    labels = label_notes(document.notes)
    blocks = [_block(block, labels) for block in document.blocks]
    notes: list[Block] = [ThematicBreak()] if labels else []
    for key, label in sorted(labels.items(), key=_note_order):
        first, *rest = [_block(block, labels) for block in document.notes[key]] or [Paragraph(())]
        if isinstance(first, Paragraph):
            notes += (Paragraph((PlainText(f"[{label}] "), *first.content)), *rest)
        else:
            notes += (Paragraph((PlainText(f"[{label}]"),)), first, *rest)
    return replace(document, blocks=(*blocks, *notes), notes={})


_AFTER_NUMBERS = 10**10


def _note_order(note: tuple[str, str]) -> int:
    """Notes with numbers come first, by these; the others follow as they are."""
    return int(note[1]) if note[1].isdecimal() else _AFTER_NUMBERS


def _block(block: Block, labels: Mapping[str, str]) -> Block:
    match block:
        case Paragraph(content) | Heading(content=content):
            return replace(block, content=_line(content, labels))
        case Quotation(content):
            return Quotation(tuple(_block(part, labels) for part in content))
        case Bullets(items=items) | Numbers(items=items):
            return replace(block, items=tuple(_item(item, labels) for item in items))
        case Table(head=head, rows=rows):
            return replace(block, head=_row(head, labels), rows=tuple(_row(row, labels) for row in rows))
        case _:
            return block


def _item(item: Item, labels: Mapping[str, str]) -> Item:
    return replace(item, content=tuple(_block(part, labels) for part in item.content))


def _row(row: Sequence[tuple[Inline, ...]], labels: Mapping[str, str]) -> tuple[tuple[Inline, ...], ...]:
    return tuple(_line(cell, labels) for cell in row)


def _line(content: Sequence[Inline], labels: Mapping[str, str]) -> tuple[Inline, ...]:
    parts: list[Inline] = []
    for part in content:
        match part:
            case NoteMark(key):
                parts.append(PlainText(f"\u00a0[{labels[key]}]" if key in labels else ""))
            case Emphasis(inner) | Strong(inner) | Strike(inner) | Hyperlink(content=inner) | Marked(inner):
                parts.append(replace(part, content=_line(inner, labels)))
            case _:
                parts.append(part)
    return tuple(parts)


_MAX_CODE_WORD_CHARS = 76
_MAX_HIGHLIGHTED_LINES = 2000
_MAX_HIGHLIGHTED_CHARS = 100_000
_CODE_CHUNK_LINES = 500
_MIN_CONTENTS_HEADINGS = 8
_MIN_CONTENTS_CHARS = 9000
_MAX_CONTENTS_ENTRIES = 100
"""With more headings, the contents list only the upper levels."""
_MAX_HEADING_LEVEL = 6
_MAX_TITLE_CHARS = 90
_MAX_KEYWORDS = 8
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def typst_source(document: Document, parts: Parts, families: frozenset[str], *, file_title: str) -> str:
    """The whole source. `file_title`: the title of a document that is only named after its file."""
    levels = _levels(document.blocks)
    labels = {anchor: f"h{at}" for at, anchor in enumerate(levels)}
    title = _title_heading(document.blocks, levels)
    for_notes = _BlockWriter(InlineWriter(document.language, parts, labels, {}), document.language, parts, {}, None)
    notes = {key: for_notes.write_blocks(content) for key, content in document.notes.items()}
    lines = InlineWriter(document.language, parts, labels, notes)
    writer = _BlockWriter(lines, document.language, parts, levels, title)
    body = [writer.write_block(block) for block in document.blocks]
    front = _front_matter(document, levels, labels, title)
    if document.proof:
        words = (PlainText(document.proof),)
        front.insert(int(bool(_byline(document))), f"#byline[{lines.text_settings(words)}{lines.write(words)}]")
    first = document.blocks[0] if document.blocks else None
    if document.title not in (_heading_text(first), file_title):
        body[:0] = ["#title()", *front]
    else:
        at = 1 if isinstance(first, Heading) else 0
        body[at:at] = front
    return "\n".join(
        (
            WHOLE_MACRO,
            HALVES_MACRO,
            MATHS_MACROS,
            f"#let short-title = [{text_source(_shorten_title(document.title))}]",
            _about(document),
            page_template(document.language, families),
            *_note_numbering(lines),
            *_arabic_rules(document),
            *([KEYCAP_RULE] if "Noto Emoji" in families and any(map(has_keycap, _texts(document))) else []),
            # Without a heading for a title, those of the first level are sections.
            *([] if title else ["#show: untitled"]),
            "\n\n".join(body),
            "",
        )
    )


class _BlockWriter:
    """Writes blocks. `levels` are those of the headings by anchor; a heading without one is in a note, and becomes a
    line. `title` is the heading that is the title of the document, and not part of its contents."""

    def __init__(
        self, lines: InlineWriter, language: str, parts: Parts, levels: Mapping[str, int], title: Heading | None
    ) -> None:
        self._lines = lines
        self._language = language
        self._parts = parts
        self._levels = levels
        self._labels = {anchor: f"h{at}" for at, anchor in enumerate(levels)}
        self._title = title

    def write_blocks(self, blocks: Sequence[Block]) -> str:
        """The sources of blocks, with a blank line only between two paragraphs."""
        sources: list[str] = []
        for at, block in enumerate(blocks):
            if at:
                are_paragraphs = isinstance(block, Paragraph) and isinstance(blocks[at - 1], Paragraph)
                sources.append("\n\n" if are_paragraphs else "\n")
            sources.append(self.write_block(block))
        return "".join(sources)

    def write_block(self, block: Block) -> str:
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
                source = f"#quoted[{self.write_blocks(content)}]"
            case CodeBlock(text, language):
                source = _listing(insert_breaks(text, _MAX_CODE_WORD_CHARS), language)
            case Table():
                source = self._table(block)
            case ThematicBreak():
                source = "#rule"
            case MathsBlock(latex):
                formula = self._parts.formulas.get(latex)
                source = (
                    _code(latex, "latex")
                    if formula is None
                    else f"#display({string_literal(formula)}, {string_literal(latex)})"
                )
        return source

    def _paragraph(self, content: tuple[Inline, ...]) -> str:
        pictures = [part for part in content if isinstance(part, TreeImage) and part.name in self._parts.images]
        others = [part for part in content if part not in pictures and not isinstance(part, Break)]
        if pictures and not any(plain_text((part,)).strip() for part in others):
            return "".join(map(self._block_image, pictures))
        return self._within(content, self._lines.write(content))

    def _within(self, content: Sequence[Inline], source: str) -> str:
        setting = self._lines.text_settings(content)
        return f"#[{setting}{source}\n]" if setting else source

    def _block_image(self, picture: TreeImage) -> str:
        image = self._parts.images[picture.name]
        return (
            f"#shown({string_literal(image.path)}, {image.width:.1f}pt, {string_literal(picture.alt or picture.name)})"
        )

    def _heading(self, heading: Heading) -> str:
        line = self._lines.write(heading.content, in_heading=True)
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
            return self.write_blocks(item.content)
        first, *rest = item.content or (Paragraph(()),)
        more = f"[{self.write_blocks(rest)}]" if rest else ""
        return f"#task({_flag(item.checked)})[{self.write_block(first)}]{more}"

    def _table(self, table: Table) -> str:
        columns = fit_columns(table)
        outer_max_chars = self._lines.max_word_chars
        if table.rows:
            with self._lines.detach_notes() as notes:
                head = self._row(table.head, columns)
        else:
            head, notes = self._row(table.head, columns), []
        rows = "\n".join(self._row(row, columns, "" if at else "".join(notes)) for at, row in enumerate(table.rows))
        self._lines.max_word_chars = outer_max_chars
        aligned = "".join(f"{alignment or 'start'}, " for alignment in table.alignments)
        shares = "".join(f"{width}fr, " for width in columns.widths or ())
        widths = f"({shares})" if shares else str(len(table.head))
        small = "" if columns.size == FONT_SIZES[0] else f"size: {columns.size}pt, inset: {columns.inset}pt, "
        call = "#small-table" if small else "#table"
        source = f"{call}({small}columns: {widths}, align: ({aligned}), table.header({head}),\n{rows})"
        if table.left_out:
            source += f"\n#missing({string_literal(omitted_rows_note(self._language, table.left_out))})"
        return source

    def _row(self, row: Sequence[tuple[Inline, ...]], columns: Columns, notes: str = "") -> str:
        """`notes`: those of the head above it."""
        sources: list[str] = []
        call = "" if fits_one_page(row, columns) else "high"
        for cell, max_chars in zip(row, columns.max_word_chars, strict=True):
            self._lines.max_word_chars = max_chars
            sources.append(f"{call}[{notes}{self._lines.text_settings(cell)}{self._lines.write(cell)}], ")
            notes = ""
        return "".join(sources)


def _code(text: str, language: str) -> str:
    return f"#raw(block: true, lang: {string_literal(language)}, {string_literal(text)})"


def _listing(text: str, language: str) -> str:
    """Long code in pieces, because Typst takes more than linear time for a block of code."""
    lines = text.split("\n")
    if len(lines) <= _MAX_HIGHLIGHTED_LINES and len(text) <= _MAX_HIGHLIGHTED_CHARS:
        return _code(text, language)
    pieces = ("\n".join(lines[at : at + _CODE_CHUNK_LINES]) for at in range(0, len(lines), _CODE_CHUNK_LINES))
    return "\n".join(_code(piece, "") for piece in pieces)


def _flag(value: bool) -> str:  # noqa: FBT001 - it is the value that is written
    return "true" if value else "false"


def _heading_text(block: Block | None) -> str:
    return " ".join(plain_text(block.content).split()) if isinstance(block, Heading) else ""


def _shorten_title(title: str) -> str:
    return title if len(title) <= _MAX_TITLE_CHARS else f"{title[:_MAX_TITLE_CHARS].rstrip()}…"


def _about(document: Document) -> str:
    words = [_heading_text(block) for block in document.blocks if isinstance(block, Heading)]
    keywords = "".join(f"{string_literal(word)}, " for word in dict.fromkeys(words[1 : _MAX_KEYWORDS + 1]) if word)
    fields = [f"title: {string_literal(document.title)}", f"keywords: ({keywords})"]
    if document.author:
        fields.append(f"author: {string_literal(document.author)}")
    if day := _day(document.date):
        fields.append(f"date: datetime(year: {day.year}, month: {day.month}, day: {day.day})")
    return f"#set document({', '.join(fields)})"


def _day(text: str | None) -> date | None:
    found = _DAY.match(text or "")
    try:
        return date.fromisoformat(found.group()) if found else None
    except ValueError:
        return None


def _byline(document: Document) -> str:
    return " · ".join(filter(None, (document.author, document.date)))


def _front_matter(
    document: Document, levels: Mapping[str, int], labels: Mapping[str, str], title: Heading | None
) -> list[str]:
    """The author and date above the text, and the table of contents of a long document."""
    front: list[str] = []
    if line := _byline(document):
        front.append(f"#byline[{text_source(line)}]")
    length = sum(len(part.text) for part in walk(document.blocks) if isinstance(part, PlainText | Code | CodeBlock))
    if len(levels) >= _MIN_CONTENTS_HEADINGS and length >= _MIN_CONTENTS_CHARS:
        base = 1 if title else 0
        depth = base + 1
        while (
            depth < _MAX_HEADING_LEVEL
            and sum(1 for level in levels.values() if base < level <= depth + 1) <= _MAX_CONTENTS_ENTRIES
        ):
            depth += 1
        lines = _entries(document, labels)
        front.append(f"#contents([{text_source(contents_title(document.language))}], {depth}, {base}, ({lines}))")
    return front


def _entries(document: Document, labels: Mapping[str, str]) -> str:
    """Entries of the contents for headings with notes."""
    noted = (
        part
        for part in walk(document.blocks)
        if isinstance(part, Heading) and any(isinstance(inner, NoteMark) for inner in walk(part.content))
    )
    return "".join(f'"{labels[part.anchor]}": [{text_source(_heading_text(part))}], ' for part in noted) or ":"


def _texts(document: Document) -> Iterator[str]:
    return (part.text for part in walk_document(document) if isinstance(part, PlainText | Code | CodeBlock))


def _arabic_rules(document: Document) -> list[str]:
    texts = [plain_text(part.content) for part in walk(document.blocks) if isinstance(part, Heading)]
    source = heading_rules([*texts, document.title])
    return [source] if source else []


def _note_numbering(lines: InlineWriter) -> list[str]:
    """The numbers of the notes, in the order in which they are set."""
    printed = [lines.printed_labels.get(key, "") for key in lines.note_labels]
    if printed == [str(number) for number in range(1, len(printed) + 1)]:
        return []
    listed = "".join(f"{string_literal(label)}, " for label in printed)
    return [
        f"#let note-marks = ({listed})",
        "#set footnote(numbering: n => note-mark(note-marks.at(n - 1, default: str(n))))",
    ]


def _title_heading(blocks: Sequence[Block], levels: Mapping[str, int]) -> Heading | None:
    """The first heading, if no other has its level."""
    first = blocks[0] if blocks else None
    if not isinstance(first, Heading):
        return None
    return first if sum(1 for level in levels.values() if level == 1) == 1 else None


def _levels(blocks: Sequence[Block]) -> dict[str, int]:
    """The levels of the headings by anchor, without gaps, as PDF/UA requires for screen readers."""
    levels: dict[str, int] = {}
    opened: list[int] = []
    for part in walk(blocks):
        if isinstance(part, Heading):
            while opened and opened[-1] >= part.level:
                opened.pop()
            opened.append(part.level)
            levels[part.anchor] = len(opened)
    return levels
