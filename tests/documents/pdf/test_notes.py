"""Footnotes at the foot of the page, wherever their marks are."""

from documents.pdf.parsed_pdf import ParsedPdf, convert_to_pdf, make_job
from footnote.documents.out.pdf import render_pdf
from footnote.documents.tree import Block, Document, Heading, Hyperlink, Item, NoteMark, Numbers, Paragraph, PlainText
from footnote.sandbox.jobs import ConvertedDocument, JobRefused, SourceNote

_SOURCES = {
    1: SourceNote("One", "https://one.example"),
    2: SourceNote("Two", "https://two.example"),
}
_FIRST = "1 One. https://one.example"


def test_a_mark_in_a_heading_is_not_made_again_by_the_contents():
    markdown = "# T\n\n## Costs [1]\n\nText [1].\n\n" + 14 * ("## S\n\n" + "Filler sentence here. " * 150 + "\n\n")
    result = convert_to_pdf(markdown, sources=_SOURCES)
    first, second, *rest = (" ".join(text.split()) for text in ParsedPdf(result.content).texts())
    assert first.startswith("T Contents Costs . .")
    assert _FIRST not in first
    assert second.startswith("T Costs1 Text1.")
    assert _FIRST in second
    assert not any(_FIRST in text for text in rest)
    assert (b"pdfuaid:part" in result.content, result.notes) == (True, ())


def test_a_bookmark_has_no_text_of_the_notes_in_its_heading():
    result = convert_to_pdf("# T\n\n## Costs[^1] and [2]\n\n[^1]: My *own* note.\n", sources=_SOURCES)
    file = ParsedPdf(result.content)
    assert file.bookmarks() == [(1, "T"), (2, "Costs and")]
    assert file.text() == "T Costs1 and2 1 My own note. 2 Two. https://two.example"
    assert (b"pdfuaid:part" in result.content, result.notes) == (True, ())


def test_a_mark_in_a_head_that_is_repeated_is_the_same_mark_with_one_note():
    rows = "| a | b |\n" * 60
    markdown = f"| Revenue [1] | Both [1, 2] |\n|---|---|\n| c [2] | d |\n{rows}\nLater again [1]."
    result = convert_to_pdf(markdown, sources=_SOURCES)
    first, second = (" ".join(text.split()) for text in ParsedPdf(result.content).texts())
    assert first.startswith("Revenue1 Both1 , 2 c2 d a b")
    assert first.endswith(f"a b {_FIRST} 2 Two. https://two.example 1 / 2")
    assert second.startswith("report Revenue1 Both1 , 2 a b")
    assert second.endswith("a b Later again1. 2 / 2")
    assert (b"pdfuaid:part" in result.content, result.notes) == (True, ())


def test_a_mark_in_the_head_of_a_table_without_rows_has_its_note():
    text = ParsedPdf(convert_to_pdf("| A [1] |\n|---|\n\nAgain [1].", sources=_SOURCES).content).text()
    assert text == f"A1 Again1. {_FIRST}"


def test_a_note_of_the_text_that_has_the_number_of_a_source_gets_another():
    text = ParsedPdf(convert_to_pdf("Own[^1] and [1].\n\n[^1]: My note.", sources=_SOURCES).content).text()
    assert text == f"Own2 and1. 2 My note. {_FIRST}"


# Trees that must be repaired before they can be set --------------------------------------------------------------


def _render_with_notes(*blocks: Block, **about: object) -> ConvertedDocument | JobRefused:
    document = Document(title="report", language="en", blocks=blocks, **about)
    return render_pdf(document, make_job(""))


def test_notes_that_cannot_stand_at_the_foot_are_listed_at_the_end():
    result = _render_with_notes(
        Paragraph((PlainText("Words"), NoteMark("a"), PlainText(" again"), NoteMark("a"))),
        notes={
            "a": (Paragraph((PlainText("See"), NoteMark("b"))),),
            "b": (Paragraph((PlainText("This."),)),),
        },
    )
    assert isinstance(result, ConvertedDocument)
    assert ParsedPdf(result.content).text() == "Words [1] again [1] [1] See [2] [2] This."
    assert result.notes == ("The notes stand at the end: they could not be set at the foot of the pages.",)


def test_a_part_that_cannot_be_set_is_left_out_and_the_rest_is_set():
    listed = Numbers((Item((Paragraph((PlainText("item"),)),)),), start=10**30)
    result = _render_with_notes(Paragraph((PlainText("Before."),)), listed, Paragraph((PlainText("After."),)))
    assert isinstance(result, ConvertedDocument)
    assert ParsedPdf(result.content).text() == "Before. After."
    assert result.notes == ("One part of the document could not be set, and had to be left out.",)


def test_a_document_that_cannot_be_set_at_all_is_refused_in_plain_words():
    heading = Heading(1, (PlainText("Twice"),), "twice")
    result = _render_with_notes(heading, heading, Paragraph((Hyperlink("#twice", (PlainText("where"),)),)))
    assert result == JobRefused(
        "report.md cannot be set as a PDF: try it as a Word file.",
        code="convert_pdf_failed",
        params={"name": "report.md"},
    )
