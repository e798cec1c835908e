-- works with: 1
-- What a run that makes a plan or keeps a budget has done so far, as JSON: the plan, which users change too; what only
-- the owner of the run changes; and what was spent. The version before starts no such runs.
CREATE TABLE run_progress (
    run_id TEXT COLLATE "C" PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    plan BYTEA,
    progress BYTEA,
    spent BYTEA
);
