"""The tree becomes a DOCX file with the styles and elements of Word."""

import io
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from documents.docx.parsed_docx import ParsedDocx, docx_of_blocks, open_docx, style_of, text_of, w
from documents.samples import JPEG, SCRIPTS, SVG, VIETNAMESE_REPORT, long_report, png
from footnote.documents.tree import Bullets, Item, Numbers, Paragraph, PlainText

EVERYTHING = f"""\
# Title

Words with **bold**, *slanted*, ~~gone~~, `code`, [a link](https://example.org/a?b=1&c=2), [a place](#second) and
$a^2$.[^1] Again.[^1]

## Second

> A quotation.

```python
print("hello")
```

$$
\\frac{{1}}{{2}}
$$

| a | b |
|---|--:|
| 1 | 2 |

- one
  - two

4. four

![chart](chart.png) ![curve](curve.svg) ![photo](photo.jpg)

---

{SCRIPTS["ar"]}

[^1]: A note with [its own link](https://example.org/note) and ![chart](chart.png).
"""
IMAGES = {"/chart.png": png(40, 20), "/curve.svg": SVG, "/photo.jpg": JPEG}


@pytest.fixture(scope="module")
def everything() -> ParsedDocx:
    return open_docx(EVERYTHING, IMAGES)


def test_every_relation_of_every_part_leads_to_something(everything: ParsedDocx) -> None:
    for part in ("word/document.xml", "word/footnotes.xml"):
        used = set(re.findall(rb'\br:(?:id|embed)="(\w+)"', everything.files[part]))
        targets = everything.targets(part)
        assert {name.decode() for name in used} <= set(targets)
        assert [
            target for target, outside in targets.values() if not outside and f"word/{target}" not in everything.files
        ] == []
    assert {target for target, _ in everything.targets("word/footnotes.xml").values()} == {
        "https://example.org/note",
        "media/picture1.png",
    }
    assert all(target in everything.files for target, _ in everything.targets("/").values())


def test_every_part_has_a_content_type(everything: ParsedDocx) -> None:
    types = everything.parts["[Content_Types].xml"]
    named = {entry.attrib["PartName"] for entry in types if "PartName" in entry.attrib}
    endings = {entry.attrib["Extension"] for entry in types if "Extension" in entry.attrib}
    assert {name for name in named if name[1:] not in everything.files} == set()
    untold = {name for name in everything.files if f"/{name}" not in named and name.rpartition(".")[2] not in endings}
    assert untold == set()


def test_every_style_that_is_used_is_defined(everything: ParsedDocx) -> None:
    defined = {
        style.attrib[f"{w}styleId"] for style in everything.all(f"{w}style", everything.parts["word/styles.xml"])
    }
    used = {
        element.attrib[f"{w}val"]
        for part in (everything.body, everything.notes, everything.parts["word/footer1.xml"])
        for tag in ("pStyle", "rStyle", "tblStyle")
        for element in everything.all(f"{w}{tag}", part)
    }
    assert used - defined == set()


def test_headings_are_real_ones_of_all_six_levels() -> None:
    file = open_docx("\n\n".join(f"{'#' * level} Level {level}" for level in range(1, 7)))
    assert file.paragraphs() == [(f"Heading{level}", f"Level {level}") for level in range(1, 7)]
    styles = {style.attrib[f"{w}styleId"]: style for style in file.parts["word/styles.xml"].iter(f"{w}style")}
    for level in range(1, 7):
        style = styles[f"Heading{level}"]
        name, outline = style.find(f"{w}name"), style.find(f"{w}pPr/{w}outlineLvl")
        assert name is not None
        assert outline is not None
        assert (name.attrib[f"{w}val"], outline.attrib[f"{w}val"]) == (f"heading {level}", str(level - 1))


def test_words_keep_their_emphasis(everything: ParsedDocx) -> None:
    found = {
        text_of(run): {child.tag.removeprefix(w) for child in properties}
        for run in everything.all(f"{w}r")
        if (properties := run.find(f"{w}rPr")) is not None and text_of(run) in ("bold", "slanted", "gone", "code")
    }
    assert found == {"bold": {"b", "bCs"}, "slanted": {"i", "iCs"}, "gone": {"strike"}, "code": {"rStyle"}}


