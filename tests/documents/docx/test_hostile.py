"""Hostile markdown and trees: text stays text, and the output stays a valid document."""

import socket
import time

import pytest

from documents.docx.parsed_docx import ParsedDocx, docx_of_blocks, open_docx, text_of, w
from documents.samples import png
from footnote.documents.tree import (
    Bullets,
    Code,
    CodeBlock,
    Heading,
    Hyperlink,
    Inline,
    Item,
    Maths,
    MathsBlock,
    NoteMark,
    Paragraph,
    PlainText,
    Quotation,
    Strong,
    Table,
    TreeImage,
)

HOSTILE = (
    "<w:p><w:r><w:t>x</w:t></w:r></w:p>",
    "</w:t></w:r></w:p></w:body>",
    "]]> <![CDATA[ & &amp; &#x41; &lt;",
    '" onload="x" \' \\',
    "<!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]>&y;",
    "<script>alert(1)</script>",
    "{=openxml} `<w:p/>`{=openxml}",
    "#import #read #panic $x$ \\input{a}",
    "MACROBUTTON { INCLUDETEXT /etc/passwd } DDEAUTO c:\\\\windows",
)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_markup_in_any_place_comes_out_as_text(hostile: str) -> None:
    words: tuple[Inline, ...] = (PlainText(hostile), Code(hostile), Strong((PlainText(hostile),)), NoteMark(hostile))
    file = docx_of_blocks(
        [
            Heading(1, words, anchor=hostile),
            Paragraph(
                (*words, Hyperlink(f"#{hostile}", (PlainText(hostile),)), TreeImage(hostile, hostile), Maths(hostile))
            ),
            Quotation((Paragraph(words),)),
            Bullets((Item((Paragraph(words),)), Item((Paragraph(words),), checked=True))),
            CodeBlock(hostile, hostile),
            CodeBlock(hostile, "html"),
            MathsBlock(f"\\text{{{hostile}}}"),
            Table(head=(words,), rows=((words,),), alignments=(None,)),
        ],
        notes={hostile: (Paragraph((PlainText(hostile),)),)},
        author=hostile,
        date=hostile,
    )
    texts = [text for _, text in file.paragraphs()]
    assert sum(text.count(hostile) for text in texts) >= 20
    assert [text_of(note).strip() for note in file.all(f"{w}footnote", file.notes)][2:] == [hostile]
    assert {field.text for field in file.all(f"{w}instrText")} == {" NOTEREF _Note1 \\f \\h "}
    assert {part.text for part in file.parts["docProps/core.xml"] if part.tag.endswith("creator")} == {hostile}


def test_characters_that_no_xml_may_hold_are_left_out() -> None:
    bad = "".join(map(chr, (*range(9), 0xB, 0xC, *range(0xE, 0x20), 0xD800, 0xDFFF, 0xFFFE, 0xFFFF)))
    file = docx_of_blocks(
        [
            Heading(1, (PlainText(f"a{bad}b"),), anchor=bad),
            Paragraph(
                (
                    Code(f"c{bad}d"),
                    Hyperlink(f"https://example.org/{bad}", (PlainText("e"),)),
                    TreeImage(bad, f"f{bad}"),
                )
            ),
            CodeBlock(f"g{bad}h\tx", bad),
            CodeBlock(f"g{bad}h", "python"),
        ]
    )
    assert file.paragraphs() == [("Heading1", "ab"), ("", "cdef"), ("SourceCode", "gh\tx"), ("SourceCode", "gh")]


def test_pictures_from_elsewhere_are_never_fetched_nor_read() -> None:
    with socket.create_server(("127.0.0.1", 0)) as trap:
        host = f"127.0.0.1:{trap.getsockname()[1]}"
        svg = f'<svg xmlns="http://www.w3.org/2000/svg"><image href="http://{host}/x.png"/></svg>'.encode()
        file = open_docx(
            f"![a](file:///etc/passwd) ![b](/etc/passwd) ![c](../../../../etc/passwd) ![d](http://{host}/x.png) "
            f"![e](//{host}/x.png) ![f](bad.svg) <img src='http://{host}/y.png'>",
            {"/bad.svg": svg},
        )
        trap.setblocking(False)
        with pytest.raises(BlockingIOError):
            trap.accept()
    assert [name for name in file.files if "media" in name] == []
    assert b"root:" not in b"".join(file.files.values())


