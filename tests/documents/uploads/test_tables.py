import time

import pytest

from documents.office import BILLION_LAUGHS, S, cells, make_zip, xlsx
from footnote.documents.extract.upload import MAX_CELL_CHARS, MAX_COLUMNS, read_table
from footnote.sandbox.jobs import JobRefused, ReadTable, TableRows

TWO_SHEETS = xlsx({"Số liệu": cells(1, "name", "n") + cells(2, "a", 1.5), "Empty": ""})


def read_rows(content: bytes, form: str = "workbook", **limits) -> TableRows:
    table = read_table(ReadTable(content=content, filename="a.table", form=form, **limits))
    assert isinstance(table, TableRows), table
    return table


def refusal_reason(content: bytes, form: str = "workbook", **limits) -> str:
    table = read_table(ReadTable(content=content, filename="a.table", form=form, **limits))
    assert isinstance(table, JobRefused)
    return table.reason


def test_a_sheet_has_numbers_truths_dates_and_nothing_where_nothing_is() -> None:
    rows = cells(1, "name", "when", "n") + (
        '<row r="2"><c r="A2" t="inlineStr"><is><t>007</t></is></c><c r="B2" s="1"><v>45368</v></c>'
        '<c r="C2"><v>1.5</v></c></row>'
        '<row r="3"><c r="A3" t="b"><v>1</v></c><c r="B3" s="1"><v>45368.5</v></c><c r="C3"><v>2</v></c></row>'
        '<row r="5"><c r="B5"><v>3</v></c></row>'
    )
    table = read_rows(xlsx({"Số liệu": rows, "Empty": ""}))
    assert (table.sheets, table.sheet, table.columns, table.total) == (("Số liệu", "Empty"), "Số liệu", 3, 5)
    assert table.rows == (
        ("name", "when", "n"),
        ("007", "2024-03-17", 1.5),
        (True, "2024-03-17 12:00:00", 2),
        (),
        (None, 3),
    )


def test_another_sheet_is_shown_by_its_name() -> None:
    assert read_rows(TWO_SHEETS, sheet="Empty") == TableRows(sheets=("Số liệu", "Empty"), sheet="Empty")
    assert refusal_reason(TWO_SHEETS, sheet="empty") == "a.table has no sheet 'empty'."


def test_rows_and_columns_count_from_the_first_cell_of_the_sheet() -> None:
    table = read_rows(xlsx({"A": cells(3, "x", columns="C")}))
    assert (table.rows, table.columns, table.total) == (((), (), (None, None, "x")), 3, 3)


def test_only_the_rows_that_are_asked_for_come() -> None:
    rows = "".join(cells(row, row) for row in range(1, 101))
    table = read_rows(xlsx({"A": rows}), offset=97, limit=2)
    assert (table.rows, table.total) == (((98,), (99,)), 100)
    assert read_rows(xlsx({"A": rows}), offset=1000).rows == ()


def test_an_open_document_is_shown_too() -> None:
    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    cell = '<table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell>'
    body = f'<table:table table:name="One"><table:table-row>{cell}</table:table-row></table:table>'
    content = make_zip(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "content.xml": f"<office:document-content {names}><office:body><office:spreadsheet>{body}"
            "</office:spreadsheet></office:body></office:document-content>",
            "META-INF/manifest.xml": '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
        },
        packed=False,
    )
    assert read_rows(content) == TableRows(sheets=("One",), sheet="One", columns=1, rows=(("a",),), total=1)


@pytest.mark.parametrize(
    "content",
    [b"", b"no workbook", b"PK\x03\x04 and no more", TWO_SHEETS[:-200], xlsx({"A": "<row"}), b"\xd0\xcf\x11\xe0" * 200],
)
def test_a_damaged_workbook_is_refused_with_a_sentence(content: bytes) -> None:
    assert refusal_reason(content).startswith("a.table is damaged")


def test_hostile_workbooks_are_refused_soon() -> None:
    began = time.process_time()
    far = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    assert "too far apart" in refusal_reason(xlsx({"A": far}))
    laughs = make_zip({"[Content_Types].xml": "", "xl/workbook.xml": f"{BILLION_LAUGHS}<workbook {S}/>"})
    assert "entities" in refusal_reason(laughs)
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a,b\n1,2\n", (("a", "b"), ("1", "2"))),
        ("a;b\r\n1,5;007\r\n", (("a", "b"), ("1,5", "007"))),
        ("a|b\n1|2", (("a", "b"), ("1", "2"))),
        ('a,b\n"x, ""y""\nz",', (("a", "b"), ('x, "y"\nz',))),
        ("một,二\n\n,x", (("một", "二"), (None, "x"))),
        ("", ()),
    ],
)
def test_a_text_is_taken_apart_by_the_sign_that_it_uses_and_stays_text(text: str, rows: tuple) -> None:
    table = read_rows(text.encode(), "csv")
    assert (table.rows, table.total, table.sheets, table.sheet) == (rows, len(rows), (), "")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_a_text_is_read_in_whatever_encoding_it_came(encoding: str) -> None:
    words = "北京市朝阳区的天气预报"
    text = f"{words},n\n{words},1\n" * 20
    table = read_rows(text.encode(encoding), "csv", limit=1)
    assert (table.rows, table.total) == (((words, "n"),), 40)


def test_tabs_part_the_cells_of_a_tsv_whatever_else_is_in_it() -> None:
    assert read_rows(b"a,b\tc;d\n1,2\t3", "tsv").rows == (("a,b", "c;d"), ("1,2", "3"))


def test_an_open_quotation_mark_costs_one_cell_and_not_the_table() -> None:
    text = 'a,b\n"open,1\n' + "x,2\n" * 60_000
    table = read_rows(text.encode(), "csv", limit=2)
    assert table.rows[0] == ("a", "b")


def test_wide_rows_and_long_cells_are_cut_and_that_is_told() -> None:
    table = read_rows((",".join(["x" * 3_000] * 600)).encode(), "csv")
    assert (table.columns, table.left_out, len(table.rows[0])) == (MAX_COLUMNS, 100, MAX_COLUMNS)
    assert table.rows[0][0] == "x" * MAX_CELL_CHARS + "…"


def test_more_text_than_can_be_shown_is_refused() -> None:
    assert "download it" in refusal_reason(((",".join(["x" * 2_000] * 100) + "\n") * 60).encode(), "csv")
