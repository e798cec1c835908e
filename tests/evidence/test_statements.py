"""What of a text is a statement: its sentences, list items and rows with their links, and which of them state facts."""

import pytest

from footnote.evidence.claims import extract_statements
from footnote.evidence.facts import needs_source, read_context


def facts_of(text: str) -> list[str]:
    """The statements of fact without a footnote or link."""
    statements = extract_statements(text)
    context = read_context(statements)
    return [
        one.text
        for one in statements
        if not one.cites and not one.links and needs_source(one, text[one.start : one.end], context)
    ]


FACTS = (
    "Hanoi has 8.4 million people.",
    "The bridge was opened in May 1902.",
    "It was designed by Gustave Eiffel and his engineers.",
    'The minister said: "We will never sell the railway."',
    "Sales fell by 12%.",
    "The tower is 300 metres tall.",
    "The remarkable tower, built in 1889, has 7 million visitors a year.",
    "Use of coal fell by 5% in 2020.",
    "Set in 1920, the novel follows two sisters.",
    "The WHO says that adults should eat 400 grams of fruit a day.",
    "In 2023 the company sold 4 million cars in these regions:",
    "Hà Nội có 8,4 triệu dân.",
    "Cầu được khánh thành vào tháng 2 năm 1902.",
    "Cây cầu do công ty Daydé & Pillé xây dựng.",
    "河内有840万人口。",
    "这座桥于1902年2月通车。",
    "他说：“我们绝不会出售这条铁路线。”",
    "Die Brücke wurde 1902 eröffnet.",
    "Le pont mesure 1 680 mètres.",
    "橋は1902年に開通した。",
    "สะพานเปิดในปี 1902",
)
NO_FACTS = (
    # Questions.
    "Did the bridge open in 1902?",
    "Cầu mở cửa năm 1902 phải không?",
    "这座桥是1902年通车的吗？",
    # Opinions.
    "I think that 8 million people are too many for Hanoi.",
    "In my opinion the bridge of Hanoi is the most beautiful in Asia.",
    "Overall, Hue is the most charming of the three cities.",
    "Lisbon is a wonderful place for families.",
    "The city should build 3 more bridges.",
    "Theo tôi, cầu Long Biên đẹp hơn cầu Chương Dương.",
    "Tôi nghĩ 8 triệu người là quá nhiều.",
    "Huế là thành phố thơ mộng nhất Việt Nam.",
    "我认为河内的840万人口太多了。",
    "在我看来，巴黎比伦敦更美丽。",
    # Instructions and advice.
    "Open the settings and click Save.",
    "Book the hotel at least 3 weeks ahead.",
    "You should arrive 2 hours before the flight to Hue.",
    "Step 2: Install Python 3.11.",
    "Finally, add 200 g of flour.",
    "Hãy đặt vé trước 3 tuần.",
    "Bạn nên đến Huế trước 9 giờ.",
    "Bước 2: Cài đặt Python 3.11.",
    "请提前3周预订。",
    "第二步：点击“保存到我的云端”。",
    "您可以在9点前到达北京。",
    # Greetings, labels, words about the text itself.
    "Dear Ms. Smith,",
    "Best regards, Anna Schmidt",
    "Kính gửi bà Nguyễn Thị Lan,",
    "尊敬的张伟先生：",
    "Date: 12 May 2024",
    "Tác giả: Nguyễn Văn Anh",
    "更新时间：2024年5月12日",
    "Here is what I found:",
    "This report covers the years 2019 to 2023.",
    "I could not find figures for 2024.",
    "No source gives a number for 2025.",
    "The table below compares Hanoi and Hue.",
    "Báo cáo này so sánh Hà Nội và Huế năm 2023.",
    "Tôi không tìm thấy số liệu năm 2024.",
    "下表比较了北京和上海2023年的数据。",
    "我没有找到2024年的数据。",
    "There are three main reasons for this.",
    "Turning to Vietnam, things look different.",
    "Suppose a family in Hanoi earns 500 dollars a month.",
    "The bridge is old.",
    "Nguyễn Văn Anh",
)


def test_a_sentence_with_a_number_a_date_a_name_or_a_quotation_states_a_fact() -> None:
    assert [text for text in FACTS if not facts_of(text)] == []


def test_questions_opinions_instructions_and_words_about_the_text_state_none() -> None:
    assert [text for text in NO_FACTS if facts_of(text)] == []


MARKDOWN = """\
---
title: Hanoi 2024
pages: 12
---
# Hanoi has 8 million people

Setext heading of 2020
======================

Hanoi grew in 2020.

| City | People in 2023 |
|------|----------------|
| Hanoi | 8.4 million |

City | People
--- | ---
Hue | 0.4 million

```
x = 2020
```

    y = 2021

$$
E = 1905
$$

<!-- 1999 was a good year for Hanoi. -->

<!--
Another comment of 1998.
-->

![A bridge of 1902](bridge.png)

- [ ] Call Anna on 12 May
- Area
  - Inner city: 233 km²

> The bridge was opened in 1902.

[^1]: A note of 2020.

Sources:
- A page of 2019
"""


def test_markdown_that_states_nothing_is_left_out() -> None:
    assert facts_of(MARKDOWN) == [
        "Hanoi grew in 2020.",
        "Hanoi 8.4 million",
        "Hue 0.4 million",
        "Inner city: 233 km²",
        "The bridge was opened in 1902.",
    ]


