"""Text of users and models as XML: escaped, and without the characters that XML may not contain."""

import re
from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from footnote.protocol.sources import Verdict

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
W14 = "http://schemas.microsoft.com/office/word/2010/wordml"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
M = "http://schemas.openxmlformats.org/officeDocument/2006/math"
WP = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
A = "http://schemas.openxmlformats.org/drawingml/2006/main"
PIC = "http://schemas.openxmlformats.org/drawingml/2006/picture"
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"

DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
NAMESPACES = (
    f'xmlns:w="{W}" xmlns:r="{R}" xmlns:m="{M}" xmlns:wp="{WP}" xmlns:a="{A}" xmlns:pic="{PIC}" '
    f'xmlns:w14="{W14}" xmlns:mc="{MC}" mc:Ignorable="w14"'
)

CODE_FONT = "Consolas"
LINK_COLOUR = "0B5CAD"

# Beside controls and surrogates: U+FFFE and U+FFFF.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPECIAL = re.compile("[&<>\"'\t\n\r]")
_ESCAPES = {
    "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"
}  # fmt: skip
_RTL = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
_RIGHT_TO_LEFT = re.compile(f"[{_RTL}]")
_RTL_SEGMENT = re.compile(f"[{_RTL}](?:(?:[^\\w]|[\\d_{_RTL}])*[{_RTL}])?")
# The end may be any character but punctuation: a mark above a letter is no letter to Python, and must stay with it.
_LTR_SEGMENT = re.compile(
    f"[^\\W\\d_{_RTL}](?:[^{_RTL}]*[^\\s.,;:!?\u2026()\\[\\]{{}}\"'\u201c\u201d\u2018\u2019«»/|{_RTL}])?"
)
_PIECES = re.compile("([\n\t])")


def clean(text: str) -> str:
    return _FORBIDDEN.sub("", text)


def escape_text(text: str) -> str:
    """For the content of an element."""
    return clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape_attribute(text: str) -> str:
    """For the value of an attribute in double quotes."""
    return _SPECIAL.sub(lambda found: _ESCAPES[found[0]], clean(text))


_UNDERLINES: Mapping[Verdict, tuple[str, str]] = {
    "partial": ("dotted", "B54708"),
    "contradicted": ("wave", "B42318"),
    "unsupported": ("dash", "B42318"),
    "uncited": ("dotted", "B54708"),
    "unread": ("dotDash", "667085"),
}


class RunFormat(Struct, frozen=True):
    """The format of a run of text, beside the style of its paragraph. `verdict`: that of the statement around it, if it
    is marked."""

    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False
    link: bool = False
    colour: str = ""
    verdict: Verdict | None = None


@lru_cache(1024)
def run_properties(run_format: RunFormat, *, rtl: bool = False) -> str:
    """The properties in the order of the schema, which Word requires."""
    style = "VerbatimChar" if run_format.code else "Hyperlink" if run_format.link else ""
    inside = "".join(
        (
            f'<w:rStyle w:val="{style}"/>' if style else "",
            "<w:b/><w:bCs/>" if run_format.bold else "",
            "<w:i/><w:iCs/>" if run_format.italic else "",
            "<w:strike/>" if run_format.strike else "",
            f'<w:color w:val="{LINK_COLOUR}"/>' if run_format.code and run_format.link else "",
            f'<w:color w:val="{run_format.colour}"/>' if run_format.colour else "",
            _underline(run_format),
            "<w:rtl/>" if rtl else "",
        )
    )
    return f"<w:rPr>{inside}</w:rPr>" if inside else ""


def _underline(run_format: RunFormat) -> str:
    if run_format.verdict is not None:
        line, colour = _UNDERLINES[run_format.verdict]
        return f'<w:u w:val="{line}" w:color="{colour}"/>'
    return '<w:u w:val="single"/>' if run_format.code and run_format.link else ""


def run(text: str, run_format: RunFormat, *, rtl: bool = False) -> str:
    """One run, with a break between its lines."""
    if "\n" not in text and "\t" not in text:
        return f'<w:r>{run_properties(run_format, rtl=rtl)}<w:t xml:space="preserve">{escape_text(text)}</w:t></w:r>'
    inside = "".join(
        "<w:br/>"
        if piece == "\n"
        else "<w:tab/>"
        if piece == "\t"
        else f'<w:t xml:space="preserve">{escape_text(piece)}</w:t>'
        for piece in _PIECES.split(text)
        if piece
    )
    return f"<w:r>{run_properties(run_format, rtl=rtl)}{inside}</w:r>"


def runs(text: str, run_format: RunFormat, *, rtl: bool) -> str:
    """Runs of one direction each. Spaces and punctuation have that of the paragraph: `rtl`."""
    if not rtl and not _RIGHT_TO_LEFT.search(text):
        return run(text, run_format)
    pieces: list[str] = []
    at = 0
    for segment in (_LTR_SEGMENT if rtl else _RTL_SEGMENT).finditer(text):
        if segment.start() > at:
            pieces.append(run(text[at : segment.start()], run_format, rtl=rtl))
        pieces.append(run(segment[0], run_format, rtl=not rtl))
        at = segment.end()
    if at < len(text):
        pieces.append(run(text[at:], run_format, rtl=rtl))
    return "".join(pieces)