def test_links_go_out_by_relations_and_inside_to_bookmarks(everything: ParsedDocx) -> None:
    targets = everything.targets("word/document.xml")
    links = [
        (
            text_of(link),
            targets.get(link.get("{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id", "")),
        )
        for link in everything.all(f"{w}hyperlink")
    ]
    assert links == [("a link", ("https://example.org/a?b=1&c=2", True)), ("a place", None)]
    (inside,) = (link.attrib[f"{w}anchor"] for link in everything.all(f"{w}hyperlink") if f"{w}anchor" in link.attrib)
    (heading,) = (p for p in everything.all(f"{w}p") if style_of(p) == "Heading2")
    assert [mark.attrib[f"{w}name"] for mark in heading.iter(f"{w}bookmarkStart")] == [inside]


@pytest.mark.parametrize(
    ("written_as", "linked"),
    [
        ("https://example.org/a b", "https://example.org/a%20b"),
        ("https://example.org/tìm?q=ế#đ", "https://example.org/t%C3%ACm?q=%E1%BA%BF#%C4%91"),
        ("https://bücher.example/x", "https://xn--bcher-kva.example/x"),
        ("https://example.org/100%", "https://example.org/100%25"),
        ("https://example.org/{a}|[b]", "https://example.org/%7Ba%7D%7C%5Bb%5D"),
        ("http://[::1]:80/x", "http://[::1]:80/x"),
        ("mailto:me@example.org?subject=a b", "mailto:me@example.org?subject=a%20b"),
    ],
)
def test_an_address_is_written_as_strictly_as_word_reads_it(written_as: str, linked: str) -> None:
    file = open_docx(f"[words](<{written_as}>)")
    assert [target for target, outside in file.targets("word/document.xml").values() if outside] == [linked]


@pytest.mark.parametrize("address", ["http://exa mple/", "http://a:b:c/", "http://[::1/", "https://x/" + "a" * 2500])
def test_an_address_that_word_would_choke_on_is_left_as_words(address: str) -> None:
    file = open_docx(f"[words](<{address}>)")
    assert [target for target, outside in file.targets("word/document.xml").values() if outside] == []
    assert file.paragraphs() == [("", "words")]
    assert len(file.made.notes) == 1


def test_items_of_lists_have_their_level_and_lists_their_own_count() -> None:
    file = open_docx("- a\n  1. b\n  2. c\n     - d\n- e\n\n7. f\n8. g\n\nText\n\n1. h\n")
    items = [
        (text_of(p), level.attrib[f"{w}val"], count.attrib[f"{w}val"])
        for p in file.all(f"{w}p")
        if (level := p.find(f"{w}pPr/{w}numPr/{w}ilvl")) is not None
        and (count := p.find(f"{w}pPr/{w}numPr/{w}numId")) is not None
    ]
    assert items == [
        ("a", "0", "1"),
        ("b", "1", "3"),
        ("c", "1", "3"),
        ("d", "2", "1"),
        ("e", "0", "1"),
        ("f", "0", "4"),
        ("g", "0", "4"),
        ("h", "0", "5"),
    ]
    numbering = file.parts["word/numbering.xml"]
    starts = {
        count.attrib[f"{w}numId"]: [start.attrib[f"{w}val"] for start in count.iter(f"{w}startOverride")]
        for count in numbering.iter(f"{w}num")
    }
    assert starts == {"1": [], "2": [], "3": ["1"], "4": ["7"], "5": ["1"]}


def test_tasks_are_items_with_boxes() -> None:
    file = open_docx("- [ ] open\n- [x] done\n")
    assert file.paragraphs() == [("ListParagraph", "☐\topen"), ("ListParagraph", "☒\tdone")]
    assert len(file.all(f"{w}numPr")) == 2


