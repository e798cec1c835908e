import pytest

from documents.test_markdown import inline_content, parse
from footnote.documents.markdown.notes import number_notes
from footnote.documents.tree import Break, Code, Emphasis, Hyperlink, NoteMark, Paragraph, PlainText
from footnote.sandbox.jobs import SourceNote

_SOURCES = {
    1: SourceNote("One", "https://one.example/a", "2026-02-03T04:05:06Z", "2025-01-02"),
    2: SourceNote("Two", "https://two.example"),
    3: SourceNote("Three", "https://three.example"),
}


def test_notes_of_the_text_itself():
    document = parse("a[^x] b [^x] ^[in line] c[^y]\n\n[^x]: Note *x*.\n\n    More.\n\n[^y]: Y\n\n[^z]: Unused")
    assert document.blocks == (
        Paragraph(
            (
                PlainText("a"),
                NoteMark("note-x"),
                PlainText(" b"),
                NoteMark("note-x"),
                NoteMark("note-line-1"),
                PlainText(" c"),
                NoteMark("note-y"),
            )
        ),
        Paragraph((PlainText("[z] "), PlainText("Unused"))),
    )
    assert dict(document.notes) == {
        "note-x": (
            Paragraph((PlainText("Note "), Emphasis((PlainText("x"),)), PlainText("."))),
            Paragraph((PlainText("More."),)),
        ),
        "note-line-1": (Paragraph((PlainText("in line"),)),),
        "note-y": (Paragraph((PlainText("Y"),)),),
    }
    assert list(document.notes) == ["note-x", "note-line-1", "note-y"]


def test_markers_of_sources_become_notes_with_title_address_and_dates():
    document = parse("First [2]. Again [1, 2] and 【3】.", sources=_SOURCES)
    assert document.blocks[0].content == (
        PlainText("First"),
        NoteMark("source-2"),
        PlainText(". Again"),
        NoteMark("source-1"),
        NoteMark("source-2"),
        PlainText(" and"),
        NoteMark("source-3"),
        PlainText("."),
    )
    assert list(document.notes) == ["source-2", "source-1", "source-3"]
    assert document.notes["source-1"] == (
        Paragraph(
            (
                Hyperlink("https://one.example/a", (PlainText("One"),)),
                PlainText(". "),
                Hyperlink("https://one.example/a", (PlainText("https://one.example/a"),)),
                PlainText(" (published 2025-01-02, read 2026-02-03)"),
            )
        ),
    )


@pytest.mark.parametrize(
    ("marker", "numbers"),
    [("[1]", [1]), ("[^2]", [2]), ("[1-3]", [1, 2, 3]), ("[1, 3]", [1, 3]), ("［２］", [2]), ("【1†L2】", [1])],
)
def test_the_forms_of_a_marker(marker, numbers):
    marks = [part.key for part in inline_content(f"said {marker}", sources=_SOURCES) if isinstance(part, NoteMark)]
    assert marks == [f"source-{number}" for number in numbers]


@pytest.mark.parametrize("text", ["said [9]", "xs[1] = 2", "[0, 1]", "at [2020]"])
def test_what_names_no_source_stays(text):
    assert inline_content(text, sources=_SOURCES) == (PlainText(text),)


def test_markers_in_code_links_and_behind_backslashes_stay():
    assert inline_content("`[1]` [see [1]](https://x.example) \\[1\\]", sources=_SOURCES) == (
        Code("[1]"),
        PlainText(" "),
        Hyperlink("https://x.example", (PlainText("see [1]"),)),
        PlainText(" [1]"),
    )


def test_a_number_whose_address_the_text_defines_is_that_address():
    document = parse("a [1]\n\n[1]: https://own.example", sources=_SOURCES)
    assert dict(document.notes) == {
        "note-link-1": (Paragraph((Hyperlink("https://own.example", (PlainText("https://own.example"),)),)),),
    }


def test_a_citation_is_never_a_note_of_the_text_itself():
    document = parse("a [1] b[^1] c [1, ^2] d [^1, 3] e [8]\n\n[^1]: My own.\n\n[^8]: Unused.", sources=_SOURCES)
    assert document.blocks[0].content == (
        PlainText("a"),
        NoteMark("source-1"),
        PlainText(" b"),
        NoteMark("note-1"),
        PlainText(" c"),
        NoteMark("source-1"),
        NoteMark("source-2"),
        PlainText(" d"),
        NoteMark("note-1"),
        NoteMark("source-3"),
        PlainText(" e [8]"),
    )
    assert document.notes["note-1"] == (Paragraph((PlainText("My own."),)),)
    assert document.blocks[1] == Paragraph((PlainText("[^8] "), PlainText("Unused.")))


@pytest.mark.parametrize(
    ("keys", "numbers"),
    [
        (["note-1", "source-1", "note-x", "source-7"], [8, 1, 9, 7]),
        (["note-2", "note-x", "note-line-1"], [2, 3, 4]),
        (["note-1", "note-link-1", "source-2"], [3, 1, 2]),
        (["a", "b"], [1, 2]),
        ([], []),
    ],
)
def test_sources_keep_their_numbers_and_other_notes_have_numbers_of_their_own(keys, numbers):
    assert list(number_notes(keys).items()) == list(zip(keys, numbers, strict=True))


@pytest.mark.parametrize("heading", ["## Sources", "**Nguồn:**", "## 参考资料", "# 4. References"])
def test_a_list_of_sources_keeps_its_numbers(heading):
    document = parse(
        f"said [1]\n\n{heading}\n\n[1] One, https://one.example\n[2] Two\n\n# Next\n\nsaid [2]", sources=_SOURCES
    )
    assert document.blocks[2] == Paragraph(
        (
            PlainText("[1] One, "),
            Hyperlink("https://one.example", (PlainText("https://one.example"),)),
            Break(),
            PlainText("[2] Two"),
        )
    )
    assert list(document.notes) == ["source-1", "source-2"]


def test_dates_of_sources_are_told_in_the_language_of_the_text():
    notes = parse("Nguồn điện mặt trời đã tăng [1].", sources=_SOURCES).notes
    assert notes["source-1"][0].content[-1] == PlainText(" (đăng ngày 2025-01-02, đọc ngày 2026-02-03)")
