"""Numbers as values: different notations of the same amount are equal."""

import itertools

import pytest

from footnote.evidence.values import Value, are_comparable, contains_exact_value, contains_value, extract_values

SAME = [
    ("1,200,000", "1.2 million", "1.200.000", "1,2 triệu", "120万", "１２０万", "1200000", "一百二十万",
     "1\u202f200\u202f000"),
    ("eleven", "11", "11th", "mười một", "十一", "eleventh", "第11"),
    ("twenty-five", "25", "hai mươi lăm", "二十五", "25th"),
    ("500,000", "half a million", "nửa triệu", "50万", "0.5 million", "năm trăm nghìn"),
    ("390 billion", "390 tỷ", "3,900 亿", "3900亿", "三千九百亿"),
    ("70%", "70 percent", "70 per cent", "70 phần trăm", "百分之七十", "70％", "seventy percent"),
    ("28.5", "28,5"),
    ("6½", "6.5", "6,5"),
    ("three-quarters", "ba phần tư", "四分之三"),
    ("October 4, 2019", "4 October 2019", "2019-10-04", "04/10/2019", "ngày 4 tháng 10 năm 2019", "2019年10月4日",
     "the 4th of October 2019", "Oct. 4, 2019", "ngày 4/10/2019", "二〇一九年十月四日"),
    ("May 2002", "tháng 5 năm 2002", "tháng 5/2002", "2002年5月"),
    ("19th century", "thế kỷ 19", "thế kỷ XIX", "19世纪", "nineteenth century"),
    ("1990s", "những 1990", "20世纪90年代"),
    ("$5 million", "US$5,000,000", "5 triệu đô la", "500万美元", "5 million dollars"),
    ("7,000,000 square kilometres", "7 triệu km vuông", "700万平方公里", "7 million km²"),
    ("10:30 pm", "22:30"),
    ("100 years", "100 năm", "100年", "one hundred years"),
]  # fmt: skip


def one(text: str) -> Value:
    [value] = extract_values(text)
    return value


def test_one_amount_is_one_value_in_every_notation(subtests: pytest.Subtests) -> None:
    for group in SAME:
        for left, right in itertools.product(group, repeat=2):
            with subtests.test(left=left, right=right):
                assert contains_value([one(left)], one(right))


@pytest.mark.parametrize(
    ("page", "claim"),
    [
        ("1,200,000", "1.3 million"),
        ("120万", "120亿"),
        ("5 million", "5 billion"),
        ("5 triệu", "5 tỷ"),
        ("70%", "75%"),
        ("5 km", "5 miles"),
        ("5 years", "5 days"),
        ("$5", "€5"),
        ("October 4, 2019", "October 5, 2019"),
        ("October 4, 2019", "November 4, 2019"),
        ("2019年10月4日", "2018年10月4日"),
        ("October 2019", "October 4, 2019"),
        ("19th century", "18th century"),
        ("10:30 pm", "10:30 am"),
        ("three-quarters", "two-thirds"),
        ("1990s", "1980s"),
        ("-5", "5"),
        ("hai mươi lăm", "hai mươi bảy"),
        ("二十五", "二十七"),
    ],
)
def test_another_amount_is_another_value(page: str, claim: str) -> None:
    assert not contains_value([one(page)], one(claim))


@pytest.mark.parametrize(
    ("page", "claim"),
    [
        ("1,234,567", "1.2 million"),
        ("1,234,567", "1.23 million"),
        ("853,382", "about 850,000"),
        ("853.382", "khoảng 850.000"),
        ("853,382人", "约85万人"),
        ("37,400,000", "3700多万"),
        ("October 4, 2019", "2019"),
        ("October 4, 2019", "October 2019"),
        ("5 km", "5"),
        ("5", "5 km"),
        ("1998–99", "1999"),
        ("2001-02", "2002"),
    ],
)
def test_a_claim_may_say_less_than_its_page(page: str, claim: str) -> None:
    claimed = extract_values(claim)
    assert all(contains_value(extract_values(page), value) for value in claimed)
    assert claimed


@pytest.mark.parametrize(
    ("page", "claim"), [("1,234,567", "1.3 million"), ("853,382", "850,000"), ("33 million", "30 million")]
)
def test_a_number_is_only_rounded_where_it_says_so(page: str, claim: str) -> None:
    assert not contains_value(extract_values(page), one(claim))


def test_equal_means_that_nothing_was_rounded() -> None:
    assert contains_value([one("1,234,567")], one("1.2 million"))
    assert not contains_exact_value([one("1,234,567")], one("1.2 million"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Astra 2A and DVB-S2 and H2O", []),
        ("I may 5 times say so", ["5"]),
        ("In May 5 ships came", ["May 5"]),
        ("between 5 and 10", ["5", "10"]),
        ("23–16", ["23", "16"]),
        ("from 1990-95", ["1990", "95"]),
        ("version 3.11.2", []),
        ("one of the two", ["two"]),
        ("hai năm sau", ["hai năm"]),
        ("năm 2019", ["2019"]),
        ("mười năm", ["mười năm"]),
        ("百万富翁有三四个", []),
        ("几十个人，十分好", []),
        ("三次", ["三"]),
        ("", []),
    ],
)
def test_only_what_is_surely_a_number_must_be_on_the_page(text: str, found: list[str]) -> None:
    assert [text[value.start : value.end] for value in extract_values(text) if value.is_certain] == found


def test_a_word_that_is_a_number_only_sometimes_still_counts_on_the_page() -> None:
    assert contains_value(extract_values("one of them"), one("1"))
    assert contains_value(extract_values("năm hoàng tử"), one("5"))


@pytest.mark.parametrize(
    ("left", "right", "alike"),
    [
        ("1967", "1969", True),
        ("1967", "37", False),
        ("5%", "7%", True),
        ("5%", "7 km", False),
        ("5", "7 km", True),
        ("May 2002", "June 2003", True),
        ("May 2002", "2003", False),
    ],
)
def test_values_of_one_kind_could_stand_for_each_other(left: str, right: str, *, alike: bool) -> None:
    assert are_comparable(one(left), one(right)) is alike
