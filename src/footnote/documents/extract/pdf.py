"""The text of a PDF: paragraphs composed of lines, page by page."""

import re
from collections import Counter
from itertools import pairwise
from typing import Any

import pypdfium2  # pyright: ignore[reportMissingTypeStubs] - it has none
from msgspec import Struct

from footnote.documents.extract import MAX_CHARACTERS, ExtractedPage, UnreadableDocument
from footnote.documents.extract.notation import SUPERSCRIPT_DIGITS
from footnote.documents.extract.pdf_layout import (
    BROKEN_WORD,
    RIGHT_TO_LEFT,
    GlyphRow,
    Glyphs,
    mark_superscripts,
    page_rows,
    raw,
)

MAX_PAGES = 500
_SENTENCE_END_CHARS = (".", "!", "?", "。", "！", "？")

_WIDE = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")
_SPACES = re.compile(r"[ \t\u00a0\u2000-\u200a\u202f]+")
_INVISIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\ufeff\uffff]")
_DIGITS = re.compile(r"\d+")
_BULLET = re.compile(r"(?:[•●◦▪■‣∙\u2013\u2014*-]|\(?\d{1,2}[.)]|\(?[a-z][.)])\s+\S")
_NOTE = re.compile(rf"[{SUPERSCRIPT_DIGITS}]+\s?\S")
_BULLET_SIGN = re.compile(r"[•●◦▪■‣∙]\s*")
_SENTENCE_END = re.compile(r"[.!?:;\u3002\uff01\uff1f\uff1a\uff1b\u2026][\"'\u201d\u2019)\]»\u300d\u300f]*$")
_DATE = re.compile(r"D?:?((?:19|20)\d\d)(0[1-9]|1[0-2])?(0[1-9]|[12]\d|3[01])?")
_PLACEHOLDER_TITLE = re.compile(
    r"(?:untitled|title|document\s*\d*|microsoft word\b.*|slide \d+|powerpoint presentation|\S+\.[a-z]{2,5})$",
    re.IGNORECASE,
)
_PRODUCER_PREFIX = re.compile(r"^Microsoft (?:Word|PowerPoint|Excel) - ", re.IGNORECASE)


class _TextLine(Struct):
    text: str
    left: float
    right: float
    bottom: float
    top: float
    is_rtl: bool = False

    @property
    def height(self) -> float:
        return max(self.top - self.bottom, 0.1)


def read(body: bytes, max_characters: int = MAX_CHARACTERS) -> ExtractedPage:
    """`max_characters` also scales the number of pages that are read."""
    max_pages = MAX_PAGES * max_characters // MAX_CHARACTERS
    document = _open(body)
    try:
        count = len(document)
        pages: list[list[_TextLine]] = []
        size = 0
        while len(pages) < min(count, max_pages) and size <= max_characters:
            pages.append(_lines(document, len(pages)))
            size += sum(len(line.text) for line in pages[-1])
        facts: dict[str, str] = document.get_metadata_dict()
    finally:
        document.close()
    if not size:
        raise UnreadableDocument("empty", "it has no text, only pictures of it")
    return _build_result(pages, facts, max_characters, has_more=len(pages) < count)


def _open(body: bytes) -> Any:
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == raw.FPDF_ERR_PASSWORD:
            raise UnreadableDocument("unreadable", "it is protected by a password") from error
        raise UnreadableDocument("unreadable", "it is broken: no PDF reader can open it") from error
    if not len(document):
        document.close()
        raise UnreadableDocument("unreadable", "it is broken: there is no page in it")
    return document


def _build_result(
    pages: list[list[_TextLine]], facts: dict[str, str], max_characters: int, *, has_more: bool
) -> ExtractedPage:
    _drop_running_lines(pages)
    usual = _usual_height(pages)
    text = ""
    starts: list[int] = []
    for page in pages:
        starts.append(len(text) + 2 if text and page else len(text))
        paragraphs = [_markdown(lines, usual) for lines in _paragraphs(page)]
        if paragraphs:
            text += ("\n\n" if text else "") + "\n\n".join(paragraphs)
    cut = has_more or len(text) > max_characters
    text = text[:max_characters].rstrip()
    return ExtractedPage(
        text=text,
        title=_title(facts.get("Title", ""), pages),
        author=_clean(facts.get("Author", "")) or None,
        published=_date(facts.get("CreationDate", "")) or _date(facts.get("ModDate", "")),
        media_type="application/pdf",
        pages=tuple(min(start, len(text)) for start in starts),
        cut=cut,
    )


def _lines(document: Any, number: int) -> list[_TextLine]:
    """A page that cannot be read counts as empty, since the others may be intact."""
    try:
        page = document[number]
        text = page.get_textpage()
    except pypdfium2.PdfiumError:
        return []
    glyphs = Glyphs(text)
    found = page_rows(glyphs, [raw.FPDFText_GetUnicode(text, index) for index in range(text.count_chars())])
    lines = [line for row in found if (line := _line(glyphs, row))]
    text.close()
    page.close()
    return lines


