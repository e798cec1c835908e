"""One number for each URL; earlier snapshots stay reachable."""

import asyncio

import msgspec
import pytest

from evidence.samples import snapshot, source
from footnote.evidence.sources import Sources, snapshot_ids
from footnote.evidence.verdict import check_citations
from footnote.protocol.messages import Message, Text, ToolResultMessage, user_message
from footnote.protocol.sources import SearchArtifact, Source

PAGE = "https://example.org/Page?b=2&a=1"


def result(*sources: Source, tool: str = "web_search") -> ToolResultMessage:
    artifact = msgspec.to_builtins(SearchArtifact(query="q", sources=sources))
    return ToolResultMessage("call", tool, (Text("found"),), artifact=artifact)


def test_numbers_count_from_one_and_a_url_keeps_its_own() -> None:
    sources = Sources()
    numbers = [
        sources.assign_number(url) for url in ("https://a.org/", "https://b.org/", "https://a.org/", "https://c.org/")
    ]
    assert numbers == [1, 2, 1, 3]


@pytest.mark.parametrize(
    "same",
    [
        "HTTPS://EXAMPLE.ORG/Page?b=2&a=1",
        "https://example.org:443/Page?b=2&a=1",
        "https://example.org/Page?b=2&a=1#part",
        "https://example.org/Page?utm_source=x&b=2&UTM_medium=y&a=1&gclid=1&fbclid=2",
        "  https://example.org/Page?b=2&a=1 ",
    ],
)
def test_another_spelling_of_a_url_has_the_same_number(same: str) -> None:
    sources = Sources()
    assert (sources.assign_number(PAGE), sources.assign_number(same)) == (1, 1)


@pytest.mark.parametrize(
    "other",
    [
        "https://example.org/page?b=2&a=1",
        "https://example.org/Page/?b=2&a=1",
        "https://example.org/Page?a=1&b=2",
        "http://example.org/Page?b=2&a=1",
        "https://example.org:8443/Page?b=2&a=1",
        "https://www.example.org/Page?b=2&a=1",
        "https://user@example.org/Page?b=2&a=1",
    ],
)
def test_what_may_be_another_page_has_another_number(other: str) -> None:
    sources = Sources()
    assert (sources.assign_number(PAGE), sources.assign_number(other)) == (1, 2)


def test_a_host_with_and_without_the_slash_after_it_is_one_page() -> None:
    sources = Sources()
    assert [sources.assign_number(url) for url in ("https://a.org", "https://a.org/", "https://a.org?utm_id=1")] == [
        1,
        1,
        1,
    ]


@pytest.mark.parametrize(
    "broken", ["", "http://[::1", "http://a:b/", "no address", "mailto:a@b.c", "https:///x", "\ud83d"]
)
def test_an_address_that_is_none_is_numbered_all_the_same(broken: str) -> None:
    sources = Sources()
    assert (sources.assign_number(broken), sources.assign_number(broken), sources.assign_number("https://a.org/")) == (
        1,
        1,
        2,
    )


def test_a_source_is_remembered_with_its_number_and_what_was_read() -> None:
    sources = Sources()
    sources.add(source(PAGE), snapshot("The text."))
    assert sources.numbers == (1,)
    assert sources.source(1) == source(PAGE, number=1)
    assert sources.snapshot(1) == snapshot("The text.")
    assert (sources.source(2), sources.snapshot(2), sources.pages(2)) == (None, None, ())


def test_a_number_that_was_given_out_is_no_source_until_it_is_noted() -> None:
    sources = Sources()
    assert (sources.assign_number(PAGE), sources.numbers, sources.source(1)) == (1, (), None)


def test_a_later_reading_comes_first_and_the_earlier_one_stays() -> None:
    sources = Sources()
    sources.add(source(PAGE), snapshot("It costs 5 euros here."))
    sources.add(source(PAGE), snapshot("It costs 7 euros here."))
    assert sources.snapshot(1) == snapshot("It costs 7 euros here.")
    assert [page.text for page in sources.pages(1)] == ["It costs 7 euros here.", "It costs 5 euros here."]
    found = [
        (one.verdict, one.quote)
        for one in check_citations("It costs 5 euros here [1]. It costs 7 euros here [1].", sources)
    ]
    assert found == [("supported", "It costs 5 euros here."), ("supported", "It costs 7 euros here.")]


