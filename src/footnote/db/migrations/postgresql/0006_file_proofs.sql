-- works with: 1
-- The verdicts on the statements of a version of a file. `basis` is a hash of what they were judged by, and `proof` is
-- compressed JSON. The version before judges files again whenever they are shown.
CREATE TABLE file_proof (
    file_id TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    basis TEXT COLLATE "C" NOT NULL,
    proof BYTEA NOT NULL,
    PRIMARY KEY (file_id, number),
    FOREIGN KEY (file_id, number) REFERENCES file_version (file_id, number) ON DELETE CASCADE
);
