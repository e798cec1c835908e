"""The blocks of a document, one after the other, as paragraphs and tables. No block is too deep: nothing recurs."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from footnote.documents.docx import lists
from footnote.documents.docx.colours import code_lines
from footnote.documents.docx.formulas import formula
from footnote.documents.docx.lines import line, not_written
from footnote.documents.docx.markup import Look, run
from footnote.documents.docx.tables import table
from footnote.documents.docx.writing import Writing
from footnote.documents.markdown.inlines import plain
from footnote.documents.markdown.parsing import MOST_TABLE_ROWS
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
    Rule,
    Table,
)
from footnote.documents.wording import left_out

TEXT_WIDTH = 9070
"""Of A4 between margins of 25 mm, in twips."""

_DEEPEST = TEXT_WIDTH // 2
_QUOTED = 340
_CODE_LINES = 100
"""Of one paragraph: Word is slow with endless ones."""

_QUOTE_BORDER = '<w:pBdr><w:left w:val="single" w:sz="18" w:space="10" w:color="C3CAD3"/></w:pBdr>'
_AFTER_TABLE = '<w:p><w:pPr><w:pStyle w:val="AfterTable"/></w:pPr></w:p>'


class Mark(Struct, frozen=True):
    """What stands before an item: of a list that Word counts, or `label` where it cannot."""

    count: int
    level: int
    label: str = ""
    checked: bool | None = None


class Place(Struct, frozen=True):
    """Where a block stands. `left`: how far in, in twips. `level`: of the list around it, from 0; -1: none. `style`: of
    a plain paragraph. `loose`: its list has space between the items; `ends`: the list ends with it. `begins`: what
    comes before the words of a paragraph."""

    style: str = ""
    left: int = 0
    level: int = -1
    quoted: bool = False
    mark: Mark | None = None
    loose: bool = False
    ends: bool = False
    begins: str = ""

    @property
    def width(self) -> int:
        return TEXT_WIDTH - self.left


def written(blocks: Iterable[Block], writing: Writing, place: Place | None = None) -> str:
    made: list[str] = []
    waiting: list[tuple[Block, Place]] = [(block, place or Place()) for block in reversed(tuple(blocks))]
    while waiting:
        block, place = waiting.pop()
        match block:
            case Paragraph(content):
                made.append(_paragraph(content, writing, place))
            case Heading():
                made.append(_heading(block, writing, place))
            case Bullets() | Numbers():
                waiting += reversed(_items(block, writing, place))
            case Quotation(content):
                inner = replace(place, style="Quote", quoted=True, left=min(place.left + _QUOTED, _DEEPEST))
                waiting += ((part, inner) for part in reversed(content))
            case Table():
                made.append(_table(block, writing, place))
            case CodeBlock(text, language):
                made.append(_code(code_lines(text, language), place))
            case MathsBlock(latex):
                made.append(_formula(latex, writing, place))
            case Rule():
                made.append(f"<w:p>{_properties('Rule', place)}</w:p>")
    return "".join(made)


def _paragraph(content: Sequence[Inline], writing: Writing, place: Place) -> str:
    rtl = _is_rtl(content)
    style = "ListParagraph" if place.level >= 0 and place.style in ("", "Quote") else place.style
    inside = line(content, writing, rtl=rtl, width=place.width)
    return f"<w:p>{_properties(style, place, rtl=rtl)}{place.begins}{_before(place.mark, writing)}{inside}</w:p>"


def _heading(heading: Heading, writing: Writing, place: Place) -> str:
    rtl = _is_rtl(heading.content)
    level = min(max(heading.level, 1), 6)
    number, name = writing.id(), writing.bookmark(heading.anchor)
    inside = line(heading.content, writing, rtl=rtl, width=place.width)
    return (
        f"<w:p>{_properties(f'Heading{level}', place, rtl=rtl)}{_before(place.mark, writing)}"
        f'<w:bookmarkStart w:id="{number}" w:name="{name}"/>{inside}<w:bookmarkEnd w:id="{number}"/></w:p>'
    )


def _is_rtl(content: Sequence[Inline]) -> bool:
    said = plain(content)
    return not said.isascii() and is_right_to_left(said)


def _properties(style: str, place: Place, *, rtl: bool = False, left: int | None = None) -> str:
    """Of a paragraph, in the order of the schema."""
    mark = place.mark
    indent = place.left if left is None else left
    hanging = f' w:hanging="{lists.STEP}"' if mark else ""
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


def _items(block: Bullets | Numbers, writing: Writing, place: Place) -> list[tuple[Block, Place]]:
    """The blocks of all items. The first one of each has the mark; a mark stands alone where there is none."""
    level = min(place.level + 1, lists.DEEPEST)
    inner = replace(
        place,
        level=place.level + 1,
        left=min(place.left + lists.STEP, _DEEPEST),
        loose=not block.tight,
        ends=False,
        mark=None,
    )
    count = writing.lists.numbered(block.start, level) if isinstance(block, Numbers) else lists.BULLETS
    parts: list[tuple[Block, Place]] = []
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


def _mark_of(item: Item, count: int | None, level: int, number: int) -> Mark:
    if item.checked is not None:
        return Mark(lists.TASKS, level, checked=item.checked)
    return Mark(0, level, label=f"{number}.") if count is None else Mark(count, level)


def _before(mark: Mark | None, writing: Writing) -> str:
    if mark is None:
        return ""
    if mark.checked is not None:
        return _box(writing.id(), checked=mark.checked)
    return run(f"{mark.label}\t", Look()) if mark.label else ""


def _box(number: int, *, checked: bool) -> str:
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


def _table(block: Table, writing: Writing, place: Place) -> str:
    made = table(block, writing, left=place.left, width=place.width)
    if block.left_out:
        writing.remark(
            f"{block.left_out:,} rows of a table are left out: a document shows {MOST_TABLE_ROWS:,} at most."
        )
        words = left_out(writing.document.language, block.left_out)
        return f"{made}<w:p>{_properties('AfterTable', place)}{run(words, Look(italic=True))}</w:p>"
    # Two tables without a paragraph between them would be one.
    return made + _AFTER_TABLE


def _code(lines: Sequence[str], place: Place) -> str:
    properties = _properties("SourceCode", replace(place, mark=None), left=place.left + 113 if place.left else None)
    return "".join(
        f"<w:p>{properties}{'<w:r><w:br/></w:r>'.join(lines[start : start + _CODE_LINES])}</w:p>"
        for start in range(0, len(lines), _CODE_LINES)
    )


def _formula(latex: str, writing: Writing, place: Place) -> str:
    made = formula(latex, display=True)
    if made is not None:
        return f"<w:p>{_properties('Formula', place)}{made}</w:p>"
    writing.remark(not_written(latex))
    return _code(code_lines(latex, ""), place)