def _line(glyphs: Glyphs, row: GlyphRow) -> _TextLine | None:
    text, first = mark_superscripts(glyphs, row.indexes, "".join(map(chr, row.letters)))
    text = _clean(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    if not text or row.last is None:
        return None
    left, _, bottom, top = glyphs.box(row.indexes[first])
    _, right, *_ = glyphs.box(row.last)
    if row.is_rtl:
        # Mirrored, so that the beginnings and ends of lines compare as those of left-to-right text.
        boxes = [glyphs.box(index) for index in row.indexes if index >= 0]
        left, right = -max(box[1] for box in boxes), -min(box[0] for box in boxes)
        # A Latin name at the beginning of the line has another font, with another height.
        letter_index = next(
            (index for letter, index in zip(*row[:2], strict=True) if RIGHT_TO_LEFT.match(chr(letter))), row.last
        )
        _, _, bottom, top = glyphs.box(letter_index)
    return _TextLine(text, left, right, bottom, top, row.is_rtl)


def _clean(text: str) -> str:
    return _SPACES.sub(" ", _INVISIBLE.sub("", text)).strip()


def _drop_running_lines(pages: list[list[_TextLine]]) -> None:
    """Removes headers and footers: lines at the edge of most pages that differ in numbers only. On the first page such
    a line may be the title."""
    if len(pages) < 3:
        return
    forms = Counter(form for page in pages for form in {_DIGITS.sub("#", line.text) for line in _edges(page)})
    running = {form for form, count in forms.items() if count >= 3 and count >= 0.4 * len(pages)}
    for page in pages[1:]:
        dropped = [id(line) for line in _edges(page) if _DIGITS.sub("#", line.text) in running]
        page[:] = [line for line in page if id(line) not in dropped] or page


def _edges(page: list[_TextLine]) -> list[_TextLine]:
    by_height = sorted(page, key=lambda line: line.top)
    return by_height if len(page) <= 4 else by_height[:2] + by_height[-2:]


def _usual_height(pages: list[list[_TextLine]]) -> float:
    """The height of most letters; larger lines are headings."""
    heights: Counter[float] = Counter()
    for page in pages:
        for line in page:
            heights[round(line.height, 1)] += len(line.text)
    return max(heights, key=lambda height: heights[height], default=1.0)


def _paragraphs(page: list[_TextLine]) -> list[list[_TextLine]]:
    if not page:
        return []
    paragraphs = [[page[0]]]
    widest = {side: max((line.right for line in page if line.is_rtl is side), default=0.0) for side in (True, False)}
    for above, line in pairwise(page):
        if _begins_paragraph(paragraphs[-1], above, line, widest[line.is_rtl]):
            paragraphs.append([line])
        else:
            paragraphs[-1].append(line)
    return paragraphs


def _begins_paragraph(paragraph: list[_TextLine], above: _TextLine, line: _TextLine, widest: float) -> bool:
    if above.text.endswith(BROKEN_WORD):
        return False
    if above.is_rtl is not line.is_rtl:
        return True
    height = max(above.height, line.height)
    step = (above.top + above.bottom - line.top - line.bottom) / 2
    if step < -height:  # the next column, in which the sentence may go on
        return bool(_SENTENCE_END.search(above.text))
    if height > 1.15 * min(above.height, line.height) or step > 1.9 * height or _is_item_or_note(line.text):
        return True
    if abs(step) < 0.3 * height:  # side by side
        return False
    usual = max(other.right for other in paragraph) if len(paragraph) > 1 else widest
    is_last_line = above.right < usual - 4 * height and _SENTENCE_END.search(above.text)
    is_indented = len(paragraph) > 1 and line.left > above.left + 0.8 * height
    return bool(is_last_line) or is_indented


def _is_item_or_note(text: str) -> bool:
    """An item of a list, or a footnote."""
    return bool(_BULLET.match(text) or _NOTE.match(text))


def _markdown(lines: list[_TextLine], usual: float) -> str:
    text = lines[0].text
    for line in lines[1:]:
        text = _join_lines(text, line.text)
    text = text.replace(BROKEN_WORD, "-").strip()
    height = lines[0].height
    # In a short document most letters may belong to a table in small print: a sentence is then not a heading.
    is_sentence = len(text) > 60 and text.endswith(_SENTENCE_END_CHARS)
    if height > 1.2 * usual and len(text) <= 200 and not is_sentence and any(letter.isalpha() for letter in text):
        return f"{'##' if height > 1.5 * usual else '###'} {text}"
    return _BULLET_SIGN.sub("- ", text, count=1) if _BULLET_SIGN.match(text) else text


def _join_lines(above: str, line: str) -> str:
    if above[-1] in f"-\u00ad{BROKEN_WORD}\u2010" and above[-2:-1].isalpha():
        if line[0].islower():
            return above[:-1] + line
        return above[:-1] + "-" + line
    if _WIDE.match(above[-1]) and _WIDE.match(line[0]):
        return above + line
    return f"{above} {line}"


def _title(declared: str, pages: list[list[_TextLine]]) -> str:
    """The declared title, or else the largest text on the first page that has any."""
    title = _clean(_PRODUCER_PREFIX.sub("", _clean(declared)))
    if title and not _PLACEHOLDER_TITLE.match(title):
        return title[:300]
    paragraphs = _paragraphs(next(page for page in pages if page))
    largest = _markdown(max(paragraphs, key=lambda lines: round(lines[0].height)), float("inf"))
    return largest if len(largest) <= 200 else ""


def _date(declared: str) -> str | None:
    found = _DATE.match(declared.strip())
    return "-".join(part for part in found.groups() if part) if found else None
