"""Arabic and Hebrew mixed with English, read from PDFs in logical order."""

import pytest

from documents.pdf.parsed_pdf import convert_to_pdf
from footnote.documents.extract import extract
from footnote.documents.extract.pdf_layout import mirror_brackets, reading_order

MIXED = {
    "a name and numbers in Arabic": "وجد الباحثون أن نموذج GPT-4 حقق 85.5% في اختبار MMLU عام 2023، وهو أفضل من سابقه.",
    "names of two words in Arabic": "وجد الباحثون في جامعة Stanford University أن استخدام Deep Learning ضروري.",
    "brackets and a range in Arabic": "قال المدير: «نستخدم Python 3.12 (إصدار LTS) منذ 2021–2024» ثم أضاف.",
    "Arabic in English": "The Arabic words سلام عليكم mean peace, and were written in 2024.",
    "Hebrew in English": "The Hebrew words שלום עולם mean peace, and were written in 2024.",
    "English in Hebrew": "מחקר חדש מאת OpenAI מצא כי 42% מהמשתמשים (בני 18-24) מעדיפים Python על Java.",
    "English in an Arabic document": "The Stanford report of 2022 was published in Nature Medicine.",
    "a price": "السعر 1,500$ فقط، وليس 2.000$ كما قيل.",
}


def read(markdown: str) -> str:
    return extract(convert_to_pdf(markdown).content, "application/pdf", "https://paper.test/a.pdf").text


@pytest.mark.parametrize("name", MIXED)
def test_text_of_both_directions_is_read_as_it_was_written(name: str) -> None:
    assert MIXED[name] in read(f"# تقرير عن الطاقة\n\nوجد الباحثون أن النتائج جيدة.\n\n{MIXED[name]}")


@pytest.mark.parametrize(
    "text",
    [
        "האוניברסיטה העברית בירושלים (The Hebrew University) נוסדה בשנת 1918.",
        "زر الموقع https://example.org/ar/page?id=5 لمزيد من التفاصيل.",
        "The Arabic motto of the university, العلم نور والجهل ظلام والحكمة ضالة المؤمن, was chosen in 1950.",
        # With letters of either direction at its ends, a line has nothing but the place of its full stop.
        "اسم الموقع الرسمي هو Wikimedia Foundation.",
        "The name of that house is بيت الحكمة في بغداد.",
    ],
)
@pytest.mark.parametrize("before", ["The words before are English.", "وجد الباحثون أن النتائج جيدة."])
def test_a_line_with_as_many_letters_of_both_directions_is_read_from_the_side_without_its_full_stop(
    text: str, before: str
) -> None:
    assert text in read(f"{before}\n\n{text}")


def test_a_paragraph_from_right_to_left_stays_one_over_its_lines() -> None:
    text = " ".join([MIXED["names of two words in Arabic"]] * 4)
    assert text in read(text)


SHOWN = {
    "אבג abc דהו": ("והד abc גבא", True),
    "abc אבג דהו def": ("abc והד גבא def", False),
    "in 2024 שלום עולם, it": ("in 2024 םלוע םולש, it", False),
    "שלום 18-24 גם": ("םג 18-24 םולש", True),
    "قبل 18-24": ("24-18 لبق", True),
}


@pytest.mark.parametrize("written", SHOWN)
def test_the_order_of_reading_follows_from_what_is_shown_from_left_to_right(written: str) -> None:
    shown, from_right = SHOWN[written]
    assert "".join(shown[at] for at in reading_order(shown, is_rtl=from_right)) == written


@pytest.mark.parametrize("text", ["של (בני 18) כי", "של )בני 18( כי"])
def test_brackets_open_before_what_they_hold_however_a_maker_named_them(text: str) -> None:
    assert mirror_brackets(text) == "של (בני 18) כי"


def test_ordering_is_linear() -> None:
    shown = "אב ab (12) " * 5_000 + "(" * 50_000
    assert sorted(reading_order(shown, is_rtl=True)) == [*range(len(shown))]
    assert len(mirror_brackets(shown)) == len(shown)
