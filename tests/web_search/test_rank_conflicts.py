"""Pages that contradict each other: neither side is taken for a copy of the other, and both are quoted."""

import pytest

from footnote.protocol.sources import Passage, Snapshot
from footnote.web_search.ranking import RankedQuotes, rank_passages, select_quotes, select_with
from footnote.web_search.ranking.conflicts import compare_statements, parse_statement

AROUND = "The town has a market, two churches and a small museum. "
LONG = (
    "The lighthouse, which stands on a cliff above the old harbour and was for a long time the only one on that part "
    "of the coast, was according to the records of the parish, which are kept in the town hall and were copied several "
    "times in the course of the centuries, finished in the year {year}, when the keeper and his family moved in, and "
    "it has been looked after ever since by a society of volunteers, who open it to visitors on most weekends."
)


def pages(*texts: str) -> dict[int, Snapshot]:
    return {
        number: Snapshot(url=f"http://page-{number}/", text=f"# A page\n\n{text}")
        for number, text in enumerate(texts, 1)
    }


def side_numbers(found: RankedQuotes) -> list[tuple[int, str]]:
    return [(found.passages[at].number, found.passages[at].text) for at in found.conflicts]


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        (
            "When was the tower built?",
            "The tower was built in 1889 by Eiffel.",
            "The tower was built in 1899 by Eiffel.",
        ),
        ("How high is the tower?", "The tower is 300 metres high.", "The tower is 330 metres high."),
        ("How many bells are there?", "The church has three bells of bronze.", "The church has five bells of bronze."),
        ("When did it open?", "The museum opened in March 1954.", "The museum opened in May 1954."),
        ("Is the bridge safe?", "The bridge was declared safe.", "The bridge was not declared safe."),
        ("Is the bridge safe?", "The bridge isn't open to the public.", "The bridge is open to the public."),
        ("Is the bridge safe?", "The bridge is safe for heavy cars.", "The bridge is unsafe for heavy cars."),
        ("Who designed the bridge?", "It was designed by Anna Berg in Oslo.", "It was designed by Olaf Lund in Oslo."),
        ("Did prices rise?", "Prices of bread rose sharply in the town.", "Prices of bread fell sharply in the town."),
        ("Cầu dài bao nhiêu mét?", "Cây cầu dài 1.200 mét và rộng.", "Cây cầu dài 1.500 mét và rộng."),
        ("Tháp xây năm nào?", "Ngọn tháp được xây năm 1889 ở đây.", "Ngọn tháp được xây năm 1912 ở đây."),
        ("Cầu có an toàn không?", "Cây cầu được coi là an toàn.", "Cây cầu không được coi là an toàn."),
        ("Cầu đã mở cửa chưa?", "Cây cầu này đã mở cửa cho mọi người.", "Cây cầu này chưa mở cửa cho mọi người."),
        ("这座塔建于哪一年？", "这座铁塔建于1889年，位于河边。", "这座铁塔建于1912年，位于河边。"),
        ("这座塔有几层？", "这座古老的塔一共有七层。", "这座古老的塔一共有九层。"),
        ("这座桥安全吗？", "专家认为这座桥是安全的。", "专家并不认为这座桥是安全的。"),
        ("这种药安全吗？", "这种药对儿童是安全的。", "这种药对儿童是不安全的。"),
        ("这座桥开放了吗？", "这座桥已经向公众开放。", "这座桥没有向公众开放。"),
    ],
)
def test_of_two_pages_that_contradict_each_other_both_are_quoted(question: str, one: str, other: str):
    found = select_quotes(pages(AROUND + one, AROUND + other), question, question)
    assert sorted(side_numbers(found)) == [(1, one), (2, other)]


def test_three_values_on_three_pages_are_all_quoted():
    texts = [f"The tower was built in {year} by Eiffel and his men." for year in (1887, 1889, 1899)]
    found = select_quotes(pages(*texts), "When was the tower built?", "When was the tower built?")
    assert sorted(side_numbers(found)) == list(enumerate(texts, 1))


def test_of_long_sentences_both_parts_that_differ_are_quoted_within_the_room():
    snapshots = pages(LONG.format(year=1811), LONG.format(year=1817))
    found = select_quotes(snapshots, "When was the lighthouse finished?", "When was the lighthouse finished?")
    assert [year in text for (_, text), year in zip(sorted(side_numbers(found)), ("1811", "1817"), strict=True)] == [
        True,
        True,
    ]
    assert sum(len(one.text) for one in found.passages) <= 600
    for one in found.passages:
        assert snapshots[one.number].text[one.start : one.end] == one.text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The tower was built in 1889 by Eiffel.", "The tower was built in 1889 by Eiffel."),
        ("About 1,200,000 people live in the city.", "About 1.2 million people live in the city."),
        ("The church has three bells of bronze.", "The church has 3 bells of bronze."),
        ("In the town the tower was built in 1889 by Eiffel.", "The tower was built in 1889 by Eiffel in the town."),
    ],
)
def test_what_is_only_written_in_another_way_is_quoted_once(one: str, other: str):
    question = "When was the tower built, how many bells has the church, how many people are in the city?"
    found = select_quotes(pages(one, other), question, question)
    assert found.conflicts == ()
    assert len(found.passages) == 1


def test_pages_about_different_things_do_not_contradict_each_other():
    found = select_quotes(
        pages("The tower of Paris was built in 1889.", "The bridge of London was opened in 1894 by a prince."),
        "When was it built?",
        "When was it built?",
    )
    assert found.conflicts == ()


def test_a_sentence_that_has_one_more_number_is_neither_a_copy_nor_a_contradiction():
    more = parse_statement("The tower was built by Eiffel in the spring of 1889.")
    less = parse_statement("The tower was built by Eiffel in the spring.")
    assert compare_statements(more, less) is None


def passage(number: int, text: str, start: int = 0) -> Passage:
    return Passage(number=number, text=text, start=start, end=start + len(text))


def test_quotations_are_kept_with_their_passages_or_alone_within_the_limit():
    long, short = passage(1, "word " * 300), passage(2, "some words here. " * 4)
    other = passage(3, "other words. " * 4)
    in_long, in_short, nowhere = passage(1, "word word", 50), passage(2, "words", 5), passage(4, "elsewhere")

    assert select_with([long, other, short], [], 60) == [other, short]
    assert select_with([long, other, short], [in_long, in_short], 60) == [other, short, in_long]
    assert select_with([long, other, short], [in_short, nowhere], 60) == [other, short, nowhere]
    assert select_with([long, other, short], [in_short, nowhere], 18) == [in_short, nowhere]
    assert select_with([long, other, short], [in_long, in_short, nowhere], 3) == []


def test_what_a_model_reads_has_both_sides_too():
    body = "The tower stands on the bank of the river and is visited by many people who come from all over the world. "
    snapshots = pages(f"{body}It was finished in 1889.", f"{body}It was finished in 1912.")
    ranked = rank_passages(snapshots, "When was the tower finished?", "tower", max_tokens=6_000)
    assert sorted(one.number for one in ranked.passages) == [1, 2]
    denied = pages(f"{body}It was finished in 1889.", f"{body}It was not finished in 1889.")
    ranked = rank_passages(denied, "When was the tower finished?", "tower", max_tokens=6_000)
    assert sorted(one.number for one in ranked.passages) == [1, 2]