def test_more_numbered_lists_than_word_can_count_have_their_numbers_as_text() -> None:
    one = Numbers((Item((Paragraph((PlainText("x"),)),)),), start=3)
    file = docx_of_blocks([one] * 2002)
    assert [text for _, text in file.paragraphs()] == ["x"] * 2000 + ["3.\tx"] * 2


def test_an_item_without_words_has_its_mark_all_the_same() -> None:
    file = docx_of_blocks([Bullets((Item(()), Item((Bullets((Item((Paragraph((PlainText("in"),)),)),)),))))])
    assert len(file.all(f"{w}numPr")) == 3


def test_code_keeps_every_sign_and_has_colours() -> None:
    code = 'def f():\n\treturn "<&>"  # ế\n\n\nx = 1'
    file = open_docx(f"```python\n{code}\n```")
    assert file.paragraphs() == [("SourceCode", code)]
    assert len({colour.attrib[f"{w}val"] for colour in file.all(f"{w}color")}) >= 3
    plain = open_docx(f"```nosuchlanguage\n{code}\n```")
    assert (plain.paragraphs(), plain.all(f"{w}color")) == ([("SourceCode", code)], [])


def test_pictures_are_kept_once_and_described(everything: ParsedDocx) -> None:
    stored = sorted(name for name in everything.files if name.startswith("word/media/"))
    assert stored == ["word/media/picture1.png", "word/media/picture2.png", "word/media/picture3.jpeg"]
    assert everything.files["word/media/picture1.png"] == IMAGES["/chart.png"]
    assert everything.files["word/media/picture2.png"].startswith(b"\x89PNG")
    wp = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
    assert [about.attrib["descr"] for about in everything.all(f"{wp}docPr")] == ["chart", "curve", "photo"]
    assert everything.all(f"{wp}extent")[0].attrib == {"cx": str(40 * 9525), "cy": str(20 * 9525)}
    ids = [
        about.attrib["id"]
        for part in (everything.body, everything.notes)
        for about in everything.all(f"{wp}docPr", part)
    ]
    assert len(set(ids)) == len(ids) == 4


def test_a_picture_of_two_names_is_kept_once() -> None:
    file = open_docx("![a](a.png) ![b](b.png)", {"/a.png": png(3, 3), "/b.png": png(3, 3)})
    assert [name for name in file.files if "media" in name] == ["word/media/picture1.png"]
    assert len(file.all(f"{w}drawing")) == 2


def test_a_picture_is_no_wider_than_the_text() -> None:
    file = open_docx("![wide](wide.png)", {"/wide.png": png(2000, 10)})
    (size,) = file.all("{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}extent")
    assert size.attrib == {"cx": str(604 * 9525), "cy": str(3 * 9525)}


def test_what_is_written_from_the_right_is_marked_so() -> None:
    file = open_docx(f"{SCRIPTS['ar']}\n\n{SCRIPTS['en']} {SCRIPTS['he']} end\n", language="ar")
    marked = [paragraph.find(f"{w}pPr/{w}bidi") is not None for paragraph in file.all(f"{w}p")]
    assert marked == [True, False]
    stretches = [(text_of(run), run.find(f"{w}rPr/{w}rtl") is not None) for run in file.all(f"{w}r")]
    assert stretches == [
        (SCRIPTS["ar"], True),
        (SCRIPTS["en"] + " ", False),
        (SCRIPTS["he"].removesuffix("."), True),
        (". end", False),
    ]
    assert file.all(f"{w}bidi", file.all(f"{w}sectPr")[0]) != []


@pytest.mark.parametrize(
    ("language", "tags", "font"),
    [
        ("vi", ("vi-VN", "zh-CN", "ar-SA"), "Microsoft YaHei"),
        ("ja", ("en-US", "ja-JP", "ar-SA"), "Yu Gothic"),
        ("ko", ("en-US", "ko-KR", "ar-SA"), "Malgun Gothic"),
        ("zh-Hant", ("en-US", "zh-TW", "ar-SA"), "Microsoft JhengHei"),
        ("th", ("en-US", "zh-CN", "th-TH"), "Microsoft YaHei"),
        ("pt-BR", ("pt-BR", "zh-CN", "ar-SA"), "Microsoft YaHei"),
    ],
)
def test_the_language_of_the_document_is_told(language: str, tags: tuple[str, str, str], font: str) -> None:
    file = open_docx("words", language=language)
    (lang,) = file.parts["word/styles.xml"].iter(f"{w}lang")
    assert (lang.attrib[f"{w}val"], lang.attrib[f"{w}eastAsia"], lang.attrib[f"{w}bidi"]) == tags
    fonts = next(file.parts["word/styles.xml"].iter(f"{w}rFonts"))
    assert fonts.attrib[f"{w}eastAsia"] == font
    assert [part.text for part in file.parts["docProps/core.xml"] if part.tag.endswith("}language")] == [language]


