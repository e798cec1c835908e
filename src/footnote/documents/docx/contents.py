"""The table of contents of a long document.

It is a field of Word's, with the headings already in it as links. Word has the page numbers when the reader updates it
(a click on it, or F9). To make Word do that by itself it would have to ask, at each opening of the file, whether it may
update fields "that may refer to other files": no report should begin with that.
"""

from collections.abc import Sequence

from footnote.documents.docx.markup import Look, runs
from footnote.documents.docx.writing import Writing
from footnote.documents.markdown.inlines import plain
from footnote.documents.scripts import is_right_to_left
from footnote.documents.tree import Block, Code, CodeBlock, Heading, Text
from footnote.documents.walk import walk
from footnote.documents.wording import contents_title

_FEWEST_HEADINGS = 8
_FEWEST_LETTERS = 9000
"""What makes a table of contents worth its place."""

_MOST_ENTRIES = 100
_LONGEST_ENTRY = 200
_DEEPEST = 3
"""Levels."""


def place_of(blocks: Sequence[Block]) -> int:
    """Behind how many blocks it stands: after the title, if the document begins with one."""
    first = blocks[0] if blocks else None
    return 1 if isinstance(first, Heading) and first.level == 1 else 0


def table_of_contents(blocks: Sequence[Block], writing: Writing) -> str:
    """Empty, if the document is short."""
    headings = [block for block in blocks[place_of(blocks) :] if isinstance(block, Heading)]
    if len(headings) < _FEWEST_HEADINGS or _letters(blocks) < _FEWEST_LETTERS:
        return ""
    # One heading of the first level is a title; those below it are the chapters.
    top = min(heading.level for heading in headings)
    bottom = min(top + _DEEPEST - 1, 6)
    while bottom > top and sum(1 for heading in headings if heading.level <= bottom) > _MOST_ENTRIES:
        bottom -= 1
    listed = [heading for heading in headings if heading.level <= bottom]
    title = contents_title(writing.document.language)
    instruction = f'TOC \\o "{top}-{bottom}" \\h \\z \\u'
    begin = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f'<w:r><w:instrText xml:space="preserve"> {instruction} </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
    )
    entries = [_entry(heading, writing, begin if not at else "") for at, heading in enumerate(listed)]
    return (
        '<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/><w:docPartUnique/></w:docPartObj>'
        f"</w:sdtPr><w:sdtContent>{_paragraph('TOCHeading', title, '', '', '')}{''.join(entries)}"
        '<w:p><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p></w:sdtContent></w:sdt>'
    )


def _letters(blocks: Sequence[Block]) -> int:
    return sum(len(part.text) for part in walk(blocks) if isinstance(part, Text | Code | CodeBlock))


def _entry(heading: Heading, writing: Writing, begin: str) -> str:
    words = " ".join(plain(heading.content).split())[:_LONGEST_ENTRY]
    link = f'<w:hyperlink w:anchor="{writing.bookmark(heading.anchor)}" w:history="1">'
    return _paragraph(f"TOC{heading.level}", words, begin, link, "</w:hyperlink>")


def _paragraph(style: str, words: str, begin: str, opening: str, closing: str) -> str:
    rtl = is_right_to_left(words)
    properties = f'<w:pPr><w:pStyle w:val="{style}"/>{"<w:bidi/>" if rtl else ""}</w:pPr>'
    return f"<w:p>{properties}{begin}{opening}{runs(words, Look(), rtl=rtl)}{closing}</w:p>"
