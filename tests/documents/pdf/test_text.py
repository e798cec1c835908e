import re
import shutil
import subprocess
from pathlib import Path

import pytest

from documents import samples
from documents.pdf.parsed_pdf import ParsedPdf, convert_to_pdf

_EQUAL = [language for language in samples.SCRIPTS if language != "bn"]


def _read_text(text: str, language: str) -> str:
    """Words that a line break may split, in languages without spaces."""
    return text.replace(" ", "") if language in ("zh-Hans", "zh-Hant", "ja", "th") else text


@pytest.mark.parametrize("language", _EQUAL)
def test_text_copied_from_a_page_is_the_text_that_was_written(language):
    text = samples.SCRIPTS[language]
    result = convert_to_pdf(f"{text}\n\n**{text}**\n\n- {text}")
    # Only the bullet is added by the writer.
    assert _read_text(ParsedPdf(result.content).text(), language) == _read_text(f"{text} {text} • {text}", language)
    assert result.notes == ()


@pytest.mark.parametrize("language", samples.SCRIPTS)
def test_every_letter_has_a_glyph(language):
    result = convert_to_pdf(f"# {samples.SCRIPTS[language]}\n\n`{samples.SCRIPTS[language]}`")
    # A letter without a glyph in any font makes a document invalid as PDF/UA.
    assert (b"pdfuaid:part" in result.content, result.notes) == (True, ())


def test_letters_that_no_font_has_are_named():
    result = convert_to_pdf("Old signs: 𓀀 and 𐎀, among words that stay.")
    assert result.notes == ("No font has these signs: 𓀀 𐎀.",)
    assert b"pdfuaid:part" not in result.content
    assert "among words that stay." in ParsedPdf(result.content).text()


def test_a_report_in_vietnamese_says_all_that_its_markdown_says():
    text = ParsedPdf(convert_to_pdf(samples.VIETNAMESE_REPORT).content).text()
    body = samples.VIETNAMESE_REPORT.split("---\n", 2)[2]
    body = re.sub(r"(?s)\$\$.*?\$\$|\$.*?\$", " ", body)
    words = set(re.findall(r"[^\W_]{2,}", re.sub(r"https?://\S+|mailto:|python|\^qh", " ", body)))
    assert {word for word in words if word not in text} == set()


def test_text_is_composed_before_it_is_set():
    assert ParsedPdf(convert_to_pdf("Ti\u0065\u0302\u0301ng Vi\u0065\u0323\u0302t").content).text() == "Tiếng Việt"


def test_spaces_and_wrapped_lines_are_one_space_but_none_in_chinese():
    assert ParsedPdf(convert_to_pdf("one\ntwo   three\n\n研究\n人员").content).text() == "one two three 研究人员"


def test_arabic_bookmarks_and_titles_are_the_letters_themselves():
    pages = ParsedPdf(convert_to_pdf("# تقرير الطاقة الشمسية\n\nنص.").content)
    assert (pages.bookmarks(), pages.metadata()["Title"]) == ([(1, "تقرير الطاقة الشمسية")], "تقرير الطاقة الشمسية")


@pytest.mark.parametrize(
    "text",
    ["پژوهشگران می‌گویند", "اردو میں گفتگو", "لا إله الأولى", "كـــتاب"],
    ids=["persian", "urdu", "lam-alef", "stretched"],
)
def test_other_words_in_arabic_letters_are_copied_as_written(text):
    assert ParsedPdf(convert_to_pdf(text).content).text().replace("\u200c", "") == text.replace("\u200c", "")


def test_a_long_paragraph_in_arabic_letters_is_copied_as_written():
    text = " ".join([samples.SCRIPTS["ar"]] * 100)
    # The second page begins with the title.
    assert ParsedPdf(convert_to_pdf(text).content).text().replace("report ", "") == text


def test_letters_that_have_no_whole_forms_stay_among_those_that_have():
    # The middle word is Kurdish.
    result = convert_to_pdf("وجد ڕۆژنامە سنوات")
    assert (result.notes, b"pdfuaid:part" in result.content) == ((), True)
    assert ParsedPdf(result.content).text().startswith("وجد ")
    assert ParsedPdf(result.content).text().endswith(" سنوات")


def test_a_key_and_its_digit_are_one_sign():
    page = ParsedPdf(convert_to_pdf("1️⃣2️⃣ and 👩‍🔬").content).file[0].get_textpage()
    assert page.get_text_range() == "1️⃣2️⃣ and 👩‍🔬\r\n1 / 1"
    signs = [page.get_charbox(at, loose=True) for at in (0, 2, 3, 5)]
    # The glyph of the digit is as wide as its keycap, so that the second keycap begins where the first one ends.
    assert [round(right - left) for left, _, right, _ in signs] == [13] * 4
    assert round(signs[2][0] - signs[0][2]) == 0


def test_an_english_sentence_in_an_arabic_report_is_copied_in_its_order():
    english = "The Stanford report of 2022 was published in Nature Medicine."
    text = ParsedPdf(convert_to_pdf(f"{samples.SCRIPTS['ar']}\n\n{english}\n\n{samples.SCRIPTS['ar']}").content).text()
    assert english in text


ARABIC_WITH_NAMES = "وجد الباحثون في Stanford University أن تكلفة الطاقة انخفضت خلال عشر سنوات، كما ذكرت Nature."


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="poppler is not installed")
def test_poppler_copies_a_name_of_two_words_inside_an_arabic_line_in_its_order(tmp_path: Path):
    (tmp_path / "report.pdf").write_bytes(convert_to_pdf(ARABIC_WITH_NAMES).content)
    command = ["pdftotext", "-enc", "UTF-8", str(tmp_path / "report.pdf"), "-"]
    text = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout.decode()
    # Poppler writes direction marks around each run, and the page number at the end.
    assert re.findall(r"\w+", text) == [*re.findall(r"\w+", ARABIC_WITH_NAMES), "1", "1"]


def test_pdfium_copies_a_name_of_one_word_inside_an_arabic_line_in_its_place():
    text = ARABIC_WITH_NAMES.replace("Stanford University", "Stanford")
    assert ParsedPdf(convert_to_pdf(text).content).text() == text


@pytest.mark.xfail(
    strict=True, reason="pdfium reverses runs at every space, also in what LibreOffice and Chromium make"
)
def test_pdfium_copies_a_name_of_two_words_inside_an_arabic_line_in_its_order():
    assert ParsedPdf(convert_to_pdf(ARABIC_WITH_NAMES).content).text() == ARABIC_WITH_NAMES


def test_the_letters_of_arabic_words_are_put_back_after_the_last_trailer_of_the_file():
    content = convert_to_pdf(ARABIC_WITH_NAMES).content
    # Typst writes one cross-reference table; the writer appends another one that refers to it.
    assert (content.count(b"\ntrailer"), content.count(b"/Prev "), content.count(b"startxref")) == (2, 1, 2)
