"""The proof of a version, in the database: shared by replicas, with the verdicts of a second look, and deleted with its
file."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from footnote.cancel import CancelScope
from footnote.db.engine import Database
from footnote.db.proofs import session_proofs
from footnote.evidence.second_look import SecondLook, SecondLookResult
from footnote.evidence.sources import Sources
from footnote.library import Library
from footnote.models.scripted import ScriptedModel
from footnote.protocol.messages import Usage
from footnote.protocol.sources import Citation
from footnote.sessions.file_citations import FileCitationChecker
from footnote.sessions.store import Sessions
from library.samples import TREATY
from sessions.test_store_sources import SIGNED, START, artifact, source, store_search
from sessions.turn_writer import TurnWriter

PARAPHRASE = "Everybody put their name to the paper on 28 June 1919 [1]."
REPORT = f"{SIGNED[:-1]} [1].\n\n{PARAPHRASE}\n"


class AgreeingLook(SecondLook):
    """Lifts every statement, and notes what it was asked about."""

    def __init__(self) -> None:
        super().__init__(ScriptedModel([]))
        self.asked: list[list[str]] = []

    async def review(
        self, text: str, citations: Sequence[Citation], sources: Sources, cancel: CancelScope
    ) -> SecondLookResult:
        self.asked.append([text[one.start : one.end] for one in citations])
        quoted = {"quote": SIGNED, "quote_start": START, "quote_end": START + len(SIGNED), "snapshot_id": TREATY.id}
        lifted = tuple(replace(one, verdict="supported", by="model", missing=None, **quoted) for one in citations)
        return SecondLookResult(lifted, Usage(input=10, output=5))


@pytest.fixture
def checker(database: Database, sessions: Sessions, library: Library) -> FileCitationChecker:
    return FileCitationChecker(database, sessions, library)


@pytest.fixture
async def session_id(turn_writer: TurnWriter, library: Library) -> str:
    await library.store(TREATY)
    session_id = await turn_writer.session()
    await store_search(turn_writer, session_id, "c1", artifact(source(TREATY)))
    return session_id


async def _write(sessions: Sessions, session_id: str, text: str) -> None:
    await sessions.workspace("ann", session_id).write("/report.md", text, message_id=None)


async def test_another_replica_hands_out_what_was_judged(
    checker: FileCitationChecker, database: Database, sessions: Sessions, library: Library, session_id: str
) -> None:
    await _write(sessions, session_id, REPORT)
    judged = await checker.citations("ann", session_id, "/report.md")
    [(_, row)] = await database.read(session_proofs(session_id))
    assert row.number == judged.version == 1
    other = FileCitationChecker(database, sessions, library)
    assert await other.citations("ann", session_id, "/report.md") == judged
    assert judged.citations[0].verdict == "supported"


async def test_a_model_is_asked_once_about_a_statement_whatever_is_edited_around_it(
    checker: FileCitationChecker, database: Database, sessions: Sessions, library: Library, session_id: str
) -> None:
    look = AgreeingLook()
    await _write(sessions, session_id, REPORT)
    reviewed = await checker.review("ann", session_id, "/report.md", look, CancelScope())
    assert reviewed is not None
    assert look.asked == [[PARAPHRASE]]
    assert (reviewed.usage.input, reviewed.usage.output) == (10, 5)
    assert [one.by for one in reviewed.proof.citations] == ["text", "model"]
    assert await checker.citations("ann", session_id, "/report.md") == reviewed.proof

    await _write(sessions, session_id, f"# Versailles\n\n{PARAPHRASE}\n\nIt began in 1870 in Hanoi [1].\n")
    restarted = FileCitationChecker(database, sessions, library)
    judged = await restarted.citations("ann", session_id, "/report.md")
    assert (judged.citations[0].verdict, judged.citations[0].by) == ("supported", "model")
    again = await restarted.review("ann", session_id, "/report.md", look, CancelScope())
    assert look.asked[1:] == [["It began in 1870 in Hanoi [1]."]]
    assert again is not None
    assert await restarted.review("ann", session_id, "/report.md", look, CancelScope()) is not None
    assert len(look.asked) == 2


async def test_a_proof_is_deleted_with_its_file_and_with_its_session(
    checker: FileCitationChecker, database: Database, sessions: Sessions, session_id: str
) -> None:
    await _write(sessions, session_id, REPORT)
    await checker.citations("ann", session_id, "/report.md")
    await sessions.workspace("ann", session_id).delete("/report.md")
    assert await database.read(session_proofs(session_id)) == []
    await _write(sessions, session_id, REPORT)
    await checker.citations("ann", session_id, "/report.md")
    assert len(await database.read(session_proofs(session_id))) == 1
    await sessions.delete("ann", session_id)
    assert await database.read(session_proofs(session_id)) == []
