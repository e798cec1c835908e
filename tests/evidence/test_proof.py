"""Verdicts for a whole text: statements without a footnote, links, and what they rest on."""

from footnote.evidence.proof import count_verdicts, judge_text
from footnote.evidence.sources import Sources
from footnote.evidence.verdict import check_citations
from footnote.protocol.sources import ProofCounts, Snapshot

from .samples import snapshot, source, sources_of

HANOI = "Hanoi is the capital of Vietnam. It has 8.4 million people. Long Biên Bridge was opened in 1902."
HUE = "Hue has 450,000 people. The citadel of Hue was begun in 1804 under Emperor Gia Long."


def judged(text: str, sources: Sources, *given: str) -> list[tuple[str, str, int, int | None]]:
    return [
        (text[one.start : one.end], one.verdict, one.number, one.suggestion)
        for one in judge_text(text, sources, uncited=True, given=given)
    ]


def test_a_statement_without_a_footnote_names_the_source_that_supports_it() -> None:
    text = "Long Biên Bridge was opened in 1902. The citadel of Hue was begun in 1804. It has 2,000 rooms."
    assert judged(text, sources_of(HANOI, HUE)) == [
        ("Long Biên Bridge was opened in 1902.", "uncited", 0, 1),
        ("The citadel of Hue was begun in 1804.", "uncited", 0, 2),
        ("It has 2,000 rooms.", "uncited", 0, None),
    ]
    first = judge_text(text, sources_of(HANOI, HUE), uncited=True)[0]
    assert (first.marker, first.quote) == ("", "Long Biên Bridge was opened in 1902.")
    assert first.quote is not None
    assert HANOI[first.quote_start : first.quote_end] == first.quote
    assert first.snapshot_id == Snapshot(url="", text=HANOI).id


def test_footnotes_get_the_same_verdicts_with_and_without_the_rest() -> None:
    text = "Hanoi has 8.4 million people [1]. Hue was founded in 1306. Hue has 900,000 people [2]. It is old [7]."
    sources = sources_of(HANOI, HUE)
    whole = judge_text(text, sources, uncited=True)
    assert tuple(one for one in whole if one.marker) == judge_text(text, sources)
    assert [one.verdict for one in whole if not one.marker] == ["uncited"]


def test_without_the_option_statements_without_a_footnote_and_links_are_left_alone() -> None:
    text = "Hue was founded in 1306. Hue is old ([a page](https://unread.example/))."
    assert judge_text(text, sources_of(HANOI)) == ()


def test_a_link_to_a_page_that_was_read_is_its_footnote_and_any_other_is_unread() -> None:
    text = (
        "Hue has 450,000 people ([page](https://example.org/2?utm_source=x#top)). "
        "Hue has 900,000 people ([page](http://www.example.org/2/)). Hue is old (https://elsewhere.example/a)."
    )
    found = judge_text(text, sources_of(HANOI, HUE), uncited=True)
    assert [(one.marker, one.number, one.verdict) for one in found] == [
        ("https://example.org/2?utm_source=x#top", 2, "supported"),
        ("http://www.example.org/2/", 2, found[1].verdict),
        ("https://elsewhere.example/a", 0, "unread"),
    ]
    assert found[1].verdict in ("unsupported", "contradicted", "partial")


def test_a_page_is_found_by_its_own_address_too() -> None:
    sources = Sources()
    page = Snapshot(url="https://example.org/final", canonical_url="https://example.org/canonical", text=HUE)
    sources.add(source("https://example.org/short"), page)
    for address in ("short", "final", "canonical"):
        text = f"Hue has 450,000 people ([page](https://example.org/{address}))."
        assert [one[1:3] for one in judged(text, sources)] == [("supported", 1)]
    sources.add(source("https://example.org/failed", "failed"), None)
    assert [one[1:3] for one in judged("Hue is old (https://example.org/failed).", sources)] == [("unread", 0)]


