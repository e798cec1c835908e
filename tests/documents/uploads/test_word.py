import re
import zipfile
from io import BytesIO

import pytest

from documents.office import BILLION_LAUGHS, EXTERNAL_ENTITY, TYPES, W, docx, make_zip, paragraph, relationships_xml
from documents.uploads.refusals import refusal
from footnote.documents.extract.upload import MAX_CHARACTERS, read_text
from footnote.documents.inspection import DOCX, ODT
from footnote.protocol.sources import Link
from footnote.sandbox.jobs import DocumentText, JobRefused, ReadText

STYLES = f"""<w:styles {W}>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Heading3"><w:name w:val="heading 3"/></w:style>
<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="Heading3"/></w:style>
<w:style w:type="paragraph" w:styleId="Circle"><w:name w:val="Circle"/><w:basedOn w:val="Circle"/></w:style>
<w:style w:type="paragraph" w:styleId="Outlined"><w:name w:val="X"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Bullets"><w:name w:val="List Bullet"/>
  <w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="SourceCode"><w:name w:val="Source Code"/></w:style>
</w:styles>"""
NUMBERING = f"""<w:numbering {W}>
<w:abstractNum w:abstractNumId="5"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl>
  <w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="6"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl>
  <w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="5"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="6"/></w:num>
</w:numbering>"""


def read(content: bytes, media_type: str = DOCX) -> DocumentText | JobRefused:
    return read_text(ReadText(content=content, filename="a.docx", media_type=media_type))


def text(body: str, *links: tuple[str, str, str], **parts: str) -> str:
    document = read(docx(body, *links, **parts))
    assert isinstance(document, DocumentText)
    return document.text or ""


def styled(text: str, style: str) -> str:
    return paragraph(text, f'<w:pStyle w:val="{style}"/>')


