"""Statements that their sources do not support, in the tree of a document: what is marked, and what the notes say."""

from collections.abc import Sequence

import pytest

from documents.docx.parsed_docx import open_docx, w
from documents.pdf.parsed_pdf import ParsedPdf, convert_to_pdf
from documents.samples import SCRIPTS, VIETNAMESE_REPORT
from documents.test_markdown import parse
from footnote.documents.markdown.inlines import plain_text
from footnote.documents.markdown.proof_marks import MAX_NOTES
from footnote.documents.tree import (
    Block,
    Break,
    Bullets,
    Code,
    Document,
    Heading,
    Inline,
    Marked,
    Maths,
    NoteMark,
    Numbers,
    Paragraph,
    PlainText,
    Quotation,
    Table,
    TreeImage,
    walk_document,
)
from footnote.evidence.claims import extract_claims
from footnote.protocol.sources import Citation, ProofCounts, Verdict
from footnote.sandbox.jobs import DocumentProof, DoubtfulStatement, SourceNote

SOURCES = {number: SourceNote(f"Title {number}", f"https://{number}.example/") for number in range(1, 20)}


def doubtful(text: str, statement: str, verdict: Verdict = "partial", number: int = 1, **facts: object):
    start = text.index(statement)
    end = start + len(statement)
    return DoubtfulStatement(start, end, verdict, (Citation(f"[{number}]", number, start, end, verdict, **facts),))


def mark(text: str, *statements: DoubtfulStatement, counts: ProofCounts | None = None) -> Document:
    proof = DocumentProof(counts or ProofCounts(), tuple(sorted(statements, key=lambda one: one.start)))
    return parse(text, sources=SOURCES, proof=proof)


def shown(text: str, *statements: str) -> str:
    """The lines of a document: marked text in braces, marks of notes in angle brackets."""
    document = mark(text, *(doubtful(text, statement) for statement in statements))
    return "\n".join(lines_of(document.blocks))


def lines_of(blocks: Sequence[Block]) -> list[str]:
    lines: list[str] = []
    for block in blocks:
        match block:
            case Paragraph(content) | Heading(content=content):
                lines.append(line_of(content))
            case Quotation(content):
                lines += lines_of(content)
            case Bullets(items=items) | Numbers(items=items):
                for item in items:
                    lines += lines_of(item.content)
            case Table(head, rows):
                lines += (" | ".join(map(line_of, row)) for row in (head, *rows))
            case _:
                pass
    return lines


def line_of(content: Sequence[Inline]) -> str:
    pieces: list[str] = []
    for part in content:
        match part:
            case PlainText(text):
                pieces.append(text)
            case Code(text):
                pieces.append(f"`{text}`")
            case Maths(text):
                pieces.append(f"${text}$")
            case TreeImage(_, alt):
                pieces.append(f"!{alt}")
            case Break():
                pieces.append("/")
            case NoteMark(key):
                pieces.append(f"<{key.removeprefix('source-').removeprefix('proof-')}>")
            case Marked(inner):
                pieces.append("{" + line_of(inner) + "}")
            case _:
                pieces.append(f"*{line_of(part.content)}*")
    return "".join(pieces)


