-- A client names its message with an id of its own, so that a request that is sent twice is stored once.
ALTER TABLE run ADD COLUMN client_id TEXT;
CREATE UNIQUE INDEX run_by_client_id ON run (session_id, client_id) WHERE client_id IS NOT NULL;
