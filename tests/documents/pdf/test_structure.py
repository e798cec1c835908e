import subprocess
import sys
from pathlib import Path

import pytest

from documents import samples
from documents.pdf.parsed_pdf import ParsedPdf, convert_to_pdf
from footnote.sandbox.jobs import SourceNote

_HEADINGS = "# Title\n\n## One\n\ntext\n\n### Inner *part*\n\ntext\n\n## Two `code`\n\nSee [one](#one).\n"


def test_bookmarks_are_the_headings():
    assert ParsedPdf(convert_to_pdf(_HEADINGS).content).bookmarks() == [
        (1, "Title"),
        (2, "One"),
        (3, "Inner part"),
        (2, "Two code"),
    ]


def test_levels_that_a_text_leaves_out_are_closed_up():
    pages = ParsedPdf(convert_to_pdf("## Begin\n\n#### Deep\n\n# Top\n\n### Third").content)
    assert pages.bookmarks() == [(1, "Begin"), (2, "Deep"), (1, "Top"), (2, "Third")]


def test_a_document_says_of_itself_what_its_front_matter_says():
    result = convert_to_pdf(samples.VIETNAMESE_REPORT)
    pages = ParsedPdf(result.content)
    about = pages.metadata()
    assert (about["Title"], about["Author"], about["CreationDate"]) == (
        "Điện mặt trời mái nhà ở Việt Nam",
        "Nguyễn Thị Ánh",
        "D:20260314000000Z",
    )
    assert about["Keywords"] == "Những con số chính, Việc cần làm tiếp"
    assert pages.is_tagged()
    assert b"/Lang(vi)" in result.content.replace(b" ", b"")
    assert b"pdfuaid:part" in result.content


@pytest.mark.parametrize("date", ["2026-02-30", "2026-13-01", "yesterday", "0000-00-00"])
def test_a_date_that_is_none_is_shown_all_the_same(date):
    assert date in ParsedPdf(convert_to_pdf(f"---\ntitle: T\ndate: {date}\n---\ntext").content).text()


def test_a_title_that_no_heading_says_stands_above_the_text():
    assert ParsedPdf(convert_to_pdf("---\ntitle: My title\nauthor: A B\n---\n## One\n\ntext").content).text() == (
        "My title A B One text"
    )


def test_the_name_of_a_file_is_no_title_on_the_page():
    pages = ParsedPdf(convert_to_pdf("only text").content)
    assert (pages.text(), pages.metadata()["Title"]) == ("only text", "report")


def test_links_lead_to_the_web_and_to_mailboxes_only():
    markdown = (
        "[web](https://example.com/a?b=c&d=%22) https://bare.example/x_(y). <mailto:a@b.example> "
        "[file](file:///etc/passwd) [script](javascript:alert(1)) [data](data:text/html,x) [path](/etc/passwd)"
    )
    pages = ParsedPdf(convert_to_pdf(markdown).content)
    assert pages.addresses() == [
        "https://example.com/a?b=c&d=%22",
        "https://bare.example/x_(y)",
        "mailto:a@b.example",
    ]
    assert pages.text() == "web https://bare.example/x_(y). a@b.example file script data path"


def test_notes_stand_at_the_foot_with_title_address_and_dates_of_the_source():
    sources = {
        3: SourceNote("Third", "https://c.example/3", "2026-02-01T10:00:00Z", "2025-12-31"),
        7: SourceNote("Seventh", "https://c.example/7"),
    }
    pages = ParsedPdf(convert_to_pdf("First [3]. Then [7, 3] and [9].", sources=sources).content)
    assert pages.text() == (
        "First3. Then7 , 3 and [9]. "
        "3 Third. https://c.example/3 (published 2025-12-31, read 2026-02-01) 7 Seventh. https://c.example/7"
    )
    assert pages.addresses() == ["https://c.example/3", "https://c.example/7"]


def test_a_note_with_a_name_gets_a_number_that_no_source_has():
    text = ParsedPdf(
        convert_to_pdf("One[^x] two [2].\n\n[^x]: Named.", sources={2: SourceNote("S", "https://s.example")}).content
    )
    assert text.text() == "One3 two2. 3 Named. 2 S. https://s.example"


def test_long_reports_have_contents_with_page_numbers():
    markdown, images = samples.long_report(10)
    result = convert_to_pdf(markdown, images=images)
    pages = ParsedPdf(result.content)
    texts = [" ".join(text.split()) for text in pages.texts()]
    headings = [line.lstrip("# ") for line in markdown.splitlines() if line.startswith("#")]
    assert [title for _, title in pages.bookmarks()] == headings
    assert texts[0].startswith("The state of solar power Contents Chapter 1: findings")
    second = next(number for number, text in enumerate(texts, 1) if number > 1 and "Chapter 2: findings" in text)
    assert f"Chapter 2: findings {second}" in texts[0].replace(". ", "").replace(".", "")
    assert all(text.startswith("The state of solar power") for text in texts)
    assert all(f"{at} / {len(texts)}" in text for at, text in enumerate(texts, 1))
    assert result.notes == ()


