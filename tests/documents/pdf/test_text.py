import re

import pytest

from documents import samples
from documents.pdf.printing import Pages, converted

_EQUAL = [language for language in samples.SCRIPTS if language != "bn"]


def _read_text(text: str, language: str) -> str:
    """What was read, where a line may have ended within a word of a language that has no spaces."""
    return text.replace(" ", "") if language in ("zh-Hans", "zh-Hant", "ja", "th") else text


@pytest.mark.parametrize("language", _EQUAL)
def test_text_copied_from_a_page_is_the_text_that_was_written(language):
    text = samples.SCRIPTS[language]
    result = converted(f"{text}\n\n**{text}**\n\n- {text}")
    # The sign of the list, and nothing else, is ours.
    assert _read_text(Pages(result.content).text(), language) == _read_text(f"{text} {text} • {text}", language)
    assert result.notes == ()


@pytest.mark.parametrize("language", samples.SCRIPTS)
def test_every_letter_has_a_glyph(language):
    result = converted(f"# {samples.SCRIPTS[language]}\n\n`{samples.SCRIPTS[language]}`")
    # A document with a letter that no font has is not accepted as PDF/UA.
    assert (b"pdfuaid:part" in result.content, result.notes) == (True, ())


def test_letters_that_no_font_has_are_named():
    result = converted("Old signs: 𓀀 and 𐎀, among words that stay.")
    assert result.notes == ("No font has these signs: 𓀀 𐎀.",)
    assert b"pdfuaid:part" not in result.content
    assert "among words that stay." in Pages(result.content).text()


def test_a_report_in_vietnamese_says_all_that_its_markdown_says():
    text = Pages(converted(samples.VIETNAMESE_REPORT).content).text()
    body = samples.VIETNAMESE_REPORT.split("---\n", 2)[2]
    body = re.sub(r"(?s)\$\$.*?\$\$|\$.*?\$", " ", body)
    words = set(re.findall(r"[^\W_]{2,}", re.sub(r"https?://\S+|mailto:|python|\^qh", " ", body)))
    assert {word for word in words if word not in text} == set()


def test_text_is_composed_before_it_is_set():
    assert Pages(converted("Ti\u0065\u0302\u0301ng Vi\u0065\u0323\u0302t").content).text() == "Tiếng Việt"


def test_spaces_and_wrapped_lines_are_one_space_but_none_in_chinese():
    assert Pages(converted("one\ntwo   three\n\n研究\n人员").content).text() == "one two three 研究人员"


def test_arabic_bookmarks_and_titles_are_the_letters_themselves():
    pages = Pages(converted("# تقرير الطاقة الشمسية\n\nنص.").content)
    assert (pages.bookmarks(), pages.metadata()["Title"]) == ([(1, "تقرير الطاقة الشمسية")], "تقرير الطاقة الشمسية")


@pytest.mark.parametrize(
    "text",
    ["پژوهشگران می‌گویند", "اردو میں گفتگو", "لا إله الأولى", "كـــتاب"],
    ids=["persian", "urdu", "lam-alef", "stretched"],
)
def test_other_words_in_arabic_letters_are_copied_as_written(text):
    assert Pages(converted(text).content).text().replace("\u200c", "") == text.replace("\u200c", "")


def test_a_long_paragraph_in_arabic_letters_is_copied_as_written():
    text = " ".join([samples.SCRIPTS["ar"]] * 100)
    # The title stands at the head of the second page.
    assert Pages(converted(text).content).text().replace("report ", "") == text


def test_letters_that_have_no_whole_forms_stay_among_those_that_have():
    # The middle word is Kurdish.
    result = converted("وجد ڕۆژنامە سنوات")
    assert (result.notes, b"pdfuaid:part" in result.content) == ((), True)
    assert Pages(result.content).text().startswith("وجد ")
    assert Pages(result.content).text().endswith(" سنوات")


def test_a_key_and_its_digit_are_one_sign():
    page = Pages(converted("1️⃣2️⃣ and 👩‍🔬").content).file[0].get_textpage()
    assert page.get_text_range() == "1️⃣2️⃣ and 👩‍🔬\r\n1 / 1"
    signs = [page.get_charbox(at, loose=True) for at in (0, 2, 3, 5)]
    # The digit is as wide as its key, and the second key begins where the first one ends.
    assert [round(right - left) for left, _, right, _ in signs] == [13] * 4
    assert round(signs[2][0] - signs[0][2]) == 0


def test_an_english_sentence_in_an_arabic_report_is_copied_in_its_order():
    english = "The Stanford report of 2022 was published in Nature Medicine."
    text = Pages(converted(f"{samples.SCRIPTS['ar']}\n\n{english}\n\n{samples.SCRIPTS['ar']}").content).text()
    assert english in text
