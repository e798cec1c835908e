-- works with: 1
-- Calls may wait for the user's approval, and their run with them.

-- A run that waits is as active as one that is carried on. The version before has no such runs, and takes none over.
DROP INDEX run_active_in_session;
DROP INDEX run_unfinished;
CREATE UNIQUE INDEX run_active_in_session ON run (session_id) WHERE state IN ('queued', 'running', 'waiting');
CREATE INDEX run_unfinished ON run (user_id, owner) WHERE state IN ('queued', 'running', 'waiting');

-- A call that the user was asked about. `decision`: `once`, `session`, `always`, `deny`, or `expired`; null: none yet.
CREATE TABLE approval (
    run_id TEXT COLLATE "C" NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    call_id TEXT COLLATE "C" NOT NULL,
    tool TEXT COLLATE "C" NOT NULL,
    asked_at DOUBLE PRECISION NOT NULL,
    decision TEXT COLLATE "C",
    note TEXT COLLATE "C",
    decided_at DOUBLE PRECISION
);
-- A provider makes these ids, and no index takes one that is longer than 2704 bytes.
CREATE UNIQUE INDEX approval_by_call ON approval (run_id, md5(call_id));

-- A tool of an agent that a user always allows.
CREATE TABLE standing_approval (
    user_id TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    tool TEXT COLLATE "C" NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (user_id, agent_id, tool)
);