@pytest.mark.parametrize(
    ("sentence", "is_derived"),
    [
        ("So that is 12 + 5 = 17.", True),
        ("Together that makes 17 million.", True),
        ("That is 7 more than in Hue.", True),
        ("Hanoi therefore has 2.4 times as many.", True),
        ("So that is 12 + 5 = 19.", False),
        ("Together that makes 17 million in 2023.", False),
        ("Hanoi has 17 of them.", False),
        ("Như vậy tổng cộng là 17 triệu.", True),
        ("两地合计17。", True),
    ],
)
def test_a_sum_of_numbers_with_a_source_needs_none(sentence: str, is_derived: bool) -> None:
    unit = " million" if "million" in sentence else " triệu" if "triệu" in sentence else ""
    text = f"Hanoi has 12{unit} people [1]. Hue has 5{unit} people [1]. {sentence}"
    assert (facts_of(text) == []) == is_derived


def links_of(text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    return [
        (one.text, [(link.marker, link.url) for link in one.links]) for one in extract_statements(text) if one.links
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rains, [they say](https://a.b/c).", ("It rains, they say.", "https://a.b/c", "https://a.b/c")),
        ("It rains ([Reuters](https://a.b/c)).", ("It rains.", "https://a.b/c", "https://a.b/c")),
        ("It rains: https://a.b/c.", ("It rains: .", "https://a.b/c", "https://a.b/c")),
        ("It rains (https://a.b/c_(d)).", ("It rains.", "https://a.b/c_(d)", "https://a.b/c_(d)")),
        ("It rains, see <https://a.b/c>.", ("It rains, see.", "https://a.b/c", "https://a.b/c")),
        ("It rains. See www.a.b/c!", ("See !", "www.a.b/c", "https://www.a.b/c")),
        ("It rains, doi:10.1234/ab.5.", ("It rains, .", "doi:10.1234/ab.5", "https://doi.org/10.1234/ab.5")),
        ("It rains 10.1234/ab.5.", ("It rains.", "10.1234/ab.5", "https://doi.org/10.1234/ab.5")),
        ("It [rains][w].\n\n[w]: https://a.b/c", ("It rains.", "https://a.b/c", "https://a.b/c")),
        ("下雨了（https://a.b/c）。", ("下雨了。", "https://a.b/c", "https://a.b/c")),
        ("It rains.[^smith]\n\n[^smith]: Smith, 2019.", ("It rains.", "[^smith]", "")),
    ],
)
def test_a_link_belongs_to_its_sentence(text: str, expected: tuple[str, str, str]) -> None:
    shown, marker, url = expected
    assert links_of(text)[0] == (shown, [(marker, url)])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It is 330 m tall [facts](https://a.b/c).", "It is 330 m tall."),
        ("It is 330 m tall. [Tower facts](https://a.b/c)", "It is 330 m tall."),
        ("It is 330 m tall. [Reuters](https://a.b/c), [AP](https://a.b/d). It is old.", "It is 330 m tall."),
        ("It is 330 m tall (source: [Reuters](https://a.b/c), AP).", "It is 330 m tall."),
        ("It is 330 m tall (source: Reuters, AP) [1].", "It is 330 m tall."),
        ("It is 330 m tall. Source: [Reuters](https://a.b/c)", "It is 330 m tall."),
        ("Nó cao 330 m. [Xem thêm](https://a.b/c)", "Nó cao 330 m."),
        ("它高330米。[来源](https://a.b/c)", "它高330米。"),
        # A part of the sentence, and a sentence.
        ("It stands in [Paris](https://a.b/c).", "It stands in Paris."),
        ("It is old, says the [report](https://a.b/c).", "It is old, says the report."),
        ("[It was built in 1889.](https://a.b/c)", "It was built in 1889."),
    ],
)
def test_the_name_of_a_source_is_no_part_of_the_statement(text: str, shown: str) -> None:
    first = extract_statements(text)[0]
    assert first.text == shown
    assert first.links or first.cites


@pytest.mark.parametrize(
    "entry",
    [
        "[1] https://a.b/c",
        "[1] <https://a.b/c>\n[2] https://a.b/d",
        "- [1] [Reuters](https://a.b/c)",
        "Sources\n\n- [1] https://a.b/c",
    ],
)
def test_where_a_number_leads_is_no_footnote_of_the_statement_before_it(entry: str) -> None:
    statement, *entries = extract_statements(f"It is 330 m tall.\n\n{entry}\n")
    assert (statement.cites, statement.links) == ((), ())
    assert all(one.is_reference for one in entries)
    assert entries[0].cites[0].number == 1
    # A number or an address alone is one.
    assert extract_statements("It is 330 m tall.\n\n[1]")[0].cites
    assert extract_statements("It is 330 m tall.\n\nhttps://a.b/c")[0].links


@pytest.mark.parametrize(
    "text",
    ["`https://a.b/c`", "```\nhttps://a.b/c\n```", "[top](#top)", "[file](/report.md)", "![x](https://a.b/c.png)"],
)
def test_code_images_and_links_inside_the_text_are_no_source(text: str) -> None:
    assert links_of(f"It rains.\n\n{text} and more.") == []
