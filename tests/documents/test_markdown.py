import time

import msgspec
import pytest

from documents import samples
from footnote.documents.markdown import image_paths, parse_document
from footnote.documents.tree import (
    Break,
    Bullets,
    Code,
    CodeBlock,
    Document,
    Emphasis,
    Heading,
    Hyperlink,
    Item,
    Maths,
    MathsBlock,
    Numbers,
    Paragraph,
    PlainText,
    Quotation,
    Strike,
    Strong,
    Table,
    ThematicBreak,
    TreeImage,
)
from footnote.sandbox.jobs import ConvertDocument, JobRefused


def parse(markdown: str, **options: object) -> Document:
    document = parse_document(ConvertDocument(target="pdf", markdown=markdown, filename="my report.md", **options))
    assert isinstance(document, Document)
    return document


def blocks(markdown: str, **options: object) -> tuple[object, ...]:
    return parse(markdown, **options).blocks


def inline_content(markdown: str, **options: object) -> tuple[object, ...]:
    (paragraph,) = blocks(markdown, **options)
    assert isinstance(paragraph, Paragraph)
    return paragraph.content


def all_text(document: Document) -> str:
    return msgspec.json.encode(document).decode()


# Blocks ---------------------------------------------------------------------------------------------------------------


def test_the_blocks_of_markdown_become_the_blocks_of_the_tree():
    markdown = (
        "# Head *ing*\n\npara\n\n- a\n- b\n\n  more\n\n3. three\n\n> said\n\n```Python x=1\ncode\n```\n\n"
        "    indented\n\n---\n\n$$\nx^2\n$$\n\n```math\ny\n```\n"
    )
    assert blocks(markdown) == (
        Heading(1, (PlainText("Head "), Emphasis((PlainText("ing"),))), "head-ing"),
        Paragraph((PlainText("para"),)),
        Bullets(
            (
                Item((Paragraph((PlainText("a"),)),)),
                Item((Paragraph((PlainText("b"),)), Paragraph((PlainText("more"),)))),
            ),
            tight=False,
        ),
        Numbers((Item((Paragraph((PlainText("three"),)),)),), start=3, tight=True),
        Quotation((Paragraph((PlainText("said"),)),)),
        CodeBlock("code", "python"),
        CodeBlock("indented"),
        ThematicBreak(),
        MathsBlock("x^2"),
        MathsBlock("y"),
    )


def test_tables_have_heads_rows_and_alignments():
    (table,) = blocks("| a | b | c | d |\n|---|:--|:-:|--:|\n| 1 | **2** | | x \\| y |\n")
    assert table == Table(
        head=((PlainText("a"),), (PlainText("b"),), (PlainText("c"),), (PlainText("d"),)),
        rows=(((PlainText("1"),), (Strong((PlainText("2"),)),), (), (PlainText("x | y"),)),),
        alignments=(None, "left", "center", "right"),
    )


def test_rows_beyond_five_thousand_in_all_tables_are_counted():
    table = "| n |\n|---|\n" + "| 1 |\n" * 3000
    first, second, third, after = blocks(f"{table}\n{table}\n{table}\nafter")
    assert [(len(part.rows), part.left_out) for part in (first, second, third)] == [(3000, 0), (2000, 1000), (0, 3000)]
    assert after == Paragraph((PlainText("after"),))


def test_a_table_of_a_hundred_thousand_rows_costs_no_more_than_its_first_rows():
    started = time.process_time()
    (table,) = blocks("| n |\n|---|\n" + "| 1 |\n" * 100_000)
    assert (len(table.rows), table.left_out) == (5000, 95_000)
    assert time.process_time() - started < 3


def test_tasks_are_ticked_or_not():
    assert blocks("- [x] did *it*\n- [ ] not yet\n- plain [x]") == (
        Bullets(
            (
                Item((Paragraph((PlainText("did "), Emphasis((PlainText("it"),)))),), checked=True),
                Item((Paragraph((PlainText("not yet"),)),), checked=False),
                Item((Paragraph((PlainText("plain [x]"),)),)),
            ),
        ),
    )