def test_a_note_with_a_name_leads_where_its_definition_does_and_is_marked_once() -> None:
    text = (
        "Hue has 450,000 people.[^a] It is old.[^b]\n\n[^a]: https://example.org/2\n[^b]: A book, https://b.example/c\n"
    )
    found = judge_text(text, sources_of(HANOI, HUE), uncited=True)
    assert [(one.marker, one.number, one.verdict) for one in found] == [
        ("https://example.org/2", 2, "supported"),
        ("https://b.example/c", 0, "unread"),
    ]


def test_what_the_user_said_needs_no_source() -> None:
    given = "I am going to Hue with 4 people on 12 May 2026. Was the citadel begun in 1804?"
    text = "You are going to Hue on 12 May 2026. 4 people are going to Hue. The citadel was begun in 1804."
    assert judged(text, Sources(), given) == [("The citadel was begun in 1804.", "uncited", 0, None)]
    link = "It is described at https://given.example/page with pictures."
    assert [one[1] for one in judged(link, Sources(), "Read https://given.example/page")] == []
    assert [one[1] for one in judged(link, Sources())] == ["unread"]


def test_one_footnote_may_stand_for_the_rows_and_items_below_it() -> None:
    sources = sources_of(HANOI, HUE)
    for text in (
        "In numbers [1]:\n\n- Hanoi: 8.4 million people\n- Paris: 2.1 million people\n",
        "| City | People [1] |\n|---|---|\n| Hanoi | 8.4 million people |\n| Paris | 2.1 million people |\n",
        "| City | People |\n|---|---|\n| Hanoi | 8.4 million people |\n| Paris | 2.1 million people |\n\nSource: [1]\n",
    ):
        assert [one[0].partition(" ")[0].strip("|:") for one in judged(text, sources)] == ["Paris"], text


def test_a_heading_with_a_footnote_is_not_alarming() -> None:
    text = "## The weather [1]\n\nHanoi has 8.4 million people [1].\n\n## The sea [9]\n"
    assert [one[:3] for one in judged(text, sources_of(HANOI))] == [
        ("Hanoi has 8.4 million people [1].", "supported", 1),
        ("The sea", "unsupported", 9),
    ]


def test_verdicts_are_counted_by_statement() -> None:
    text = "Hanoi has 8.4 million people [1][2]. Hue was founded in 1306. Hue is old (https://unread.example/)."
    counted = count_verdicts(judge_text(text, sources_of(HANOI, HUE), uncited=True))
    assert counted == ProofCounts(statements=3, supported=1, uncited=1, unread=1)


def test_what_one_source_contradicts_is_not_undone_by_another_that_supports_it() -> None:
    text = "The lake froze in the winter of 1709 [1][2]."
    pages = "The lake froze in the winter of 1709.", "The lake froze in the winter of 1719."
    citations = check_citations(text, sources_of(*pages))
    assert [one.verdict for one in citations] == ["supported", "contradicted"]
    counts = count_verdicts(citations)
    assert (counts.statements, counts.supported, counts.contradicted) == (1, 0, 1)


def test_the_same_text_and_pages_always_get_the_same_verdicts() -> None:
    text = "Hue has 450,000 people. Hanoi has 8.4 million people. It has 12 bridges (https://unread.example/)."
    first = judge_text(text, sources_of(HANOI, HUE), uncited=True)
    sources = sources_of(HANOI, HUE)
    judge_text("Another text about Hue in 1804.", sources, uncited=True)
    assert judge_text(text, sources, uncited=True) == first


def test_any_text_is_judged() -> None:
    sources = sources_of(HANOI)
    for text in ("", "[1]", "https://a.b/c", "|", "---\n", "$$", "<!--", "[^", "[^x]", "- [ ] ", "10.1234/", "[a][b]"):
        judge_text(text, sources, uncited=True, given=(text,))
    sources.add(source("https://example.org/9"), snapshot("", "https://example.org/9"))
    assert judged("Hue was founded in 1306.", sources) == [("Hue was founded in 1306.", "uncited", 0, None)]