def test_short_texts_have_no_contents():
    assert "Contents" not in ParsedPdf(convert_to_pdf("# T\n\n" + "## S\n\ntext\n\n" * 9).content).text()


def test_tables_break_over_pages_and_repeat_their_heads():
    rows = "".join(f"| {row} | value {row} |\n" for row in range(150))
    texts = ParsedPdf(convert_to_pdf(f"| Number | Value |\n|--:|---|\n{rows}").content).texts()
    assert len(texts) > 2
    assert all("Number" in text and "Value" in text for text in texts)
    words = " ".join(texts).split()
    assert all(words.count(str(row)) >= 2 for row in range(150))


def test_a_row_is_broken_over_pages_only_if_it_is_high():
    row = "| begins {0} " + "with some words " * 30 + "ends{0} | and {0} |\n"
    rows = "".join(row.format(at) for at in range(60))
    texts = ParsedPdf(convert_to_pdf(f"| Words | Second |\n|---|---|\n{rows}").content).texts()
    assert len(texts) > 2
    for text in texts:
        words = text.replace("\r\n", " ").split()
        started = [word for at, word in enumerate(words) if words[at - 1] == "begins"]
        assert started == [word.removeprefix("ends") for word in words if word.startswith("ends")]
    endless = ParsedPdf(convert_to_pdf(f"| Words | Second |\n|---|---|\n| {'word ' * 3000} | a |").content).text()
    assert endless.count("word") == 3000


def test_rows_beyond_the_limit_are_counted():
    rows = "".join(f"| {row} |\n" for row in range(5010))
    result = convert_to_pdf(f"| n |\n|---|\n{rows}\nafter")
    assert result.notes == ("10 rows of tables are left out: a document shows 5,000 at most.",)
    assert ParsedPdf(result.content).text().endswith("4999 10 more rows are not shown. after")


def test_tasks_quotations_code_and_rules_are_shown():
    markdown = "- [x] done\n- [ ] open\n  - inner\n\n> said\n\n```python\nif x:\n    y()\n```\n\n"
    markdown += "---\n\n1. one\n2. two\n\n~~no~~"
    assert ParsedPdf(convert_to_pdf(markdown).content).text() == (
        "☑ done ☐ open – inner said if x: y() 1. one 2. two no"
    )


def test_formulas_are_set_and_keep_their_latex_for_those_who_listen():
    result = convert_to_pdf("$E = mc^2$ and\n\n$$\\frac{a}{b}$$\n\n\\[ x \\in \\mathbb{R} \\]")
    assert result.notes == ()
    assert ParsedPdf(result.content).text() == "𝐸 = 𝑚𝑐 2 and 𝑎 𝑏 𝑥 ∈ ℝ"
    assert b"pdfuaid:part" in result.content


def test_pictures_are_shown_and_described():
    images = {"/a.png": samples.png(300, 100), "/b.svg": samples.SVG, "/c.jpg": samples.JPEG}
    markdown = "![First](a.png)\n\n![Second](./b.svg)\n\nIn ![third](/c.jpg) a line."
    result = convert_to_pdf(markdown, images=images)
    assert result.notes == ()
    assert ParsedPdf(result.content).text() == "In a line."
    assert b"pdfuaid:part" in result.content


def test_the_same_work_gives_the_same_bytes():
    assert convert_to_pdf(samples.VIETNAMESE_REPORT).content == convert_to_pdf(samples.VIETNAMESE_REPORT).content


@pytest.mark.parametrize("hidden", ["footnote_fonts", "tex2typst"])
def test_without_a_package_the_document_is_made_all_the_same(hidden):
    program = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
sys.modules[{hidden!r}] = None
from documents.pdf.parsed_pdf import ParsedPdf, convert_to_pdf
result = convert_to_pdf("# Báo cáo 报告\\n\\nTiếng Việt, $x^2$.")
print([*result.notes, "Tiếng Việt, " in ParsedPdf(result.content).text()])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    expected = {
        "footnote_fonts": [
            "No font has these signs: 报 告.",
            "These fonts are not installed: Inter, JetBrains Mono, Noto Sans CJK SC, Noto Sans Arabic.",
        ],
        "tex2typst": ["One formula could not be set and stands as LaTeX: x^2."],
    }
    assert done.stdout.strip() == str([*expected[hidden], True])


def test_an_empty_text_is_an_empty_page():
    pages = ParsedPdf(convert_to_pdf("").content)
    assert (len(pages.file), pages.text(), pages.metadata()["Title"]) == (1, "", "report")
