"""The blocks of a document, one after the other, as paragraphs and tables. No block is too deep: nothing recurs."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from footnote.documents.labels import omitted_rows_note
from footnote.documents.markdown.inlines import plain_text
from footnote.documents.markdown.parsing import MAX_TABLE_ROWS
from footnote.documents.out.docx import lists
from footnote.documents.out.docx.formulas import latex_to_omml
from footnote.documents.out.docx.highlight import highlight_code
from footnote.documents.out.docx.inlines import formula_warning, write_inlines
from footnote.documents.out.docx.markup import RunFormat, run
from footnote.documents.out.docx.state import DocxState
from footnote.documents.out.docx.tables import write_table
from footnote.documents.scripts import is_right_to_left
from footnote.documents.tree import (
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
"""Of A4 between margins of 25 mm, in twips."""

_MAX_INDENT = TEXT_WIDTH // 2
_QUOTE_INDENT = 340
_MAX_PARAGRAPH_CODE_LINES = 100
"""Of one paragraph: Word is slow with endless ones."""

_QUOTE_BORDER = '<w:pBdr><w:left w:val="single" w:sz="18" w:space="10" w:color="C3CAD3"/></w:pBdr>'
_AFTER_TABLE = '<w:p><w:pPr><w:pStyle w:val="AfterTable"/></w:pPr></w:p>'


class ParagraphMark(Struct, frozen=True):
    """What stands before an item: of a list that Word counts, or `label` where it cannot."""

    count: int
    level: int
    label: str = ""
    checked: bool | None = None


class BlockPosition(Struct, frozen=True):
    """Where a block stands. `left`: how far in, in twips. `level`: of the list around it, from 0; -1: none. `style`: of
    a plain paragraph. `loose`: its list has space between the items; `ends`: the list ends with it. `begins`: what
    comes before the words of a paragraph."""

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


def write_blocks(blocks: Iterable[Block], state: DocxState, place: BlockPosition | None = None) -> str:
    made: list[str] = []
    waiting: list[tuple[Block, BlockPosition]] = [
        (block, place or BlockPosition()) for block in reversed(tuple(blocks))
    ]
    while waiting:
        block, place = waiting.pop()
        match block:
            case Paragraph(content):
                made.append(_paragraph(content, state, place))
            case Heading():
                made.append(_heading(block, state, place))
            case Bullets() | Numbers():
                waiting += reversed(_items(block, state, place))
            case Quotation(content):
                inner = replace(place, style="Quote", quoted=True, left=min(place.left + _QUOTE_INDENT, _MAX_INDENT))
                waiting += ((part, inner) for part in reversed(content))
            case Table():
                made.append(_table_with_note(block, state, place))
            case CodeBlock(text, language):
                made.append(_code(highlight_code(text, language), place))
            case MathsBlock(latex):
                made.append(_formula(latex, state, place))
            case ThematicBreak():
                made.append(f"<w:p>{_paragraph_properties('Rule', place)}</w:p>")
    return "".join(made)


def _paragraph(content: Sequence[Inline], state: DocxState, place: BlockPosition) -> str:
    rtl = _is_rtl(content)
    style = "ListParagraph" if place.level >= 0 and place.style in ("", "Quote") else place.style
    inside = write_inlines(content, state, rtl=rtl, width=place.width)
    return (
        f"<w:p>{_paragraph_properties(style, place, rtl=rtl)}{place.begins}{_mark_xml(place.mark, state)}{inside}</w:p>"
    )


def _heading(heading: Heading, state: DocxState, place: BlockPosition) -> str:
    rtl = _is_rtl(heading.content)
    level = min(max(heading.level, 1), 6)
    number, name = state.next_id(), state.bookmark_name(heading.anchor)
    inside = write_inlines(heading.content, state, rtl=rtl, width=place.width)
    return (
        f"<w:p>{_paragraph_properties(f'Heading{level}', place, rtl=rtl)}{_mark_xml(place.mark, state)}"
        f'<w:bookmarkStart w:id="{number}" w:name="{name}"/>{inside}<w:bookmarkEnd w:id="{number}"/></w:p>'
    )


def _is_rtl(content: Sequence[Inline]) -> bool:
    said = plain_text(content)
    return not said.isascii() and is_right_to_left(said)


def _paragraph_properties(style: str, place: BlockPosition, *, rtl: bool = False, left: int | None = None) -> str:
    """Of a paragraph, in the order of the schema."""
    mark = place.mark
    indent = place.left if left is None else left
    hanging = f' w:hanging="{lists.INDENT_STEP}"' if mark else ""
    listed = style == "ListParagraph"
    inside = "".join(
        (
            f'<w:pStyle w:val="{style}"/>' if style else "",
            f'<w:numPr><w:ilvl w:val="{mark.level}"/><w:numId w:val="{mark.count}"/></w:numPr>'
            if mark and mark.count
            else "",
            _QUOTE_BORDER if place.quoted and style != "SourceCode" else "",
            "<w:bidi/>" if rtl else "",
            '<w:spacing w:after="140"/>' if listed and place.ends else "",
            f'<w:ind w:left="{indent}"{hanging}/>' if indent or hanging else "",
            '<w:contextualSpacing w:val="0"/>' if listed and (place.loose or place.ends) else "",
        )
    )
    return f"<w:pPr>{inside}</w:pPr>" if inside else ""


# Lists --------------------------------------------------------------------------------------------------------


def _items(block: Bullets | Numbers, state: DocxState, place: BlockPosition) -> list[tuple[Block, BlockPosition]]:
    """The blocks of all items. The first one of each has the mark; a mark stands alone where there is none."""
    level = min(place.level + 1, lists.MAX_LEVEL)
    inner = replace(
        place,
        level=place.level + 1,
        left=min(place.left + lists.INDENT_STEP, _MAX_INDENT),
        loose=not block.tight,
        ends=False,
        mark=None,
    )
    count = state.lists.add_numbering(block.start, level) if isinstance(block, Numbers) else lists.BULLET_NUM_ID
    parts: list[tuple[Block, BlockPosition]] = []
    for number, item in enumerate(block.items, block.start if isinstance(block, Numbers) else 0):
        first = replace(inner, mark=_mark_of(item, count, level, number))
        content = item.content
        if not content or not isinstance(content[0], (Paragraph, Heading)):
            content = (Paragraph(()), *content)
        parts.append((content[0], first))
        parts += ((part, inner) for part in content[1:])
    if parts and (place.level < 0 or place.ends):
        parts[-1] = parts[-1][0], replace(parts[-1][1], ends=True)
    return parts


def _mark_of(item: Item, count: int | None, level: int, number: int) -> ParagraphMark:
    if item.checked is not None:
        return ParagraphMark(lists.TASK_NUM_ID, level, checked=item.checked)
    return ParagraphMark(0, level, label=f"{number}.") if count is None else ParagraphMark(count, level)


def _mark_xml(mark: ParagraphMark | None, state: DocxState) -> str:
    if mark is None:
        return ""
    if mark.checked is not None:
        return _checkbox(state.next_id(), checked=mark.checked)
    return run(f"{mark.label}\t", RunFormat()) if mark.label else ""


def _checkbox(number: int, *, checked: bool) -> str:
    """A box that can be ticked in Word, and is a sign elsewhere."""
    font = '<w:rFonts w:ascii="MS Gothic" w:eastAsia="MS Gothic" w:hAnsi="MS Gothic" w:hint="eastAsia"/>'
    return (
        f'<w:sdt><w:sdtPr><w:id w:val="{number}"/><w14:checkbox><w14:checked w14:val="{int(checked)}"/>'
        '<w14:checkedState w14:val="2612" w14:font="MS Gothic"/>'
        '<w14:uncheckedState w14:val="2610" w14:font="MS Gothic"/></w14:checkbox></w:sdtPr><w:sdtContent>'
        f"<w:r><w:rPr>{font}</w:rPr><w:t>{'☒' if checked else '☐'}</w:t></w:r></w:sdtContent></w:sdt>"
        "<w:r><w:tab/></w:r>"
    )


# The rest -----------------------------------------------------------------------------------------------------


def _table_with_note(block: Table, state: DocxState, place: BlockPosition) -> str:
    made = write_table(block, state, left=place.left, width=place.width)
    if block.left_out:
        state.warn(f"{block.left_out:,} rows of a table are left out: a document shows {MAX_TABLE_ROWS:,} at most.")
        words = omitted_rows_note(state.document.language, block.left_out)
        return f"{made}<w:p>{_paragraph_properties('AfterTable', place)}{run(words, RunFormat(italic=True))}</w:p>"
    # Two tables without a paragraph between them would be one.
    return made + _AFTER_TABLE


def _code(lines: Sequence[str], place: BlockPosition) -> str:
    properties = _paragraph_properties(
        "SourceCode", replace(place, mark=None), left=place.left + 113 if place.left else None
    )
    return "".join(
        f"<w:p>{properties}{'<w:r><w:br/></w:r>'.join(lines[start : start + _MAX_PARAGRAPH_CODE_LINES])}</w:p>"
        for start in range(0, len(lines), _MAX_PARAGRAPH_CODE_LINES)
    )


def _formula(latex: str, state: DocxState, place: BlockPosition) -> str:
    made = latex_to_omml(latex, display=True)
    if made is not None:
        return f"<w:p>{_paragraph_properties('Formula', place)}{made}</w:p>"
    state.warn(formula_warning(latex))
    return _code(highlight_code(latex, ""), place)
