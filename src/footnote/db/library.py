"""The transactions of the library: snapshots, the pages that have them, and the caches of pages and searches."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from footnote.db.fulltext import IndexTerms, index_passages, purge_passages, unindex_passages
from footnote.db.schema import PAGE_CACHE, READING
from footnote.db.script import Steps, lock, script, sql, sql_for_key_share

Kind: TypeAlias = Literal["web", "upload", "documentation"]

DOCUMENTATION_FACT = "documentation"
"""The fact that names the edition of the documentation in the library."""


class SnapshotRow(Struct, frozen=True):
    """A row of the table `reading`: one text at one URL. The caller compresses `links` and `pages`."""

    url: str
    snapshot_id: str
    title: str
    author: str | None
    published: str | None
    language: str | None
    site_name: str | None
    canonical_url: str | None
    media_type: str
    fetched_at: str
    links: bytes
    pages: bytes
    icon: str | None = None


class LibraryEntry(Struct, frozen=True):
    """Everything that is stored of one reading. `packed` is the text, compressed by the caller."""

    reading: SnapshotRow
    packed: bytes
    characters: int
    passages: tuple[IndexTerms, ...] = ()


class FoundPassage(Struct, frozen=True):
    """A reading with its compressed text."""

    reading: SnapshotRow
    packed: bytes


class LibraryPage(Struct, frozen=True):
    """A page as a list shows it."""

    url: str
    kind: Kind
    title: str
    site_name: str | None
    fetched_at: str
    characters: int
    snapshot_id: str


FOUND = f"{READING.select_list(SnapshotRow, alias='found')}, found.text"
"""The columns of a `FoundPassage`, where `found` is a row of the view `reading_with_text`."""
INSERT_SNAPSHOT = "INSERT INTO snapshot (id, text, characters) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING"


@script
def store_page(
    entry: LibraryEntry, kind: Kind, now: float, *, user_id: str | None = None, origin: str | None = None
) -> Steps[None]:
    """Makes the text the current one of its page. The text before stays for the footnotes that cite it."""
    reading = entry.reading
    yield from lock_page(reading.url)
    before = yield sql("SELECT snapshot_id FROM page WHERE url = ?", reading.url)
    yield from lock_page(reading.url, reading.snapshot_id, *(snapshot_id for (snapshot_id,) in before))
    yield from store_snapshot(entry, now, user_id)
    yield sql(
        """
        INSERT INTO page (url, snapshot_id, kind, origin) VALUES (?, ?, ?, ?)
        ON CONFLICT (url) DO UPDATE
        SET snapshot_id = excluded.snapshot_id, kind = excluded.kind, origin = excluded.origin
        """,
        reading.url,
        reading.snapshot_id,
        kind,
        origin,
    )
    if before and before[0][0] != reading.snapshot_id:
        yield from unindex_passages(before[0][0])
    yield from index_passages(reading.snapshot_id, entry.passages)


@script
def store_snapshot(entry: LibraryEntry, now: float, user_id: str | None = None) -> Steps[None]:
    """Stores a snapshot that can be opened, but is neither listed nor searched."""
    yield from lock_page(entry.reading.url, entry.reading.snapshot_id)
    yield sql(INSERT_SNAPSHOT, entry.reading.snapshot_id, entry.packed, entry.characters)
    yield READING.upsert(entry.reading, kept_at=now)
    if user_id is not None:
        yield from _insert_shelf(entry.reading.url, user_id)


@script
def icon_on_shelf(user_id: str, ranges: Iterable[tuple[str, str]]) -> Steps[str | None]:
    """The icon of the page of a user in one of the ranges that was read last and has one."""
    for start, end in ranges:
        rows = yield sql(
            """
            SELECT reading.icon FROM shelf JOIN reading ON reading.url = shelf.url
            WHERE shelf.user_id = ? AND shelf.url >= ? AND shelf.url < ? AND reading.icon IS NOT NULL
            ORDER BY reading.kept_at DESC LIMIT 1
            """,
            *(user_id, start, end),
        )
        if rows:
            return rows[0][0]
    return None


@script
def add_to_shelf(url: str, snapshot_id: str, user_id: str) -> Steps[bool]:
    """Adds a stored reading to a user's shelf; False: it is not stored any more."""
    yield from lock_page(url)
    if not (yield sql("SELECT 1 FROM reading WHERE url = ? AND snapshot_id = ?", url, snapshot_id)):
        return False
    yield from _insert_shelf(url, user_id)
    return True


