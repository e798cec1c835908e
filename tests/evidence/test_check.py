"""The verdict on a footnote, and the passage that is shown for it."""

import pytest

from evidence.samples import snapshot, source, sources_of
from footnote.evidence.sources import Sources
from footnote.evidence.verdict import check_citations
from footnote.protocol.sources import Citation, snapshot_id
from footnote.text.markdown import blockquote

ENGLISH = (
    """\
# Grainger Market

The Grainger Market in Newcastle replaced an earlier market, the Butcher Market of 1808. It was opened in 1835 with a
grand dinner for 2000 guests. The timber roof was destroyed by a fire in 1901 and replaced by steel arches. The number
of visitors rose from 1.2 million in 2010 to 1,500,000 in 2019. The market does not open on Sundays. James Dewar visited
it once, and Queen Victoria praised its fish.
""".replace("\n", " ")
    .replace("  ", "\n\n")
    .strip()
)
VIETNAMESE = """\
Chợ Grainger ở Newcastle thay thế Chợ Butcher được xây dựng năm 1808. Chợ được khai trương vào năm 1835 với bữa tối cho
2.000 khách. Mái nhà gỗ bị phá hủy bởi một vụ hỏa hoạn vào năm 1901 và được thay thế bằng các vòm thép. Lượng khách tăng
từ 1,2 triệu người năm 2010 lên 1.500.000 người năm 2019. Chợ không mở cửa vào Chủ nhật.
""".replace("\n", " ").strip()
CHINESE = (
    "格兰杰市场位于纽卡斯尔，取代了1808年建成的屠夫市场。市场于1835年开业，2000名嘉宾出席了晚宴。木材屋顶在1901年被火烧毁，"
    "后来换成了钢拱门。游客从2010年的120万人增加到2019年的1,500,000人。市场星期天不开放。\n"
)
LONG_CLAIM = """\
In Newcastle, visitors rose from 1.2 million in 2010 to 1,500,000 in 2019, and a fire in 1901, lit by careless drunken
singing sailors, destroyed the timber roof, which was replaced by steel arches.
""".replace("\n", " ").strip()


def verdicts(text: str, sources: Sources) -> list[tuple[int, str]]:
    return [(one.number, one.verdict) for one in check_citations(text, sources)]


def verdict(claim: str, page: str) -> str:
    [citation] = check_citations(f"{claim} [1]", sources_of(page))
    return citation.verdict


@pytest.mark.parametrize(
    ("page", "claim"),
    [
        (ENGLISH, "The timber roof was destroyed by a fire in 1901 and replaced by steel arches."),
        (ENGLISH, "A fire destroyed the timber roof in 1901, and it was replaced by arches of steel."),
        (ENGLISH, "The number of visitors rose from 1,200,000 to 1.5 million between 2010 and 2019."),
        (ENGLISH, "The Grainger Market opened in 1835 with a dinner for 2,000 guests."),
        (ENGLISH, "The market does not open on Sundays."),
        (VIETNAMESE, "Mái nhà gỗ bị phá hủy bởi một vụ hỏa hoạn năm 1901 và được thay bằng các vòm thép."),
        (VIETNAMESE, "Lượng khách tăng từ 1.200.000 người năm 2010 lên 1,5 triệu người năm 2019."),
        (VIETNAMESE, "Chợ không mở cửa vào Chủ nhật."),
        (CHINESE, "1901年木材屋顶被火烧毁，后来换成了钢拱门。"),
        (CHINESE, "游客从2010年的一百二十万人增加到2019年的150万人。"),
        (CHINESE, "市场星期天不开放。"),
    ],
)
def test_what_the_page_says_is_supported(page: str, claim: str) -> None:
    assert verdict(claim, page) == "supported"


