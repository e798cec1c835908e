-- Who asks, what was said, and the life of every run.

-- `name_key` is the name as it is compared. A user without a password cannot log in with one.
CREATE TABLE account (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL UNIQUE,
    password TEXT,
    role TEXT NOT NULL,
    disabled INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL
);

-- The person at the machine itself, who needs no account.
INSERT INTO account (id, name, name_key, role, created_at)
VALUES ('local', 'local', 'local', 'admin', '1970-01-01T00:00:00Z');

-- What proves who somebody is: `token` for programs, `cookie` for the page, `login` to be used once. Only hashes.
-- Times are seconds since 1970.
CREATE TABLE credential (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    created_at REAL NOT NULL,
    used_at REAL,
    expires_at REAL
);
CREATE INDEX credential_by_user ON credential (user_id, kind);
CREATE INDEX credential_by_age ON credential (expires_at);

-- The addresses that a user has read or added a text at: what the library lists, finds and removes for whom.
CREATE TABLE shelf (
    user_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    PRIMARY KEY (user_id, url)
) WITHOUT ROWID;
CREATE INDEX shelf_by_url ON shelf (url);
INSERT INTO shelf (user_id, url)
SELECT DISTINCT 'local', url FROM reading
WHERE NOT EXISTS (SELECT 1 FROM page WHERE page.url = reading.url AND page.kind = 'documentation');

-- One conversation. `head` is the run at the end of the branch that is shown. `origin`: `page` (anybody's own), or
-- `api` (one call of a compatible door). `titled`: a person chose the title.
CREATE TABLE session (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    agent_id TEXT NOT NULL,
    title TEXT NOT NULL,
    titled INTEGER NOT NULL DEFAULT 0,
    origin TEXT NOT NULL DEFAULT 'page',
    head TEXT,
    created_at TEXT NOT NULL,
    changed_at REAL NOT NULL
);
CREATE INDEX session_by_user ON session (user_id, origin, changed_at, id);

-- A user message. `after_run` is the run whose answer it follows; null: it is a first one. Two with the same one are
-- branches. `body` is a UserMessage, `attachments` a list of file records, both JSON.
CREATE TABLE question (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    after_run TEXT,
    body BLOB NOT NULL,
    attachments BLOB NOT NULL,
    created_at TEXT NOT NULL
);
CREATE INDEX question_by_session ON question (session_id, id);

-- The work of one turn. Two runs of the same question are branches. `fence` counts its owners: a write with an old
-- one is refused. `attempts` counts how often it began since something was last kept. `asked` is what was asked for, `ending` how
-- it ended (stop reason, usage, error, attachments), both JSON. Events up to `pruned_to` are no longer kept. Times are
-- seconds since 1970.
CREATE TABLE run (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    user_id TEXT NOT NULL,
    question_id TEXT NOT NULL REFERENCES question (id) ON DELETE CASCADE,
    message_id TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    asked BLOB NOT NULL,
    ending BLOB,
    owner TEXT,
    fence INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    lease_until REAL NOT NULL DEFAULT 0,
    cancel_wanted INTEGER NOT NULL DEFAULT 0,
    pruned_to INTEGER NOT NULL DEFAULT 0,
    created_at REAL NOT NULL,
    ended_at REAL
);
CREATE INDEX run_by_session ON run (session_id, id);
CREATE INDEX run_by_question ON run (question_id, id);
CREATE UNIQUE INDEX run_active_in_session ON run (session_id) WHERE state IN ('queued', 'running');
CREATE INDEX run_unfinished ON run (user_id, lease_until) WHERE state IN ('queued', 'running');
CREATE INDEX run_by_end ON run (ended_at) WHERE ended_at IS NOT NULL;

-- What a run said, whole messages in order: an AssistantMessage or a ToolResultMessage as JSON. `blocks`: how many
-- blocks the turn has with it.
CREATE TABLE run_message (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    blocks INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (run_id, ordinal)
) WITHOUT ROWID;

-- The calls of a run that have begun, and what they came to: so that none that has an effect is carried out twice.
CREATE TABLE run_call (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    call_id TEXT NOT NULL,
    result BLOB,
    PRIMARY KEY (run_id, call_id)
) WITHOUT ROWID;

-- The events of a run as they were sent, some of them in a row: server-sent events from `first_id` to `last_id`. Rows of
-- many runs come in turns: appending them, with a short key in the index, costs half of what a table by run would.
CREATE TABLE run_events (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    first_id INTEGER NOT NULL,
    last_id INTEGER NOT NULL,
    frames BLOB NOT NULL
);
CREATE UNIQUE INDEX run_events_in_order ON run_events (run, first_id);

-- What the turns up to a run said, in few words, for a model whose window is too small.
CREATE TABLE digest (
    run_id TEXT PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    messages INTEGER NOT NULL,
    text TEXT NOT NULL
);

-- The files of a session, by path. `calls` are the tool calls that wrote it for `message_id`, each with its note: a
-- JSON object.
CREATE TABLE workspace_file (
    session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    id TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL,
    created_at TEXT NOT NULL,
    message_id TEXT,
    calls BLOB NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (session_id, path)
);

-- What sessions are found by: terms of ours, parted by spaces, of the title and of all that was said.
CREATE TABLE session_entry (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    part TEXT NOT NULL,
    UNIQUE (session_id, part)
);
CREATE VIRTUAL TABLE session_terms USING fts5 (text, tokenize = "ascii");
-- However an entry goes, with its session or with its user, its terms go with it.
CREATE TRIGGER session_entry_gone AFTER DELETE ON session_entry BEGIN
    DELETE FROM session_terms WHERE rowid = old.id;
END;