@script
def _insert_shelf(url: str, user_id: str) -> Steps[None]:
    yield sql("INSERT INTO shelf (user_id, url) VALUES (?, ?) ON CONFLICT (user_id, url) DO NOTHING", user_id, url)


@script
def first_shelf_url(user_id: str, ranges: Iterable[tuple[str, str]]) -> Steps[str | None]:
    """The first address of a user that lies in one of the ranges: from one text to before another."""
    for start, end in ranges:
        rows = yield sql(
            "SELECT url FROM shelf WHERE user_id = ? AND url >= ? AND url < ? LIMIT 1", user_id, start, end
        )
        if rows:
            return rows[0][0]
    return None


@script
def add_upload(
    entry: LibraryEntry, urls: Callable[[], Iterable[str]], origin: str, now: float, user_id: str
) -> Steps[str]:
    """Stores a user's file under the first of `urls` that is free, or that this file has already."""
    for url in urls():
        yield from lock_page(url)
        holder = yield sql("SELECT origin, snapshot_id FROM page WHERE url = ?", url)
        if not holder or holder[0][0] == origin or holder[0][1] == entry.reading.snapshot_id:
            named = LibraryEntry(replace(entry.reading, url=url), entry.packed, entry.characters, entry.passages)
            yield from store_page(named, "upload", now, user_id=user_id, origin=origin)
            return url
    raise ValueError("there are not enough addresses to choose from")


@script
def remove_from_shelf(url: str, user_id: str) -> Steps[bool]:
    """Removes a page from the user's shelf; False: it is not there. With its last shelf, all readings of the page are
    deleted, and those of the URL to which it redirected. A text that another page has stays."""
    return bool((yield from remove_all_from_shelf([url], user_id)))


@script
def remove_all_from_shelf(urls: Iterable[str], user_id: str) -> Steps[int]:
    """The same for several pages, with one purge of the index. Returns how many were removed."""
    removed, deleted = 0, False
    for one in urls:
        led_to = yield sql("SELECT snapshot_url FROM page_cache WHERE url = ?", one)
        url = led_to[0][0] if led_to else one
        if (yield sql("DELETE FROM shelf WHERE user_id = ? AND url = ? RETURNING url", user_id, url)):
            removed += 1
            deleted |= yield from _delete_unless_shelved(url)
    if deleted:
        yield from purge_passages()
    return removed


@script
def clear_shelf(user_id: str) -> Steps[None]:
    """Clears the shelf of a user who is deleted. The user's files are deleted; web pages stay for other users."""
    files = yield sql(
        "SELECT page.url FROM shelf JOIN page ON page.url = shelf.url WHERE user_id = ? AND kind = 'upload'", user_id
    )
    yield sql("DELETE FROM shelf WHERE user_id = ?", user_id)
    for (url,) in files:
        yield from _delete_unless_shelved(url)
    if files:
        yield from purge_passages()


@script
def _delete_unless_shelved(url: str) -> Steps[bool]:
    yield from lock_page(url)
    if (yield sql("SELECT 1 FROM shelf WHERE url = ? LIMIT 1", url)):
        return False
    texts = yield sql("SELECT snapshot_id FROM reading WHERE url = ?", url)
    yield from lock_page(url, *(snapshot_id for (snapshot_id,) in texts))
    yield sql("DELETE FROM search_cache")  # what was found may quote the page
    yield sql("DELETE FROM page WHERE url = ?", url)
    yield sql("DELETE FROM reading WHERE url = ?", url)
    for (snapshot_id,) in texts:
        yield from unindex_passages(snapshot_id)
        yield sql(
            "DELETE FROM snapshot WHERE id = ? AND NOT EXISTS (SELECT 1 FROM reading WHERE snapshot_id = snapshot.id)",
            snapshot_id,
        )
    return True