def test_anchors_are_unique_and_links_to_them_are_kept():
    markdown = "# Một hai\n\n## Một hai\n\n[a](#một-hai-1) [b](#M%E1%BB%99t-hai) [c](#nowhere)"
    one, two, links = blocks(markdown)
    assert (one.anchor, two.anchor) == ("một-hai", "một-hai-1")
    assert links == Paragraph(
        (
            Hyperlink("#một-hai-1", (PlainText("a"),)),
            PlainText(" "),
            Hyperlink("#một-hai", (PlainText("b"),)),
            PlainText(" c"),
        )
    )


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("> " * 1000 + "deep\n\nafter", ["deep", "after"]),
        ("- " * 1000 + "deep\n\nafter", ["deep", "after"]),
        (
            "".join("  " * at + f"- item{at}\n" for at in range(1000)) + "\nafter",
            ["item0", "item500", "item999", "after"],
        ),
        ("".join("> " * at + f"line{at}\n\n" for at in range(300)) + "after", ["line20", "line299", "after"]),
        ("1. " * 300 + "deep\n\nafter", ["deep", "after"]),
        ("[^1]: " * 300 + "deep\n\nafter [^1]", ["deep", "after"]),
        ("**a*b" * 300 + "deep" + "*c**" * 300, ["deep"]),
        ("![" * 300 + "deep" + "](a.png)" * 300, ["deep"]),
    ],
    ids=["quotations", "lists", "indented lists", "ever deeper", "numbers", "notes", "emphasis", "pictures"],
)
def test_nothing_is_lost_however_deep_it_lies(markdown, words):
    document = parse(markdown)
    assert [word for word in words if word not in all_text(document)] == []
    assert _depth(document.blocks) <= 12


def _depth(parts: object) -> int:
    """The depth of nested lists and quotations."""
    if isinstance(parts, tuple):
        return max(map(_depth, parts), default=0)
    if isinstance(parts, Quotation):
        return 1 + _depth(parts.content)
    if isinstance(parts, Bullets | Numbers):
        return 1 + max((_depth(item.content) for item in parts.items), default=0)
    return 0


def test_too_long_a_text_is_refused_with_a_reason():
    work = ConvertDocument(target="pdf", markdown="đ" * 1_000_001, filename="long.md")
    assert parse_document(work) == JobRefused(
        "long.md is larger than 2 MB; split it, or leave the longest tables out.",
        code="convert_too_large",
        params={"name": "long.md", "max": 2_000_000},
    )


# Lines ----------------------------------------------------------------------------------------------------------------


def test_what_stands_in_a_line():
    assert inline_content("*a* **b** ~~c~~ `d` e  \nf<br/>g $h$ \\(i\\) &amp; \\* <https://j.example>") == (
        Emphasis((PlainText("a"),)),
        PlainText(" "),
        Strong((PlainText("b"),)),
        PlainText(" "),
        Strike((PlainText("c"),)),
        PlainText(" "),
        Code("d"),
        PlainText(" e"),
        Break(),
        PlainText("f"),
        Break(),
        PlainText("g "),
        Maths("h"),
        PlainText(" "),
        Maths("i"),
        PlainText(" & * "),
        Hyperlink("https://j.example", (PlainText("https://j.example"),)),
    )


def test_emphasis_works_between_chinese_letters():
    assert inline_content("这是**重要：**的，**「引用」**也是。") == (
        PlainText("这是"),
        Strong((PlainText("重要："),)),
        PlainText("的，"),
        Strong((PlainText("「引用」"),)),
        PlainText("也是。"),
    )


def test_wrapped_lines_join_with_a_space_except_in_chinese_and_japanese():
    assert inline_content("one\ntwo 研究\n人员 end") == (PlainText("one two 研究人员 end"),)


def test_html_is_text_but_for_comments_and_tags_of_looks():
    markdown = (
        "<script>alert(1)</script> <img src=x> 1 < 2\n\nH<sub>2</sub>O <b class='x'>b</b> <!-- c --> <KBD>d</KBD>\n\n"
        "<details>\n<summary>Head</summary>\n\n<!--\n\nhidden\n\n-->\n<p>one</p><p>two</p>\n</details>\n\n`<b>`"
    )
    assert blocks(markdown) == (
        Paragraph((PlainText("<script>alert(1)</script> <img src=x> 1 < 2"),)),
        Paragraph((PlainText("H2O b  d"),)),
        Paragraph((PlainText("Head"),)),
        Paragraph((PlainText("one  two"),)),
        Paragraph((Code("<b>"),)),
    )


@pytest.mark.parametrize("markdown", ["<!-- never ends", "<!-- a --> b", "<bold>x</bold>", "<sub"])
def test_no_word_is_lost_to_what_only_looks_like_a_tag(markdown):
    assert blocks(markdown) == (Paragraph((PlainText({"<!-- a --> b": "b"}.get(markdown, markdown)),)),)