def item(text: str, number: int, depth: int = 0) -> str:
    return paragraph(text, f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>')


def test_headings_are_known_by_the_names_of_their_styles_in_any_language() -> None:
    body = "".join(
        (
            styled("Báo cáo", "Titel"),
            styled("One", "berschrift1"),
            styled("Three", "Heading3"),
            styled("Based on three", "Mine"),
            styled("No heading", "Circle"),
            styled("Two", "Outlined"),
            paragraph("Four", '<w:outlineLvl w:val="3"/>'),
            paragraph("Text"),
            paragraph("  "),
        )
    )
    assert text(body, styles=STYLES) == (
        "# Báo cáo\n\n# One\n\n### Three\n\n### Based on three\n\nNo heading\n\n## Two\n\n#### Four\n\nText"
    )


def test_lists_have_bullets_or_count() -> None:
    body = "".join(
        (
            item("a", 1),
            item("b", 1, 1),
            styled("c", "Bullets"),
            paragraph("between"),
            item("one", 2),
            item("deeper", 2, 1),
            item("deeper still", 2, 1),
            item("two", 2),
            item("again", 2, 1),
            item("no list", 0),
        )
    )
    assert text(body, styles=STYLES, numbering=NUMBERING) == (
        "- a\n  - b\n- c\n\nbetween\n\n1. one\n  1. deeper\n  2. deeper still\n2. two\n  1. again\n\nno list"
    )


def test_code_stands_in_one_block() -> None:
    assert (
        text(styled("if x:", "SourceCode") + styled("    y", "SourceCode"), styles=STYLES) == "```\nif x:\n    y\n```"
    )


def test_tables_are_tables_with_merged_cells_empty_and_bars_kept() -> None:
    def cell(words: str, about: str = "") -> str:
        return f"<w:tc><w:tcPr>{about}</w:tcPr>{paragraph(words)}</w:tc>"

    head = f"<w:tr>{cell('A', '<w:gridSpan w:val=' + chr(34) + '2' + chr(34) + '/>')}{cell('B | C')}</w:tr>"
    first = f"<w:tr>{cell('1', '<w:vMerge w:val=' + chr(34) + 'restart' + chr(34) + '/>')}{cell('2')}{cell('3')}</w:tr>"
    last = f"<w:sdt><w:sdtContent>{cell('5')}</w:sdtContent></w:sdt>"
    second = f"<w:tr>{cell('hidden', '<w:vMerge/>')}{cell('4')}{last}</w:tr>"
    assert text(f"<w:tbl>{head}{first}{second}</w:tbl>") == (
        "| A |  | B \\| C |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n|  | 4 | 5 |"
    )


def test_a_table_of_one_column_is_a_frame_around_text() -> None:
    row = f"<w:tr><w:tc>{paragraph('one')}{paragraph('two')}</w:tc></w:tr>"
    assert text(f"<w:tbl>{row}{row}</w:tbl>") == "one\n\ntwo\n\none\n\ntwo"


def test_links_stand_beside_the_text_and_only_those_that_may_be_followed() -> None:
    body = (
        '<w:p><w:r><w:t>See </w:t></w:r><w:hyperlink r:id="rId1"><w:r><w:t>the page</w:t></w:r></w:hyperlink>'
        '<w:hyperlink r:id="rId2"><w:r><w:t>, not this</w:t></w:r></w:hyperlink></w:p>'
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a|b</w:t></w:r></w:p></w:tc>"
        '<w:tc><w:p><w:hyperlink r:id="rId1"><w:r><w:t>c|d</w:t></w:r></w:hyperlink></w:p></w:tc></w:tr></w:tbl>'
    )
    document = read(docx(body, ("rId1", "hyperlink", "https://a.test/"), ("rId2", "hyperlink", "file:///etc/passwd")))
    assert document == DocumentText(
        text="See the page, not this\n\n| a\\|b | c\\|d |\n| --- | --- |",
        links=(Link("https://a.test/", 4, 12), Link("https://a.test/", 33, 37)),
    )


def test_notes_are_numbered_as_the_text_refers_to_them() -> None:
    def mark(kind: str, name: int) -> str:
        return f'<w:r><w:{kind}Reference w:id="{name}"/></w:r>'

    def notes(kind: str, *texts: tuple[int, str]) -> str:
        xml = "".join(f'<w:{kind} w:id="{name}">{paragraph(words)}</w:{kind}>' for name, words in texts)
        return f"<w:{kind}s {W}>{xml}</w:{kind}s>"

    body = f"<w:p><w:r><w:t>b</w:t></w:r>{mark('footnote', 3)}{mark('endnote', 2)}{mark('footnote', 2)}</w:p>"
    footnotes = notes("footnote", (-1, "line"), (2, "second"), (3, "first"), (9, "nobody's"))
    assert text(body, footnotes=footnotes, endnotes=notes("endnote", (2, "at the end"))) == (
        "b[^1][^2][^3]\n\n[^1]: first\n\n[^2]: at the end\n\n[^3]: second"
    )


def test_a_mark_of_its_own_stands_for_the_number_of_the_note_and_is_read_once() -> None:
    style = '<w:style w:type="character" w:styleId="Z"><w:name w:val="footnote reference"/></w:style>'
    styles = f"<w:styles {W}>{style}</w:styles>"

    def run(content: str) -> str:
        return f'<w:r><w:rPr><w:rStyle w:val="Z"/></w:rPr>{content}</w:r>'

    def mark(name: int, label: str) -> str:
        return run(f'<w:footnoteReference w:customMarkFollows="1" w:id="{name}"/><w:t>{label}</w:t>')

    def note(name: int, label: str, text: str) -> str:
        line = f"{run(f'<w:t>{label}</w:t>')}<w:r><w:t> {text}</w:t></w:r>"
        return f'<w:footnote w:id="{name}"><w:p>{line}</w:p></w:footnote>'

    words = "<w:r><w:t>{}</w:t></w:r>".format
    body = (
        f"<w:p>{words('by 2024')}{mark(1, '1')}{words(', by 2027')}{mark(2, '3')}"
        f"{words(' and 2031')}{run('<w:t>3</w:t>')}{words('; some')}{mark(4, '*')}</w:p>"
        '<w:p><w:r><w:t>10</w:t></w:r><w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>-3</w:t></w:r>'
        '<w:r><w:t> or 10</w:t></w:r><w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>12</w:t></w:r></w:p>'
    )
    footnotes = f"<w:footnotes {W}>{note(1, '1', 'First')}{note(2, '3', 'Third')}{note(4, '*', 'Star')}</w:footnotes>"
    assert text(body, styles=styles, footnotes=footnotes) == (
        "by 2024[^1], by 2027[^3] and 2031[^3]; some[^2]\n\n10⁻³ or 10¹²\n\n[^1]: First\n\n[^3]: Third\n\n[^2]: Star"
    )


def test_what_was_deleted_hidden_or_said_in_the_margin_is_not_read() -> None:
    body = (
        "<w:p><w:r><w:t>kept</w:t></w:r>"
        "<w:del><w:r><w:delText> deleted</w:delText></w:r></w:del>"
        "<w:moveFrom><w:r><w:t> moved</w:t></w:r></w:moveFrom>"
        "<w:ins><w:r><w:t> inserted</w:t></w:r></w:ins>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t> hidden</w:t></w:r>"
        '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t> shown</w:t></w:r>'
        "<w:r><w:instrText> PAGE </w:instrText></w:r><w:r><w:commentReference w:id='1'/></w:r>"
        '<w:r><w:br/><w:t>line</w:t><w:tab/><w:t>two</w:t><w:noBreakHyphen/><w:br w:type="page"/></w:r></w:p>'
    )
    assert text(body, comments=f"<w:comments {W}>{paragraph('a comment')}</w:comments>") == (
        "kept inserted shown\nline\ttwo-"
    )


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("<m:f><m:num>1</m:num><m:den>2</m:den></m:f>", "1/2"),
        ("<m:f><m:num>1+x</m:num><m:den>2</m:den></m:f>", "(1+x)/2"),
        ("<m:sSup><m:e>x</m:e><m:sup>2</m:sup></m:sSup>", "x^2"),
        ("<m:sSubSup><m:e>x</m:e><m:sub>i</m:sub><m:sup>n+1</m:sup></m:sSubSup>", "x_i^(n+1)"),
        ("<m:rad><m:radPr/><m:deg/><m:e>x</m:e></m:rad>", "√(x)"),
        ("<m:nary><m:naryPr/><m:sub>0</m:sub><m:sup>1</m:sup><m:e>x</m:e></m:nary>", "∫_0^1 x"),
        ("<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>i</m:sub><m:sup/><m:e>x</m:e></m:nary>", "∑_i x"),
        ("<m:d><m:dPr><m:begChr m:val='['/><m:endChr m:val=''/></m:dPr><m:e>a</m:e><m:e>b</m:e></m:d>", "[a, b"),
        ("<m:m><m:mr><m:e>a</m:e><m:e>b</m:e></m:mr><m:mr><m:e>c</m:e><m:e>d</m:e></m:mr></m:m>", "[a, b; c, d]"),
    ],
)
def test_a_formula_keeps_its_sense_on_one_line(formula: str, expected: str) -> None:
    xml = re.sub(r">([^<>]+)<", r"><m:r><m:t>\1</m:t></m:r><", formula)
    assert text(f"<w:p><m:oMathPara xmlns:m='m'><m:oMath>{xml}</m:oMath></m:oMathPara></w:p>") == expected


