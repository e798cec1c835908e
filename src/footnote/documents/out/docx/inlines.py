"""What stands inside a paragraph: runs of text, links, pictures, formulas and the marks of notes."""

from collections.abc import Sequence

from msgspec.structs import replace

from footnote.documents.out.docx.formulas import latex_to_omml
from footnote.documents.out.docx.images import EMU_PER_PIXEL, TWIPS_PER_PIXEL, EmbeddedImage, fit_size
from footnote.documents.out.docx.markup import PIC, A, RunFormat, escape_attribute, run, runs
from footnote.documents.out.docx.state import DocxState
from footnote.documents.tree import (
    Break,
    Code,
    Emphasis,
    Hyperlink,
    Inline,
    Maths,
    NoteMark,
    PlainText,
    Strike,
    Strong,
    TreeImage,
)
from footnote.sandbox.jobs import JobRefused

_MAX_IMAGE_HEIGHT = 12_500
"""Twips: a little less than the text of a page is high."""

_MAX_QUOTED_CHARS = 60


def write_inlines(
    content: Sequence[Inline], state: DocxState, *, rtl: bool, width: int, look: RunFormat | None = None
) -> str:
    """`width`: of the space for it, in twips, which pictures must not exceed."""
    made: list[str] = []
    waiting: list[tuple[Inline | str, RunFormat]] = [(inline, look or RunFormat()) for inline in reversed(content)]
    marked = False
    while waiting:
        inline, look = waiting.pop()
        if marked and isinstance(inline, NoteMark):
            made.append(_superscript_run(","))
        marked = isinstance(inline, NoteMark)
        match inline:
            case str():
                made.append(inline)
            case PlainText(text):
                made.append(runs(text.replace("\n", " "), look, rtl=rtl))
            case Code(text):
                made.append(runs(text.replace("\n", " "), replace(look, code=True), rtl=False))
            case Break():
                made.append("<w:r><w:br/></w:r>")
            case NoteMark(key):
                made.append(_note_mark(key, state))
            case TreeImage():
                made.append(_image(inline, look, state, rtl=rtl, width=width))
            case Maths(latex):
                made.append(_formula(latex, look, state))
            case _:
                waiting += _nested_inlines(inline, look, state)
    return "".join(made)


def _nested_inlines(
    inline: Emphasis | Strong | Strike | Hyperlink, look: RunFormat, state: DocxState
) -> list[tuple[Inline | str, RunFormat]]:
    """What is still to be written, the last part first."""
    match inline:
        case Emphasis():
            look = replace(look, italic=True)
        case Strong():
            look = replace(look, bold=True)
        case Strike():
            look = replace(look, strike=True)
        case Hyperlink(url):
            opening = None if look.link else _hyperlink_start(url, state)
            if opening is not None:
                look = replace(look, link=True)
                inside = [(part, look) for part in reversed(inline.content)]
                return [("</w:hyperlink>", look), *inside, (opening, look)]
    return [(part, look) for part in reversed(inline.content)]


def _hyperlink_start(url: str, state: DocxState) -> str | None:
    if url.startswith("#"):
        return f'<w:hyperlink w:anchor="{state.bookmark_name(url[1:])}" w:history="1">'
    relation = state.relations.link_id(url)
    if relation is None:
        state.warn(f"The address {_shorten(url)} is not one that Word can open: its words are shown without the link.")
        return None
    return f'<w:hyperlink r:id="{relation}" w:history="1">'


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_QUOTED_CHARS else f"{text[:_MAX_QUOTED_CHARS]}…"


def _formula(latex: str, look: RunFormat, state: DocxState) -> str:
    made = latex_to_omml(latex)
    if made is not None:
        return made
    state.warn(formula_warning(latex))
    return run(" ".join(latex.split()), replace(look, code=True))


def formula_warning(latex: str) -> str:
    return f"The formula {_shorten(' '.join(latex.split()))} could not be set: its source is shown."


# Notes --------------------------------------------------------------------------------------------------------


def _note_mark(key: str, state: DocxState) -> str:
    content = state.document.notes.get(key)
    if content is None:
        return ""
    number = state.note_numbers.get(key)
    label = state.note_labels.get(key)
    if number is not None:
        return field(f"NOTEREF _Note{number} \\f \\h", _superscript_run(label or str(number)))
    if state.in_note:
        state.nested_notes.setdefault(key, content)
        return _superscript_run(f"[{list(state.nested_notes).index(key) + 1}]")
    number = state.note_numbers[key] = len(state.note_numbers) + 1
    bookmark = state.next_id()
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


def _superscript_run(text: str) -> str:
    return f'<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr><w:t>{text}</w:t></w:r>'


def field(instruction: str, placeholder: str) -> str:
    """Something that Word works out; `shown` until it does."""
    return (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f'<w:r><w:instrText xml:space="preserve"> {instruction} </w:instrText></w:r>'
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{placeholder}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


# Pictures -----------------------------------------------------------------------------------------------------


def _image(picture: TreeImage, look: RunFormat, state: DocxState, *, rtl: bool, width: int) -> str:
    shown = state.media.image(picture.name)
    if isinstance(shown, JobRefused):
        state.warn(f"The picture {_shorten(picture.name)} {shown.reason}: its description is shown.")
        return runs(picture.alt or picture.name, replace(look, italic=True), rtl=rtl)
    return _drawing(shown, picture.alt, state, width)


def _drawing(image: EmbeddedImage, alt: str, state: DocxState, width: int) -> str:
    pixels = fit_size(image, width // TWIPS_PER_PIXEL, _MAX_IMAGE_HEIGHT // TWIPS_PER_PIXEL)
    across, down = (size * EMU_PER_PIXEL for size in pixels)
    relation = state.relations.id_of("image", image.target)
    number = state.next_id()
    # A picture without a description is an ornament, and readers for the blind pass over it.
    named = f'id="{number}" name="Picture {number}" descr="{escape_attribute(alt)}"'
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
