"""Blocks as paragraphs and tables of WordprocessingML. Iterative, so that nesting has no limit."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from footnote.documents.languages import is_right_to_left, omitted_rows_note
from footnote.documents.markdown.inlines import plain_text
from footnote.documents.markdown.parsing import MAX_TABLE_ROWS
from footnote.documents.out.docx.formulas import latex_to_omml
from footnote.documents.out.docx.inlines import formula_warning, write_inlines
from footnote.documents.out.docx.markup import RunFormat, run
from footnote.documents.out.docx.state import BULLET_NUM_ID, INDENT_STEP, MAX_LEVEL, TASK_NUM_ID, DocxState
from footnote.documents.tree import (
    Alignment,
    Block,
    Bullets,
    CodeBlock,
    Heading,
    Inline,
    Item,
    MathsBlock,
    Numbers,
    Paragraph,
    Quotation,
    Table,
    ThematicBreak,
)

TEXT_WIDTH = 9070
"""The width of A4 between margins of 25 mm, in twips."""

_MAX_INDENT = TEXT_WIDTH // 2
_QUOTE_INDENT = 340
_MAX_PARAGRAPH_CODE_LINES = 100
"""Longer code becomes several paragraphs: Word is slow with very long ones."""

_QUOTE_BORDER = '<w:pBdr><w:left w:val="single" w:sz="18" w:space="10" w:color="C3CAD3"/></w:pBdr>'
_AFTER_TABLE = '<w:p><w:pPr><w:pStyle w:val="AfterTable"/></w:pPr></w:p>'


class ParagraphMark(Struct, frozen=True):
    """The mark before a list item: numbered by Word, or a `label` where it cannot."""

    count: int
    level: int
    label: str = ""
    checked: bool | None = None


class BlockPosition(Struct, frozen=True):
    """The context of a block. `left`: the indent in twips. `level`: that of the list around it, from 0; -1: none.
    `style`: that of a plain paragraph. `loose`: the list has space between items; `ends`: the block is the last of the
    list. `begins`: XML before the text of a paragraph."""

    style: str = ""
    left: int = 0
    level: int = -1
    quoted: bool = False
    mark: ParagraphMark | None = None
    loose: bool = False
    ends: bool = False
    begins: str = ""

    @property
    def width(self) -> int:
        return TEXT_WIDTH - self.left


def write_blocks(blocks: Iterable[Block], state: DocxState, position: BlockPosition | None = None) -> str:
    pieces: list[str] = []
    stack: list[tuple[Block, BlockPosition]] = [
        (block, position or BlockPosition()) for block in reversed(tuple(blocks))
    ]
    while stack:
        block, position = stack.pop()
        match block:
            case Paragraph(content):
                pieces.append(_paragraph(content, state, position))
            case Heading():
                pieces.append(_heading(block, state, position))
            case Bullets() | Numbers():
                stack += reversed(_items(block, state, position))
            case Quotation(content):
                inner = replace(
                    position, style="Quote", quoted=True, left=min(position.left + _QUOTE_INDENT, _MAX_INDENT)
                )
                stack += ((part, inner) for part in reversed(content))
            case Table():
                pieces.append(_table_with_note(block, state, position))
            case CodeBlock(text, language):
                pieces.append(_code(highlight_code(text, language), position))
            case MathsBlock(latex):
                pieces.append(_formula(latex, state, position))
            case ThematicBreak():
                pieces.append(f"<w:p>{_paragraph_properties('Rule', position)}</w:p>")
    return "".join(pieces)


def _paragraph(content: Sequence[Inline], state: DocxState, position: BlockPosition) -> str:
    rtl = _is_rtl(content)
    style = "ListParagraph" if position.level >= 0 and position.style in ("", "Quote") else position.style
    inside = write_inlines(content, state, rtl=rtl, width=position.width)
    properties = _paragraph_properties(style, position, rtl=rtl)
    return f"<w:p>{properties}{position.begins}{_mark_xml(position.mark, state)}{inside}</w:p>"


def _heading(heading: Heading, state: DocxState, position: BlockPosition) -> str:
    rtl = _is_rtl(heading.content)
    level = min(max(heading.level, 1), 6)
    number, name = state.next_id(), state.bookmark_name(heading.anchor)
    inside = write_inlines(heading.content, state, rtl=rtl, width=position.width)
    return (
        f"<w:p>{_paragraph_properties(f'Heading{level}', position, rtl=rtl)}{_mark_xml(position.mark, state)}"
        f'<w:bookmarkStart w:id="{number}" w:name="{name}"/>{inside}<w:bookmarkEnd w:id="{number}"/></w:p>'
    )


def _is_rtl(content: Sequence[Inline]) -> bool:
    text = plain_text(content)
    return not text.isascii() and is_right_to_left(text)


def _paragraph_properties(style: str, position: BlockPosition, *, rtl: bool = False, left: int | None = None) -> str:
    """The properties in the order of the schema, which Word requires."""
    mark = position.mark
    indent = position.left if left is None else left
    hanging = f' w:hanging="{INDENT_STEP}"' if mark else ""
    is_listed = style == "ListParagraph"
    inside = "".join(
        (
            f'<w:pStyle w:val="{style}"/>' if style else "",
            f'<w:numPr><w:ilvl w:val="{mark.level}"/><w:numId w:val="{mark.count}"/></w:numPr>'
            if mark and mark.count
            else "",
            _QUOTE_BORDER if position.quoted and style != "SourceCode" else "",
            "<w:bidi/>" if rtl else "",
            '<w:spacing w:after="140"/>' if is_listed and position.ends else "",
            f'<w:ind w:left="{indent}"{hanging}/>' if indent or hanging else "",
            '<w:contextualSpacing w:val="0"/>' if is_listed and (position.loose or position.ends) else "",
        )
    )
    return f"<w:pPr>{inside}</w:pPr>" if inside else ""


# Lists --------------------------------------------------------------------------------------------------------


def _items(block: Bullets | Numbers, state: DocxState, position: BlockPosition) -> list[tuple[Block, BlockPosition]]:
    """The blocks of all items. The first block of an item has the mark; an empty paragraph is inserted if it cannot."""
    level = min(position.level + 1, MAX_LEVEL)
    inner = replace(
        position,
        level=position.level + 1,
        left=min(position.left + INDENT_STEP, _MAX_INDENT),
        loose=not block.tight,
        ends=False,
        mark=None,
    )
    count = state.lists.add_numbering(block.start, level) if isinstance(block, Numbers) else BULLET_NUM_ID
    parts: list[tuple[Block, BlockPosition]] = []
    for number, item in enumerate(block.items, block.start if isinstance(block, Numbers) else 0):
        first = replace(inner, mark=_mark_of(item, count, level, number))
        content = item.content
        if not content or not isinstance(content[0], (Paragraph, Heading)):
            content = (Paragraph(()), *content)
        parts.append((content[0], first))
        parts += ((part, inner) for part in content[1:])
    if parts and (position.level < 0 or position.ends):
        parts[-1] = parts[-1][0], replace(parts[-1][1], ends=True)
    return parts


def _mark_of(item: Item, count: int | None, level: int, number: int) -> ParagraphMark:
    if item.checked is not None:
        return ParagraphMark(TASK_NUM_ID, level, checked=item.checked)
    return ParagraphMark(0, level, label=f"{number}.") if count is None else ParagraphMark(count, level)


def _mark_xml(mark: ParagraphMark | None, state: DocxState) -> str:
    if mark is None:
        return ""
    if mark.checked is not None:
        return _checkbox(state.next_id(), checked=mark.checked)
    return run(f"{mark.label}\t", RunFormat()) if mark.label else ""


def _checkbox(number: int, *, checked: bool) -> str:
    """A check box in Word, and a character in other programs."""
    font = '<w:rFonts w:ascii="MS Gothic" w:eastAsia="MS Gothic" w:hAnsi="MS Gothic" w:hint="eastAsia"/>'
    return (
        f'<w:sdt><w:sdtPr><w:id w:val="{number}"/><w14:checkbox><w14:checked w14:val="{int(checked)}"/>'
        '<w14:checkedState w14:val="2612" w14:font="MS Gothic"/>'
        '<w14:uncheckedState w14:val="2610" w14:font="MS Gothic"/></w14:checkbox></w:sdtPr><w:sdtContent>'
        f"<w:r><w:rPr>{font}</w:rPr><w:t>{'☒' if checked else '☐'}</w:t></w:r></w:sdtContent></w:sdt>"
        "<w:r><w:tab/></w:r>"
    )


# Tables with notes, code and formulas -------------------------------------------------------------------------


def _table_with_note(block: Table, state: DocxState, position: BlockPosition) -> str:
    table = write_table(block, state, left=position.left, width=position.width)
    if block.left_out:
        state.warn(f"{block.left_out:,} rows of a table are left out: a document shows {MAX_TABLE_ROWS:,} at most.")
        words = omitted_rows_note(state.document.language, block.left_out)
        return f"{table}<w:p>{_paragraph_properties('AfterTable', position)}{run(words, RunFormat(italic=True))}</w:p>"
    # Word joins two tables without a paragraph between them.
    return table + _AFTER_TABLE


def _code(lines: Sequence[str], position: BlockPosition) -> str:
    properties = _paragraph_properties(
        "SourceCode", replace(position, mark=None), left=position.left + 113 if position.left else None
    )
    return "".join(
        f"<w:p>{properties}{'<w:r><w:br/></w:r>'.join(lines[start : start + _MAX_PARAGRAPH_CODE_LINES])}</w:p>"
        for start in range(0, len(lines), _MAX_PARAGRAPH_CODE_LINES)
    )


def _formula(latex: str, state: DocxState, position: BlockPosition) -> str:
    omml = latex_to_omml(latex, display=True)
    if omml is not None:
        return f"<w:p>{_paragraph_properties('Formula', position)}{omml}</w:p>"
    state.warn(formula_warning(latex))
    return _code(highlight_code(latex, ""), position)


try:
    from pygments import lexers as _lexers
    from pygments.util import ClassNotFound
except ImportError:
    # Code is then not highlighted.
    _lexers, ClassNotFound = None, LookupError

lexers: Any = _lexers
"""`Any`, because the library is only partly typed."""

_MAX_CODE_CHARS = 30_000
_MAX_LINE_CHARS = 2_000
# Repetitions that no code has: many lexers take quadratic time or worse for them.
_REPEATED = re.compile(r"(\S{1,4})\1{100}|\s{200}")

_TOKEN_FORMATS = {
    "Comment": RunFormat(colour="5F6B76", italic=True),
    "Keyword": RunFormat(colour="8A2094"),
    "Name.Builtin": RunFormat(colour="0B5CAD"),
    "Name.Function": RunFormat(colour="0B5CAD"),
    "Name.Class": RunFormat(colour="0B5CAD"),
    "Name.Tag": RunFormat(colour="8A2094"),
    "Name.Attribute": RunFormat(colour="7A4E00"),
    "Name.Decorator": RunFormat(colour="7A4E00"),
    "Literal.String": RunFormat(colour="1B6E2B"),
    "Literal.Number": RunFormat(colour="A03A00"),
    "Operator.Word": RunFormat(colour="8A2094"),
    "Generic.Deleted": RunFormat(colour="A31515"),
    "Generic.Inserted": RunFormat(colour="1B6E2B"),
    "Generic.Heading": RunFormat(bold=True),
    "Generic.Subheading": RunFormat(bold=True),
}
_PLAIN = RunFormat()


def highlight_code(text: str, language: str) -> list[str]:
    """The runs of each line."""
    lines: list[str] = []
    inside: list[str] = []
    for run_format, piece in _tokenize(text, language):
        first, *others = piece.split("\n")
        if first:
            inside.append(run(first, run_format))
        for other in others:
            lines.append("".join(inside))
            inside = [run(other, run_format)] if other else []
    return [*lines, "".join(inside)]


def _tokenize(text: str, language: str) -> list[tuple[RunFormat, str]]:
    """The tokens of a code, joined where neighbours have the same format."""
    lexer = _lexer(language) if language and _should_highlight(text) else None
    if lexer is None:
        return [(_PLAIN, text)]
    tokens: list[tuple[RunFormat, str]] = []
    for _, kind, piece in lexer.get_tokens_unprocessed(text):
        run_format = _token_format(kind)
        # A space has no colour, and joins the token before it.
        if tokens and (run_format == tokens[-1][0] or piece.isspace()):
            tokens[-1] = tokens[-1][0], tokens[-1][1] + piece
        else:
            tokens.append((run_format, piece))
    return tokens


def _should_highlight(text: str) -> bool:
    """Whether the code is short and varied enough, as code in reports is, for a lexer to be fast."""
    if len(text) > _MAX_CODE_CHARS or _REPEATED.search(text):
        return False
    return max(map(len, text.split("\n"))) <= _MAX_LINE_CHARS


@cache
def _lexer(language: str) -> Any | None:
    try:
        return lexers.get_lexer_by_name(language) if lexers else None
    except ClassNotFound:
        return None


@cache
def _token_format(kind: Any) -> RunFormat:
    """The format of a kind of token, or of the nearest parent kind that has one."""
    names = str(kind).removeprefix("Token.").split(".")
    for length in range(len(names), 0, -1):
        run_format = _TOKEN_FORMATS.get(".".join(names[:length]))
        if run_format is not None:
            return run_format
    return _PLAIN


# Tables: the head is repeated on each page, columns are as wide as their content needs --------------------------------

_MAX_COLUMNS = 63
"""The limit of Word for a table."""

_SAMPLE = 200
"""Rows by which column widths are estimated."""

_MARGINS = 230
_MIN_CELL_WIDTH = 200
"""In twips: the margins of both sides of a cell, and its whole width."""

_WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")
_MIN_WORD_CHARS = 4
_SHORT_WORD = 9
_MAX_WORD_CHARS = 28
_MAX_COLUMN_CHARS = 60

_WORD_AFTER = {"left": "right", "right": "left", "center": "center"}
_STYLES = ((12, "TableTextSmallest", 84), (7, "TableTextSmaller", 100), (0, "TableText", 110))
"""By the number of columns, with the width of a letter in twips."""


def write_table(table: Table, state: DocxState, *, left: int, width: int) -> str:
    """`left` is the indent, `width` the available width, both in twips."""
    columns = max(len(table.head), *(len(row) for row in table.rows), 0) if table.rows else len(table.head)
    return "".join(
        _part(table, range(start, min(start + _MAX_COLUMNS, columns)), state, left=left, width=width)
        for start in range(0, columns, _MAX_COLUMNS)
    )


def _part(table: Table, columns: range, state: DocxState, *, left: int, width: int) -> str:
    style, letter = next((name, letter) for min_columns, name, letter in _STYLES if len(columns) >= min_columns)
    widths = _column_widths(table, columns, width, letter)
    alignments: list[Alignment] = [
        table.alignments[column] if column < len(table.alignments) else None for column in columns
    ]
    openings = [
        f'<w:tc><w:tcPr><w:tcW w:w="{wide}" w:type="dxa"/></w:tcPr><w:p><w:pPr><w:pStyle w:val="{style}"/>'
        for wide in widths
    ]
    cells = tuple(zip(openings, alignments, columns, widths, strict=True))

    def row(content: Sequence[tuple[Inline, ...]]) -> str:
        return "".join(
            opening + _cell(content[column] if column < len(content) else (), alignment, state, wide - _MARGINS)
            for opening, alignment, column, wide in cells
        )

    grid = "".join(f'<w:gridCol w:w="{width}"/>' for width in widths)
    rows = "".join(f"<w:tr><w:trPr><w:cantSplit/></w:trPr>{row(content)}</w:tr>" for content in table.rows)
    return (
        f'<w:tbl><w:tblPr><w:tblStyle w:val="ReportTable"/>{"<w:bidiVisual/>" if _is_rtl_table(table) else ""}'
        f'<w:tblW w:w="{sum(widths)}" w:type="dxa"/><w:tblInd w:w="{left}" w:type="dxa"/><w:tblLayout w:type="fixed"/>'
        '<w:tblLook w:val="0420" w:firstRow="1" w:lastRow="0" w:firstColumn="0" w:lastColumn="0" w:noHBand="0" '
        f'w:noVBand="1"/></w:tblPr><w:tblGrid>{grid}</w:tblGrid>'
        f"<w:tr><w:trPr><w:cantSplit/><w:tblHeader/></w:trPr>{row(table.head)}</w:tr>{rows}</w:tbl>"
    )


def _is_rtl_table(table: Table) -> bool:
    """Whether the first column is the rightmost, by the direction of the head."""
    return is_right_to_left(" ".join(map(plain_text, table.head)))


def _cell(content: tuple[Inline, ...], alignment: Alignment, state: DocxState, width: int) -> str:
    """The XML after the opening tags of a cell, its paragraph and the properties of that."""
    rtl = bool(content) and is_right_to_left(plain_text(content))
    # In a right-to-left paragraph, `left` in Word means the beginning of the line.
    side = _WORD_AFTER[alignment] if alignment and rtl else alignment
    properties = ("<w:bidi/>" if rtl else "") + (f'<w:jc w:val="{side}"/>' if side else "")
    return f"{properties}</w:pPr>{write_inlines(content, state, rtl=rtl, width=max(width, 300))}</w:p></w:tc>"


def _column_widths(table: Table, columns: range, available: int, letter: int) -> list[int]:
    """As in browsers: all on one line if there is room; otherwise each column has at least its longest word. Long words
    are broken before short ones, and before columns with much text have no room left."""
    rows = (table.head, *table.rows[:_SAMPLE])
    words: list[int] = []
    lines: list[int] = []
    for column in columns:
        texts = [plain_text(row[column]) for row in rows if column < len(row)]
        words.append(
            max(
                max((_unbreakable_width(word) for text in texts for word in text.split()), default=0) + 1,
                _MIN_WORD_CHARS,
            )
        )
        lines.append(min(max(map(_text_width, texts), default=0) + 1, _MAX_COLUMN_CHARS))
    max_word = _MAX_WORD_CHARS
    while (
        max_word > _MIN_WORD_CHARS
        and sum(min(word, max_word) * letter + _MARGINS for word in words) > available * 3 // 4
    ):
        max_word -= 1
    minimum = [min(word, max_word) * letter + _MARGINS for word in words]
    maximum = [max(low, line * letter + _MARGINS) for low, line in zip(minimum, lines, strict=True)]
    if sum(maximum) <= available:
        return maximum
    if sum(minimum) >= available:
        return [max(_MIN_CELL_WIDTH, width * available // sum(minimum)) for width in minimum]
    spare, missing = available - sum(minimum), sum(maximum) - sum(minimum)
    return [low + (high - low) * spare // missing for low, high in zip(minimum, maximum, strict=True)]


def _unbreakable_width(word: str) -> int:
    """Scripts without spaces, such as Chinese and Thai, may be broken nearly anywhere."""
    return min(_text_width(word), _SHORT_WORD) if _WITHOUT_SPACES.search(word) else _text_width(word)


def _text_width(text: str) -> int:
    """The width of a text in Latin letters."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
