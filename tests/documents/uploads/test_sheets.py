import time

import pytest

from documents.office import BILLION_LAUGHS, EXTERNAL_ENTITY, S, cells, make_zip, xlsx
from documents.uploads.refusals import refusal
from footnote.documents.extract.upload import read_text
from footnote.documents.inspection import ODS, XLSX
from footnote.sandbox.jobs import DocumentText, JobRefused, ReadText


def read(content: bytes, media_type: str = XLSX) -> DocumentText | JobRefused:
    return read_text(ReadText(content=content, filename="a.xlsx", media_type=media_type))


def text(content: bytes) -> str:
    document = read(content)
    assert isinstance(document, DocumentText)
    return document.text or ""


def test_each_sheet_is_a_table_with_numbers_and_dates_as_one_writes_them() -> None:
    rows = cells(1, "name", "when", "n") + (
        '<row r="2"><c r="A2" t="inlineStr"><is><t>a|b</t></is></c><c r="B2" s="1"><v>45368</v></c>'
        '<c r="C2"><v>1.5</v></c></row>'
        '<row r="3"><c r="A3" t="b"><v>1</v></c><c r="B3" s="1"><v>45368.5</v></c><c r="C3"><v>2</v></c></row>'
        '<row r="4"><c r="C4" t="e"><v>#DIV/0!</v></c></row>'
    )
    assert text(xlsx({"Số liệu": rows, "Empty": ""})) == (
        "## Số liệu\n\n| name | when | n |\n| --- | --- | --- |\n| a\\|b | 2024-03-17 | 1.5 |\n"
        "| TRUE | 2024-03-17 12:00:00 | 2 |\n\n## Empty\n\n(empty)"
    )


def test_a_long_sheet_is_rows_with_commas() -> None:
    rows = "".join(cells(row, row, "a, b", "c") for row in range(1, 4_001))
    lines = text(xlsx({"Long": rows})).split("\n")
    assert lines[:4] == ["## Long", "", '1,"a, b",c', '2,"a, b",c']
    assert len(lines) == 4_002


def test_two_cells_in_opposite_corners_cost_nothing_and_the_other_sheets_are_read() -> None:
    corners = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    began = time.process_time()
    assert text(xlsx({"Sparse": corners, "Good": cells(1, "a", "b")})) == (
        "## Sparse\n\n(Its cells lie over 1,048,576 rows and 16,384 columns: too far apart to be read.)\n\n"
        "## Good\n\n| a | b |\n| --- | --- |"
    )
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "rows",
    [
        '<row r="1"><c s="1"   r="A1"/></row><row spans="1:1" r="1048576"><c\nr = "XFD1048576"><v>2</v></c></row>',
        "<row r='1'><c r='A1'><v>1</v></c></row><row r='1048576'><c r='XFD1048576'><v>2</v></c></row>",
        f'<x:row {S.replace("xmlns", "xmlns:x")} r="1048576"><x:c r="XFD1048576"/></x:row>' + cells(1, 1),
    ],
    ids=["spaces", "quotes", "prefixes"],
)
def test_corners_are_seen_however_they_are_written(rows: str) -> None:
    assert "too far apart" in text(xlsx({"Sparse": rows}))


def test_a_table_far_from_the_corner_is_read() -> None:
    assert text(xlsx({"Far": cells(1_000_000, "a", 1, columns=("XFC", "XFD"))})) == "## Far\n\n| a | 1 |\n| --- | --- |"


@pytest.mark.parametrize("prolog", [BILLION_LAUGHS, EXTERNAL_ENTITY], ids=["laughs", "outside"])
def test_strings_that_declare_entities_are_refused(prolog: str) -> None:
    strings = f"{prolog}<sst {S}><si><t>&j;&x;</t></si></sst>"
    sheet = '<row r="1"><c r="A1" t="s"><v>0</v></c></row>'
    assert read(xlsx({"One": sheet}, sharedStrings=strings)) == refusal(
        "a.xlsx", "declares entities, which can be made to expand without end", is_hostile=True
    )


@pytest.mark.parametrize("content", [b"PK", make_zip({"a": "b"}), xlsx({"A": cells(1, 1)})[:-50]])
def test_a_damaged_workbook_is_refused(content: bytes) -> None:
    assert isinstance(read(content), JobRefused)


def test_an_open_spreadsheet_is_read_too() -> None:
    content = (
        '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
        'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>'
        '<table:table table:name="One"><table:table-row>'
        '<table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell>'
        '<table:table-cell office:value-type="float" office:value="2.0"><text:p>2</text:p></table:table-cell>'
        "</table:table-row></table:table></office:spreadsheet></office:body></office:document-content>"
    )
    manifest = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    parts = {"mimetype": ODS, "content.xml": content, "META-INF/manifest.xml": manifest}
    assert read(make_zip(parts, packed=False), ODS) == DocumentText(text="## One\n\n| a | 2 |\n| --- | --- |")