@script
def store_documentation(edition: str, entries: Sequence[LibraryEntry], now: float) -> Steps[None]:
    """Replaces the stored edition. Texts of earlier editions can still be opened."""
    yield lock("documentation", "all")
    if (yield from documentation_edition()) == edition:  # another process was faster
        return
    for entry in entries:
        yield from store_page(entry, "documentation", now)
    present = {entry.reading.url for entry in entries}
    for url, snapshot_id in (yield sql("SELECT url, snapshot_id FROM page WHERE kind = 'documentation'")):
        if url not in present:
            yield sql("DELETE FROM page WHERE url = ?", url)
            yield from unindex_passages(snapshot_id)
    yield sql(
        "INSERT INTO library_fact (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        DOCUMENTATION_FACT,
        edition,
    )


@script
def documentation_edition() -> Steps[str | None]:
    rows = yield sql("SELECT value FROM library_fact WHERE name = ?", DOCUMENTATION_FACT)
    return rows[0][0] if rows else None


@script
def latest_snapshot(url: str, user_id: str | None) -> Steps[FoundPassage | None]:
    """The current text of a page, also by a URL that redirected to it."""
    rows = yield sql(
        f"""
        SELECT {FOUND} FROM page
        JOIN reading_with_text AS found ON found.url = page.url AND found.snapshot_id = page.snapshot_id
        WHERE (page.url = ? OR page.url = (SELECT snapshot_url FROM page_cache WHERE page_cache.url = ?))
            AND (page.kind = 'documentation' OR page.url IN (SELECT url FROM shelf WHERE user_id = ?))
        ORDER BY page.url = ? DESC LIMIT 1
        """,  # noqa: S608 - columns of the schema
        url,
        url,
        user_id,
        url,
    )
    return found_from_row(rows[0]) if rows else None


@script
def snapshots(ids: Iterable[str], user_id: str | None) -> Steps[dict[str, FoundPassage]]:
    """By id. A text that several pages have comes with the page that this user read last, or else with another one that
    is not a file of another user."""
    texts: dict[str, FoundPassage] = {}
    for snapshot_id in ids:
        rows = yield sql(
            f"""
            SELECT {FOUND} FROM reading_with_text AS found
            LEFT JOIN shelf ON shelf.url = found.url AND shelf.user_id = ?
            LEFT JOIN page ON page.url = found.url
            WHERE found.snapshot_id = ? AND (shelf.url IS NOT NULL OR page.kind IS NULL OR page.kind <> 'upload')
            ORDER BY shelf.url IS NULL, found.kept_at DESC LIMIT 1
            """,  # noqa: S608 - columns of the schema
            user_id,
            snapshot_id,
        )
        if rows:
            texts[snapshot_id] = found_from_row(rows[0])
    return texts


@script
def is_current(url: str, snapshot_id: str, fetched_at: str, icon: str | None) -> Steps[bool]:
    """Whether this reading is the current one of its page."""
    rows = yield sql(
        """
        SELECT 1 FROM page JOIN reading ON reading.url = page.url AND reading.snapshot_id = page.snapshot_id
        WHERE page.url = ? AND page.snapshot_id = ? AND reading.fetched_at = ? AND coalesce(reading.icon, '') = ?
        """,
        url,
        snapshot_id,
        fetched_at,
        icon or "",
    )
    return bool(rows)


@script
def has_page(url: str, user_id: str) -> Steps[bool]:
    """Whether it is on the user's shelf, or part of every library."""
    rows = yield sql(
        """
        SELECT 1 FROM shelf WHERE user_id = ? AND url = ?
        UNION ALL SELECT 1 FROM page WHERE url = ? AND kind = 'documentation'
        """,
        user_id,
        url,
        url,
    )
    return bool(rows)


@script
def list_pages(user_id: str | None) -> Steps[list[LibraryPage]]:
    """Every page, the last read first; the documentation after all others."""
    rows = yield sql(
        """
        SELECT page.url, page.kind, found.title, found.site_name, found.fetched_at, found.characters, page.snapshot_id
        FROM page
        JOIN reading_with_text AS found ON found.url = page.url AND found.snapshot_id = page.snapshot_id
        WHERE page.kind = 'documentation' OR page.url IN (SELECT url FROM shelf WHERE user_id = ?)
        ORDER BY page.kind = 'documentation', found.kept_at DESC, page.url
        """,
        user_id,
    )
    return [LibraryPage(*row) for row in rows]