@pytest.mark.parametrize(
    ("page", "claim"),
    [
        (ENGLISH, "The timber roof was destroyed by a fire in 1911 and replaced by steel arches."),
        (ENGLISH, "The Grainger Market opened in 1835 with a dinner for 3,000 guests."),
        (ENGLISH, "Queen Elizabeth praised its fish."),
        (ENGLISH, "Isambard Brunel visited it once, and Queen Victoria praised its fish."),
        (ENGLISH, "The timber roof was not destroyed by a fire in 1901."),
        (ENGLISH, "The market does open on Sundays."),
        (ENGLISH, "The number of visitors fell from 1.2 million in 2010 to 1,500,000 in 2019."),
        (VIETNAMESE, "Mái nhà gỗ bị phá hủy bởi một vụ hỏa hoạn vào năm 1911 và được thay thế bằng các vòm thép."),
        (VIETNAMESE, "Chợ Grainger ở London thay thế Chợ Butcher được xây dựng năm 1808."),
        (VIETNAMESE, "Mái nhà gỗ không bị phá hủy bởi một vụ hỏa hoạn vào năm 1901."),
        (VIETNAMESE, "Chợ mở cửa vào Chủ nhật."),
        (VIETNAMESE, "Lượng khách giảm từ 1,2 triệu người năm 2010 xuống 1.500.000 người năm 2019."),
        (CHINESE, "木材屋顶在1911年被火烧毁，后来换成了钢拱门。"),
        (CHINESE, "格兰杰市场位于伦敦，取代了1808年建成的屠夫市场。"),
        (CHINESE, "木材屋顶在1901年没有被火烧毁。"),
        (CHINESE, "市场星期天开放。"),
        (CHINESE, "游客从2010年的120万人减少到2019年的1,500,000人。"),
    ],
)
def test_what_the_page_says_otherwise_is_contradicted(page: str, claim: str) -> None:
    assert verdict(claim, page) == "contradicted"


@pytest.mark.parametrize(
    ("page", "claim"),
    [
        (ENGLISH, "The stalls are cleaned by volunteers from the university every spring."),
        (VIETNAMESE, "Các sạp hàng được sinh viên đại học quét dọn mỗi mùa xuân."),
        (CHINESE, "大学的志愿者每年春天打扫摊位。"),
    ],
)
def test_what_the_page_does_not_know_is_unsupported(page: str, claim: str) -> None:
    assert verdict(claim, page) == "unsupported"


@pytest.mark.parametrize(
    ("page", "claim"),
    [
        (ENGLISH, "A fire destroyed the timber roof in 1901, and the architect was sent to prison for it."),
        (ENGLISH, "The Grainger Market opened in 1835 with a grand dinner, which cost 90 pounds of silver."),
        (VIETNAMESE, "Mái nhà gỗ bị phá hủy bởi một vụ hỏa hoạn năm 1901, và kiến trúc sư phải vào tù vì chuyện đó."),
        (CHINESE, "木材屋顶在1901年被火烧毁，建筑师因此被判入狱服刑多年。"),
    ],
)
def test_what_the_page_says_half_of_is_partial(page: str, claim: str) -> None:
    assert verdict(claim, page) == "partial"


@pytest.mark.parametrize(
    ("page", "claim", "expected"),
    [
        # The words are in another order, and one number of the page is left over.
        (
            "From 1073 to 1074, 8,000 of the 20,000 troops of the Armenian general were Normans.",
            "Of the 20,000 troops of the Armenian general, only 3,000 were Normans.",
            "partial",
        ),
        # Another person did it.
        (
            "For example, Pierre du Pont, a former student of Lavoisier, established the Eleutherian gunpowder mills.",
            "Antoine Court, a student of Lavoisier, was the founder of the Eleutherian gunpowder mills.",
            "contradicted",
        ),
        (
            'The third report has a graph from a 1999 paper by Michael Mann and Raymond Bradley, the "hockey stick".',
            'The "hockey stick" graph of the third report comes from a 1999 paper by Watson and Bolin.',
            "partial",
        ),
        # The name is on the page, but in another sentence; this sentence has another one.
        (
            "Trevor Martin played the Doctor in the early 1970s. David Banks played the Doctor for two performances.",
            "Trevor Martin played the Doctor for two performances.",
            "partial",
        ),
        (
            "Trevor Martin appeared as the Doctor. While Pertwee was ill, David Banks was the Doctor for two evenings.",
            "For two evenings while Pertwee was ill the Doctor was Trevor Martin.",
            "partial",
        ),
        # A name that the page does not have.
        (ENGLISH, "James Dewar visited it once, and Queen Victoria praised its fish to Disraeli.", "partial"),
        # The number is right, its subject is not.
        ("The dam was finished in March 1955.", "The school was finished in March 1955.", "partial"),
        # Words that the page does not have, in a short claim and in a long one.
        (ENGLISH, "The market opened in 1835 selling exotic elephants.", "partial"),
        (ENGLISH, LONG_CLAIM, "partial"),
    ],
)
def test_what_is_said_must_be_said_of_the_same_thing(page: str, claim: str, expected: str) -> None:
    assert verdict(claim, page) == expected