def test_text_boxes_are_read_once() -> None:
    box = f"<w:txbxContent>{paragraph('in the box')}</w:txbxContent>"
    both = f"<m:Choice>{box}</m:Choice><m:Fallback>{box}</m:Fallback>"
    run = f"<w:r><w:t>around</w:t><m:AlternateContent xmlns:m='m'>{both}</m:AlternateContent></w:r>"
    assert text(f"<w:p>{run}</w:p>") == "around\nin the box"


def test_a_document_says_who_wrote_it_when() -> None:
    core = (
        '<cp:coreProperties xmlns:cp="c" xmlns:dc="d" xmlns:t="t"><dc:title>Báo  cáo</dc:title>'
        "<dc:creator>Anh</dc:creator><t:created>2024-03-17T10:00:00Z</t:created></cp:coreProperties>"
    )
    parts = {
        "docProps/core.xml": core,
        "word/document.xml": f"<w:document {W}><w:body>{paragraph('x')}</w:body></w:document>",
    }
    document = read(make_zip({"[Content_Types].xml": TYPES, **parts}))
    assert document == DocumentText(text="x", title="Báo cáo", author="Anh", published="2024-03-17")


def test_parts_are_found_by_what_refers_to_them() -> None:
    parts = {
        "_rels/.rels": relationships_xml(("rId1", "officeDocument", "word/document2.xml")),
        "word/_rels/document2.xml.rels": relationships_xml(("rId1", "styles", "styles2.xml")),
        "word/document2.xml": f"<w:document {W}><w:body>{styled('One', 'Titel')}</w:body></w:document>",
        "word/styles2.xml": STYLES,
    }
    assert read(make_zip(parts)) == DocumentText(text="# One")