@pytest.mark.parametrize(
    ("text", "statements", "expected"),
    [
        ("Yes. Rice rose 5 % [1]. No.", ["Rice rose 5 % [1]."], "Yes. {Rice rose 5 %}<1>.<◐a> No."),
        ("Rice rose 5 %.[1] No.", ["Rice rose 5 %."], "{Rice rose 5 %.}<1><◐a> No."),
        ("Rice [1] rose 5 % [2][3].", ["Rice [1] rose 5 % [2][3]."], "{Rice}<1>{ rose 5 %}<2><3>.<◐a>"),
        ("Rice **rose** by `5 %`.", ["Rice **rose** by `5 %`."], "{Rice *rose* by `5 %`.}<◐a>"),
        ("**One [1]. Two [2].**", ["One [1].", "Two [2]."], "*{One}<1>.<◐a> {Two}<2>.*<◐a>"),
        ("**Rice** rose. *No.*", ["**Rice** rose."], "{*Rice* rose.}<◐a> *No.*"),
        ("*Rice rose.* No.", ["*Rice rose.*"], "{*Rice rose.*}<◐a> No."),
        ("See [the rice rose](https://a.example).", ["See [the rice rose](https://a.example)."],
         "{See *the rice rose*.}<◐a>"),
        ("A [link rose 5. More](https://a.example) b.", ["A [link rose 5."], "{A }*{link rose 5.} More*<◐a> b."),
        ("See https://a.example/x rose. No.", ["See https://a.example/x rose."],
         "{See *https://a.example/x* rose.}<◐a> No."),
        ("Rice $x^2$ rose. No.", ["Rice $x^2$ rose."], "{Rice }$x^2${ rose.}<◐a> No."),
        ("Rice\nrose\n5 %. No.", ["Rice\nrose\n5 %."], "{Rice rose 5 %.}<◐a> No."),
        ("Rice\\\nrose. No.", ["Rice\\\nrose."], "{Rice}/{rose.}<◐a> No."),
        ("R&amp;D rose \\*5 %\\*. No.", ["R&amp;D rose \\*5 %\\*."], "{R&D rose *5 %*.}<◐a> No."),
        ("Rice rose[^n] 5 %. No.\n\n[^n]: Own.", ["Rice rose[^n] 5 %."], "{Rice rose}<note-n>{ 5 %.}<◐a> No."),
        ("- Rice rose.\n- Corn fell.", ["Corn fell."], "Rice rose.\n{Corn fell.}<◐a>"),
        ("- [x] Rice rose.", ["[x] Rice rose."], "{Rice rose.}<◐a>"),
        ("- [x] Rice rose.", ["Rice rose."], "{Rice rose.}<◐a>"),
        ("1. 1 t.\n2. 2 t.", ["2 t."], "1 t.\n{2 t.}<◐a>"),
        ("- a\n  - b\n    - Rice rose.", ["Rice rose."], "a\nb\n{Rice rose.}<◐a>"),
        ("> Rice\n> rose.\n>\n> More.", ["Rice\n> rose.\n>\n> More."], "{Rice rose.}\n{More.}<◐a>"),
        ("> [!NOTE]\n> Rice rose.", ["Rice rose."], "*Note*\n{Rice rose.}<◐a>"),
        ("| a | b |\n|-|-|\n| Rice | 5 [1] |\n| Corn | 6 |", ["Rice | 5 [1]"],
         "a | b\n{Rice} | {5}<1><◐a>\nCorn | 6"),
        ("| a | b |\n|-|-|\n| x\\|y | 5 [1] |", ["x\\|y | 5 [1]"], "a | b\n{x|y} | {5}<1><◐a>"),
        ("| a | b |\n|-|-|\n| 5 | 5 |\n| 5 | 5 |", [], "a | b\n5 | 5\n5 | 5"),
        ("# Rice rose [1]\n\nNo.", ["Rice rose [1]"], "{Rice rose}<1><◐a>\nNo."),
        ("出口增长了百分之十二 [1]。下一句。", ["出口增长了百分之十二 [1]。"],
         "{出口增长了百分之十二}<1>。<◐a>下一句。"),
        ("Gạo tăng 5 %【1】. Không.", ["Gạo tăng 5 %【1】."], "{Gạo tăng 5 %}<1>.<◐a> Không."),
        ("ارتفع الأرز [1]. لا.", ["ارتفع الأرز [1]."], "{ارتفع الأرز}<1>.<◐a> لا."),
        ("\ufeffRice rose.\r\nCorn fell. No.\r\n", ["Corn fell."], "Rice rose. {Corn fell.}<◐a> No."),
        ("\u0000Rice\u0007 rose.\r\n\r\nTie\u0302\u0301ng Việt tăng. No.", ["Tie\u0302\u0301ng Việt tăng."],
         "Rice rose.\n{Tiếng Việt tăng.}<◐a> No."),
        ("---\ntitle: T\n---\nRice rose. No.", ["Rice rose."], "{Rice rose.}<◐a> No."),
        ("```markdown\nRice rose. No.\n```\n", ["Rice rose."], "{Rice rose.}<◐a> No."),
        ("A<!-- x -->b<sub>2</sub> rose<sup>y</sup>. No.", ["A<!-- x -->b<sub>2</sub> rose<sup>y</sup>."],
         "{Ab2 rosey.}<◐a> No."),
        ("Ice ~~rose~~ <u>5 %</u>. No.", ["Ice ~~rose~~ <u>5 %</u>."], "{Ice *rose* 5 %.}<◐a> No."),
        ("Rice rose ![p](p.png) 5 %. No.", ["Rice rose ![p](p.png) 5 %."], "{Rice rose }!p{ 5 %.}<◐a> No."),
        ("```\nRice rose.\n```\n", ["Rice rose."], "“Rice rose.”<◐a>"),
        ("Rice rose.", ["Rice rose."], "{Rice rose.}<◐a>"),
    ],
)  # fmt: skip
def test_the_text_of_a_statement_is_marked_and_its_note_follows(text: str, statements: list[str], expected: str):
    assert shown(text, *statements) == expected


