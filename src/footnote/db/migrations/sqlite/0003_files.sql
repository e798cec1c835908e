-- Files get versions over contents that are kept once each.

-- Contents by their SHA-256. Small ones lie here; large ones in the storage, at `place`. Each is needed by a version or by
-- a rendition: the triggers below see to that.
CREATE TABLE blob (
    hash TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    place TEXT UNIQUE,
    content BLOB,
    CHECK ((place IS NULL) <> (content IS NULL))
);

-- Places of the storage that may hold bytes that no blob needs: being written since then, or left over (0).
CREATE TABLE loose_place (
    place TEXT PRIMARY KEY,
    since REAL NOT NULL
);

-- `current` is the number of the newest version, `seen` that of the newest one that the agent wrote or read.
CREATE TABLE file_with_versions (
    session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    id TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL,
    created_at TEXT NOT NULL,
    message_id TEXT,
    current INTEGER NOT NULL,
    seen INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session_id, path)
);

-- Every writing of a file, from 1 on. `call_id`: the tool call of the message that wrote it, and `note` what it was told.
CREATE TABLE file_version (
    file_id TEXT NOT NULL REFERENCES workspace_file (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    hash TEXT NOT NULL REFERENCES blob (hash),
    author TEXT NOT NULL,
    message_id TEXT,
    call_id TEXT,
    note TEXT NOT NULL DEFAULT '',
    created_at TEXT NOT NULL,
    PRIMARY KEY (file_id, number)
);
CREATE INDEX file_version_by_content ON file_version (hash);

-- What was kept so far: one version for each call that is known to have written it, all with the content of the last.
INSERT INTO blob (hash, size, content)
SELECT sha256_hex(content), length(content), content FROM workspace_file GROUP BY sha256_hex(content);
CREATE TABLE earlier_version AS
SELECT workspace_file.id AS file_id, sha256_hex(workspace_file.content) AS hash, workspace_file.message_id AS message_id,
    call.key AS call_id, coalesce(call.value, '') AS note, workspace_file.created_at AS created_at,
    row_number() OVER (PARTITION BY workspace_file.id ORDER BY call.key) AS number
FROM workspace_file LEFT JOIN json_each(CAST(workspace_file.calls AS TEXT)) AS call ON true;
INSERT INTO file_with_versions (session_id, path, id, source, created_at, message_id, current, seen)
SELECT session_id, path, id, source, created_at, message_id,
    (SELECT max(number) FROM earlier_version WHERE file_id = workspace_file.id),
    (SELECT max(number) FROM earlier_version WHERE file_id = workspace_file.id)
FROM workspace_file;
DROP TABLE workspace_file;
ALTER TABLE file_with_versions RENAME TO workspace_file;
INSERT INTO file_version (file_id, number, hash, author, message_id, call_id, note, created_at)
SELECT file_id, number, hash, 'agent', message_id, call_id, note, created_at FROM earlier_version;
DROP TABLE earlier_version;

-- The text of an upload, packed; null where it has none that can be read, and `reason` says why. `library_url`: where the
-- library has it.
CREATE TABLE upload_text (
    file_id TEXT PRIMARY KEY REFERENCES workspace_file (id) ON DELETE CASCADE,
    text BLOB,
    reason TEXT NOT NULL,
    library_url TEXT
);

-- Files that were converted, by what they were made from: handed out again until they are old.
CREATE TABLE rendition (
    session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    hash TEXT NOT NULL REFERENCES blob (hash),
    notes BLOB NOT NULL,
    created_at REAL NOT NULL,
    PRIMARY KEY (session_id, key)
);
CREATE INDEX rendition_by_content ON rendition (hash);
CREATE INDEX rendition_by_age ON rendition (created_at);

-- However the last need of a content goes, with its file, its session or its user, the content goes with it.
CREATE TRIGGER file_version_gone AFTER DELETE ON file_version BEGIN
    DELETE FROM blob WHERE hash = old.hash
        AND NOT EXISTS (SELECT 1 FROM file_version WHERE hash = old.hash)
        AND NOT EXISTS (SELECT 1 FROM rendition WHERE hash = old.hash);
END;
CREATE TRIGGER rendition_gone AFTER DELETE ON rendition BEGIN
    DELETE FROM blob WHERE hash = old.hash
        AND NOT EXISTS (SELECT 1 FROM file_version WHERE hash = old.hash)
        AND NOT EXISTS (SELECT 1 FROM rendition WHERE hash = old.hash);
END;
CREATE TRIGGER blob_gone AFTER DELETE ON blob WHEN old.place IS NOT NULL BEGIN
    INSERT INTO loose_place (place, since) VALUES (old.place, 0) ON CONFLICT (place) DO UPDATE SET since = 0;
END;

-- What the server signs with. All replicas share it.
CREATE TABLE secret (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
);