def test_diacritics_are_not_folded_away() -> None:
    page = "Con bò ăn cỏ ngoài đồng mỗi sáng."
    assert verdict("Con bò ăn cỏ ngoài đồng mỗi sáng.", page) == "supported"
    assert verdict("Con bỏ ăn có ngoài đống mỗi sang.", page) == "unsupported"


def test_the_whole_citation() -> None:
    text = "Well. The roof was destroyed by a fire in 1901[1]."
    quote = "The timber roof was destroyed by a fire in 1901 and replaced by steel arches."
    start = ENGLISH.index(quote)
    assert check_citations(text, sources_of(ENGLISH)) == (
        Citation("[1]", 1, 6, 50, "supported", quote, start, start + len(quote), snapshot_id(ENGLISH)),
    )


def test_a_citation_names_the_reading_that_its_quote_stands_in() -> None:
    first = "The bridge is open on Mondays. The bridge was built in 1875."
    second = "News! The bridge is closed on Mondays. It was built a long time ago."
    sources = sources_of(first)
    sources.add(source("https://example.org/1"), snapshot(second))
    texts = {snapshot_id(text): text for text in (first, second)}
    old, new, none = check_citations(
        "The bridge was built in 1875 [1]. The bridge is closed on Mondays [1]. No [2].", sources
    )
    assert (old.snapshot_id, new.snapshot_id, none.snapshot_id) == (*texts, None)
    for one in (old, new):
        assert texts[one.snapshot_id or ""][one.quote_start : one.quote_end] == one.quote


def test_a_number_without_a_source_is_marked() -> None:
    text = "The market does not open on Sundays [1][7]. It is red [99999999999]. Yes [0]."
    assert [
        (one.number, one.verdict, one.quote) for one in check_citations(text, sources_of(ENGLISH)) if one.number != 1
    ] == [
        (7, "unsupported", None),
        (99999999999, "unsupported", None),
        (0, "unsupported", None),
    ]


def test_an_invented_entry_in_the_list_of_sources_is_marked_and_a_true_one_is_not() -> None:
    text = "The market does not open on Sundays [1].\n\nSources:\n[1] The page\n[2] An invented page\n"
    [claim, entry] = check_citations(text, sources_of(ENGLISH))
    assert (claim.number, claim.verdict) == (1, "supported")
    assert (entry.number, entry.verdict, text[entry.start : entry.end]) == (2, "unsupported", "An invented page")


def test_a_source_that_was_found_but_not_read_is_said_so() -> None:
    sources = Sources()
    sources.add(source("https://example.org/", "failed"), None)
    [citation] = check_citations("The market does not open on Sundays [1].", sources)
    assert (citation.verdict, citation.quote, citation.quote_start, citation.quote_end) == ("unread", None, None, None)


def test_a_claim_that_is_not_supported_shows_the_nearest_passage_only_if_it_is_near() -> None:
    [near, far] = check_citations(
        "The timber roof was destroyed by a fire in 1911 [1]. Penguins cannot fly over the Andes [1].",
        sources_of(ENGLISH),
    )
    assert (near.verdict, near.quote) == (
        "contradicted",
        "The timber roof was destroyed by a fire in 1901 and replaced by steel arches.",
    )
    assert (far.verdict, far.quote) == ("unsupported", None)
    [barely] = check_citations("Sundays bore the penguins of the southern Andes [1].", sources_of(ENGLISH))
    assert (barely.verdict, barely.quote) == ("unsupported", None)


def test_each_source_of_a_claim_is_judged_on_its_own() -> None:
    sources = sources_of(ENGLISH, "Penguins live in the south.", "The timber roof was destroyed by a fire in 1902.")
    assert verdicts("The timber roof was destroyed by a fire in 1901 [1][2][3].", sources) == [
        (1, "supported"),
        (2, "unsupported"),
        (3, "contradicted"),
    ]


