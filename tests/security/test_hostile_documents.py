"""Hostile documents in the real sandbox: a document or a clear message, within the limits; no file of this machine in
the output, no connection, and other jobs continue."""

import io
import re
import zipfile
import zlib
from collections.abc import AsyncIterator
from contextlib import nullcontext, suppress
from pathlib import Path

import pypdfium2
import pytest
import pytest_asyncio

from documents.office import BILLION_LAUGHS, EXTERNAL_ENTITY
from footnote.protocol.errors import UnprocessableFile
from footnote.sandbox.jobs import ConvertDocument, Target
from footnote.sandbox.pool import SandboxPool
from responsive import responsive
from security.hostile import CANARY, plant_canary, png, run_trap, svg
from web import Trap

# One sandbox for all of them, as in a server.
pytestmark = pytest.mark.asyncio(loop_scope="module")
TARGETS = pytest.mark.parametrize("target", ["pdf", "docx"])


@pytest_asyncio.fixture(loop_scope="module")
async def trap() -> AsyncIterator[Trap]:
    async with run_trap() as trap:
        yield trap


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    return plant_canary(tmp_path)


async def convert(
    sandbox: SandboxPool, target: Target, markdown: str, images: dict[str, bytes] | None = None, seconds: float = 30.0
) -> bytes:
    conversion = ConvertDocument(target=target, markdown=markdown, filename="report.md", images=images or {})
    async with responsive():
        return (await sandbox.run(conversion, seconds)).content


def text_of(target: Target, content: bytes) -> str:
    """The text of a converted document, with single spaces and without page numbers."""
    if target == "pdf":
        document = pypdfium2.PdfDocument(content)
        pages = [page.get_textpage().get_text_bounded() for page in document]
        text = " ".join(re.sub(rf"\s{at} / {len(pages)}\s*$", "", page) for at, page in enumerate(pages, start=1))
        document.close()
    else:
        parts = zipfile.ZipFile(io.BytesIO(content))
        assert parts.testzip() is None
        text = re.sub(r"<[^<>]*>", "", parts.read("word/document.xml").decode().replace("</w:p>", " "))
    return " ".join(text.split())


def all_bytes(target: Target, content: bytes) -> bytes:
    """All bytes of a document, and of the files packed in it."""
    if target == "docx":
        archive = zipfile.ZipFile(io.BytesIO(content))
        return b"".join((content, *(archive.read(name) for name in archive.namelist())))
    packed = re.findall(rb"stream\r?\n(.*?)endstream", content, re.DOTALL)
    return b"".join((content, *map(_unpacked, packed)))


def _unpacked(stream: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(stream)
    except zlib.error:
        return b""


# Markdown ------------------------------------------------------------------------------------------------------------


@TARGETS
@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("| a | b |\n|---|---|\n" + "| 1 | two |\n" * 100_000, "a b 1 two 1 two"),
        ("word " * 100_000, "word word word"),
        (">" * 1_000 + " deep\n\nafter", "after"),
        ("".join("  " * depth + "- x\n" for depth in range(500)) + "\nafter", "after"),
        ("*a _b **c " * 20_000, "*a"),
        ("[" * 50_000 + "end", "end"),
        ("`a``b```c" * 4_000, "a``b"),
        ("$" + "\\frac{1}{" * 5_000 + "}" * 5_000 + "$ end", "end"),
        ("# h\n\n" * 3_000 + "end", "h"),
    ],
    ids=["rows", "words", "quotes", "lists", "emphasis", "brackets", "backticks", "fractions", "headings"],
)
async def test_large_and_deep_markdown_is_a_document(
    sandbox: SandboxPool, target: Target, markdown: str, expected: str
) -> None:
    assert expected in text_of(target, await convert(sandbox, target, markdown))


@pytest.mark.slow
@TARGETS
async def test_a_line_of_two_megabytes_is_a_document_or_takes_too_long(sandbox: SandboxPool, target: Target) -> None:
    content = b""
    # A slow machine may not finish within the time limit.
    with suppress(UnprocessableFile) if target == "pdf" else nullcontext():
        content = await convert(sandbox, target, "a" * 1_999_990)
    assert not content or "aaaaaaaaaa" in text_of(target, content)


@TARGETS
async def test_markdown_beyond_the_limits_is_a_sentence(sandbox: SandboxPool, target: Target) -> None:
    with pytest.raises(UnprocessableFile, match=r"^report\.md is larger than 2 MB"):
        await convert(sandbox, target, "x" * 2_000_001)


async def test_markdown_that_takes_too_long_is_a_sentence(sandbox: SandboxPool) -> None:
    with pytest.raises(UnprocessableFile) as raised:
        await convert(sandbox, "pdf", "```\n" + "x = 1\n" * 300_000 + "```", seconds=2.0)
    assert raised.value.message == "report.md takes too long to be converted: split it into smaller files."


TYPESETTERS = """
#read("/etc/passwd") #import "@preview/cetz:0.3.0" #panic("x") #eval("1") @label <label> \\#

`#sys.inputs` `{=typst}` `{=openxml}`

```{=typst}
#pagebreak()
```

```{=openxml}
<w:p/>
```

$#read("/etc/passwd")$ $\\input{/etc/passwd}$

]]> &lt;w:t&gt; <!-- --> <?xml?> {{ 7*7 }} %n \\write18{id}
"""


