-- Processes hold on to themselves, not to each of their runs: one row to write, however many runs they carry on.

-- Until when a process is known to live. What belongs to none that does is taken over. Times are seconds since 1970.
CREATE TABLE owner (
    name TEXT PRIMARY KEY,
    lease_until REAL NOT NULL
);
INSERT INTO owner (name, lease_until)
SELECT owner, max(lease_until) FROM run
WHERE owner IS NOT NULL AND state IN ('queued', 'running') GROUP BY owner;

DROP INDEX run_unfinished;
ALTER TABLE run DROP COLUMN lease_until;
CREATE INDEX run_unfinished ON run (user_id, owner) WHERE state IN ('queued', 'running');