def test_the_same_text_read_again_is_not_kept_twice() -> None:
    sources = Sources()
    for text in ("Old.", "New.", "Old."):
        sources.add(source(PAGE), snapshot(text))
    assert [page.text for page in sources.pages(1)] == ["Old.", "New."]


def test_a_snippet_found_later_does_not_replace_what_was_read() -> None:
    sources = Sources()
    sources.add(source(PAGE, snapshot_id="read"), snapshot("All of the page."))
    sources.add(source(PAGE, "snippet", snapshot_id="less"), snapshot("A part."))
    sources.add(source(PAGE, "failed"), None)
    assert sources.source(1) == source(PAGE, number=1, snapshot_id="read")
    assert [page.text for page in sources.pages(1)] == ["All of the page.", "A part."]


def test_a_page_that_is_read_at_last_replaces_its_snippet() -> None:
    sources = Sources()
    sources.add(source(PAGE, "snippet"), snapshot("A part."))
    sources.add(source(PAGE), snapshot("All of the page."))
    assert (sources.source(1), sources.snapshot(1)) == (source(PAGE, number=1), snapshot("All of the page."))


def test_a_session_is_rebuilt_from_the_artifacts_of_its_tools() -> None:
    first, second = snapshot("First."), snapshot("Second.", "https://b.org/")
    messages: tuple[Message, ...] = (
        user_message("Why?"),
        result(source(PAGE, number=2, snapshot_id=first.id), source("https://b.org/", number=5, snapshot_id=second.id)),
        result(
            source(PAGE + "#again", "failed", number=2), source("https://c.org/", "failed", number=3), tool="read_page"
        ),
    )
    assert snapshot_ids(messages) == {first.id, second.id}
    sources = Sources.from_messages(messages, {first.id: first, second.id: second})
    assert sources.numbers == (2, 3, 5)
    assert (sources.snapshot(2), sources.snapshot(3), sources.snapshot(5)) == (first, None, second)
    assert [sources.assign_number(url) for url in (PAGE, "https://b.org/", "https://new.org/")] == [2, 5, 6]


def test_a_snapshot_that_cannot_be_loaded_leaves_a_source_without_text() -> None:
    sources = Sources.from_messages((result(source(PAGE, number=1, snapshot_id="gone")),), {})
    assert (sources.numbers, sources.snapshot(1)) == ((1,), None)


@pytest.mark.parametrize(
    "artifact",
    [
        None,
        {},
        {"sources": None},
        {"sources": {"url": PAGE}},
        {"sources": ["text", 5, None, {"url": PAGE}, {"url": 5, "title": "", "snippet": "", "domain": ""}]},
        {"path": "/report.md"},
    ],
)
def test_artifacts_of_another_form_are_passed_over(artifact: dict | None) -> None:
    messages = (ToolResultMessage("call", "other", (), artifact=artifact), result(source(PAGE, number=4)))
    assert snapshot_ids(messages) == frozenset()
    assert Sources.from_messages(messages, {}).numbers == (4,)


def test_a_number_that_two_urls_claim_stays_with_the_first() -> None:
    sources = Sources.from_messages(
        (result(source("https://a.org/", number=1), source("https://b.org/", number=1)),), {}
    )
    assert [sources.assign_number(url) for url in ("https://a.org/", "https://b.org/")] == [1, 2]
    assert sources.numbers == (1, 2)


def test_a_source_without_a_number_was_never_cited() -> None:
    sources = Sources.from_messages((result(source("https://a.org/"), source("https://b.org/", number=0)),), {})
    assert sources.numbers == ()


async def test_searches_side_by_side_give_each_url_one_number() -> None:
    sources = Sources()

    async def search(urls: list[str]) -> list[int]:
        numbers = []
        for url in urls:
            numbers.append(sources.assign_number(url))
            await asyncio.sleep(0)
            sources.add(source(url), None)
        return numbers

    urls = [f"https://example.org/{at}" for at in range(20)]
    found = await asyncio.gather(search(urls), search(urls[::-1]), search(urls[::2]))
    assert found[0] == found[1][::-1]
    assert found[2] == found[0][::2]
    assert sorted(found[0]) == list(sources.numbers) == list(range(1, 21))
