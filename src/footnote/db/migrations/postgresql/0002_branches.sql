-- works with: 1
-- Files follow the branch that is shown, converted copies go with their files, and the url of a record leads to its file.

-- The run at the end of the branch in which the version was written; null: it is shown in every branch, as uploads are.
ALTER TABLE file_version ADD COLUMN run_id TEXT COLLATE "C";
UPDATE file_version SET run_id = (SELECT run.id FROM run WHERE run.message_id = file_version.message_id)
WHERE message_id IS NOT NULL;

-- `current` is the newest version in the branch that is shown; 0: the file is not in it.
WITH RECURSIVE branch (session_id, run_id) AS (
    SELECT id, head FROM session WHERE head IS NOT NULL
    UNION
    SELECT branch.session_id, question.after_run
    FROM branch JOIN run ON run.id = branch.run_id JOIN question ON question.id = run.question_id
    WHERE question.after_run IS NOT NULL
)
UPDATE workspace_file SET current = coalesce((
    SELECT max(file_version.number) FROM file_version
    WHERE file_version.file_id = workspace_file.id AND (file_version.run_id IS NULL OR EXISTS (
        SELECT 1 FROM branch
        WHERE branch.session_id = workspace_file.session_id AND branch.run_id = file_version.run_id
    ))
), 0)
WHERE source = 'generated';

-- Copies that were made before belong to no file, and are made again when they are asked for.
DELETE FROM rendition;
ALTER TABLE rendition ADD COLUMN file_id TEXT COLLATE "C" REFERENCES workspace_file (id) ON DELETE CASCADE;
CREATE INDEX rendition_by_file ON rendition (file_id);

-- The first file that a user has at a path has the url `workspace/USER/PATH`; that of others names the session too.
ALTER TABLE workspace_file ADD COLUMN plain_url BIGINT NOT NULL DEFAULT 0;
UPDATE workspace_file SET plain_url = 1 WHERE source = 'generated' AND NOT EXISTS (
    SELECT 1 FROM workspace_file AS earlier JOIN session AS theirs ON theirs.id = earlier.session_id
    JOIN session AS own ON own.id = workspace_file.session_id
    WHERE theirs.user_id = own.user_id AND earlier.path = workspace_file.path
        AND earlier.session_id < workspace_file.session_id
);
CREATE INDEX workspace_file_by_plain_url ON workspace_file (path) WHERE plain_url = 1;
