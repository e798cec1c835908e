-- What was read: texts, the pages they stood on, the full-text index over them, and two caches.

-- A text, once, wherever it was read. The id is a hash of it; the text is UTF-8, compressed with zlib.
CREATE TABLE snapshot (
    id TEXT PRIMARY KEY,
    text BLOB NOT NULL,
    characters INTEGER NOT NULL
);

-- That a text stood at an address, with what was known of the page then. Kept for as long as a footnote may lead here.
CREATE TABLE reading (
    url TEXT NOT NULL,
    snapshot_id TEXT NOT NULL REFERENCES snapshot (id),
    title TEXT NOT NULL,
    author TEXT,
    published TEXT,
    language TEXT,
    site_name TEXT,
    canonical_url TEXT,
    media_type TEXT NOT NULL,
    fetched_at TEXT NOT NULL,
    links BLOB NOT NULL,
    pages BLOB NOT NULL,
    kept_at REAL NOT NULL,
    PRIMARY KEY (url, snapshot_id)
);
CREATE INDEX reading_by_snapshot ON reading (snapshot_id, kept_at);

CREATE VIEW reading_with_text AS
SELECT
    reading.url, reading.snapshot_id, reading.title, reading.author, reading.published, reading.language,
    reading.site_name, reading.canonical_url, reading.media_type, reading.fetched_at, reading.links, reading.pages,
    reading.kept_at, snapshot.text, snapshot.characters
FROM reading JOIN snapshot ON snapshot.id = reading.snapshot_id;

-- The text that an address has now: what is listed and searched. `origin`: where a person's own file came from.
CREATE TABLE page (
    url TEXT PRIMARY KEY,
    snapshot_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    origin TEXT,
    FOREIGN KEY (url, snapshot_id) REFERENCES reading (url, snapshot_id)
);
CREATE INDEX page_by_snapshot ON page (snapshot_id);

-- The passages of texts that some page has now, by their offsets, and the terms that each is found by.
CREATE TABLE passage (
    id INTEGER PRIMARY KEY,
    snapshot_id TEXT NOT NULL REFERENCES snapshot (id),
    start_offset INTEGER NOT NULL,
    end_offset INTEGER NOT NULL
);
CREATE INDEX passage_by_snapshot ON passage (snapshot_id);

-- The terms are ours, parted by spaces: this tokenizer only takes them apart again. It leaves everything but ASCII as
-- it is; of ASCII, these six stand inside terms.
CREATE VIRTUAL TABLE passage_terms USING fts5 (title, text, forms, tokenize = "ascii tokenchars '.,:/''-'");
CREATE VIRTUAL TABLE passage_vocabulary USING fts5vocab (passage_terms, row);

-- How long a page need not be asked for again, and what to ask with then.
CREATE TABLE page_cache (
    url TEXT PRIMARY KEY,
    final_url TEXT NOT NULL,
    etag TEXT,
    last_modified TEXT,
    fetched_at REAL NOT NULL,
    fresh_until REAL NOT NULL,
    snapshot_url TEXT NOT NULL,
    snapshot_id TEXT NOT NULL,
    FOREIGN KEY (snapshot_url, snapshot_id) REFERENCES reading (url, snapshot_id) ON DELETE CASCADE
);
CREATE INDEX page_cache_by_age ON page_cache (fresh_until);
CREATE INDEX page_cache_by_snapshot ON page_cache (snapshot_url, snapshot_id);

CREATE TABLE search_cache (
    key TEXT PRIMARY KEY,
    results BLOB NOT NULL,
    expires REAL NOT NULL
);
CREATE INDEX search_cache_by_age ON search_cache (expires);

-- Single facts about the library itself, such as which edition of the documentation is in it.
CREATE TABLE library_fact (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
