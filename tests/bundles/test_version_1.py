"""A bundle of format version 1: with markers around web text, without times and turn ids."""

from pathlib import Path
from typing import Any

from bundles.sample_session import forge_entry, read_entries, write_bundle
from bundles.test_import import OtherHome, other_home
from footnote.bundles.manifest import open_bundle
from footnote.bundles.schema import HISTORY, VERDICTS
from footnote.bundles.verify import verify
from footnote.protocol.history import PastToolMessage

__all__ = ["other_home"]

BUNDLE = Path(__file__).parents[1] / "fixtures" / "bundles" / "version_1.zip"


def test_it_still_passes_verification() -> None:
    with open_bundle(BUNDLE) as bundle:
        assert bundle.manifest.version == 1
        assert b"<web_text" in bundle.read(HISTORY)
    report = verify(BUNDLE)
    assert report.findings == ()
    assert (report.runs, report.versions, report.snapshots) == (2, 2, 1)


async def test_it_is_imported_and_its_history_is_as_that_of_any_session(other_home: OtherHome) -> None:
    head = await other_home.bundles.import_bundle("cat", BUNDLE)
    history = await other_home.sessions.history("cat", head.id)
    results = [message for message in history.messages if isinstance(message, PastToolMessage)]
    assert results[0].content.startswith(
        "Lavoisier coined the name oxygen in 1777 [1].\n\nSources:\n[1] [Oxygen](http://"
    )
    assert all("web_text" not in message.content for message in results)
    assert all(message.turn_id and message.timestamp for message in history.messages)


def test_a_change_of_its_history_is_still_found(tmp_path: Path) -> None:
    entries = read_entries(BUNDLE.read_bytes())
    changed = {**entries, HISTORY: entries[HISTORY].replace(b"1777", b"1778")}
    assert [finding.entry for finding in verify(write_bundle(tmp_path, changed)).findings] == [HISTORY]


def test_a_forged_verdict_of_it_is_still_found(tmp_path: Path) -> None:
    def change(verdicts: Any) -> None:
        verdicts["verdicts"][0]["verdict"] = "unsupported"

    forged = forge_entry(read_entries(BUNDLE.read_bytes()), VERDICTS, change)
    [finding] = verify(write_bundle(tmp_path, forged)).findings
    assert (finding.entry, finding.problem) == (VERDICTS, "wrong")
