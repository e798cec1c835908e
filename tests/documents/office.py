"""Builds Office documents and zip files, both valid and malicious ones."""

import io
import struct
import zipfile
from collections.abc import Mapping

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
OFFICE_NS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def make_zip(parts: Mapping[str, str | bytes], *, packed: bool = True) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def relationships_xml(*entries: tuple[str, str, str]) -> str:
    """Each entry is the name, the kind and the target; a target with a scheme is external."""
    xml = "".join(
        f'<Relationship Id="{name}" Type="{OFFICE_NS}/{kind}" Target="{target}"'
        f"{' TargetMode=' + chr(34) + 'External' + chr(34) if ':' in target else ''}/>"
        for name, kind, target in entries
    )
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{xml}</Relationships>'


def docx(body: str, *links: tuple[str, str, str], prolog: str = "", **parts: str) -> bytes:
    """`parts`: further files in `word`, by their names without the suffix."""
    return make_zip(
        {
            "[Content_Types].xml": TYPES,
            "_rels/.rels": relationships_xml(("rId1", "officeDocument", "word/document.xml")),
            "word/document.xml": f"{prolog}<w:document {W} {R} {A}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relationships_xml(*links),
            **{f"word/{name}.xml": content for name, content in parts.items()},
        }
    )


def paragraph(text: str, about: str = "") -> str:
    return f"<w:p><w:pPr>{about}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def pptx(*slides: str, order: tuple[int, ...] = (), prolog: str = "", **parts: str) -> bytes:
    """`order` counts from one. `parts`: further files in `ppt`, with `__` for a slash."""
    order = order or tuple(range(1, len(slides) + 1))
    listed = "".join(f'<p:sldId id="{255 + number}" r:id="rId{number}"/>' for number in order)
    return make_zip(
        {
            "[Content_Types].xml": TYPES,
            "ppt/presentation.xml": f"<p:presentation {P} {R}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
            "ppt/_rels/presentation.xml.rels": relationships_xml(
                *((f"rId{number}", "slide", f"slides/slide{number}.xml") for number in order)
            ),
            **{
                f"ppt/slides/slide{number}.xml": f"{prolog}{shapes(slide)}"
                for number, slide in enumerate(slides, start=1)
            },
            **{f"ppt/{name.replace('__', '/')}": content for name, content in parts.items()},
        }
    )


def shapes(content: str) -> str:
    return f"<p:sld {P} {A} {R}><p:cSld><p:spTree>{content}</p:spTree></p:cSld></p:sld>"


def shape(text: str, kind: str = "") -> str:
    """`text`: one paragraph on each line."""
    place = f"<p:ph {kind and f'type={chr(34)}{kind}{chr(34)}'}/>" if kind != "none" else ""
    lines = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return f"<p:sp><p:nvSpPr><p:nvPr>{place}</p:nvPr></p:nvSpPr><p:txBody>{lines}</p:txBody></p:sp>"


def xlsx(sheets: Mapping[str, str], **parts: str) -> bytes:
    """`sheets`: the XML of the rows of each sheet."""
    listed = "".join(f'<sheet name="{name}" sheetId="{at}" r:id="rId{at}"/>' for at, name in enumerate(sheets, start=1))
    return make_zip(
        {
            "[Content_Types].xml": TYPES,
            "_rels/.rels": relationships_xml(("rId1", "officeDocument", "xl/workbook.xml")),
            "xl/workbook.xml": f"<workbook {S} {R}><sheets>{listed}</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relationships_xml(
                *((f"rId{at}", "worksheet", f"worksheets/sheet{at}.xml") for at in range(1, len(sheets) + 1)),
                ("rIdS", "styles", "styles.xml"),
            ),
            "xl/styles.xml": f'<styleSheet {S}><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
            **{
                f"xl/worksheets/sheet{at}.xml": f"<worksheet {S}><sheetData>{rows}</sheetData></worksheet>"
                for at, rows in enumerate(sheets.values(), start=1)
            },
            **{f"xl/{name}.xml": content for name, content in parts.items()},
        }
    )


def cells(row: int, *values: str | float, columns: str = "ABCDEFGH") -> str:
    xml = "".join(
        f'<c r="{column}{row}"><v>{value}</v></c>'
        if isinstance(value, int | float)
        else f'<c r="{column}{row}" t="inlineStr"><is><t>{value}</t></is></c>'
        for column, value in zip(columns, values, strict=False)
    )
    return f'<row r="{row}">{xml}</row>'


BILLION_LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "lol">'
    + "".join(f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefghi", "bcdefghij", strict=True))
    + "]>"
)
EXTERNAL_ENTITY = '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>'


def with_claimed_size(archive: bytes, size: int) -> bytes:
    """The same zip file, whose directory claims this size for each entry."""
    data = bytearray(archive)
    at = 0
    while (at := data.find(b"PK\x01\x02", at)) >= 0:
        struct.pack_into("<L", data, at + 24, size)
        at += 4
    return bytes(data)


def overlapping_zip(count: int) -> bytes:
    """A zip file whose directory has many names for one content."""
    one = make_zip({"a": b"\0" * 1_000_000})
    end = one.rfind(b"PK\x05\x06")
    at = one.find(b"PK\x01\x02")
    entry = one[at:end]
    length = len(entry) * count
    return one[:at] + entry * count + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, length, at, 0)


def mark_encrypted(archive: bytes) -> bytes:
    """The same zip file, with the encryption flag set for each entry."""
    data = bytearray(archive)
    for mark, place in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        at = 0
        while (at := data.find(mark, at)) >= 0:
            data[at + place] |= 1
            at += 4
    return bytes(data)
