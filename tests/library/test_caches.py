"""Caches of pages and searches, and their expiry."""

from pathlib import Path

from msgspec.structs import replace

import engines
from footnote.db.engine import Database
from footnote.db.library import Freshness, cache_freshness
from footnote.library import Library
from footnote.protocol.sources import SearchHit, SearchResults
from library.samples import RECIPE, TREATY, TickingClock, cached_page

RESULTS = SearchResults(
    query="treaty",
    provider="brave",
    results=(SearchHit(title="Treaty", url=TREATY.url, description="…", published="2024", site_name="History"),),
    count=1,
    took_ms=120,
)
DAY = 86_400


def count(home: Path, table: str) -> int:
    ((number,),) = engines.rows(home, f"SELECT count(*) FROM {table}")
    return number


async def test_a_cached_page_comes_back_as_it_was(library: Library) -> None:
    stored = cached_page(TREATY, url="https://short.example", fresh_until=2_000_000_000.5, etag='W/"1"')
    await library.store_page(stored)
    assert await library.cached_page("https://short.example") == stored
    assert await library.cached_page(TREATY.url) is None


async def test_the_snapshot_of_a_cached_page_is_in_the_library(library: Library) -> None:
    await library.store_page(cached_page(TREATY))
    assert await library.latest(TREATY.url) == TREATY
    assert [hit.url for hit in await library.search("Treaty of Versailles", 5)] == [TREATY.url]


async def test_a_page_that_has_not_changed_stays_fresh_for_longer(library: Library) -> None:
    await library.store_page(cached_page(TREATY, fresh_until=1_900_000_000.0))
    again = cached_page(TREATY, fresh_until=1_950_000_000.0, etag='"2"')
    await library.store_page(again)
    assert await library.cached_page(TREATY.url) == again


async def test_a_page_that_has_changed_is_cached_with_its_new_text(library: Library) -> None:
    changed = cached_page(replace(TREATY, text="Changed.", links=(), pages=()))
    await library.store_page(cached_page(TREATY))
    await library.store_page(changed)
    assert await library.cached_page(TREATY.url) == changed


async def test_a_page_that_nobody_asked_for_again_in_a_month_is_forgotten_by_the_cache_alone(
    library: Library, clock: TickingClock
) -> None:
    await library.store_page(cached_page(TREATY, fresh_until=clock.time))
    clock.time += 29 * DAY
    await library.store_page(cached_page(RECIPE, fresh_until=clock.time))
    assert await library.cached_page(TREATY.url) is not None
    clock.time += 2 * DAY
    await library.store_page(cached_page(RECIPE, fresh_until=clock.time))
    assert await library.cached_page(TREATY.url) is None
    assert await library.latest(TREATY.url) == TREATY


async def test_a_page_whose_text_was_removed_meanwhile_is_not_called_fresh(database: Database) -> None:
    freshness = Freshness("https://a.example", "https://a.example", None, None, 1.0, 2.0)
    assert not await database.write(cache_freshness(freshness, "https://a.example", "0" * 32, 1.0))


async def test_headers_that_no_database_takes_are_mended(library: Library) -> None:
    await library.store_page(cached_page(TREATY, etag='"\udcff"'))
    stored = await library.cached_page(TREATY.url)
    assert stored is not None
    assert stored.etag == '"?"'


async def test_the_answer_of_a_provider_is_kept_until_it_expires(library: Library, clock: TickingClock) -> None:
    expires = clock.time + 300
    await library.store_search("key", RESULTS, expires)
    assert await library.cached_search("key", expires - 1) == RESULTS
    assert await library.cached_search("key", expires) is None
    assert await library.cached_search("other", clock.time) is None


async def test_answers_that_have_expired_are_forgotten(library: Library, clock: TickingClock, tmp_path: Path) -> None:
    for number in range(5):
        await library.store_search(f"old {number}", RESULTS, clock.time + 60)
    clock.time += 61
    await library.store_search("new", RESULTS, clock.time + 60)
    assert count(tmp_path, "search_cache") == 1


async def test_a_newer_answer_takes_the_place_of_the_older(library: Library, clock: TickingClock) -> None:
    newer = replace(RESULTS, took_ms=7)
    await library.store_search("key", RESULTS, clock.time + 60)
    await library.store_search("key", newer, clock.time + 90)
    assert await library.cached_search("key", clock.time + 80) == newer


async def test_a_removed_page_is_quoted_by_no_cached_answer(library: Library, clock: TickingClock) -> None:
    await library.store(TREATY)
    await library.store_search("key", RESULTS, clock.time + 600)
    await library.remove(TREATY.url)
    assert await library.cached_search("key", clock.time) is None
