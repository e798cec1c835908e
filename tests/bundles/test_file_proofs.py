"""The proof of files in a bundle: exported, judged again, and imported."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bundles.sample_session import export_bundle, forge_entry, json_of, read_entries, reseal, write_bundle
from bundles.test_import import OtherHome, open_empty_home
from footnote.bundles.bundles import Bundles
from footnote.bundles.verify import Report, verify
from footnote.cancel import CancelScope
from footnote.db.engine import Database
from footnote.library import Library
from footnote.sessions.file_citations import FileCitationChecker
from footnote.sessions.store import Sessions
from footnote.workspace.blobs import Blobs
from library.samples import TREATY, TickingClock
from sessions.test_file_proofs_stored import PARAPHRASE, REPORT, AgreeingLook
from sessions.test_store_sources import artifact, source, store_search
from sessions.turn_writer import TurnWriter

PROOFS = "proofs.json"


@pytest.fixture
def checker(database: Database, sessions: Sessions, library: Library) -> FileCitationChecker:
    return FileCitationChecker(database, sessions, library)


@pytest.fixture
def judging(
    database: Database, library: Library, blobs: Blobs, clock: TickingClock, checker: FileCitationChecker
) -> Bundles:
    return Bundles(database, library, blobs, agents=("researcher",), file_citations=checker, clock=clock)


@pytest.fixture
async def session_id(turn_writer: TurnWriter, library: Library, sessions: Sessions) -> str:
    await library.store(TREATY)
    session_id = await turn_writer.session()
    await store_search(turn_writer, session_id, "c1", artifact(source(TREATY)))
    await sessions.workspace("ann", session_id).write("/report.md", REPORT, message_id=None)
    return session_id


def _verify(folder: Path, entries: dict[str, bytes]) -> Report:
    return verify(write_bundle(folder, entries))


async def test_a_bundle_has_the_proof_of_files_that_nobody_has_looked_at(
    judging: Bundles, session_id: str, tmp_path: Path
) -> None:
    entries = read_entries(await export_bundle(judging, session_id))
    [proof] = json_of(entries[PROOFS])["proofs"]
    assert (proof["key"], proof["number"], len(proof["citations"])) == ("/report.md", 1, 2)
    answers = len(json_of(entries["verdicts.json"])["verdicts"])
    report = _verify(tmp_path, entries)
    of_files = [one for one in report.findings if one.entry == PROOFS]
    assert (report.file_verdicts, of_files) == (2, [])
    assert report.verdicts <= answers + 2
    assert read_entries(await export_bundle(judging, session_id))[PROOFS] == entries[PROOFS]


def _verdict(proofs: Any) -> None:
    proofs["proofs"][0]["citations"][1]["verdict"] = "supported"


def _quote(proofs: Any) -> None:
    proofs["proofs"][0]["citations"][0]["quote"] = "It was signed by nobody."


def _left_out(proofs: Any) -> None:
    del proofs["proofs"][0]["citations"][1]


def _version(proofs: Any) -> None:
    proofs["proofs"][0]["number"] = 7


def _by_model(proofs: Any) -> None:
    cited = proofs["proofs"][0]["citations"]
    cited[1] |= {**cited[0], "start": cited[1]["start"], "end": cited[1]["end"], "by": "model", "quote": None}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_verdict, "its verdict is 'supported'"),
        (_quote, "its quotation is not in snapshots/"),
        (_left_out, "its statements differ"),
        (_version, "one that is not in the bundle"),
        (_by_model, "its verdict is"),
    ],
)
async def test_a_forged_proof_is_found(
    change: Callable[[Any], None], message: str, judging: Bundles, session_id: str, tmp_path: Path
) -> None:
    entries = forge_entry(read_entries(await export_bundle(judging, session_id)), PROOFS, change)
    report = _verify(tmp_path, entries)
    assert not report.ok
    assert any(one.entry == PROOFS and message in one.message for one in report.findings), report.findings


async def test_a_bundle_of_before_there_were_proofs_is_right(judging: Bundles, session_id: str, tmp_path: Path) -> None:
    entries = read_entries(await export_bundle(judging, session_id))
    del entries[PROOFS]
    report = _verify(tmp_path, reseal(entries))
    assert report.file_verdicts == 0
    assert [one for one in report.findings if one.entry == PROOFS] == []


async def test_what_a_model_pointed_to_stays_when_a_bundle_is_imported(
    judging: Bundles, checker: FileCitationChecker, session_id: str, tmp_path: Path
) -> None:
    reviewed = await checker.review("ann", session_id, "/report.md", AgreeingLook(), CancelScope())
    assert reviewed is not None
    entries = read_entries(await export_bundle(judging, session_id))
    quoted = json_of(entries[PROOFS])["proofs"][0]["citations"][1]
    assert quoted["by"] == "model"
    async with open_empty_home(tmp_path / "elsewhere") as home:
        imported = await _import(home, tmp_path, entries)
        other = FileCitationChecker(home.database, home.sessions, home.library)
        proof = await other.citations("cat", imported, "/report.md")
        assert proof.citations == reviewed.proof.citations
        edited = f"# Versailles\n\n{PARAPHRASE}\n"
        await home.sessions.workspace("cat", imported).write("/report.md", edited, message_id=None)
        [kept] = (await other.citations("cat", imported, "/report.md")).citations
        moved = edited.index(PARAPHRASE)
        assert kept == replace(reviewed.proof.citations[1], start=moved, end=moved + len(PARAPHRASE))


async def _import(home: OtherHome, folder: Path, entries: dict[str, bytes]) -> str:
    return (await home.bundles.import_bundle("cat", write_bundle(folder, entries))).id
