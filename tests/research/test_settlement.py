"""What stays of the findings of all items: each statement once, and contradictions told as such."""

from itertools import permutations

import pytest

from footnote.research.findings import Finding
from footnote.research.settlement import settle
from research.finding_samples import Pages

TURBINES = "The tidal station of Halden has {} turbines."


def texts(findings: tuple[Finding, ...]) -> list[str]:
    return [one.text for one in findings]


def test_a_statement_that_several_items_found_stands_once_with_all_of_its_footnotes() -> None:
    pages = Pages()
    pages.add("a.example", TURBINES.format(42))
    pages.add("b.example", "Halden is in Norway. " + TURBINES.format(42))
    [finding] = pages.settled(q1=f"{TURBINES.format(42)} [1]", q2=f"{TURBINES.format(42)} [2]")
    assert (finding.item_id, finding.numbers, finding.other_items) == ("q1", (1, 2), ("q2",))
    assert finding.text == f"{TURBINES.format(42)} [1][2]"
    assert not finding.is_disputed


def test_a_statement_that_another_one_says_too_is_left_out() -> None:
    pages = Pages()
    pages.add("a.example", "The tidal station of Halden, built in 1931, has 42 turbines.")
    pages.add("b.example", TURBINES.format(42))
    [finding] = pages.settled(
        q1=f"{TURBINES.format(42)} [2]", q2="The tidal station of Halden, built in 1931, has 42 turbines. [1]"
    )
    assert (finding.item_id, finding.numbers) == ("q2", (1,))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (TURBINES.format(42), TURBINES.format(24)),
        ("The Halden barrage was opened on 14 March 2009.", "The Halden barrage was opened on 21 May 2011."),
        ("The Halden barrage was designed by Ingrid Berg.", "The Halden barrage was designed by Lars Holm."),
        ("The Halden barrage is operated by Nordkraft.", "The Halden barrage is not operated by Nordkraft."),
        ("The production of the Halden barrage rose in 2022.", "The production of the Halden barrage fell in 2022."),
        ("Nhà máy thủy triều Halden có 42 tua-bin.", "Nhà máy thủy triều Halden có 24 tua-bin."),
        ("Cầu Long Biên được khánh thành năm 1902.", "Cầu Long Biên được khánh thành năm 1907."),
        ("Cầu Long Biên do Daydé & Pillé thiết kế.", "Cầu Long Biên do Gustave Eiffel thiết kế."),
        ("哈尔登潮汐电站有42台机组。", "哈尔登潮汐电站有24台机组。"),
        ("三峡大坝于2006年建成。", "三峡大坝于2009年建成。"),
    ],
)
def test_of_two_sides_the_one_with_more_independent_sites_stays_and_the_other_is_told(right: str, wrong: str) -> None:
    pages = Pages()
    pages.add("a.example", f"A page about it. {right}")
    pages.add("false.example", wrong)
    pages.add("b.example", f"Another page. {right}")
    [finding] = pages.settled(q1=f"{right} [1]\n\n{wrong} [2]", q2=f"{right} [3]")
    assert finding.numbers == (1, 3)
    assert not finding.is_disputed
    assert [(one.reason, one.citations[0].number) for one in finding.others] == [("outvoted", 2)]


def test_a_page_that_no_reader_cites_decides_too() -> None:
    """Only the false page was handed over; two others of the session say otherwise."""
    pages = Pages()
    pages.add("false.example", TURBINES.format(24))
    pages.add("a.example", f"A page about it. {TURBINES.format(42)}")
    pages.add("b.example", f"Another page. {TURBINES.format(42)}")
    [finding] = pages.settled(q1=f"{TURBINES.format(24)} [1]")
    assert "42 turbines" in finding.text
    assert [one.text for one in finding.others] == [f"{TURBINES.format(24)} [1]"]
    assert finding.item_id == "q1"


def test_of_two_pages_the_clearly_newer_one_stays() -> None:
    pages = Pages()
    pages.add("a.example", TURBINES.format(18), "2013-05-02")
    pages.add("b.example", TURBINES.format(24), "2024-03-17T10:00:00Z")
    [finding] = pages.settled(q1=f"{TURBINES.format(18)} [1]", q2=f"{TURBINES.format(24)} [2]")
    assert "24" in finding.text
    assert [(one.reason, one.text) for one in finding.others] == [("outdated", f"{TURBINES.format(18)} [1]")]