@pytest.mark.parametrize(
    ("markdown", "strong", "after"),
    [("**Note:**text", "Note:", "text"), ("**Revenue (2024)**was", "Revenue (2024)", "was")],
)
def test_emphasis_ends_where_the_space_after_it_was_forgotten(markdown, strong, after):
    assert inline_content(markdown) == (Strong((PlainText(strong),)), PlainText(after))


def test_a_mark_that_opens_is_not_taken_for_one_that_ends():
    assert inline_content('He said:**yes** and "**no**"') == (
        PlainText("He said:"),
        Strong((PlainText("yes"),)),
        PlainText(' and "'),
        Strong((PlainText("no"),)),
        PlainText('"'),
    )


def test_notes_tips_and_warnings_say_what_they_are():
    assert blocks("> [!NOTE]\n> Read *this*.\n\n> [!warning] Mind\n\n> [!OTHER] x") == (
        Quotation(
            (
                Paragraph((Strong((PlainText("Note"),)),)),
                Paragraph((PlainText("Read "), Emphasis((PlainText("this"),)), PlainText("."))),
            )
        ),
        Quotation((Paragraph((Strong((PlainText("Warning"),)),)), Paragraph((PlainText("Mind"),)))),
        Quotation((Paragraph((PlainText("[!OTHER] x"),)),)),
    )
    assert blocks("> [!TIP]\n> Đọc kỹ hướng dẫn sử dụng.")[0].content[0] == Paragraph((Strong((PlainText("Mẹo"),)),))


def test_a_text_that_is_wholly_one_piece_of_markdown_code_is_that_markdown():
    assert blocks("```markdown\n# T\n\n```python\nx\n```\n\nend\n```\n") == (
        Heading(1, (PlainText("T"),), "t"),
        CodeBlock("x", "python"),
        Paragraph((PlainText("end"),)),
    )
    assert blocks("```markdown\n# T\n```\n\nwords\n\n```\nx\n```")[0] == CodeBlock("# T", "markdown")


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "other.md", "//x.example", "ftp://x"]
)
def test_links_elsewhere_are_their_words(address):
    assert inline_content(f"[wo*r*ds]({address})") == (PlainText("wo"), Emphasis((PlainText("r"),)), PlainText("ds"))


def test_bare_addresses_become_links():
    assert inline_content(
        "See https://a.example/x_(y)_z, (http://b.example/?q=1). Not `https://c.example`, xhttps://d.example"
    ) == (
        PlainText("See "),
        Hyperlink("https://a.example/x_(y)_z", (PlainText("https://a.example/x_(y)_z"),)),
        PlainText(", ("),
        Hyperlink("http://b.example/?q=1", (PlainText("http://b.example/?q=1"),)),
        PlainText("). Not "),
        Code("https://c.example"),
        PlainText(", xhttps://d.example"),
    )


def test_addresses_without_a_scheme_and_mailboxes_become_links():
    assert inline_content("See www.a.example/x, mail b.c@d.example. Not @e, f@g or www. x@y.example/z") == (
        PlainText("See "),
        Hyperlink("https://www.a.example/x", (PlainText("www.a.example/x"),)),
        PlainText(", mail "),
        Hyperlink("mailto:b.c@d.example", (PlainText("b.c@d.example"),)),
        PlainText(". Not @e, f@g or www. "),
        Hyperlink("mailto:x@y.example", (PlainText("x@y.example"),)),
        PlainText("/z"),
    )


@pytest.mark.parametrize(
    "text", ["It costs $5 or $10.", "US$5bn to US$7bn", "from $A to $B", r"quoted \[3\] and \[sic\]"]
)
def test_money_and_brackets_are_no_formulas(text):
    assert inline_content(text) == (PlainText(text.replace("\\", "")),)


def test_a_formula_for_a_line_of_its_own_parts_its_paragraph():
    assert blocks("Before $$a+b$$ after \\[ c=d \\]") == (
        Paragraph((PlainText("Before"),)),
        MathsBlock("a+b"),
        Paragraph((PlainText("after"),)),
        MathsBlock("c=d"),
    )


