"""Inline content of paragraphs: runs of text, links, pictures, formulas and the marks of notes."""

from collections.abc import Sequence

from msgspec.structs import replace

from footnote.documents.markdown.notes import is_proof_note
from footnote.documents.out.docx.formulas import latex_to_omml
from footnote.documents.out.docx.markup import PIC, A, RunFormat, escape_attribute, run, runs
from footnote.documents.out.docx.state import EMU_PER_PIXEL, TWIPS_PER_PIXEL, DocxState, EmbeddedImage, fit_size
from footnote.documents.tree import (
    Break,
    Code,
    Emphasis,
    Hyperlink,
    Inline,
    Marked,
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
    content: Sequence[Inline], state: DocxState, *, rtl: bool, width: int, run_format: RunFormat | None = None
) -> str:
    """`width`: the available width in twips, to which pictures are scaled."""
    pieces: list[str] = []
    stack: list[tuple[Inline | str, RunFormat]] = [(inline, run_format or RunFormat()) for inline in reversed(content)]
    after_mark = False
    while stack:
        inline, run_format = stack.pop()
        if after_mark and isinstance(inline, NoteMark):
            pieces.append(_superscript_run("\u202f" if is_proof_note(inline.key) else ","))
        after_mark = isinstance(inline, NoteMark)
        match inline:
            case str():
                pieces.append(inline)
            case PlainText(text):
                pieces.append(runs(text.replace("\n", " "), run_format, rtl=rtl))
            case Code(text):
                pieces.append(runs(text.replace("\n", " "), replace(run_format, code=True), rtl=False))
            case Break():
                pieces.append("<w:r><w:br/></w:r>")
            case NoteMark(key):
                pieces.append(_note_mark(key, state))
            case TreeImage():
                pieces.append(_image(inline, run_format, state, rtl=rtl, width=width))
            case Maths(latex):
                pieces.append(_formula(latex, run_format, state))
            case _:
                stack += _nested_inlines(inline, run_format, state)
    return "".join(pieces)


def _nested_inlines(
    inline: Emphasis | Strong | Strike | Hyperlink | Marked, run_format: RunFormat, state: DocxState
) -> list[tuple[Inline | str, RunFormat]]:
    """The parts of an inline that are still to be written, the last one first."""
    match inline:
        case Emphasis():
            run_format = replace(run_format, italic=True)
        case Strong():
            run_format = replace(run_format, bold=True)
        case Strike():
            run_format = replace(run_format, strike=True)
        case Marked(verdict=verdict):
            run_format = replace(run_format, verdict=verdict)
        case Hyperlink(url):
            opening = None if run_format.link else _hyperlink_start(url, state)
            if opening is not None:
                run_format = replace(run_format, link=True)
                inside = [(part, run_format) for part in reversed(inline.content)]
                return [("</w:hyperlink>", run_format), *inside, (opening, run_format)]
    return [(part, run_format) for part in reversed(inline.content)]


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


def _formula(latex: str, run_format: RunFormat, state: DocxState) -> str:
    omml = latex_to_omml(latex)
    if omml is not None:
        return omml
    state.warn(formula_warning(latex))
    return run(" ".join(latex.split()), replace(run_format, code=True))


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
    # Later references to the same note use this bookmark: in Word, a note has one mark.
    return (
        f'<w:bookmarkStart w:id="{bookmark}" w:name="_Note{number}"/>'
        '<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr>'
        + (
            f'<w:footnoteReference w:customMarkFollows="1" w:id="{number}"/>{custom_mark(label)}'
            if label
            else f'<w:footnoteReference w:id="{number}"/>'
        )
        + f'</w:r><w:bookmarkEnd w:id="{bookmark}"/>'
    )


def custom_mark(label: str) -> str:
    """The mark of a note that Word does not number. LibreOffice prints a mark of several characters twice, unless each
    of them is a text of its own."""
    return "".join(f"<w:t>{character}</w:t>" for character in label)


def _superscript_run(text: str) -> str:
    return f'<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr><w:t>{text}</w:t></w:r>'


def field(instruction: str, placeholder: str) -> str:
    """A field that Word evaluates; `placeholder` is shown until then."""
    return (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f'<w:r><w:instrText xml:space="preserve"> {instruction} </w:instrText></w:r>'
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{placeholder}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


# Pictures -----------------------------------------------------------------------------------------------------


def _image(picture: TreeImage, run_format: RunFormat, state: DocxState, *, rtl: bool, width: int) -> str:
    image = state.media.image(picture.name)
    if isinstance(image, JobRefused):
        state.warn(f"The picture {_shorten(picture.name)} {image.reason}: its description is shown.")
        return runs(picture.alt or picture.name, replace(run_format, italic=True), rtl=rtl)
    return _drawing(image, picture.alt, state, width)


def _drawing(image: EmbeddedImage, alt: str, state: DocxState, width: int) -> str:
    pixels = fit_size(image, width // TWIPS_PER_PIXEL, _MAX_IMAGE_HEIGHT // TWIPS_PER_PIXEL)
    width_emu, height_emu = (size * EMU_PER_PIXEL for size in pixels)
    relation = state.relations.id_of("image", image.target)
    number = state.next_id()
    # A picture without a description is decorative, and skipped by screen readers.
    attributes = f'id="{number}" name="Picture {number}" descr="{escape_attribute(alt)}"'
    return (
        '<w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0">'
        f'<wp:extent cx="{width_emu}" cy="{height_emu}"/>'
        f"<wp:docPr {attributes}/><wp:cNvGraphicFramePr>"
        f'<a:graphicFrameLocks xmlns:a="{A}" noChangeAspect="1"/></wp:cNvGraphicFramePr>'
        f'<a:graphic xmlns:a="{A}"><a:graphicData uri="{PIC}"><pic:pic xmlns:pic="{PIC}">'
        f"<pic:nvPicPr><pic:cNvPr {attributes}/><pic:cNvPicPr/></pic:nvPicPr>"
        f'<pic:blipFill><a:blip r:embed="{relation}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>'
        f'<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="{width_emu}" cy="{height_emu}"/></a:xfrm>'
        '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic>'
        "</wp:inline></w:drawing></w:r>"
    )
