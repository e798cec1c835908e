"""What stands inside a paragraph: runs of text, links, pictures, formulas and the marks of notes."""

from collections.abc import Sequence

from msgspec.structs import replace

from footnote.documents.docx.formulas import formula
from footnote.documents.docx.markup import PIC, A, Look, attribute, run, runs
from footnote.documents.docx.media import EMU_PER_PIXEL, PIXEL, Shown, fitted
from footnote.documents.docx.writing import Writing
from footnote.documents.tree import (
    Break,
    Code,
    Emphasis,
    Inline,
    Link,
    Maths,
    NoteMark,
    Picture,
    Strike,
    Strong,
    Text,
)
from footnote.sandbox.jobs import Refused

_TALLEST = 12_500
"""Twips: a little less than the text of a page is high."""

_LONGEST_NAMED = 60


def line(content: Sequence[Inline], writing: Writing, *, rtl: bool, width: int, look: Look | None = None) -> str:
    """`width`: of the space for it, in twips, which pictures must not exceed."""
    made: list[str] = []
    waiting: list[tuple[Inline | str, Look]] = [(inline, look or Look()) for inline in reversed(content)]
    marked = False
    while waiting:
        inline, look = waiting.pop()
        if marked and isinstance(inline, NoteMark):
            made.append(_raised(","))
        marked = isinstance(inline, NoteMark)
        match inline:
            case str():
                made.append(inline)
            case Text(text):
                made.append(runs(text.replace("\n", " "), look, rtl=rtl))
            case Code(text):
                made.append(runs(text.replace("\n", " "), replace(look, code=True), rtl=False))
            case Break():
                made.append("<w:r><w:br/></w:r>")
            case NoteMark(key):
                made.append(_mark(key, writing))
            case Picture():
                made.append(_picture(inline, look, writing, rtl=rtl, width=width))
            case Maths(latex):
                made.append(_formula(latex, look, writing))
            case _:
                waiting += _inside(inline, look, writing)
    return "".join(made)


def _inside(inline: Emphasis | Strong | Strike | Link, look: Look, writing: Writing) -> list[tuple[Inline | str, Look]]:
    """What is still to be written, the last part first."""
    match inline:
        case Emphasis():
            look = replace(look, italic=True)
        case Strong():
            look = replace(look, bold=True)
        case Strike():
            look = replace(look, strike=True)
        case Link(url):
            opening = None if look.link else _opening(url, writing)
            if opening is not None:
                look = replace(look, link=True)
                inside = [(part, look) for part in reversed(inline.content)]
                return [("</w:hyperlink>", look), *inside, (opening, look)]
    return [(part, look) for part in reversed(inline.content)]


def _opening(url: str, writing: Writing) -> str | None:
    if url.startswith("#"):
        return f'<w:hyperlink w:anchor="{writing.bookmark(url[1:])}" w:history="1">'
    relation = writing.relations.link(url)
    if relation is None:
        writing.remark(
            f"The address {_named(url)} is not one that Word can open: its words are shown without the link."
        )
        return None
    return f'<w:hyperlink r:id="{relation}" w:history="1">'


def _named(text: str) -> str:
    return text if len(text) <= _LONGEST_NAMED else f"{text[:_LONGEST_NAMED]}…"


def _formula(latex: str, look: Look, writing: Writing) -> str:
    made = formula(latex)
    if made is not None:
        return made
    writing.remark(not_written(latex))
    return run(" ".join(latex.split()), replace(look, code=True))


def not_written(latex: str) -> str:
    return f"The formula {_named(' '.join(latex.split()))} could not be set: its source is shown."


# Notes --------------------------------------------------------------------------------------------------------


def _mark(key: str, writing: Writing) -> str:
    content = writing.document.notes.get(key)
    if content is None:
        return ""
    number = writing.note_numbers.get(key)
    label = writing.note_labels.get(key)
    if number is not None:
        return field(f"NOTEREF _Note{number} \\f \\h", _raised(label or str(number)))
    if writing.in_note:
        writing.inner_notes.setdefault(key, content)
        return _raised(f"[{list(writing.inner_notes).index(key) + 1}]")
    number = writing.note_numbers[key] = len(writing.note_numbers) + 1
    bookmark = writing.id()
    # What refers to the same note later does so by this bookmark: Word knows no note with two marks.
    return (
        f'<w:bookmarkStart w:id="{bookmark}" w:name="_Note{number}"/>'
        '<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr>'
        + (
            f'<w:footnoteReference w:customMarkFollows="1" w:id="{number}"/><w:t>{label}</w:t>'
            if label
            else f'<w:footnoteReference w:id="{number}"/>'
        )
        + f'</w:r><w:bookmarkEnd w:id="{bookmark}"/>'
    )


def _raised(text: str) -> str:
    return f'<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr><w:t>{text}</w:t></w:r>'


def field(instruction: str, shown: str) -> str:
    """Something that Word works out; `shown` until it does."""
    return (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f'<w:r><w:instrText xml:space="preserve"> {instruction} </w:instrText></w:r>'
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{shown}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


# Pictures -----------------------------------------------------------------------------------------------------


def _picture(picture: Picture, look: Look, writing: Writing, *, rtl: bool, width: int) -> str:
    shown = writing.media.shown(picture.name)
    if isinstance(shown, Refused):
        writing.remark(f"The picture {_named(picture.name)} {shown.reason}: its description is shown.")
        return runs(picture.alt or picture.name, replace(look, italic=True), rtl=rtl)
    return _drawing(shown, picture.alt, writing, width)


def _drawing(shown: Shown, alt: str, writing: Writing, width: int) -> str:
    pixels = fitted(shown, width // PIXEL, _TALLEST // PIXEL)
    across, down = (size * EMU_PER_PIXEL for size in pixels)
    relation = writing.relations.id_of("image", shown.target)
    number = writing.id()
    # A picture without a description is an ornament, and readers for the blind pass over it.
    named = f'id="{number}" name="Picture {number}" descr="{attribute(alt)}"'
    return (
        f'<w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0"><wp:extent cx="{across}" cy="{down}"/>'
        f"<wp:docPr {named}/><wp:cNvGraphicFramePr>"
        f'<a:graphicFrameLocks xmlns:a="{A}" noChangeAspect="1"/></wp:cNvGraphicFramePr>'
        f'<a:graphic xmlns:a="{A}"><a:graphicData uri="{PIC}"><pic:pic xmlns:pic="{PIC}">'
        f"<pic:nvPicPr><pic:cNvPr {named}/><pic:cNvPicPr/></pic:nvPicPr>"
        f'<pic:blipFill><a:blip r:embed="{relation}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>'
        f'<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="{across}" cy="{down}"/></a:xfrm>'
        '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic>'
        "</wp:inline></w:drawing></w:r>"
    )