@TARGETS
async def test_markup_of_web_pages_and_typesetters_comes_out_as_it_was_written(
    sandbox: SandboxPool, target: Target
) -> None:
    content = await convert(sandbox, target, TYPESETTERS)
    text = (
        text_of(target, content).replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
    )
    for written in (
        '#read("/etc/passwd")',
        '#panic("x")',
        "#sys.inputs",
        "#pagebreak()",
        "<w:p/>",
        "{{ 7*7 }}",
        "write18",
    ):
        assert written in text
    assert b"root:" not in all_bytes(target, content)


@TARGETS
async def test_scripts_and_frames_are_words_or_nothing(sandbox: SandboxPool, target: Target) -> None:
    markdown = (
        "before\n\n<script>alert('gotcha')</script>\n\n<iframe src='file:///etc/passwd'></iframe>\n\n"
        "<img src=x onerror=alert(1)>\n\n[click](javascript:alert(1)) [data](data:text/html,x) "
        "[file](file:///etc/passwd) [vb](vbscript:x)\n\nafter"
    )
    content = await convert(sandbox, target, markdown)
    text = text_of(target, content)
    assert text.startswith("before")
    assert text.endswith("after")
    inside = all_bytes(target, content)
    for scheme in (rb"/URI\s*\(\s*(?:javascript|data|file|vbscript)", rb'Target="(?:javascript|data|file|vbscript)'):
        assert re.search(scheme, inside) is None
    assert b"root:" not in inside


@TARGETS
async def test_no_file_and_no_server_is_touched(sandbox: SandboxPool, trap: Trap, canary: Path, target: Target) -> None:
    where = [
        *(
            f"{canary}",
            f"file://{canary}",
            f"file:{canary}",
            f"../../../../../..{canary}",
            f"..%2f..%2f..%2f..{canary}",
        ),
        *(f"{canary.with_suffix('.png')}", f"file://{canary.with_suffix('.svg')}", "/etc/passwd", "file:///etc/passwd"),
        *(trap.url("/a.png"), trap.url("/a.svg"), f"//{trap.host}/b.png", f"\\\\{trap.url('')}\\c.png"),
        *("http://169.254.169.254/latest/meta-data/", trap.url("/%0d%0a"), "data:image/png;base64,AAAA"),
    ]
    markdown = "# Report\n\n" + "\n\n".join(
        f"![picture {at}]({url})\n\n![p][{at}]\n\n[{at}]: {url}" for at, url in enumerate(where)
    )
    markdown += f"\n\n<img src='{trap.url('/raw.png')}'><link rel=stylesheet href='{trap.url('/x.css')}'>\n\nafter"
    content = await convert(sandbox, target, markdown)
    assert "Report" in text_of(target, content)
    assert text_of(target, content).rstrip().endswith("after")
    inside = all_bytes(target, content)
    assert CANARY.encode() not in inside
    assert b"root:x" not in inside


def uses() -> str:
    """Entities that expand ten times at each level."""
    levels = ""
    for level in range(1, 12):
        inner = f"<use xlink:href='#l{level - 1}'/>" * 10
        levels += f"<g id='l{level}'>{inner}</g>"
    return f"<defs><rect id='l0' width='1' height='1'/>{levels}</defs><use xlink:href='#l11'/>"


@TARGETS
async def test_pictures_that_are_bombs_or_reach_out_do_no_harm(
    sandbox: SandboxPool, trap: Trap, canary: Path, target: Target
) -> None:
    pictures = {
        "uses.svg": svg(uses()),
        "laughs.svg": svg("<text>&j;</text>", BILLION_LAUGHS),
        "outside.svg": svg("<text>&x;</text>", EXTERNAL_ENTITY.replace("/etc/passwd", str(canary))),
        "image.svg": svg(f"<image href='file://{canary.with_suffix('.png')}' width='9' height='9'/>"),
        "near.svg": svg(f"<image xlink:href='{canary.with_suffix('.png')}' width='9' height='9'/>"),
        "trap.svg": svg(
            f"<image href='{trap.url('/a.png')}' width='9' height='9'/><style>@import '{trap.url('/b.css')}';</style>"
        ),
        "script.svg": svg("<script>alert(1)</script><foreignObject><b>x</b></foreignObject>"),
        "huge.svg": svg("<rect width='1e30' height='1e30'/>").replace(b"'100'", b"'1e9'"),
        "huge.png": png(60_000, 60_000),
        "broken.png": png(100, 100)[:60],
        "page.png": b"<!DOCTYPE html><script>alert(1)</script>",
        "empty.png": b"",
        "good.png": png(10, 10),
    }
    markdown = "# Report\n\n" + "\n\n".join(f"![picture of {name}]({name})" for name in pictures) + "\n\nafter"
    content = await convert(sandbox, target, markdown, pictures)
    text = text_of(target, content)
    assert "Report" in text
    assert text.rstrip().endswith("after")
    assert CANARY.encode() not in all_bytes(target, content)