@pytest.mark.parametrize(
    "text",
    [
        VIETNAMESE_REPORT,
        "\n\n".join(f"{sentence} [1]\n\n- {sentence} [2]\n\n> {sentence} [3]" for sentence in SCRIPTS.values()),
        "A **bold claim [1] of `code` and [a link](https://a.example/b_c)** said *so [2].* Then [3] more; [4] end.",
        "| Country | Tonnes | Note |\n|---|---|---|\n"
        + "".join(f"| Land {n} | {n} t | a `b` **c** [{n % 9 + 1}] |\n" for n in range(300)),
        "".join(f"{'  ' * depth}- Level {depth} has *{depth}* items [{depth + 1}].\n" for depth in range(9)),
        "> Deep\n" + "".join(f"{'> ' * depth}Level {depth} says {depth} [1].\n\n" for depth in range(1, 15)),
        "x [1]. " * 400,
    ],
)  # fmt: skip
def test_every_statement_is_marked_once_with_all_its_words(text: str):
    claims = [claim for claim in extract_claims(text) if not claim.is_reference]
    statements = [
        DoubtfulStatement(
            claim.start,
            claim.end,
            "partial",
            (Citation("[1]", 1, claim.start, claim.end, "partial", missing=f"part {at}"),),
        )
        for at, claim in enumerate(claims)
    ]

    document = mark(text, *statements)

    parts = list(walk_document(document))
    marks = [part.key for part in parts if isinstance(part, NoteMark) and part.key.startswith("proof-")]
    assert len(marks) == len(set(marks)) == len(claims) > 0
    marked = "".join(plain_text(part.content) for part in parts if isinstance(part, Marked))
    assert _letters(marked) == _letters("".join(claim.text for claim in claims))
    plain = parse(text, sources=SOURCES)
    assert _letters(_text(document.blocks)) == _letters(_text(plain.blocks))


def _text(blocks: Sequence[Block]) -> str:
    return "".join(plain_text(part.content) for part in _lines(blocks))


def _lines(blocks: Sequence[Block]) -> list[Paragraph | Heading]:
    return [
        part
        for part in walk_document(Document(title="", language="", blocks=tuple(blocks)))
        if isinstance(part, Paragraph | Heading)
    ]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def test_notes_say_the_verdict_and_why():
    text = "A 1. B 2. C 3. D 4. E 5. F 6. G 7. H 8. I 9."
    document = mark(
        text,
        doubtful(text, "A 1.", "partial", missing="1", quote="A is\nso."),
        doubtful(text, "B 2.", "contradicted", 2, quote="B is 3."),
        doubtful(text, "C 3.", "unsupported", 3),
        doubtful(text, "D 4.", "unsupported", 4, quote="D is far."),
        doubtful(text, "E 5.", "uncited", 0),
        doubtful(text, "F 6.", "uncited", 0, suggestion=6, quote="F is 6."),
        doubtful(text, "G 7.", "unread", 7),
        doubtful(text, "I 9.", "unsupported", 99),
        DoubtfulStatement(
            text.index("H"), text.index("H") + 4, "unread", (Citation("https://h.example/", 0, 0, 1, "unread"),)
        ),
    )
    assert {key: line_of(content[0].content) for key, content in document.notes.items()} == {
        "proof-◐a": "Partly supported. Source 1 does not say “1”. Source 1 says: “A is so.”",
        "proof-✗b": "Contradicted. Source 2 says otherwise: “B is 3.”",
        "proof-○c": "Not supported. Nothing in source 3 says this.",
        "proof-○d": "Not supported. Source 4 does not say this; its nearest passage: “D is far.”",
        "proof-?e": "No source is given.",
        "proof-?f": "No source is given. Source 6 says it: “F is 6.”",
        "proof-◌g": "Not checked. Source 7 was not read.",
        "proof-◌h": "Not checked. The page was not read: https://h.example/",
        "proof-○i": "Not supported. There is no source 99.",
    }


