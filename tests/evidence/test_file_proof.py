"""The pieces in which a long file is judged."""

from footnote.evidence.file_proof import PIECE_CHARACTERS, has_footnotes, pieces_of

PARAGRAPH = "A sentence that is long enough to fill a part of the piece, whatever it says. " * 20


def _joined(text: str) -> str:
    pieces = pieces_of(text)
    assert [piece.start for piece in pieces[1:]] == [piece.end for piece in pieces[:-1]]
    return "".join(text[piece.start : piece.end] for piece in pieces)


def test_a_short_text_is_one_piece():
    assert [(piece.start, piece.end) for piece in pieces_of("One. [1]\n")] == [(0, 9)]
    assert [(piece.start, piece.end) for piece in pieces_of("")] == [(0, 0)]


def test_a_long_text_is_cut_before_headings():
    text = "".join(f"## Part {number}\n\n{PARAGRAPH}\n\n{PARAGRAPH}\n\n" for number in range(30))
    pieces = pieces_of(text)
    assert _joined(text) == text
    assert len(pieces) > 4
    assert all(text[piece.start :].startswith("## Part") for piece in pieces)
    assert all(piece.end - piece.start < 2 * PIECE_CHARACTERS for piece in pieces)


def test_no_piece_begins_within_code_a_list_or_before_a_marker():
    code = "```\n" + "# no heading\n\nno paragraph\n\n" * 3_000 + "```\n"
    items = "".join(f"- An item with some words in it, number {number} [1]\n\n" for number in range(1_500))
    markers = f"{PARAGRAPH}\n\n[1]\n\n" * 40
    for text in (code, items):
        assert len(pieces_of(text)) == 1
    assert not any(markers[piece.start :].startswith("[") for piece in pieces_of(markers))
    assert len(pieces_of(markers)) > 1


def test_a_text_has_footnotes_wherever_they_are():
    assert has_footnotes(f"{PARAGRAPH}\n\n" * 300 + "A statement [3].\n")
    assert not has_footnotes(f"{PARAGRAPH}\n\n" * 300 + "`a[3]`\n")
