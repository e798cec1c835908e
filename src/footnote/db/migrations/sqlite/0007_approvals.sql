-- Calls may wait for the user's approval, and their run with them.

-- A run that waits is as active as one that is carried on.
DROP INDEX run_active_in_session;
DROP INDEX run_unfinished;
CREATE UNIQUE INDEX run_active_in_session ON run (session_id) WHERE state IN ('queued', 'running', 'waiting');
CREATE INDEX run_unfinished ON run (user_id, owner) WHERE state IN ('queued', 'running', 'waiting');

-- A call that the user was asked about. `decision`: `once`, `session`, `always`, `deny`, or `expired`; null: none yet.
CREATE TABLE approval (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    call_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    asked_at REAL NOT NULL,
    decision TEXT,
    note TEXT,
    decided_at REAL,
    PRIMARY KEY (run_id, call_id)
) WITHOUT ROWID;

-- A tool of an agent that a user always allows.
CREATE TABLE standing_approval (
    user_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    created_at REAL NOT NULL,
    PRIMARY KEY (user_id, agent_id, tool)
) WITHOUT ROWID;
