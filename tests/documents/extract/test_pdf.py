import subprocess
import sys

import pytest

from documents.extract.pdf_builder import lines, make_pdf
from footnote.documents.extract import MAX_CHARACTERS, ExtractedPage, UnreadableDocument, extract
from footnote.documents.extract.pdf import MAX_PAGES
from footnote.protocol.sources import Snapshot
from web.pdf import pdf

URL = "https://paper.test/a.pdf"
PROSE = (
    "The oldest bridge of concrete in France was built in 1875 by Joseph Monier, a",
    "gardener, for the moat of the castle of Chazelet. It is thirteen metres long and",
    "its railing imitates wood.",
)


def read(body: bytes) -> ExtractedPage:
    return extract(body, "application/pdf", URL)


def failure(body: bytes) -> tuple[str, str]:
    with pytest.raises(UnreadableDocument) as raised:
        read(body)
    return raised.value.failure, raised.value.reason


def test_the_pages_of_a_pdf_follow_each_other_and_say_where_they_begin() -> None:
    assert read(pdf("Concrete bridges", "The oldest of them was built in 1875.")) == ExtractedPage(
        text="Concrete bridges\n\nThe oldest of them was built in 1875.",
        title="Concrete bridges",
        media_type="application/pdf",
        pages=(0, 18),
    )


def test_an_offset_on_an_empty_page_between_two_others_belongs_to_none_of_its_text() -> None:
    extracted = read(make_pdf(lines("One."), [], lines("Three.")))
    snapshot = Snapshot(url=URL, text=extracted.text, pages=extracted.pages)
    assert (extracted.text, extracted.pages) == ("One.\n\nThree.", (0, 4, 6))
    assert [snapshot.page_at(offset) for offset in (0, 3, 6, 11)] == [1, 1, 3, 3]


def test_lines_become_paragraphs() -> None:
    second = ("Other countries followed soon, and", "built longer ones.")
    page = lines(*PROSE[:2]) + lines(*second, top=630)
    assert read(make_pdf(page)).text == " ".join(PROSE[:2]) + "\n\n" + " ".join(second)


def test_a_sentence_goes_on_in_the_next_column() -> None:
    page = lines("The oldest bridge of", "concrete in France", "was built in") + lines("1875 by Monier.", left=320)
    assert read(make_pdf(page)).text == "The oldest bridge of concrete in France was built in 1875 by Monier."


def test_a_short_last_line_ends_a_paragraph_without_a_gap() -> None:
    page = lines(*PROSE, *PROSE)
    assert read(make_pdf(page)).text == " ".join(PROSE) + "\n\n" + " ".join(PROSE)


def test_an_indented_line_begins_a_paragraph() -> None:
    page = [*lines(*PROSE[:2]), *lines("Elsewhere iron was preferred, and stone", top=672, left=90)]
    assert read(make_pdf(page)).text == " ".join(PROSE[:2]) + "\n\nElsewhere iron was preferred, and stone"


def test_a_word_that_was_parted_at_the_end_of_a_line_is_whole_again() -> None:
    page = lines(
        "It was an extra-", "ordinary bridge of the Franco-", "Prussian time, well-", "known in the 19-", "20th century"
    )
    assert (
        read(make_pdf(page)).text
        == "It was an extraordinary bridge of the Franco-Prussian time, wellknown in the 19- 20th century"
    )


def test_lines_of_chinese_are_joined_without_a_space() -> None:
    page = lines("法国最古老的混凝土桥建于一八七五年", "由园丁约瑟夫建造。")
    assert read(make_pdf(page)).text == "法国最古老的混凝土桥建于一八七五年由园丁约瑟夫建造。"


def test_larger_letters_make_a_heading_and_the_title() -> None:
    page = [*lines("Concrete bridges", size=24, top=780), *lines("Origins", size=15, top=730), *lines(*PROSE)]
    extracted = read(make_pdf(page))
    assert extracted.text == f"## Concrete bridges\n\n### Origins\n\n{' '.join(PROSE)}"
    assert extracted.title == "Concrete bridges"


def test_items_of_a_list_stay_apart() -> None:
    page = lines("Bridges of concrete:", "• Chazelet, built", "in 1875", "• Wiggen")
    assert read(make_pdf(page)).text == "Bridges of concrete:\n\n- Chazelet, built in 1875\n\n- Wiggen"