def test_letters_are_in_one_piece() -> None:
    assert text(paragraph("e\u0302\u0301")) == "ế"


def test_a_document_without_text_says_so() -> None:
    assert read(docx(paragraph(""))) == DocumentText(text=None, reason="there is no text in it")


def test_a_long_document_is_cut() -> None:
    document = read(docx(paragraph("word " * 100_000) * 5))
    assert isinstance(document, DocumentText)
    assert (len(document.text or ""), document.cut) == (MAX_CHARACTERS, True)


@pytest.mark.parametrize("prolog", [BILLION_LAUGHS, EXTERNAL_ENTITY], ids=["laughs", "outside"])
def test_a_document_that_declares_entities_is_refused(prolog: str) -> None:
    assert read(docx(paragraph("&x;&j;"), prolog=prolog)) == refusal(
        "a.docx", "declares entities, which can be made to expand without end", is_hostile=True
    )


def test_a_document_that_nests_without_end_is_refused() -> None:
    assert read(docx("<w:sdt><w:sdtContent>" * 5_000)) == refusal("a.docx", "is nested too deeply")


@pytest.mark.parametrize(
    "content",
    [
        b"PK no zip",
        docx(paragraph("x"))[:-100],
        docx("<w:p>"),
        docx("", prolog="<?xml version='1.0' encoding='no-such'?>"),
        docx("", prolog="\0"),
    ],
)
def test_a_damaged_document_is_refused(content: bytes) -> None:
    assert read(content) == refusal("a.docx", "is damaged")


def test_a_zip_file_without_a_document_is_refused() -> None:
    assert read(make_zip({"a": "b"})) == refusal("a.docx", "is damaged: there is nothing in it")


def test_a_document_that_unpacks_to_too_much_is_refused() -> None:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_rels/.rels", relationships_xml(("rId1", "officeDocument", "word/document.xml")))
        with archive.open("word/document.xml", "w") as part:
            part.write(f"<w:document {W}><w:body>".encode())
            for _ in range(210):
                part.write(b" " * 1_000_000)
    assert read(file.getvalue()) == refusal("a.docx", "unpacks to more than 200 MB", is_hostile=True)


def test_an_open_document_is_read_too() -> None:
    content = (
        '<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:xlink="x"><office:body>'
        "<office:text><text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        '<text:h text:outline-level="2">Phần</text:h>'
        '<text:p>See <text:a xlink:href="https://a.test/">the page</text:a><text:s text:c="2"/>here'
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>a note</text:p></text:note-body>"
        "</text:note></text:p>"
        "<text:list><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>in one</text:p>"
        "</text:list-item></text:list></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>A</text:p></table:table-cell>"
        '<table:table-cell table:number-columns-repeated="2"><text:p>B</text:p></table:table-cell></table:table-row>'
        "</table:table></office:text></office:body></office:document-content>"
    )
    assert read(make_zip({"mimetype": ODT, "content.xml": content}), ODT) == DocumentText(
        text="## Phần\n\nSee the page  here[^1]\n\n- one\n  - in one\n\n"
        "| A | B | B |\n| --- | --- | --- |\n\n[^1]: a note",
        links=(Link("https://a.test/", 13, 21),),
    )