@pytest.mark.parametrize(
    ("text", "counted", "note"),
    [
        ("Giá gạo tăng 5 % trong năm qua.", "Đã đối chiếu 2 nhận định với nguồn: 1 có căn cứ, 1 trái với nguồn (✗).",
         "Trái với nguồn. Nguồn 1 viết khác: “Q”"),
        ("米价上涨了百分之五。", "已与来源核对 2 条陈述：1 条有依据，1 条与来源矛盾（✗）。",
         "与来源矛盾。来源 1 的说法不同：“Q”"),
        ("稻米價格上漲了百分之五，學者認為會繼續。", "已與來源核對 2 條陳述：1 條有依據，1 條與來源矛盾（✗）。",
         "與來源矛盾。來源 1 的說法不同：「Q」"),
        ("ارتفع سعر الأرز.", "2 statements were checked against their sources: 1 supported, 1 contradicted (✗).",
         "Contradicted. Source 1 says otherwise: “Q”"),
    ],
)  # fmt: skip
def test_notes_and_counts_are_in_the_language_of_the_document(text: str, counted: str, note: str):
    document = mark(text, doubtful(text, text, "contradicted", quote="Q"), counts=ProofCounts(2, 1, 0, 1))
    assert document.proof == counted
    assert line_of(document.notes["proof-✗a"][0].content) == note


def test_the_same_reason_is_one_note_and_another_verdict_is_another():
    text = "A 1. B 2. C 3."
    document = mark(
        text,
        doubtful(text, "A 1.", "uncited", 0),
        doubtful(text, "B 2.", "uncited", 0),
        doubtful(text, "C 3.", "unread"),
    )
    assert lines_of(document.blocks) == ["{A 1.}<?a> {B 2.}<?a> {C 3.}<◌b>"]
    assert list(document.notes) == ["proof-?a", "proof-◌b"]


def test_labels_go_on_after_z():
    text = " ".join(f"A {n}." for n in range(100, 160))
    document = mark(text, *(doubtful(text, f"A {n}.", missing=str(n)) for n in range(100, 160)))
    labels = [key.removeprefix("proof-◐") for key in document.notes]
    assert (labels[:2], labels[24:29], labels[52], len(set(labels))) == (
        ["a", "b"],
        ["y", "z", "aa", "ab", "ac"],
        "ba",
        60,
    )


def test_beyond_the_limit_notes_only_say_the_verdict():
    numbers = range(10_000, 10_000 + MAX_NOTES + 5)
    text = " ".join(f"A {number}." for number in numbers)
    document = mark(text, *(doubtful(text, f"A {number}.", missing=str(number)) for number in numbers))
    assert len(document.notes) == MAX_NOTES + 1
    assert line_of(list(document.notes.values())[-1][0].content) == "Partly supported."
    marks = [part for part in walk_document(document) if isinstance(part, NoteMark)]
    assert [len(marks), len(set(marks))] == [len(numbers), MAX_NOTES + 1]


def test_a_statement_in_a_note_has_its_reason_there():
    text = "A[^x].\n\n[^x]: The note says 77 %. More."
    document = mark(text, doubtful(text, "The note says 77 %.", "unsupported", 3))
    assert lines_of(document.notes["note-x"]) == [
        "{The note says 77 %.} [○ Not supported. Nothing in source 3 says this.] More."
    ]


def test_statements_that_overlap_are_marked_without_losing_any():
    text = "Rice rose 5 % and corn fell."
    assert shown(text, "Rice rose 5 % and", "5 % and corn fell.") == "{Rice rose 5 % and}<◐a>{ corn fell.}<◐a>"


def test_a_document_without_statements_has_no_line_and_one_without_doubts_only_the_line():
    assert mark("# A\n\nB").proof == ""
    document = mark("# A\n\nB", counts=ProofCounts(1, 1))
    assert document.proof == "1 statement was checked against its source: 1 supported."
    assert document.blocks == parse("# A\n\nB").blocks


# As PDF and as DOCX ---------------------------------------------------------------------------------------------------

REPORT = (
    "# Rice\n\nExports rose **5 %** [1]. The price fell [2]. Half went to [Manila](https://m.example/).\n\n"
    "| Country | Tonnes |\n|---|---|\n| Ghana | 0.6 [1] |\n\n- Nobody read this [3].\n\nAll is true [4].\n"
)
REPORT_MARKS = (
    doubtful(REPORT, "Exports rose **5 %** [1].", "partial", missing="5 %"),
    doubtful(REPORT, "The price fell [2].", "contradicted", 2, quote="The price rose."),
    doubtful(REPORT, "Half went to [Manila](https://m.example/).", "uncited", 0),
    doubtful(REPORT, "Ghana | 0.6 [1]", "unsupported"),
    doubtful(REPORT, "Nobody read this [3].", "unread", 3),
)
REPORT_PROOF = DocumentProof(ProofCounts(6, 1, 1, 1, 1, 1, 1), REPORT_MARKS)
REPORT_LINE = (
    "6 statements were checked against their sources: 1 supported, 1 partly supported (◐), 1 contradicted (✗), "
    "1 not supported (○), 1 without a source (?), 1 with a source that was not read (◌)."
)
REPORT_NOTES = (
    "Partly supported. Source 1 does not say “5 %”.",
    "Contradicted. Source 2 says otherwise: “The price rose.”",
    "No source is given.",
    "Not supported. Nothing in source 1 says this.",
    "Not checked. Source 3 was not read.",
)