@pytest.mark.parametrize(
    ("dates", "domains"),
    [
        ((None, None), ("a.example", "b.example")),
        (("2024-03-17", "2024-05-02"), ("a.example", "b.example")),
        (("someday", "2024-05-02"), ("a.example", "b.example")),
    ],
)
def test_if_nothing_decides_both_are_disputed(dates: tuple[str | None, ...], domains: tuple[str, ...]) -> None:
    pages = Pages()
    for value, date, domain in zip((18, 24), dates, domains, strict=True):
        pages.add(domain, TURBINES.format(value), date)
    found = pages.settled(q1=f"{TURBINES.format(18)} [1]", q2=f"{TURBINES.format(24)} [2]")
    assert [one.is_disputed for one in found] == [True, True]
    assert [one.others[0].text for one in found] == [found[1].text, found[0].text]


def test_an_old_majority_and_one_new_page_decide_nothing() -> None:
    pages = Pages()
    pages.add("a.example", f"One. {TURBINES.format(18)}", "2011-05-02")
    pages.add("b.example", f"Two. {TURBINES.format(18)}", "2012-05-02")
    pages.add("c.example", TURBINES.format(24), "2024-05-02")
    found = pages.settled(q1=f"{TURBINES.format(18)} [1][2]", q2=f"{TURBINES.format(24)} [3]")
    assert [one.is_disputed for one in found] == [True, True]


def test_sites_of_one_owner_and_copies_of_one_text_are_no_independent_sources() -> None:
    pages = Pages()
    pages.add("news.same.example", f"One. {TURBINES.format(24)}")
    pages.add("www.same.example", f"Two. {TURBINES.format(24)}")
    pages.add("c.example", TURBINES.format(42))
    found = pages.settled(q1=f"{TURBINES.format(24)} [1][2]", q2=f"{TURBINES.format(42)} [3]")
    assert [one.is_disputed for one in found] == [True, True]
    pages = Pages()
    pages.add("a.example", TURBINES.format(24))
    pages.add("b.example", TURBINES.format(24))
    pages.add("c.example", TURBINES.format(42))
    found = pages.settled(q1=f"{TURBINES.format(24)} [1][2]", q2=f"{TURBINES.format(42)} [3]")
    assert [one.is_disputed for one in found] == [True, True]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The station of Halden opened in 1931.", "The station of Moss opened in 1932."),
        ("The Halden station opened in 1931.", "The Moss station opened in 1931."),
        (
            "In 2019 the plant of Halden produced 40 MW of power.",
            "In 2020 the plant of Halden produced 45 MW of power.",
        ),
        ("The basic plan of the service costs 12 euros.", "The pro plan of the service costs 25 euros."),
        ("Vaccine A is 95% effective.", "Vaccine B is 67% effective."),
        ("The station employs about 300 people.", "The station employs 310 people."),
        ("The Tay bridge is 3.3 km long.", "The Tay bridge is 3,264 metres long."),
        ("Norway has 5.4 million inhabitants.", "Sweden has 10.5 million inhabitants."),
        ("The museum opens at 9 am on weekdays.", "The museum opens at 10 am on Sundays."),
        ("Cầu Long Biên dài 2.290 m.", "Cầu Thăng Long dài 1.682 m."),
        ("北京有2189万人口。", "上海有2487万人口。"),
    ],
)
def test_statements_about_different_things_do_not_contradict_each_other(one: str, other: str) -> None:
    pages = Pages()
    pages.add("a.example", one)
    pages.add("b.example", other)
    found = pages.settled(q1=f"{one} [1]", q2=f"{other} [2]")
    assert [(len(each.others), each.is_disputed) for each in found] == [(0, False), (0, False)]


def test_the_order_in_which_items_finished_makes_no_difference() -> None:
    pages = Pages()
    for at, value in enumerate((42, 42, 24, 18)):
        pages.add(f"site{at}.example", f"Page {at}. {TURBINES.format(value)} Room {at} has {at + 20} chairs.")
    by_item = [
        pages.findings(**{f"q{at}": f"{TURBINES.format(value)} [{at}] Room {at - 1} has {at + 19} chairs. [{at}]"})
        for at, value in enumerate((42, 42, 24, 18), 1)
    ]
    orders = [tuple(one for item in order for one in item) for order in permutations(by_item)]
    [settled] = {settle(order, (), pages.sources) for order in orders}
    assert settle(settled, (), pages.sources) == settled
    assert sum("turbines" in text for text in texts(settled)) == 1
