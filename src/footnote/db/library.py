"""The transactions of the library: texts that were read, and the pages that they stood on."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import astuple, replace

from footnote.db.index import IndexTerms, index_passages, purge_passages, unindex_passages
from footnote.db.script import Steps, lock, script, sql

Kind: TypeAlias = Literal["web", "upload", "documentation"]

DOCUMENTATION_FACT = "documentation"
"""The fact that names the edition of the documentation in the library."""


class SnapshotRow(Struct, frozen=True):
    """One text at one address. `links` and `pages` are packed by the caller."""

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
    """All that is kept of one reading. `packed` is the text, compressed by the caller."""

    reading: SnapshotRow
    packed: bytes
    characters: int
    passages: tuple[IndexTerms, ...] = ()


class FoundPassage(Struct, frozen=True):
    """A reading with its text, as it was packed."""

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


@script
def store_page(
    entry: LibraryEntry, kind: Kind, now: float, *, user_id: str | None = None, origin: str | None = None
) -> Steps[None]:
    """The text is what the page has from now on. What it had before stays for the footnotes that lead to it."""
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
    """Kept so that it can be opened, and no more: it is neither listed nor searched."""
    yield from lock_page(entry.reading.url, entry.reading.snapshot_id)
    yield sql(
        "INSERT INTO snapshot (id, text, characters) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING",
        entry.reading.snapshot_id,
        entry.packed,
        entry.characters,
    )
    yield sql(
        """
        INSERT INTO reading
            (url, snapshot_id, title, author, published, language, site_name, canonical_url, media_type, fetched_at,
             links, pages, icon, kept_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (url, snapshot_id) DO UPDATE
        SET title = excluded.title, author = excluded.author, published = excluded.published,
            language = excluded.language, site_name = excluded.site_name, canonical_url = excluded.canonical_url,
            media_type = excluded.media_type, fetched_at = excluded.fetched_at, links = excluded.links,
            pages = excluded.pages, icon = excluded.icon, kept_at = excluded.kept_at
        """,
        *astuple(entry.reading),
        now,
    )
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
    """Puts on a user's shelf what is kept already; False: it is not, or not any more."""
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
    """Keeps a person's own file under the first of `urls` that is free, or that this very file has already."""
    for url in urls():
        yield from lock_page(url)
        taken = yield sql("SELECT origin, snapshot_id FROM page WHERE url = ?", url)
        if not taken or taken[0][0] == origin or taken[0][1] == entry.reading.snapshot_id:
            named = LibraryEntry(replace(entry.reading, url=url), entry.packed, entry.characters, entry.passages)
            yield from store_page(named, "upload", now, user_id=user_id, origin=origin)
            return url
    raise ValueError("there are not enough addresses to choose from")


@script
def remove_from_shelf(url: str, user_id: str) -> Steps[bool]:
    """Takes it off the user's shelf; False: it is not there. On nobody's any more, everything goes that was ever read
    there, or where it led. A text that also stands elsewhere stays there."""
    return bool((yield from remove_all_from_shelf([url], user_id)))


@script
def remove_all_from_shelf(urls: Iterable[str], user_id: str) -> Steps[int]:
    """The same for several, of which the index is rid at once; how many there were."""
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
    """Of a user who leaves. Their own files go for good; pages of the web stay, for those who read them later."""
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
    """Replaces the edition that is there. Texts of earlier ones can still be opened."""
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
    """What the page has now; also by an address that led to it."""
    rows = yield sql(
        """
        SELECT found.* FROM page
        JOIN reading_with_text AS found ON found.url = page.url AND found.snapshot_id = page.snapshot_id
        WHERE (page.url = ? OR page.url = (SELECT snapshot_url FROM page_cache WHERE page_cache.url = ?))
            AND (page.kind = 'documentation' OR page.url IN (SELECT url FROM shelf WHERE user_id = ?))
        ORDER BY page.url = ? DESC LIMIT 1
        """,
        url,
        url,
        user_id,
        url,
    )
    return found_from_row(rows[0]) if rows else None


@script
def snapshots(ids: Iterable[str], user_id: str | None) -> Steps[dict[str, FoundPassage]]:
    """By id. A text that was read in several places comes with the last of them that this user has read; at least not
    with one that is somebody else's own file."""
    texts: dict[str, FoundPassage] = {}
    for snapshot_id in ids:
        rows = yield sql(
            """
            SELECT found.* FROM reading_with_text AS found
            LEFT JOIN shelf ON shelf.url = found.url AND shelf.user_id = ?
            LEFT JOIN page ON page.url = found.url
            WHERE found.snapshot_id = ? AND (shelf.url IS NOT NULL OR page.kind IS NULL OR page.kind <> 'upload')
            ORDER BY shelf.url IS NULL, found.kept_at DESC LIMIT 1
            """,
            user_id,
            snapshot_id,
        )
        if rows:
            texts[snapshot_id] = found_from_row(rows[0])
    return texts


@script
def is_current(url: str, snapshot_id: str, fetched_at: str, icon: str | None) -> Steps[bool]:
    """Whether this very reading is what the page has now."""
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
    """For each of these texts a page that has it now, the last read of them."""
    texts: dict[str, FoundPassage] = {}
    for snapshot_id in ids:
        rows = yield sql(
            """
            SELECT found.* FROM page
            JOIN reading_with_text AS found ON found.url = page.url AND found.snapshot_id = page.snapshot_id
            WHERE page.snapshot_id = ?
                AND (page.kind = 'documentation' OR page.url IN (SELECT url FROM shelf WHERE user_id = ?))
            ORDER BY found.kept_at DESC LIMIT 1
            """,
            snapshot_id,
            user_id,
        )
        if rows:
            texts[snapshot_id] = found_from_row(rows[0])
    return texts


@script
def lock_page(url: str, *snapshot_ids: str) -> Steps[None]:
    """Nobody else changes what is known of an address, and of these texts, until the transaction ends. In one order, so
    that of two who need the same none waits for the other in vain."""
    yield lock("page", url)
    for snapshot_id in sorted(set(snapshot_ids)):
        yield lock("text", snapshot_id)


def found_from_row(row: Sequence[Any]) -> FoundPassage:
    """A row of `reading_with_text`."""
    return FoundPassage(SnapshotRow(*row[:12], icon=row[15]), row[13])
