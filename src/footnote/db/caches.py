"""What need not be asked for again yet: pages, and the answers of search providers."""

from msgspec import Struct
from msgspec.structs import astuple

from footnote.db.library import FoundPassage, LibraryEntry, found_from_row, store_page
from footnote.db.script import Steps, script, sql, sql_for_key_share

PAGE_CACHE_DAYS = 30
"""A page that is no longer fresh is kept here this long: the server may say that it has not changed."""
_DAY = 86_400


class Freshness(Struct, frozen=True):
    """How long a page need not be asked for again, and what to ask with then. Times are seconds since 1970."""

    url: str
    final_url: str
    etag: str | None
    last_modified: str | None
    fetched_at: float
    fresh_until: float


class KeptPage(Struct, frozen=True):
    freshness: Freshness
    found: FoundPassage


@script
def cached_page(url: str) -> Steps[KeptPage | None]:
    rows = yield sql(
        """
        SELECT page_cache.url, page_cache.final_url, page_cache.etag, page_cache.last_modified, page_cache.fetched_at,
            page_cache.fresh_until, found.*
        FROM page_cache JOIN reading_with_text AS found
        ON found.url = page_cache.snapshot_url AND found.snapshot_id = page_cache.snapshot_id
        WHERE page_cache.url = ?
        """,
        url,
    )
    return KeptPage(Freshness(*rows[0][:6]), found_from_row(rows[0][6:])) if rows else None


@script
def cache_page(freshness: Freshness, entry: LibraryEntry, now: float, user_id: str | None) -> Steps[None]:
    """Keeps the page and its text."""
    yield from store_page(entry, "web", now, user_id=user_id)
    yield from cache_freshness(freshness, entry.reading.url, entry.reading.snapshot_id, now)


@script
def cache_freshness(freshness: Freshness, url: str, snapshot_id: str, now: float) -> Steps[bool]:
    """For a reading that is kept; False: it is not. Forgets pages that nobody asked for again for long."""
    if not (yield sql_for_key_share("SELECT 1 FROM reading WHERE url = ? AND snapshot_id = ?", url, snapshot_id)):
        return False
    yield sql(
        """
        INSERT INTO page_cache
            (url, final_url, etag, last_modified, fetched_at, fresh_until, snapshot_url, snapshot_id)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (url) DO UPDATE
        SET final_url = excluded.final_url, etag = excluded.etag, last_modified = excluded.last_modified,
            fetched_at = excluded.fetched_at, fresh_until = excluded.fresh_until,
            snapshot_url = excluded.snapshot_url, snapshot_id = excluded.snapshot_id
        """,
        *astuple(freshness),
        url,
        snapshot_id,
    )
    yield sql("DELETE FROM page_cache WHERE fresh_until < ?", now - PAGE_CACHE_DAYS * _DAY)
    return True


@script
def cached_search(key: str, now: float) -> Steps[bytes | None]:
    rows = yield sql("SELECT results FROM search_cache WHERE key = ? AND expires > ?", key, now)
    return rows[0][0] if rows else None


@script
def cache_search(key: str, results: bytes, expires: float, now: float) -> Steps[None]:
    """Keeps one answer, forgets those that have expired."""
    yield sql("DELETE FROM search_cache WHERE expires <= ?", now)
    yield sql(
        """
        INSERT INTO search_cache (key, results, expires) VALUES (?, ?, ?)
        ON CONFLICT (key) DO UPDATE SET results = excluded.results, expires = excluded.expires
        """,
        key,
        results,
        expires,
    )