def test_sources_that_have_a_claim_only_together_support_it_together() -> None:
    spring = "The harbour of Danang was closed for repairs in March 2020 after the storm."
    autumn = "The airport of Hue reopened with a longer runway in October 2021."
    claim = "The harbour of Danang was closed in March 2020, and the airport of Hue reopened in October 2021 [1][2]."
    assert verdicts(claim, sources_of(spring, autumn)) == [(1, "supported"), (2, "supported")]
    assert verdicts(claim, sources_of(spring, "Nothing of interest is on this page.")) == [
        (1, "partial"),
        (2, "unsupported"),
    ]
    assert verdicts(claim, sources_of(spring, autumn.replace("2021", "2022"))) == [(1, "partial"), (2, "partial")]
    longer = claim.replace(" [1]", " after 300 days [1]")
    assert verdicts(longer, sources_of(spring, autumn)) == [(1, "partial"), (2, "partial")]


def test_a_source_that_bears_a_claim_alone_does_not_lift_the_others() -> None:
    spring = "The harbour of Danang was closed for repairs in March 2020 after the storm."
    autumn = "The airport of Hue reopened with a longer runway in October 2021."
    claim = "The harbour of Danang was closed in March 2020, and the airport of Hue reopened in October 2021 [1][2][3]."
    found = verdicts(claim, sources_of(f"{spring} {autumn}", spring, autumn))
    assert found == [(1, "supported"), (2, "partial"), (3, "partial")]


def test_a_marker_within_a_sentence_answers_for_what_stands_before_it() -> None:
    spring = "The harbour of Danang was closed for repairs in March 2020 after the storm."
    autumn = "The airport of Hue reopened with a longer runway in October 2021."
    text = "The harbour of Danang was closed in March 2020 [1], while elephants crossed the river in Laos [2]."
    assert verdicts(text, sources_of(spring, autumn)) == [(1, "supported"), (2, "unsupported")]


def test_what_contradicts_a_sentence_is_not_healed_by_its_neighbours() -> None:
    page = "The bridge was built in 1910. The tunnel, which is longer, was built in 1955."
    assert verdict("The bridge was built in 1955.", page) != "supported"
    assert verdict("The tunnel was built in 1955.", page) == "supported"


def test_a_page_that_says_a_thing_twice_supports_either() -> None:
    page = "In 2019 the city had 5,000 inhabitants. In 2020 the city had 7,000 inhabitants."
    assert verdict("In 2020 the city had 7,000 inhabitants.", page) == "supported"
    assert verdict("In 2019 the city had 5,000 inhabitants.", page) == "supported"
    assert verdict("In 2019 the city had 7,000 inhabitants.", page) == "contradicted"


def test_a_name_may_stand_before_the_sentence_that_says_he() -> None:
    page = "Martin Luther was born in Eisleben. In 1512 he was made a doctor of theology in Wittenberg."
    assert verdict("Luther was made a doctor of theology in 1512.", page) == "supported"
    assert verdict("Calvin was made a doctor of theology in 1512.", page) != "supported"


@pytest.mark.parametrize(
    ("page", "claim", "expected"),
    [
        (ENGLISH, "Chợ Grainger ở Newcastle khai trương năm 1835 với 2.000 khách.", "partial"),
        (ENGLISH, "Chợ Grainger ở Newcastle khai trương năm 1836 với 2.000 khách.", "partial"),
        (ENGLISH, "Nữ hoàng rất thích ăn cá ở khu chợ nổi tiếng này.", "partial"),
        (ENGLISH, "市场在1835年开业，有2000名嘉宾。", "partial"),
        (ENGLISH, "市场在1836年开业，有2000名嘉宾。", "partial"),
        (VIETNAMESE, "The Grainger Market opened in 1835 for 2,000 guests.", "partial"),
        (CHINESE, "The number of visitors rose from 1.2 million in 2010 to 1.5 million in 2019.", "partial"),
    ],
)
def test_across_languages_numbers_and_names_decide_and_partial_is_the_most(
    page: str, claim: str, expected: str
) -> None:
    assert verdict(claim, page) == expected


