-- What a run that makes a plan or keeps a budget has done so far, as JSON: the plan, which users change too; what only
-- the owner of the run changes; and what was spent.
CREATE TABLE run_progress (
    run_id TEXT PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    plan BLOB,
    progress BLOB,
    spent BLOB
);
