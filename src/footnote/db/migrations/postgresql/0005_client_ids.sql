-- works with: 1
-- A client names its message with an id of its own, so that a request that is sent twice is stored once.
-- The version before leaves the column empty.
ALTER TABLE run ADD COLUMN client_id TEXT COLLATE "C";
CREATE UNIQUE INDEX run_by_client_id ON run (session_id, client_id) WHERE client_id IS NOT NULL;
