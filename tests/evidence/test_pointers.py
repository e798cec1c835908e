"""Pointers of a model's text, wherever the text is cut."""

import pytest

from footnote.evidence.claims import extract_claims
from footnote.evidence.pointers import PointerFilter, find_pointers, plain_footnotes, written_pointers
from footnote.evidence.sources import Sources
from footnote.protocol.messages import AssistantMessage, ToolCall
from footnote.protocol.sources import Pointer, Snapshot, Source

PAGE = "Oxygen was isolated by Scheele. It was named by Lavoisier. Priestley published first."


def session_sources() -> Sources:
    """Sources 1 to 4; passages 1.1, 3.1, 3.2 and 4.1."""
    sources = Sources()
    for number in range(1, 5):
        url = f"https://example.org/{number}"
        snapshot = Snapshot(url=url, text=f"{number} {PAGE}")
        sources.add(Source(url=url, title="", snippet="", domain="example.org", status="read"), snapshot)
        for start in {1: [0], 3: [0, 34], 4: [0]}.get(number, []):
            sources.add_evidence(number, snapshot, start, start + 20)
    return sources


CASES = [
    ("Isolated by Scheele [3.2].", "Isolated by Scheele [3].", [(20, "3.2")]),
    ("A [3.1, 4.1] b [1]", "A [3, 4] b [1]", [(2, "3.1", "4.1")]),
    ("A [3.1][3.2] b", "A [3] b", [(2, "3.1", "3.2")]),
    ("A [3.1][4.1] b", "A [3][4] b", [(2, "3.1"), (5, "4.1")]),
    ("A [3.1-3.2] b", "A [3] b", [(2, "3.1", "3.2")]),
    ("氧气【3.2】。", "氧气[3]。", [(2, "3.2")]),
    ("A 【3.2†source】 b", "A [3] b", [(2, "3.2")]),
    ("A ［３.２］ b", "A [3] b", [(2, "3.2")]),
    ("A [^3.1] b", "A [3] b", [(2, "3.1")]),
    # A passage that its source does not have: the model miscounted.
    ("A [3.9] b", "A [3] b", []),
    ("Plain [3], 【3】 and [3][4] stay.", "Plain [3], 【3】 and [3][4] stay.", []),
    ("No source 9: [9.1].", "No source 9: [9.1].", []),
    ("Version [2.0.1] and a list [0.5, 1.5]", "Version [2.0.1] and a list [0.5, 1.5]", []),
    ("95 % CI [3.1, 4.1]", "95 % CI [3.1, 4.1]", []),
    ("`x[3.1]` and [3.1]", "`x[3.1]` and [3]", [(13, "3.1")]),
    ("```\na = b[3.1]\n```\nSo [3.1]", "```\na = b[3.1]\n```\nSo [3]", [(22, "3.1")]),
    ("[3.1](https://example.org) and [3.1]", "[3.1](https://example.org) and [3]", [(31, "3.1")]),
    ("An open bracket [3.", "An open bracket [3.", []),
    ("A stray ` tick\n\nthen [3.1]", "A stray ` tick\n\nthen [3]", [(21, "3.1")]),
    ("🙂 đá [4.1]", "🙂 đá [4]", [(5, "4.1")]),
]


@pytest.mark.parametrize(("text", "plain", "pointers"), CASES)
def test_pointers_become_plain_footnotes_wherever_the_text_is_cut(
    text: str, plain: str, pointers: list[tuple[int, str]]
) -> None:
    wanted = plain, tuple(Pointer(offset, tuple(passages)) for offset, *passages in pointers)
    whole = plain_footnotes(text, session_sources())
    assert (whole.text, whole.pointers) == wanted
    for size in range(1, len(text)):
        pointer_filter = PointerFilter(session_sources())
        pieces = [pointer_filter.feed(text[at : at + size]) for at in range(0, len(text), size)]
        assert ("".join(pieces) + pointer_filter.flush(), pointer_filter.pointers) == wanted, size


def test_without_evidence_nothing_is_a_pointer() -> None:
    assert plain_footnotes("A [3.2] b", Sources()).text == "A [3.2] b"


def test_text_is_shown_as_it_comes_but_for_what_may_be_a_pointer() -> None:
    pointer_filter = PointerFilter(session_sources())
    assert [pointer_filter.feed(piece) for piece in ("So it is", " [", "3", ".2", "]", " and", " [see")] == [
        *("So it is", " ", "", "", "", "[3] and", " [see"),
    ]


def test_a_passage_keeps_its_id_and_a_reloaded_session_goes_on_counting() -> None:
    sources = session_sources()
    snapshot = sources.snapshot(3)
    assert snapshot is not None
    assert sources.add_evidence(3, snapshot, 34, 54).id == "3.2"
    assert sources.add_evidence(3, snapshot, 40, 60).id == "3.3"
    passage = sources.evidence("3.3")
    assert passage is not None
    assert passage.text == snapshot.text[40:60]