def test_a_file_that_only_claims_to_be_a_picture_is_not_embedded() -> None:
    images = {
        "/a.png": b"\x89PNG\r\n\x1a\n",
        "/b.png": b"root:x:0:0",
        "/c.png": png(1, 1)[:16] + (30_000).to_bytes(4) + (30_000).to_bytes(4) + b"\0" * 20,
        "/d.svg": b"<svg xmlns='http://www.w3.org/2000/svg'>" + b"<use href='#a'/>" * 201 + b"</svg>",
        "/e.svg": b"<!DOCTYPE svg [<!ENTITY a 'b'>]><svg xmlns='http://www.w3.org/2000/svg'>&a;</svg>",
        "/f.svg": b"<svg xmlns='http://www.w3.org/2000/svg'><broken</svg>",
    }
    file = open_docx(" ".join(f"![{name}]({name})" for name in images), images)
    assert file.paragraphs() == [("", " ".join(images))]
    assert [name for name in file.files if "media" in name] == []
    assert len(file.made.notes) == len(images)


def test_a_thousand_levels_are_written() -> None:
    quoted: Quotation | Paragraph = Paragraph((PlainText("deep"),))
    listed: Bullets | Paragraph = Paragraph((PlainText("deeper"),))
    for _ in range(1000):
        quoted = Quotation((quoted,))
        listed = Bullets((Item((listed,)),))
    file = docx_of_blocks([quoted, listed, Paragraph((PlainText("after"),))])
    assert [text for _, text in file.paragraphs()] == ["deep", "deeper", "after"]
    assert max(int(level.attrib[f"{w}val"]) for level in file.all(f"{w}ilvl")) == 8
    del quoted, listed


@pytest.mark.parametrize("mark", ["> ", "- ", "1. "])
def test_a_thousand_marks_of_markdown_are_written(mark: str) -> None:
    file = open_docx(f"{mark * 1000}deep\n\nafter\n")
    assert [text for _, text in file.paragraphs()][-2:] == ["deep", "after"]


def test_emphasis_in_emphasis_is_written() -> None:
    ((_, text),) = open_docx("**_" * 500 + "deep" + "_**" * 500).paragraphs()
    assert text.strip("*_") == "deep"


@pytest.mark.slow
def test_a_table_of_five_thousand_rows_is_written_whole_and_fast() -> None:
    start = time.process_time()
    file = open_docx("| a | b | c | d | e |\n|---|---|---|---|---|\n" + "| one | 2 | three | **4** | five |\n" * 6000)
    # A hundred times the usual cost; the test catches quadratic cost.
    assert time.process_time() - start < 60
    assert len(file.all(f"{w}tr")) == 5001
    assert file.paragraphs()[-1] == ("AfterTable", "1,000 more rows are not shown.")


@pytest.mark.parametrize("repeated", ["\n", " ", "<", "(", "a", "*/", "a = ", "\\"])
def test_code_that_no_lexer_could_bear_is_of_one_colour(repeated: str) -> None:
    text = repeated * (100_000 // len(repeated))
    start = time.process_time()
    file = docx_of_blocks([CodeBlock(text, "c"), CodeBlock(text, "html")])
    # Some of these take a lexer minutes.
    assert time.process_time() - start < 10
    assert file.all(f"{w}color") == []
    assert text_of(file.body).replace("\n", "") == 2 * text.replace("\n", "")


def test_a_line_of_two_million_letters_is_written() -> None:
    file: ParsedDocx = open_docx("a" * 1_999_000)
    assert file.paragraphs() == [("", "a" * 1_999_000)]
