"""Footnotes, and what is like them."""

from documents.docx.parsed_docx import docx_of_blocks, open_docx, text_of, w
from footnote.documents.tree import NoteMark, Paragraph, PlainText
from footnote.sandbox.jobs import SourceNote

NOTED = "Words.[^1] Again.[^1]\n\n[^1]: A note with [its own link](https://example.org/note).\n"


def test_footnotes_are_footnotes() -> None:
    file = open_docx(NOTED)
    marks = [mark.attrib[f"{w}id"] for mark in file.all(f"{w}footnoteReference")]
    notes = {note.attrib[f"{w}id"]: text_of(note) for note in file.all(f"{w}footnote", file.notes)}
    assert marks == ["1"]
    assert notes == {"-1": "", "0": "", "1": " A note with its own link."}


def test_a_second_mark_of_a_note_refers_to_the_first_one() -> None:
    file = open_docx(NOTED)
    fields = [(field.text or "").split() for field in file.all(f"{w}instrText")]
    assert fields == [["NOTEREF", "_Note1", "\\f", "\\h"]]
    bookmarks = [mark.attrib[f"{w}name"] for mark in file.all(f"{w}bookmarkStart")]
    assert bookmarks.count("_Note1") == 1


def test_marks_side_by_side_are_parted() -> None:
    file = open_docx("Known [1][2].", sources={1: SourceNote("One", "https://one.example/"), 2: SourceNote("Two", "")})
    (paragraph,) = file.all(f"{w}p")
    assert text_of(paragraph) == "Known,."
    assert len(file.all(f"{w}footnoteReference")) == 2


def test_sources_keep_the_numbers_that_they_have_in_the_session() -> None:
    sources = {number: SourceNote(f"Title {number}", f"https://{number}.example/") for number in (3, 5)}
    file = open_docx("First [5], then [3], and [5] again.", sources=sources)
    assert file.paragraphs() == [("", "First5, then3, and5 again.")]
    assert [text.split(".")[0] for _, text in file.paragraphs(file.notes)] == ["5 Title 5", "3 Title 3"]
    assert [mark.get(f"{w}customMarkFollows") for mark in file.all(f"{w}footnoteReference")] == ["1", "1"]


def test_notes_that_word_would_number_alike_are_numbered_by_word() -> None:
    sources = {number: SourceNote(f"Title {number}", f"https://{number}.example/") for number in (1, 2)}
    file = open_docx("First [1], then [2].", sources=sources)
    assert file.paragraphs() == [("", "First, then.")]
    assert [mark.attrib for mark in file.all(f"{w}footnoteReference")] == [{f"{w}id": "1"}, {f"{w}id": "2"}]
    assert len(file.all(f"{w}footnoteRef", file.notes)) == 2


def test_a_note_that_only_a_note_refers_to_stands_below_it() -> None:
    file = docx_of_blocks(
        [Paragraph((PlainText("Words"), NoteMark("a")))],
        notes={
            "a": (Paragraph((PlainText("See"), NoteMark("b"))),),
            "b": (Paragraph((PlainText("and"), NoteMark("a"), NoteMark("b"))),),
        },
    )
    assert [text for _, text in file.paragraphs(file.notes)] == [" See[1]", "[1] and1,[1]"]


def test_a_note_of_the_text_that_has_the_number_of_a_source_gets_another() -> None:
    sources = {1: SourceNote("One", "https://one.example/")}
    file = open_docx("Own[^1] and [1].\n\n[^1]: My note.", sources=sources)
    assert file.paragraphs() == [("", "Own2 and1.")]
    assert [text for _, text in file.paragraphs(file.notes)] == ["2 My note.", "1 One. https://one.example/"]
