"""The file: its parts, what each of them is, and the archive around them. The same parts make the same bytes."""

import io
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime

from footnote.documents.docx.languages import LATIN_FONT, Speech
from footnote.documents.docx.lines import field
from footnote.documents.docx.markup import CODE_FONT, DECLARATION, NAMESPACES, Look, M, W, escaped, run
from footnote.documents.docx.relations import relationships
from footnote.documents.tree import Document

_OFFICE = "application/vnd.openxmlformats-officedocument"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_CORE = "http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
_EXTENDED = "http://schemas.openxmlformats.org/officeDocument/2006/extended-properties"
_MADE = 1980, 1, 1, 0, 0, 0
"""The earliest time that an archive can tell."""

_LATEST = 253_402_300_799
_KINDS = {
    "/word/document.xml": f"{_OFFICE}.wordprocessingml.document.main+xml",
    "/word/styles.xml": f"{_OFFICE}.wordprocessingml.styles+xml",
    "/word/settings.xml": f"{_OFFICE}.wordprocessingml.settings+xml",
    "/word/fontTable.xml": f"{_OFFICE}.wordprocessingml.fontTable+xml",
    "/word/numbering.xml": f"{_OFFICE}.wordprocessingml.numbering+xml",
    "/word/footnotes.xml": f"{_OFFICE}.wordprocessingml.footnotes+xml",
    "/word/footer1.xml": f"{_OFFICE}.wordprocessingml.footer+xml",
    "/docProps/core.xml": "application/vnd.openxmlformats-package.core-properties+xml",
    "/docProps/app.xml": f"{_OFFICE}.extended-properties+xml",
}
_PICTURES = {"png": "image/png", "jpeg": "image/jpeg", "gif": "image/gif"}

CONTENT_TYPES = (
    f'{DECLARATION}<Types xmlns="{_TYPES}">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    + "".join(f'<Default Extension="{ending}" ContentType="{kind}"/>' for ending, kind in _PICTURES.items())
    + "".join(f'<Override PartName="{name}" ContentType="{kind}"/>' for name, kind in _KINDS.items())
    + "</Types>"
)
ROOT_RELATIONS = relationships(
    (
        ("rId1", f"{_RELATED}/officeDocument", "word/document.xml", False),
        ("rId2", "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties",
         "docProps/core.xml", False),
        ("rId3", f"{_RELATED}/extended-properties", "docProps/app.xml", False),
    )
)  # fmt: skip
APPLICATION = f'{DECLARATION}<Properties xmlns="{_EXTENDED}"><Application>Footnote</Application></Properties>'
RELATED_PARTS = ("styles", "settings", "fontTable", "numbering", "footnotes")
"""Parts that the document is related to by their names."""


def body(content: str, footer: str, *, from_the_right: bool) -> str:
    """The document: A4, with margins of 25 mm. `footer` is the relation of the footer."""
    section = (
        f'<w:sectPr><w:footerReference w:type="default" r:id="{footer}"/><w:pgSz w:w="11906" w:h="16838"/>'
        '<w:pgMar w:top="1418" w:right="1418" w:bottom="1418" w:left="1418" w:header="709" w:footer="709" '
        'w:gutter="0"/>'
        f"{'<w:bidi/>' if from_the_right else ''}</w:sectPr>"
    )
    return f"{DECLARATION}<w:document {NAMESPACES}><w:body>{content}{section}</w:body></w:document>"


def settings(speech: Speech) -> str:
    """As Word of today writes them: without the compatibility mode it would open the file as one of 2007."""
    return (
        f'{DECLARATION}<w:settings xmlns:w="{W}" xmlns:m="{M}"><w:zoom w:percent="100"/>'
        '<w:defaultTabStop w:val="425"/><w:characterSpacingControl w:val="doNotCompress"/>'
        '<w:footnotePr><w:footnote w:id="-1"/><w:footnote w:id="0"/></w:footnotePr>'
        '<w:compat><w:compatSetting w:name="compatibilityMode" w:uri="http://schemas.microsoft.com/office/word" '
        'w:val="15"/></w:compat><m:mathPr><m:mathFont m:val="Cambria Math"/></m:mathPr>'
        f'<w:themeFontLang w:val="{speech.latin}" w:eastAsia="{speech.east_asian}" w:bidi="{speech.complex}"/>'
        '<w:decimalSymbol w:val="."/><w:listSeparator w:val=","/></w:settings>'
    )


def font_table(speech: Speech) -> str:
    """With what to take where a font is not installed."""
    fonts = {
        LATIN_FONT: ("Carlito", "swiss", "variable"),
        CODE_FONT: ("DejaVu Sans Mono", "modern", "fixed"),
        speech.east_asian_font: ("Noto Sans CJK SC", "swiss", "variable"),
        speech.complex_font: ("Liberation Sans", "swiss", "variable"),
        "Cambria Math": ("Cambria", "roman", "variable"),
        "MS Gothic": ("Segoe UI Symbol", "modern", "fixed"),
    }
    listed = "".join(
        f'<w:font w:name="{name}"><w:altName w:val="{other}"/><w:family w:val="{family}"/>'
        f'<w:pitch w:val="{pitch}"/></w:font>'
        for name, (other, family, pitch) in fonts.items()
    )
    return f'{DECLARATION}<w:fonts xmlns:w="{W}">{listed}</w:fonts>'


def footer() -> str:
    """The number of the page, of how many."""
    numbers = field("PAGE", run("1", Look())) + run(" / ", Look()) + field("NUMPAGES", run("1", Look()))
    paragraph = f'<w:p><w:pPr><w:pStyle w:val="Footer"/></w:pPr>{numbers}</w:p>'
    return f'{DECLARATION}<w:ftr xmlns:w="{W}">{paragraph}</w:ftr>'


def core(document: Document, made_at: int) -> str:
    made = datetime.fromtimestamp(min(max(made_at, 0), _LATEST), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return (
        f'{DECLARATION}<cp:coreProperties xmlns:cp="{_CORE}" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{escaped(document.title)}</dc:title>"
        f"<dc:creator>{escaped(document.author or 'Footnote')}</dc:creator>"
        f'<dcterms:created xsi:type="dcterms:W3CDTF">{made}</dcterms:created>'
        f'<dcterms:modified xsi:type="dcterms:W3CDTF">{made}</dcterms:modified>'
        f"<dc:language>{escaped(document.language)}</dc:language></cp:coreProperties>"
    )


def archive(parts: Mapping[str, str | bytes]) -> bytes:
    """Pictures are compressed already, and are kept as they are."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            entry = zipfile.ZipInfo(name, _MADE)
            entry.compress_type = zipfile.ZIP_DEFLATED if isinstance(content, str) else zipfile.ZIP_STORED
            # The system that made it would otherwise be told, and differ.
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            file.writestr(entry, content)
    return target.getvalue()
