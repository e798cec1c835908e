"""Findings: the statements of a reader that its sources support."""

from footnote.protocol.messages import Text
from footnote.research.findings import findings_of, plain_statement, says_more
from footnote.research.report import SectionPlan, quoted_section
from footnote.text.markdown import blockquote
from research.finding_samples import Pages


def test_supported_and_partial_statements_are_kept_and_all_others_dropped() -> None:
    pages = Pages()
    pages.add("a.example", "The station of Halden has 42 turbines. It was opened in 1931 by the king.")
    found = pages.findings(
        q1=(
            "I searched the web for it [1].\n\n## The station [1]\n\n"
            "The station of Halden has 42 turbines [1]. The station of Halden has 57 turbines [1]. "
            "Its cat is called Mona and weighs 4 kg [1]. It was built by Voith in 1929. "
            "Halden was visited by 3 million people [7].\n"
        )
    )
    assert [one.text for one in found] == ["The station of Halden has 42 turbines. [1]"]
    [citation] = found[0].citations
    assert citation.verdict == "supported"
    assert found[0].text[citation.start : citation.end] == "The station of Halden has 42 turbines."


def test_several_footnotes_of_one_statement_are_one_finding_with_those_that_support_it() -> None:
    pages = Pages()
    pages.add("a.example", "The station of Halden has 42 turbines.")
    pages.add("b.example", "The market of Moss is held every week.")
    pages.add("c.example", "The station of Halden has 42 turbines.")
    [finding] = pages.findings(q1="The station of Halden has 42 turbines [1][2, 3].")
    assert (finding.text, finding.numbers) == ("The station of Halden has 42 turbines. [1][3]", (1, 3))


def test_a_footnote_within_a_statement_keeps_its_place() -> None:
    pages = Pages()
    pages.add("a.example", "The station of Halden has 42 turbines.")
    pages.add("b.example", "The station of Halden is operated by Nordkraft.")
    [finding] = pages.findings(q1="The station of Halden has 42 turbines [1], and it is operated by Nordkraft [2].")
    assert finding.text == "The station of Halden has 42 turbines [1], and it is operated by Nordkraft. [2]"
    assert pages.marks(finding.text) == []


def test_a_text_without_verdicts_has_no_findings() -> None:
    assert Pages().findings(q1="") == ()
    assert Text("The station has 42 turbines [1].").citations == ()


def test_a_quotation_of_several_sentences_is_one_finding_in_the_words_of_the_page() -> None:
    pages = Pages()
    text = "The station of Halden has 42 turbines. I was there in 1999.\n\n- It was opened in 1931."
    pages.add("a.example", f"About Halden.\n\n{text}\n\nThe end.")
    [finding] = pages.findings(q1=f"These passages match best:\n\n{blockquote(text, 1)}")
    assert finding.quotation == text
    section = quoted_section(SectionPlan("", (finding,)), "en")
    assert section == f"In the words of the pages:\n\n{blockquote(text, 1)}"
    assert pages.marks(section) == []


def test_of_a_statement_only_the_beginning_that_its_footnotes_prove_is_kept() -> None:
    """A footnote within a sentence may prove the part before it, and nothing of what follows."""
    pages = Pages()
    pages.add("a.example", "The tidal station of Halden has 24 turbines.")
    pages.add("b.example", "The tidal station of Halden supplies 128,000 households.")
    for text, expected in (
        ("The tidal station of Halden has 24 turbines [1] and won 97 prizes in 1985.", ["24 turbines. [1]"]),
        ("The tidal station of Halden has 24 turbines [1] and won 97 prizes in 1985 [2].", ["24 turbines. [1]"]),
        ("The tidal station of Halden won 97 prizes in 1985 [2] and has 24 turbines [1].", []),
        ("The tidal station of Halden [1] has 24 turbines.", ["24 turbines. [1]"]),
        (
            "The tidal station of Halden has 24 turbines [1], and it supplies 128,000 households [2].",
            ["24 turbines [1], and it supplies 128,000 households. [2]"],
        ),
    ):
        found = pages.findings(q1=text)
        assert [one.text for one in found] == [f"The tidal station of Halden has {one}" for one in expected]
        assert [mark for one in found for mark in pages.marks(one.text)] == []


def test_a_reader_that_repeats_its_question_or_leaves_a_form_unfilled_has_found_nothing():
    pages = Pages()
    pages.add("luther.example", "Martin Luther was a German professor of theology and a priest. He died in 1546.")
    text = pages.text("Martin Luther: [1]\n\nMartin Luther, a German professor of theology [1].\n\nMartin Luther [1]")
    found = findings_of("q1", text)
    assert [one for one in found if plain_statement(one).startswith("Martin Luther:")] == []
    question = "Who was Martin Luther, the German professor of theology?"
    assert [one for one in found if says_more(one, question)] == []
    [died] = findings_of("q1", pages.text("He died in 1546 [1]."))
    assert says_more(died, "When did Martin Luther die?")
