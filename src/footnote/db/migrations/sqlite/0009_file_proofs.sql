-- The verdicts on the statements of a version of a file. `basis` is a hash of what they were judged by, and `proof` is
-- compressed JSON.
CREATE TABLE file_proof (
    file_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    basis TEXT NOT NULL,
    proof BLOB NOT NULL,
    PRIMARY KEY (file_id, number),
    FOREIGN KEY (file_id, number) REFERENCES file_version (file_id, number) ON DELETE CASCADE
);