def test_a_pdf_has_the_counts_the_signs_and_the_notes():
    result = convert_to_pdf(REPORT, sources=SOURCES, proof=REPORT_PROOF)
    text = ParsedPdf(result.content).text()
    # pdfium finds a space where a sign is set lower than its letter.
    packed = text.replace(" ", "")
    begin = f"Rice {REPORT_LINE} Exports rose 5 %1. ◐a The price fell2. ✗b Half went to Manila. ?c"
    assert packed.startswith(begin.replace(" ", ""))
    assert "0.61○d" in packed
    assert "Nobodyreadthis3.◌eAllistrue4." in packed
    assert all(note in text for note in REPORT_NOTES)
    assert all(f"Title {number}. https://{number}.example/" in text for number in (1, 2, 3, 4))
    assert (b"pdfuaid:part" in result.content, result.notes) == (True, ())
    assert (
        ParsedPdf(convert_to_pdf(REPORT, sources=SOURCES).content)
        .text()
        .startswith("Rice Exports rose 5 %1. The price")
    )


def test_a_docx_underlines_the_statements_and_has_their_notes():
    file = open_docx(REPORT, sources=SOURCES, proof=REPORT_PROOF)
    lines = [(line.attrib[f"{w}val"], line.attrib.get(f"{w}color")) for line in file.all(f"{w}u")]
    assert set(lines) == {
        ("dotted", "B54708"), ("wave", "B42318"), ("dash", "B42318"), ("dotDash", "667085")
    }  # fmt: skip
    assert ("Subtitle", REPORT_LINE) in file.paragraphs()
    notes = [text for _, text in file.paragraphs(file.notes)]
    signs = ("◐a", "✗b", "?c", "○d", "◌e")
    assert [note for note in notes if note[0] in "◐✗?○◌"] == [
        f"{sign} {note}" for sign, note in zip(signs, REPORT_NOTES, strict=True)
    ]
    references = [mark.attrib[f"{w}id"] for mark in file.all(f"{w}footnoteReference")]
    written = [note.attrib[f"{w}id"] for note in file.all(f"{w}footnote", file.notes)]
    assert sorted(references, key=int) == written[2:]
    assert len(references) == len(set(references)) == 9


def test_word_reads_a_mark_of_several_letters_and_libreoffice_does_not_print_it_twice():
    """LibreOffice repeats the text of a mark, unless each character is an element of its own."""
    file = open_docx("A [12].", sources=SOURCES)
    (reference,) = file.all(f"{w}footnoteReference")
    (holder,) = [part for part in file.all(f"{w}r") if reference in list(part)]
    assert [part.text for part in holder.iter(f"{w}t")] == ["1", "2"]


def test_a_heading_that_is_marked_is_plain_in_bookmarks_and_contents():
    sections = "".join(f"## Section {n} rose 5 % [1]\n\n{'Filler sentence here. ' * 60}\n\n" for n in range(9))
    statement = doubtful(sections, "Section 3 rose 5 % [1]")
    result = convert_to_pdf(f"# T\n\n{sections}", sources=SOURCES)
    plain = ParsedPdf(result.content).bookmarks()
    marked = convert_to_pdf(sections, sources=SOURCES, proof=DocumentProof(ProofCounts(1, 0, 1), (statement,)))
    assert [title for _, title in ParsedPdf(marked.content).bookmarks()] == [title for _, title in plain[1:]]
    assert marked.notes == ()


@pytest.mark.parametrize("target", ["pdf", "docx"])
def test_every_statement_of_a_report_may_be_marked(target: str):
    text = VIETNAMESE_REPORT + "".join(f"\n\n{sentence} [1]" for sentence in SCRIPTS.values())
    verdicts: list[Verdict] = ["partial", "contradicted", "unsupported", "uncited", "unread"]
    statements = tuple(
        DoubtfulStatement(claim.start, claim.end, verdicts[at % 5], (Citation("[1]", 1, 0, 1, verdicts[at % 5], "Q"),))
        for at, claim in enumerate(extract_claims(text))
    )
    proof = DocumentProof(ProofCounts(len(statements)), statements)
    if target == "pdf":
        assert convert_to_pdf(text, sources=SOURCES, proof=proof).notes == ()
    else:
        assert open_docx(text, sources=SOURCES, proof=proof).made.notes == ()
