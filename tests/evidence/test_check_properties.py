"""For any claims and sources the checker returns verdicts with valid offsets."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.samples import snapshot, source, sources_of
from footnote.evidence.claims import extract_claims
from footnote.evidence.sources import Sources
from footnote.evidence.values import extract_values
from footnote.evidence.verdict import check_citations

WORDS = (
    "The roof burnt in 1901.", "Mái nhà cháy năm 1901.", "屋顶在1901年烧毁。", "It rose by 5%, not 7 million.",
    "Queen Victoria", "$", "½", "一二三", "不", "không ", "not ", "１２", "٣", "-", "–", "/", ":", "%", "1,2.3,4",
)  # fmt: skip
MARKERS = (" [1]", "[2]", "[1, 3]", "[2-4]", "【1】", "［9］", "[^1]", "[99999999999999999999]", "\\[1\\]", "[", "]")
MARKUP = (
    "`", "```\n", "**", "_", "\n", "\n\n", "> ", "- ", "# ", "| ", " | ", "|---|\n", "Sources:\n", "    ", "\t", '"',
    "“", "”", "(", ")", "](", "![x](y)", "<b>", "\u2028", "\u00a0", "\ufeff", "\ud83d", "🚀", "e\u0301",
)  # fmt: skip
PIECES = st.sampled_from([*WORDS, *MARKERS, *MARKUP])
TEXTS = st.lists(PIECES, max_size=40).map("".join)
SENTENCES = [
    "The roof burnt in 1901.",
    "Chợ mở cửa năm 1835.",
    "市场不开放。",
    'He said "No. Never."',
    "It grew by 5.5 percent",
]


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS, TEXTS)
def test_offsets_are_true(text: str, first: str, second: str) -> None:
    sources = sources_of(first, second)
    sources.add(source("https://example.org/1"), snapshot(second))
    found = check_citations(text, sources)
    for one in found:
        assert 0 <= one.start <= one.end <= len(text)
        assert one.marker in text
        if one.quote is None:
            assert (one.quote_start, one.quote_end, one.snapshot_id) == (None, None, None)
            assert one.verdict == "unsupported" or (one.verdict == "partial" and one.missing)
        else:
            pages = {page.snapshot.id: page.text[one.quote_start : one.quote_end] for page in sources.pages(one.number)}
            assert pages[one.snapshot_id or ""] == one.quote
            assert one.quote.strip()
        for difference in one.differences:
            page = next(page for page in sources.pages(one.number) if page.snapshot_id == one.snapshot_id)
            assert one.start <= difference.start < difference.end <= one.end
            assert page.text[difference.quote_start : difference.quote_end].strip()
    assert [one.start for one in found] == sorted(one.start for one in found)


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_claims_lie_in_the_text_and_do_not_overlap(text: str) -> None:
    found = extract_claims(text)
    assert all(0 <= one.start <= one.end <= len(text) and one.cites for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_values_lie_in_the_text_and_do_not_overlap(text: str) -> None:
    found = extract_values(text)
    assert all(0 <= one.start < one.end <= len(text) and one.readings for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(SENTENCES), st.integers(1, 50)), min_size=1, max_size=12))
def test_every_marker_gets_its_verdict_on_its_own_sentence(written: list[tuple[str, int]]) -> None:
    text = "\n\n".join(f"{sentence} [{number}]" for sentence, number in written)
    found = check_citations(text, sources_of("Nothing is said here."))
    assert [(text[one.start : one.end], one.number, one.verdict) for one in found] == [
        (sentence, number, "partial" if number == 1 and not sentence.isascii() else "unsupported")
        for sentence, number in written
    ]


def test_an_empty_text_has_no_citations() -> None:
    assert check_citations("", Sources()) == ()


@pytest.mark.parametrize(
    "text",
    [
        "The roof burnt in 1901 [1]. " * 400,
        "The roof burnt" + "[1]" * 1000,
        "".join(f"[{number}]" for number in range(1000)),
        "roof burnt " * 9000 + "[1]",
        "屋顶烧毁" * 25_000 + "[1]",
        "1" * 100_000 + " [1]",
        "1,2." * 25_000 + " [1]",
        "一" * 100_000 + "[1]",
        "[" * 50_000 + "1" + "]" * 50_000,
        "[a](" * 25_000 + "[1]",
        "` `` " * 20_000 + "[1]",
        '"' * 100_001 + "[1]",
        "*" * 100_000 + "[1]",
        "." * 100_000 + "[1]",
        "|" * 100_000 + "[1]|",
        "<a " * 30_000 + "[1]",
        "not, " * 20_000 + "[1]",
        "> \n" * 30_000 + "[1]",
        " " * 100_000 + "[1]",
    ],
    ids=lambda text: repr(text[:14]),
)
def test_no_text_takes_long(text: str) -> None:
    sources = sources_of("The roof burnt in 1901. " * 2000)
    began = time.process_time()
    check_citations(text, sources)
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    "page",
    [
        "1" * 400_000,
        "." * 400_000,
        "一" * 400_000,
        "a" * 400_000,
        " " * 400_000,
        "|" * 400_000,
        "a b " * 100_000,
        "1,2.3 " * 60_000,
        "",
    ],
    ids=lambda page: repr(page[:7]),
)
def test_no_page_takes_long(page: str) -> None:
    began = time.process_time()
    [citation] = check_citations("The sky was blue in 2019, 一二三 and 1,2.3 a b [1].", sources_of(page))
    assert time.process_time() - began < 10
    assert citation.verdict != "supported"
