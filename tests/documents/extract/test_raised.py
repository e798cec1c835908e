"""Superscripts in PDFs: the number before them stays separate, and they can be read."""

import pytest

from documents.extract.pdf_builder import make_pdf
from documents.pdf.parsed_pdf import convert_to_pdf
from evidence.samples import sources_of
from footnote.documents.extract import extract
from footnote.evidence.verdict import check_citations
from footnote.sandbox.jobs import SourceNote

SIZE = 12.0
NARROW = dict(zip(" .,-()ijlft", (278, 278, 278, 333, 333, 333, 222, 222, 222, 278, 278), strict=True))
WIDTHS = NARROW | dict.fromkeys("ckJsvxyz", 500) | dict.fromkeys("ABEKPSV", 667) | dict.fromkeys("CDHNRUw", 722)
WIDTHS |= {"r": 333, "I": 278, "m": 833, "M": 833, "O": 778, "W": 944, "T": 611, "F": 611}
"""Widths of Helvetica, in thousandths; other letters and all digits have 556."""


def text_of(body: bytes) -> str:
    return extract(body, "application/pdf", "https://paper.test/a.pdf").text


def line(*parts: str, size: float = SIZE, top: float = 700) -> list[tuple[float, float, float, str]]:
    """A line in which parts after `^` are raised and smaller, and parts after `_` are lowered."""
    x = 72.0
    items: list[tuple[float, float, float, str]] = []
    for part in parts:
        kind, text = (part[0], part[1:]) if part[0] in "^_" else ("", part)
        points = size * 0.65 if kind else size
        items.append((x, top + {"^": 0.35, "_": -0.15, "": 0.0}[kind] * size, points, text))
        x += sum(WIDTHS.get(letter, 556) for letter in text) / 1000 * points
    return items


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("It recovered by the end of 2027", "^3", "."), "It recovered by the end of 2027³."),
        (("It rose until 2027.", "^12", " Then it fell."), "It rose until 2027.¹² Then it fell."),
        (("Inflation", "^3,4", " fell, as others", "^5-7", " found"), "Inflation³,⁴ fell, as others⁵-⁷ found"),
        (("Some 10", "^3", " units on 5 km", "^2", " of land"), "Some 10³ units on 5 km² of land"),
        (("It lasts 10", "^-6", " seconds"), "It lasts 10⁻⁶ seconds"),
        (("Written by J. Smith", "^a", " and others"), "Written by J. Smithᵃ and others"),
    ],
    ids=["a number", "a sentence", "several", "exponents", "a negative exponent", "a letter"],
)
def test_a_raised_figure_does_not_run_into_the_word_before_it(parts: tuple[str, ...], expected: str) -> None:
    assert text_of(make_pdf(line(*parts))) == expected


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("Water is H", "_2", "O and air has CO", "_2", " 25 times"), "Water is H2O and air has CO2 25 times"),
        (("On the 1", "^st", " of May, the 22", "^nd", " time"), "On the 1st of May, the 22nd time"),
        (("A line with ", "^raised words", " in it"), "A line with raised words in it"),
        (("Model 35 has 12 parts and 3 wheels",), "Model 35 has 12 parts and 3 wheels"),
    ],
    ids=["below the line", "ordinals", "words", "none"],
)
def test_what_is_no_raised_figure_stays_as_it_is(parts: tuple[str, ...], text: str) -> None:
    assert text_of(make_pdf(line(*parts))) == text


def test_a_note_at_the_foot_of_a_page_is_a_paragraph_that_begins_with_its_figure() -> None:
    page = [
        *line("It recovered by the end of 2027", "^1", ", and went on until 2031", "^2", ".", size=9),
        *line("^1", " A long report about the economy of 2026 and", size=8, top=120),
        *line("what came after it", size=8, top=110),
        *line("^2", " Another one", size=8, top=100),
    ]
    assert text_of(make_pdf(page)).split("\n\n") == [
        "It recovered by the end of 2027¹, and went on until 2031².",
        "¹ A long report about the economy of 2026 and what came after it",
        "² Another one",
    ]


def test_a_line_that_is_turned_has_no_raised_figures() -> None:
    upright = make_pdf(line("In 1875 and 2027"))
    turned = upright.replace(b"72.0 700.0 Td", b"0 1 -1 0 99 99 Tm").replace(b"/Length 52", b"/Length 56")
    assert (turned != upright, text_of(turned)) == (True, "In 1875 and 2027")


REPORT = """# Recovery

The economy recovered by the end of 2027[3]. Output rose by 10³ units in 2026[1][3], or by $2^{10}$ of them.

| Year | Output |
|---|---|
| 2025 | 512[1] |
"""
SOURCES = {
    1: SourceNote(title="Bank 2025", url="https://bank.example/2025"),
    3: SourceNote(title="Outlook", url="https://outlook.example/"),
}


def test_a_report_that_we_exported_reads_as_it_was_written() -> None:
    text = text_of(convert_to_pdf(REPORT, sources=SOURCES).content)
    assert "The economy recovered by the end of 2027³. Output rose by 10³ units in 2026¹,³, or by 2¹⁰ of them." in text
    assert "2025 512¹" in text
    assert "20273" not in text


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("The economy recovered by the end of 2027 [1].", "supported"),
        ("The economy had recovered by the end of 2027 [1].", "supported"),
        ("The economy recovered by the end of 20273 [1].", "contradicted"),
        ("Inflation was at 3.5 percent in May 2026 [1].", "supported"),
        ("> Inflation was 3.5 percent in May 2026, they said. [1]", "supported"),
        ("Inflation was at 3.5 percent in May 2025 [1].", "contradicted"),
    ],
)
def test_footnotes_to_a_text_with_reference_marks_are_judged_as_without_them(claim: str, verdict: str) -> None:
    page = "The economy recovered by the end of 2027³.\n\nInflation¹² was 3.5 percent in May 2026⁴, they said."
    [citation] = check_citations(claim, sources_of(page))
    assert citation.verdict == verdict