def test_the_file_says_what_it_is() -> None:
    file = open_docx(VIETNAMESE_REPORT, made_at=1_700_000_000)
    about = {part.tag.rpartition("}")[2]: part.text for part in file.parts["docProps/core.xml"]}
    assert about == {
        "title": "Điện mặt trời mái nhà ở Việt Nam",
        "creator": "Nguyễn Thị Ánh",
        "created": "2023-11-14T22:13:20Z",
        "modified": "2023-11-14T22:13:20Z",
        "language": "vi",
    }


def test_a_title_that_no_heading_says_and_the_author_stand_above_the_text() -> None:
    file = open_docx("---\ntitle: The title\nauthor: Ann\ndate: 2026-01-02\n---\n\nWords.\n")
    assert file.paragraphs() == [("Title", "The title"), ("Subtitle", "Ann · 2026-01-02"), ("", "Words.")]


def test_what_is_not_shown_is_told_but_not_endlessly() -> None:
    file = open_docx(" ".join(f"![a](p{number}.png)" for number in range(30)))
    assert len(file.made.notes) == 21
    assert (
        file.made.notes[0] == "The picture /p0.png is not among the files of the workspace: its description is shown."
    )
    assert file.made.notes[-1] == "10 more things are not shown as they were written."


def test_a_long_report_has_a_table_of_contents_that_asks_the_reader_nothing() -> None:
    markdown, images = long_report(20)
    file = open_docx(markdown, images)
    headings = [text for style, text in file.paragraphs() if style in ("Heading2", "Heading3")]
    assert [text for style, text in file.paragraphs() if style.startswith("TOC")] == ["Contents", *headings]
    bookmarks = {mark.attrib[f"{w}name"] for mark in file.all(f"{w}bookmarkStart")}
    assert {link.attrib[f"{w}anchor"] for link in file.all(f"{w}hyperlink") if f"{w}anchor" in link.attrib} <= bookmarks
    assert file.all(f"{w}instrText")[0].text == ' TOC \\o "2-4" \\h \\z \\u '
    assert file.all(f"{w}updateFields", file.parts["word/settings.xml"]) == []
    assert not any(style.startswith("TOC") for style, _ in open_docx("# Short\n\n## One\n").paragraphs())


def test_the_page_numbers_stand_at_the_foot() -> None:
    file = open_docx("words")
    fields = [(field.text or "").strip() for field in file.parts["word/footer1.xml"].iter(f"{w}instrText")]
    assert fields == ["PAGE", "NUMPAGES"]


def test_the_same_document_makes_the_same_bytes_at_any_time() -> None:
    made = open_docx(EVERYTHING, IMAGES).made
    assert made == open_docx(EVERYTHING, IMAGES).made
    with zipfile.ZipFile(io.BytesIO(made.content)) as file:
        assert {entry.date_time for entry in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_document_of_nothing_is_a_file_of_nothing() -> None:
    assert open_docx("").paragraphs() == []


def test_a_process_that_is_ready_can_still_be_copied() -> None:
    """A fork would lose the thread of a library, with the locks that it holds."""
    if not Path("/proc/self/task").exists():
        pytest.skip("threads are counted in /proc, which is not there")
    ready = (
        "import os; from footnote.documents.out.docx import prepare; "
        "prepare(); print(len(os.listdir('/proc/self/task')))"
    )
    done = subprocess.run([sys.executable, "-c", ready], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "1\n"
