import struct
import tempfile
import zlib

import pytest

from documents import samples
from documents.pdf.parsed_pdf import ParsedPdf, convert_to_pdf

_MARKUP = [
    '#read("/etc/passwd")',
    '#import "@preview/example:0.1.0": *',
    '#panic("stop")',
    "] #pagebreak() [",
    "#{ while true {} }",
    "$ sum_(i=1) #x $",
    "= Not a heading",
    "<label> @label // comment /* comment */",
    'a"; #panic() ; "b',
    "\\u{41} \\n \\# ~ -- --- ...",
]


@pytest.mark.parametrize("markup", _MARKUP)
def test_markup_of_the_typesetter_is_text(markup):
    fenced = f"```typst\n{markup}\n```\n\n```{{=typst}}\n{markup}\n```"
    text = ParsedPdf(convert_to_pdf(f"{fenced}\n\n- `` {markup} ``\n\n[^1]\n\n[^1]: `` {markup} ``").content).text()
    assert text.count(" ".join(markup.split())) == 4


def test_markup_of_the_typesetter_is_text_in_titles_names_and_addresses_too():
    evil = '"] #panic() \\'
    markdown = (
        f'---\ntitle: {evil}\nauthor: {evil}\nlang: x"#panic()\n---\n![{evil}](x.png) <https://e.example/"#panic()>'
    )
    result = convert_to_pdf(markdown, images={"/x.png": samples.png(4, 4)})
    assert ParsedPdf(result.content).metadata()["Title"] == "] #panic() \\"
    assert ParsedPdf(result.content).addresses() == ["https://e.example/%22#panic()"]


@pytest.mark.parametrize(
    "latex", [r"#read(\"/etc/passwd\")", r"\undefinedcommand{x}", r"\frac{1}{", r"\input{/etc/passwd}", "x & y & & #"]
)
def test_a_formula_that_cannot_be_set_stands_as_latex_among_the_rest(latex):
    result = convert_to_pdf(f"Before ${latex}$ between $a+b$ after.")
    assert ParsedPdf(result.content).text() == f"Before {latex} between 𝑎 + 𝑏 after."
    assert result.notes == (f"One formula could not be set and stands as LaTeX: {latex}.",)


def test_of_many_formulas_only_the_faulty_ones_stand_as_latex():
    formulas = [rf"\bad{'x' * at}" if at % 40 == 7 else f"x_{{{at}}}" for at in range(120)]
    result = convert_to_pdf(" ".join(f"${formula}$" for formula in formulas))
    assert len(result.notes) == 1
    assert result.notes[0].startswith("3 formulas could not be set and stand as LaTeX: \\badxxxxxxx ")


def _huge_png() -> bytes:
    header = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    return b"\x89PNG\r\n\x1a\n" + chunk


_BOMB = '<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><svg xmlns="http://www.w3.org/2000/svg"><text>&b;</text></svg>'
_REACHING = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
    '<image href="file:///etc/passwd" width="9" height="9"/></svg>'
)
_BROKEN = b"\x89PNG\r\n\x1a\n" + samples.png(10, 10)[8:50]


@pytest.mark.parametrize(
    "content",
    [b"", b"not a picture", _huge_png(), _BOMB.encode(), _REACHING.encode(), _BROKEN, b"GIF89a\1\0\1\0", b"<svg"],
    ids=["empty", "text", "huge", "entities", "reaching", "broken", "cut gif", "cut svg"],
)
def test_a_picture_that_cannot_be_shown_is_its_description(content):
    result = convert_to_pdf("# T\n\n![A chart](x.png)\n\nThe rest.", images={"/x.png": content})
    assert ParsedPdf(result.content).text() == "T [A chart] The rest."
    assert len(result.notes) == 1
    assert result.notes[0].startswith("The picture /x.png ")
    assert result.notes[0].endswith("; its description stands in its place.")


def test_a_picture_that_is_elsewhere_is_its_description():
    markdown = (
        "![one](file:///etc/passwd) ![two](http://127.0.0.1:9/x.png) ![three](../../etc/passwd) ![four](gone.png)"
    )
    result = convert_to_pdf(markdown)
    assert ParsedPdf(result.content).text() == "one two three [four]"
    assert result.notes == ("The picture /gone.png is not in the workspace; its description stands in its place.",)


def test_a_picture_of_the_web_is_a_link_and_is_told():
    result = convert_to_pdf("![one](https://x.example/y.png)")
    assert (ParsedPdf(result.content).text(), ParsedPdf(result.content).addresses()) == (
        "one",
        ["https://x.example/y.png"],
    )
    assert result.notes == ("One picture of the web is not fetched: a link stands in its place.",)


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    convert_to_pdf("![a](a.png)", images={"/a.png": samples.png(20, 20)})
    assert list(tmp_path.iterdir()) == []


def test_words_without_end_stay_on_the_page():
    markdown = f"{'a' * 3000}\n\n| {'b' * 500} | c |\n|---|---|\n| `{'d' * 500}` | {'long words ' * 50} |"
    result = convert_to_pdf(markdown)
    text = ParsedPdf(result.content).text()
    assert [text.count(letter) >= many for letter, many in (("a", 3000), ("b", 500), ("d", 500))] == [True] * 3
    file = ParsedPdf(result.content).file
    widest = 0.0
    for page in file:
        textpage = page.get_textpage()
        boxes = [textpage.get_charbox(at) for at in range(textpage.count_chars())]
        widest = max(widest, *(box[2] for box in boxes))
    # The right margin is 26 mm.
    assert widest <= page.get_width() - 26 / 25.4 * 72 + 1


def test_raw_html_is_text_or_left_out():
    text = ParsedPdf(convert_to_pdf('a<br>b <script>alert(1)</script>\n\n<div onclick="x()">c</div>').content).text()
    assert text == "a b <script>alert(1)</script> c"


def test_what_is_nested_a_thousand_deep_is_shown():
    quotes = ">" * 1000 + " deep quotation\n\nafter it"
    items = "".join("  " * at + f"- item{at}\n" for at in range(200))
    text = ParsedPdf(convert_to_pdf(f"{quotes}\n\n{items}\nlast").content).text()
    assert text.startswith("deep quotation after it • item0")
    assert all(f"item{at}" in text.split() for at in range(200))
    assert text.endswith("last")


def test_code_of_many_lines_is_shown_to_the_last():
    text = ParsedPdf(
        convert_to_pdf("```python\n" + "".join(f"line_{at} = 1\n" for at in range(2500)) + "```").content
    ).text()
    assert [word for word in text.split() if word.startswith("line_")] == [f"line_{at}" for at in range(2500)]