@pytest.mark.parametrize("page", [ENGLISH, VIETNAMESE, CHINESE])
def test_a_passage_that_is_quoted_is_supported_and_quoted_back(page: str) -> None:
    passage = page.strip().split("\n\n")[-1]
    [citation] = check_citations(blockquote(passage, 1), sources_of(page))
    assert (citation.verdict, citation.quote) == ("supported", passage)


def test_a_quotation_of_a_page_with_markdown_in_it_is_supported() -> None:
    page = (
        "# Title\n\n- The *first* item costs [5] euros_now.\n- The second item `x[1]` costs 7 euros.\n\nThat is it.\n"
    )
    [citation] = check_citations(blockquote(page[9:-14], 1), sources_of(page))
    assert (citation.verdict, citation.quote) == ("supported", page[11:-14])


@pytest.mark.parametrize(
    ("page", "claim"),
    [
        ("It is not true that the earth is flat and round.", "the earth is flat and round."),
        ("Không đúng là trái đất phẳng và tròn.", "trái đất phẳng và tròn."),
        ("事实上并没有证据说明地球是又平又圆的。", "证据说明地球是又平又圆的。"),
    ],
)
def test_what_the_page_only_denies_is_not_supported_though_it_stands_there(page: str, claim: str) -> None:
    assert verdict(claim, page) in ("contradicted", "partial")


def test_half_a_word_is_not_word_for_word() -> None:
    assert verdict("He studied the art of war", "He studied the art of warfare at school.") != "unsupported"
    [citation] = check_citations(
        "He studied the art of war [1]", sources_of("He studied the art of warfare at school.")
    )
    assert citation.quote == "He studied the art of warfare at school."


def test_a_row_of_a_table_is_found_in_a_table() -> None:
    page = "| Country | Capital |\n|---|---|\n| Laos | Vientiane | 7 million |\n| Nepal | Kathmandu | 30 million |\n"
    text = "| Laos | Vientiane | 7 million [1] |\n| Nepal | Kathmandu | 40 million [1] |"
    assert verdicts(text, sources_of(page)) == [(1, "supported"), (1, "contradicted")]


def test_a_quote_is_short_also_where_sentences_are_long() -> None:
    filler = "and so on with many other things that nobody asked for, "
    page = f"It began slowly, {filler * 20}the harbour of Danang was closed in March 2020, {filler * 20}and ended."
    [citation] = check_citations("The harbour of Danang was closed in March 2020 [1].", sources_of(page))
    assert citation.quote is not None
    assert "the harbour of Danang was closed in March 2020" in citation.quote
    assert len(citation.quote) <= 400


def test_a_newer_reading_counts_and_an_older_one_is_the_fallback() -> None:
    sources = Sources()
    for text in ("The entrance fee is 5 euros for adults.", "The entrance fee is 8 euros for adults."):
        sources.add(source("https://example.org/"), snapshot(text))
    found = check_citations(
        "The entrance fee is 8 euros for adults [1]. The entrance fee is 5 euros for adults [1].", sources
    )
    assert [(one.verdict, one.quote) for one in found] == [
        ("supported", "The entrance fee is 8 euros for adults."),
        ("supported", "The entrance fee is 5 euros for adults."),
    ]
    assert [one.verdict for one in check_citations("The entrance fee is 9 euros for adults [1].", sources)] == [
        "contradicted"
    ]


def test_the_newest_reading_that_bears_a_claim_is_quoted_not_the_closest() -> None:
    sources = Sources()
    for text in ("The entrance fee is 8 euros for adults.", "For adults the entrance fee is now 8 euros."):
        sources.add(source("https://example.org/"), snapshot(text))
    [citation] = check_citations("The entrance fee is 8 euros for adults [1].", sources)
    assert (citation.verdict, citation.quote) == ("supported", "For adults the entrance fee is now 8 euros.")


def test_of_an_endless_sentence_no_more_than_a_part_is_supported() -> None:
    page = "the sky is blue and the sea is deep and " * 100
    [citation] = check_citations(f"{page} [1]", sources_of(page))
    assert citation.verdict == "partial"