@script
def pages_by_snapshot(ids: Iterable[str], user_id: str | None) -> Steps[dict[str, FoundPassage]]:
    """For each of these texts the page that has it now and was read last."""
    texts: dict[str, FoundPassage] = {}
    for snapshot_id in ids:
        rows = yield sql(
            f"""
            SELECT {FOUND} FROM page
            JOIN reading_with_text AS found ON found.url = page.url AND found.snapshot_id = page.snapshot_id
            WHERE page.snapshot_id = ?
                AND (page.kind = 'documentation' OR page.url IN (SELECT url FROM shelf WHERE user_id = ?))
            ORDER BY found.kept_at DESC LIMIT 1
            """,  # noqa: S608 - columns of the schema
            snapshot_id,
            user_id,
        )
        if rows:
            texts[snapshot_id] = found_from_row(rows[0])
    return texts


@script
def lock_page(url: str, *snapshot_ids: str) -> Steps[None]:
    """Locks a URL and these texts until the transaction ends. Always in the same order, so that two transactions cannot
    deadlock."""
    yield lock("page", url)
    for snapshot_id in sorted(set(snapshot_ids)):
        yield lock("text", snapshot_id)


def found_from_row(row: Sequence[Any]) -> FoundPassage:
    """A row of the columns `FOUND`."""
    *reading, packed = row
    return FoundPassage(SnapshotRow(*reading), packed)


# Caches -----------------------------------------------------------------------------------------------------


PAGE_CACHE_DAYS = 30
"""A stale page stays in the cache this long, because its server may answer that it has not changed."""
_DAY = 86_400


class Freshness(Struct, frozen=True):
    """How long a cached page is fresh, and the validators of the next request. Times are seconds since 1970."""

    url: str
    final_url: str
    etag: str | None
    last_modified: str | None
    fetched_at: float
    fresh_until: float


_FRESHNESS_COLUMNS = len(Freshness.__struct_fields__)


class KeptPage(Struct, frozen=True):
    freshness: Freshness
    found: FoundPassage


@script
def cached_page(url: str) -> Steps[KeptPage | None]:
    rows = yield sql(
        f"""
        SELECT {PAGE_CACHE.select_list(Freshness)}, {FOUND}
        FROM page_cache JOIN reading_with_text AS found
        ON found.url = page_cache.snapshot_url AND found.snapshot_id = page_cache.snapshot_id
        WHERE page_cache.url = ?
        """,  # noqa: S608 - columns of the schema
        url,
    )
    return (
        KeptPage(Freshness(*rows[0][:_FRESHNESS_COLUMNS]), found_from_row(rows[0][_FRESHNESS_COLUMNS:]))
        if rows
        else None
    )


@script
def cache_page(freshness: Freshness, entry: LibraryEntry, now: float, user_id: str | None) -> Steps[None]:
    """Stores the page and its text."""
    yield from store_page(entry, "web", now, user_id=user_id)
    yield from cache_freshness(freshness, entry.reading.url, entry.reading.snapshot_id, now)


@script
def cache_freshness(freshness: Freshness, url: str, snapshot_id: str, now: float) -> Steps[bool]:
    """For a stored reading; False: there is none. Also deletes pages that are stale for long."""
    if not (yield sql_for_key_share("SELECT 1 FROM reading WHERE url = ? AND snapshot_id = ?", url, snapshot_id)):
        return False
    yield PAGE_CACHE.upsert(freshness, snapshot_url=url, snapshot_id=snapshot_id)
    yield sql("DELETE FROM page_cache WHERE fresh_until < ?", now - PAGE_CACHE_DAYS * _DAY)
    return True


@script
def cached_search(key: str, now: float) -> Steps[bytes | None]:
    rows = yield sql("SELECT results FROM search_cache WHERE key = ? AND expires > ?", key, now)
    return rows[0][0] if rows else None


@script
def cache_search(key: str, results: bytes, expires: float, now: float) -> Steps[None]:
    """Stores one result, and deletes those that have expired."""
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
