"""A bundle that an earlier Footnote made: with marks around what was searched, without times and turn ids."""

from pathlib import Path
from typing import Any

from bundles.shelf import forge_entry, read_entries, write_bundle
from bundles.test_taking import House, house
from footnote.bundles.form import HISTORY
from footnote.bundles.opening import opened
from footnote.bundles.verify import verify
from footnote.protocol.history import PastToolMessage

__all__ = ["house"]

BUNDLE = Path(__file__).parents[1] / "fixtures" / "bundles" / "version_1.zip"


def test_it_is_still_found_right() -> None:
    with opened(BUNDLE) as bundle:
        assert bundle.manifest.version == 1
        assert b"<web_text" in bundle.read(HISTORY)
    report = verify(BUNDLE)
    assert report.findings == ()
    assert (report.runs, report.versions, report.snapshots) == (2, 2, 1)


async def test_it_is_taken_and_its_history_is_as_that_of_any_session(house: House) -> None:
    head = await house.bundles.take("cat", BUNDLE)
    history = await house.sessions.history("cat", head.id)
    results = [message for message in history.messages if isinstance(message, PastToolMessage)]
    assert results[0].content.startswith(
        "Lavoisier coined the name oxygen in 1777 [1].\n\nSources:\n[1] [Oxygen](http://"
    )
    assert all("web_text" not in message.content for message in results)
    assert all(message.turn_id and message.timestamp for message in history.messages)


def test_what_was_changed_in_its_history_is_still_found(tmp_path: Path) -> None:
    def change(history: Any) -> None:
        history["messages"][2]["content"] = history["messages"][2]["content"].replace("1777", "1778")

    changed = write_bundle(tmp_path, forge_entry(read_entries(BUNDLE.read_bytes()), HISTORY, change))
    assert [finding.entry for finding in verify(changed).findings] == [HISTORY]