def test_running_heads_and_page_numbers_are_left_out_after_the_first_page() -> None:
    pages = [
        [
            (72, 800, 9, "Journal of Bridges 12"),
            *lines(
                f"Page {word} tells something new,", f"for {word} is a number", f"that comes after {word} less one."
            ),
            (290, 40, 9, f"{number} of 4"),
        ]
        for number, word in enumerate(("one", "two", "three", "four"), 1)
    ]
    bodies = [
        f"Page {word} tells something new, for {word} is a number that comes after {word} less one."
        for word in ("one", "two", "three", "four")
    ]
    assert read(make_pdf(*pages)).text.split("\n\n") == ["Journal of Bridges 12", bodies[0], "1 of 4", *bodies[1:]]


def test_a_pdf_says_who_wrote_it_and_when() -> None:
    facts = "/Title (Bridges of concrete) /Author (J. Monier) /CreationDate (D:18750312101500+01'00')"
    newer = facts.replace("1875", "1975")
    page = lines(*PROSE)
    assert read(make_pdf(page, facts=newer)) == ExtractedPage(
        text=" ".join(PROSE),
        title="Bridges of concrete",
        author="J. Monier",
        published="1975-03-12",
        media_type="application/pdf",
        pages=(0,),
    )
    assert read(make_pdf(page, facts=facts)).published is None


@pytest.mark.parametrize("title", ["untitled", "report-final.doc", "Microsoft Word - report.docx", " "])
def test_a_title_that_is_none_gives_way_to_the_largest_line(title: str) -> None:
    page = [*lines("Concrete bridges", size=24, top=780), *lines(*PROSE)]
    assert read(make_pdf(page, facts=f"/Title ({title})")).title == "Concrete bridges"


def test_a_pdf_with_a_password_says_so() -> None:
    lock = f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{'41' * 32}> /U <{'42' * 32}> >> /ID [<00> <00>]"
    assert failure(make_pdf(lines("Secret"), trailer=lock)) == ("unreadable", "it is protected by a password")


def test_a_pdf_of_pictures_says_so() -> None:
    assert failure(make_pdf([], [])) == ("empty", "it has no text, only pictures of it")


@pytest.mark.parametrize("body", [b"%PDF-1.7\n" + b"\0\1\2nonsense" * 50, make_pdf()])
def test_a_broken_pdf_says_so(body: bytes) -> None:
    assert failure(body)[0] == "unreadable"
    assert failure(body)[1].startswith("it is broken: ")


def test_a_pdf_whose_table_is_wrong_is_read_all_the_same() -> None:
    whole = pdf("Concrete bridges", "The oldest of them was built in 1875.")
    damaged = whole.replace(b"startxref\n", b"startxref\n9")
    assert read(damaged).text == "Concrete bridges\n\nThe oldest of them was built in 1875."


def test_only_so_many_pages_are_read() -> None:
    extracted = read(pdf(*(f"Page {chr(65 + number % 26)} {number}" for number in range(MAX_PAGES + 1))))
    assert (len(extracted.pages), extracted.cut) == (MAX_PAGES, True)


def test_only_so_much_text_is_kept() -> None:
    page = lines(*("Many words that fill a line of a page. " * 2 for _ in range(600)), top=800)
    extracted = read(make_pdf(*[page] * 12))
    assert (len(extracted.text) <= MAX_CHARACTERS, len(extracted.text) > MAX_CHARACTERS - 100) == (True, True)
    assert extracted.cut


def test_a_text_page_does_not_load_the_pdf_library() -> None:
    code = (
        "import sys; from footnote.documents.extract import extract; extract(b'text', 'text/plain', '');"
        "print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert [name for name in ("pypdfium2", "aiohttp", "footnote.documents.extract.html") if name in loaded] == []


def test_a_sentence_is_no_heading_where_most_letters_are_those_of_a_table() -> None:
    table = lines(*["Region 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19"] * 20, top=500, size=8)
    sentence = "The price of gold rose by 3.2 percent within a week, and demand stays high."
    body = make_pdf([*lines("Market report", top=760, size=20), *lines(sentence, top=700, size=11), *table])
    text = extract(body, "application/pdf", "").text
    assert text.startswith(f"## Market report\n\n{sentence}\n\n")
