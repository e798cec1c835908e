"""Tables of Word."""

from documents.docx.parsed_docx import docx_of_blocks, open_docx, text_of, w
from footnote.documents.tree import PlainText, Table


def test_a_table_repeats_its_head_and_may_break_between_rows() -> None:
    file = open_docx("| a | b | c |\n|:--|--:|:-:|\n" + "| 1 | 2 | 3 |\n" * 3)
    rows = file.all(f"{w}tr")
    assert [row.find(f"{w}trPr/{w}tblHeader") is not None for row in rows] == [True, False, False, False]
    assert [[text_of(cell) for cell in row.iter(f"{w}tc")] for row in rows] == [["a", "b", "c"], *[["1", "2", "3"]] * 3]
    assert all(row.find(f"{w}trPr/{w}cantSplit") is not None for row in rows)
    sides = [side.attrib[f"{w}val"] for side in rows[1].iter(f"{w}jc")]
    assert sides == ["left", "right", "center"]
    widths = [int(column.attrib[f"{w}w"]) for column in file.all(f"{w}gridCol")]
    assert 0 < sum(widths) <= 9070


def test_a_paragraph_follows_every_table_so_that_two_do_not_become_one() -> None:
    table = Table(head=((PlainText("a"),),), rows=(), alignments=(None,))
    tags = [part.tag.removeprefix(w) for part in docx_of_blocks([table, table]).body[0]]
    assert tags == ["tbl", "p", "tbl", "p", "sectPr"]


def test_the_columns_of_a_wide_table_share_the_page() -> None:
    long = "many words " * 30
    file = open_docx(f"| n | text | other |\n|---|---|---|\n| 1 | {long} | {long} |\n")
    first, *others = (int(column.attrib[f"{w}w"]) for column in file.all(f"{w}gridCol"))
    assert first < 1000
    assert 8000 < sum(others) <= 9070 - first


def test_a_table_with_more_columns_than_word_has_goes_on_in_another() -> None:
    cells = tuple((PlainText(str(number)),) for number in range(100))
    file = docx_of_blocks([Table(head=cells, rows=(cells,), alignments=(None,) * 100)])
    assert [len(table.findall(f"{w}tr/{w}tc")) for table in file.all(f"{w}tbl")] == [126, 74]
    assert sum(int(column.attrib[f"{w}w"]) for column in file.all(f"{w}gridCol")) <= 2 * 63 * 200


def test_rows_that_were_left_out_are_counted_in_the_language_of_the_document() -> None:
    cell = ((PlainText("x"),),)
    file = docx_of_blocks([Table(head=cell, rows=(cell,), alignments=(None,), left_out=1234)])
    assert file.paragraphs()[-1] == ("AfterTable", "1,234 more rows are not shown.")
