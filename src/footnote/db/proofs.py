"""The transactions of proofs: the verdicts on the statements of a version of a file, and what they were judged by."""

from msgspec import Struct

from footnote.db.schema import FILE_PROOF
from footnote.db.script import Steps, script, sql_for_key_share


class ProofRow(Struct, frozen=True):
    """A row of the table `file_proof` without its file. `proof` is compressed JSON."""

    number: int
    basis: str
    proof: bytes


@script
def proofs_around(file_id: str, number: int, count: int) -> Steps[list[ProofRow]]:
    """The proof of a version, if there is one, and then those of the newest `count` others."""
    rows = yield FILE_PROOF.select(
        ProofRow,
        "WHERE file_id = ? ORDER BY CASE WHEN number = ? THEN 0 ELSE 1 END, number DESC LIMIT ?",
        *(file_id, number, count + 1),
    )
    return [ProofRow(*row) for row in rows]


@script
def store_proof(file_id: str, row: ProofRow) -> Steps[bool]:
    """Replaces the proof of a version. False: its file was deleted meanwhile."""
    version = sql_for_key_share("SELECT 1 FROM file_version WHERE file_id = ? AND number = ?", file_id, row.number)
    if not (yield version):
        return False
    yield FILE_PROOF.upsert(row, file_id=file_id)
    return True


@script
def session_proofs(session_id: str) -> Steps[list[tuple[str, ProofRow]]]:
    """All proofs of a session, each with the id of its file."""
    rows = yield FILE_PROOF.select(
        ProofRow,
        "JOIN workspace_file ON workspace_file.id = file_proof.file_id WHERE workspace_file.session_id = ?",
        session_id,
        also="file_proof.file_id",
    )
    return [(file_id, ProofRow(*row)) for *row, file_id in rows]
