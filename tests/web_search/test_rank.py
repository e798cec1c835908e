"""Ranking: the passages that answer a question, in any language, within their room."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footnote.protocol.receipts import Passage
from footnote.protocol.sources import Snapshot
from footnote.web_search.rank import passages, quotes
from web.site import articles

OXYGEN = """# Oxygen

Oxygen was discovered by Carl Wilhelm Scheele in Uppsala in 1773.

The name oxygen was coined in 1777 by Antoine Lavoisier, whose experiments helped to discredit a theory.

| Element | Number |
| --- | --- |
| Oxygen | 8 |
| Nitrogen | 7 |
"""
IRON = "# Iron\n\nIron is a metal. It rusts in damp air, and people have used it for three thousand years."
PAGES = {1: Snapshot(url="http://a/", text=IRON), 2: Snapshot(url="http://b/", text=OXYGEN)}


def pages(language: str, *names: str) -> dict[int, Snapshot]:
    found = {article.name: article for article in articles(language)}
    texts = ["\n\n".join([f"# {name}", *found[name].paragraphs]) for name in names]
    return {number: Snapshot(url=f"http://x/{number}", text=text) for number, text in enumerate(texts, 1)}


def check(found: tuple[Passage, ...], snapshots: dict[int, Snapshot]) -> None:
    for one in found:
        assert snapshots[one.number].text[one.start : one.end] == one.text
        assert one.text.strip()


def test_the_sentence_that_answers_comes_first():
    found = quotes(PAGES, "Who coined the name oxygen?", "Who coined the name oxygen?")
    assert found[0].number == 2
    assert "Antoine Lavoisier" in found[0].text
    check(found, PAGES)


@pytest.mark.parametrize(("language", "room"), [("en", 600), ("vi", 600), ("zh", 250)])
def test_answers_stand_in_three_short_quotations(language: str, room: int):
    """A sample: bench/quality.py has all of them."""
    five = ("Oxygen", "Normans", "Huguenot", "Pharmacy", "Black_Death")
    snapshots = pages(language, *five)
    asked = [question for article in articles(language) if article.name in five for question in article.questions][::3]
    right = 0
    for question in asked:
        found = quotes(snapshots, question.text, question.text)
        check(found, snapshots)
        assert len(found) <= 3
        assert sum(len(one.text) for one in found) <= room
        right += any(answer in one.text for answer in question.answers for one in found)
    assert right / len(asked) >= 0.85


def test_a_question_without_diacritics_means_them():
    snapshots = {1: Snapshot(url="http://a/", text="Chiến thắng Điện Biên Phủ diễn ra năm 1954. Hà Nội là thủ đô.")}
    assert "1954" in quotes(snapshots, "dien bien phu nam nao", "dien bien phu nam nao")[0].text


def test_a_row_of_a_table_is_a_passage():
    assert "Oxygen | 8" in quotes(PAGES, "number of the element oxygen", "number of the element oxygen")[0].text


def test_all_passages_are_kept_if_they_fit():
    ranked = passages(PAGES, "oxygen", "oxygen", tokens=6_000)
    assert len(ranked.passages) == ranked.found
    assert ranked.passages[0].number == 2
    check(ranked.passages, PAGES)


def test_a_budget_is_kept_and_every_page_has_its_turn():
    snapshots = pages("en", "Oxygen", "Normans", "Pharmacy")
    ranked = passages(snapshots, "oxygen Normans pharmacy", "history", tokens=600)
    assert sum(len(one.text.encode()) // 3 for one in ranked.passages) <= 600
    assert len(ranked.passages) < ranked.found
    assert len({one.number for one in ranked.passages}) >= 2


def test_what_one_page_copied_from_another_is_said_once():
    twice = {1: Snapshot(url="http://a/", text=OXYGEN), 2: Snapshot(url="http://b/", text=OXYGEN)}
    found = quotes(twice, "Who coined the name oxygen?", "Who coined the name oxygen?")
    assert sum("Lavoisier" in one.text for one in found) == 1
    ranked = passages(twice, "oxygen", "oxygen", tokens=6_000)
    assert len(ranked.passages) < ranked.found


@pytest.mark.parametrize(
    "text", ["", "   ", "x" * 400_000, "words " * 60_000, "中" * 100_000, "|" * 1_000, "# \n" * 500]
)
@pytest.mark.parametrize("question", ["", "words x 中", "?!"])
def test_odd_pages_and_questions_are_no_trouble(text: str, question: str):
    snapshots = {7: Snapshot(url="http://a/", text=text)}
    check(quotes(snapshots, question, question), snapshots)
    check(passages(snapshots, question, question, tokens=1_000).passages, snapshots)


def test_without_pages_there_is_nothing():
    assert quotes({}, "why", "why") == ()
    assert passages({}, "why", "why", tokens=100).passages == ()


@given(st.text(max_size=300), st.text(max_size=40))
def test_every_passage_stands_where_it_says(text: str, question: str):
    snapshots = {1: Snapshot(url="http://a/", text=text)}
    check(quotes(snapshots, question, question), snapshots)
    check(passages(snapshots, question, question, tokens=50).passages, snapshots)