def test_environments_of_formulas_need_no_dollars():
    markdown = (
        "Words:\n\\begin{align*}\na &= b \\\\\nc &= d\n\\end{align*}.\nAfter.\n\n\\begin{itemize} x \\end{itemize}"
    )
    assert blocks(markdown) == (
        Paragraph((PlainText("Words:"),)),
        MathsBlock("\\begin{align*}\na &= b \\\\\nc &= d\n\\end{align*}"),
        Paragraph((PlainText("After."),)),
        Paragraph((PlainText("\\begin{itemize} x \\end{itemize}"),)),
    )


def test_formulas_beyond_five_hundred_are_code():
    content = inline_content(" ".join(["$x$"] * 502))
    assert (content.count(Maths("x")), content.count(Code("x"))) == (500, 2)


def test_text_is_composed_and_control_signs_are_left_out():
    assert inline_content("Vie\u0302\u0323t\x00\x07 \ufffe \ud800") == (PlainText("Việt  \ufffd"),)


# About the document ---------------------------------------------------------------------------------------------------


def test_front_matter_is_not_printed():
    document = parse('---\ntitle: "A: title"\nauthor: An\ndate: 2026-01-02\nlang: vi\ntags:\n  - x\n---\n# Heading\n')
    assert document == Document(
        title="A: title",
        author="An",
        date="2026-01-02",
        language="vi",
        blocks=(Heading(1, (PlainText("Heading"),), "heading"),),
    )


def test_a_text_between_two_rules_is_no_front_matter():
    assert blocks("---\n\nSome text: with a colon in it, and more\nwords.\n\n---\n\nend") == (
        ThematicBreak(),
        Paragraph((PlainText("Some text: with a colon in it, and more words."),)),
        ThematicBreak(),
        Paragraph((PlainText("end"),)),
    )


def test_the_title_is_the_first_heading_or_the_name_of_the_file():
    assert [parse(text).title for text in ("text\n\n## A `b` *c*", "text")] == ["A b c", "my report"]


@pytest.mark.parametrize("language", ["vi", "en", "zh-Hans", "zh-Hant", "ja", "ko", "ar", "he", "th", "hi", "ru", "el"])
def test_the_language_is_told_by_the_letters(language):
    assert parse(samples.SCRIPTS[language]).language == language


@pytest.mark.parametrize(
    ("declared", "language"),
    [("fr", "fr"), ("zh", "zh-Hant"), ("zh_TW", "zh-Hant"), ("zh-CN", "zh-Hans"), ('x"', "zh-Hant")],
)
def test_the_language_that_is_given_holds(declared, language):
    assert parse(samples.SCRIPTS["zh-Hant"], language=declared).language == language


# Pictures -------------------------------------------------------------------------------------------------------------


def test_pictures_are_named_by_their_workspace_path():
    markdown = "![a](./x.png) ![b](/charts/y%20z.PNG) ![c](a/../b.svg) ![d][r] ![e](<with space.jpg>)\n\n[r]: r.webp\n"
    names = ("/x.png", "/charts/y z.PNG", "/b.svg", "/with space.jpg", "/r.webp")
    assert image_paths(markdown) == names
    pictures = [part.name for part in inline_content(markdown) if isinstance(part, TreeImage)]
    assert sorted(pictures) == sorted(names)


def test_names_that_come_without_a_slash_are_found_too():
    assert inline_content("![a](./x.png)", images={"x.png": b""}) == (TreeImage("x.png", "a"),)


@pytest.mark.parametrize(
    "address",
    ["http://x/y.png", "data:image/png;base64,AA.png", "file:///y.png", "../y.png", "//x/y.png", "C:\\y.png", "#y.png"],
)
def test_what_lies_elsewhere_is_no_picture(address):
    assert image_paths(f"![alt]({address})") == ()
    assert [part for part in inline_content(f"x ![alt]({address})") if isinstance(part, TreeImage)] == []


def test_a_picture_of_the_web_is_a_link_with_its_description():
    document = parse("![A chart](https://x.example/y.png) [![](https://x.example/b.svg)](https://z.example)")
    assert document.blocks[0].content == (
        Hyperlink("https://x.example/y.png", (PlainText("A chart"),)),
        PlainText(" "),
        Hyperlink("https://z.example", (PlainText("https://x.example/b.svg"),)),
    )
    assert document.warnings == ("2 pictures of the web are not fetched: a link stands in the place of each.",)


def test_at_most_two_hundred_pictures_are_named_and_links_to_other_files_are_not():
    assert len(image_paths("".join(f"![]({at}.png) " for at in range(300)))) == 200
    assert image_paths("[data](data.csv) [t](notes.md)") == ()