def test_a_statement_of_a_file_keeps_its_pointer_wherever_it_moves() -> None:
    content = "# Oxygen\n\nScheele isolated it [3].\n\nLavoisier named it [3, 4]."
    pointers = (Pointer(content.index("[3]"), ("3.1",)), Pointer(content.index("[3, 4]"), ("3.2", "4.1")))
    call = ToolCall("c", "write_file", {"content": content}, pointers={"content": pointers})
    written = written_pointers([AssistantMessage((call,), "toolUse", "test/model")])
    edited = "# All about oxygen\n\nLavoisier named it [3, 4].\n\nNew [1]. Scheele isolated it [3]."
    assert find_pointers(extract_claims(edited), written) == (
        Pointer(edited.index("[3, 4]"), ("3.2", "4.1")),
        Pointer(edited.index("[3]"), ("3.1",)),
    )


def written_by(*calls: ToolCall) -> dict[tuple[str, int], str]:
    return written_pointers([AssistantMessage((one,), "toolUse", "test/model") for one in calls])


def write(content: str, path: str = "/a.md") -> ToolCall:
    plain = plain_footnotes(content, session_sources())
    return ToolCall("w", "write_file", {"file_path": path, "content": plain.text}, pointers={"content": plain.pointers})


def edit(old: str, new: str, path: str = "/a.md", **more: bool) -> ToolCall:
    plain = plain_footnotes(new, session_sources())
    arguments = {"file_path": path, "old_string": old, "new_string": plain.text, **more}
    return ToolCall("e", "edit_file", arguments, pointers={"new_string": plain.pointers} if plain.pointers else {})


@pytest.mark.parametrize(
    ("edits", "statement", "passage"),
    [
        # within the statement, with the marker outside of what is replaced
        ([edit("isolated", "found")], ("Scheele found it.", 3), "3.1"),
        ([edit("Scheele", "Carl S."), edit("it [3]", "it first [3]")], ("Carl S. isolated it first.", 3), "3.1"),
        # with the marker in what is replaced, by a plain one, by another pointer, by none
        ([edit("isolated it [3].", "found it [3].")], ("Scheele found it.", 3), "3.1"),
        ([edit("isolated it [3].", "found it [3.2].")], ("Scheele found it.", 3), "3.2"),
        ([edit("isolated it [3].", "found it [4.1].")], ("Scheele found it.", 4), "4.1"),
        ([edit("isolated it [3].", "found it [1].")], ("Scheele found it.", 1), None),
        # elsewhere, and at the ends of the file
        ([edit("# Oxygen\n\n", ""), edit("isolated", "found")], ("Scheele found it.", 3), "3.1"),
        ([edit("named it [4].", "named it [4].\n\nNew [1.1]."), edit("New", "Newer")], ("Newer.", 1), "1.1"),
        ([edit(" it ", " oxygen ", replace_all=True)], ("Lavoisier named oxygen.", 4), "4.1"),
        # an edit that was refused, or that is of another file
        ([edit(" it ", " oxygen "), edit("isolated", "found")], ("Scheele found it.", 3), "3.1"),
        ([edit("never there", "x"), edit("isolated", "found")], ("Scheele found it.", 3), "3.1"),
        ([edit("isolated", "found", "/b.md")], ("Scheele found it.", 3), None),
        ([edit("isolated", "found", " a.md")], ("Scheele found it.", 3), "3.1"),
    ],
)
def test_a_statement_that_is_edited_keeps_its_pointer(
    edits: list[ToolCall], statement: tuple[str, int], passage: str | None
) -> None:
    report = write("# Oxygen\n\nScheele isolated it [3.1].\n\nLavoisier named it [4.1].")
    assert written_by(report, *edits).get(statement) == passage


def test_statements_around_an_edit_are_found_in_a_long_paragraph() -> None:
    lines = [f"- Line {number} of many, with a pointer [3.1]." for number in range(1_000)]
    report = write("\n".join(lines))
    found = written_by(report, edit("Line 500 of", "Line five hundred of"), edit("Line 0 of", "Line zero of"))
    assert found["Line five hundred of many, with a pointer.", 3] == "3.1"
    assert found["Line zero of many, with a pointer.", 3] == "3.1"


@pytest.mark.parametrize("text", ["[" * 200_000, "[3." * 70_000, "`" * 200_000, "[3.1]" * 40_000, "\n[3.1" * 40_000])
def test_a_long_run_costs_linear_time(text: str) -> None:
    plain_footnotes(text, session_sources())
    pointer_filter = PointerFilter(session_sources())
    for at in range(0, len(text), 50):
        pointer_filter.feed(text[at : at + 50])
    pointer_filter.flush()
