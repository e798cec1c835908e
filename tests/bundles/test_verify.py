"""An exported bundle is valid, and every change of it is reported."""

import hashlib
import io
import subprocess
import zipfile
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bundles.sample_session import (
    FALSE,
    LARGE,
    SIGNED,
    SampleSession,
    export_bundle,
    forge_entry,
    json_of,
    read_entries,
    reseal,
    write_bundle,
    zip_entries,
)
from footnote.bundles.bundles import Bundles
from footnote.bundles.manifest import MANIFEST, BundleProblem
from footnote.bundles.schema import NotABundle
from footnote.bundles.verify import verify
from footnote.library import Library
from footnote.protocol.errors import Conflict, Unknown
from footnote.protocol.events import TurnUsage
from footnote.protocol.messages import Usage
from footnote.sessions.store import Sessions
from library.samples import TREATY
from sessions.turn_writer import TurnWriter, answer

ONE, TWO = (hashlib.sha256(text).hexdigest() for text in (b"one", b"two"))


def problem_pairs(findings: tuple[BundleProblem, ...]) -> list[tuple[str, str]]:
    return [(one.entry, one.problem) for one in findings]


def flip_bit(content: bytes, at: int | None = None) -> bytes:
    at = len(content) // 2 if at is None else at
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


async def test_an_export_holds_everything_and_is_right_in_every_way(
    bundles: Bundles, sessions: Sessions, sample: SampleSession, tmp_path: Path
) -> None:
    data = await export_bundle(bundles, sample.session_id)
    entries = read_entries(data)
    assert set(entries) == {
        *("README.txt", "bundle.json", "files.json", "history.json", "session.json", "snapshots.json", "sources.json"),
        *(
            "transcript.md",
            "verdicts.json",
            "proofs.json",
            "files/large.txt",
            "files/notes/report.md",
            "files/uploads/báo cáo.pdf",
        ),
        *(f"events/{sample.first.run_id}.sse", f"events/{sample.edited.run_id}.sse"),
        *(f"versions/{ONE}", f"versions/{TWO}", f"snapshots/{TREATY.id}.txt"),
    }
    assert entries["files/notes/report.md"] == b"three"
    assert (entries[f"versions/{ONE}"], entries["files/large.txt"]) == (b"one", LARGE)
    assert entries[f"snapshots/{TREATY.id}.txt"].decode() == TREATY.text
    history = await sessions.history("ann", sample.session_id)
    assert json_of(entries["history.json"]) == json_of(msgspec.json.encode(history))
    report = verify(write_bundle(tmp_path, data))
    assert report.findings == ()
    assert (report.ok, report.session) == (True, history.session)
    assert (report.entries, report.snapshots, report.versions, report.runs, report.verdicts) == (17, 1, 5, 3, 4)
    assert report.notes == ()


async def test_what_a_bundle_says_of_sources_and_verdicts(bundles: Bundles, sample: SampleSession) -> None:
    entries = read_entries(await export_bundle(bundles, sample.session_id))
    [source] = json_of(entries["sources.json"])["sources"]
    assert source == {
        "number": 1,
        "url": TREATY.url,
        "title": TREATY.title,
        "domain": "history.example",
        "status": "read",
        "published": TREATY.published,
        "fetched_at": TREATY.fetched_at,
        "snapshots": [TREATY.id],
    }
    summary, true, false, last = json_of(entries["verdicts.json"])["verdicts"]
    assert (summary["call_id"], summary["message_id"], summary["verdict"]) == ("call_1", None, "supported")
    start = TREATY.text.index(SIGNED)
    assert (true["sentence"], true["verdict"], true["quote"], true["quote_start"]) == (
        SIGNED,
        "supported",
        SIGNED,
        start,
    )
    assert (false["verdict"], false["message_id"], false["block"]) == ("unsupported", sample.first.message_id, 0)
    assert last["message_id"] == sample.edited.message_id
    assert f"- [1] [Treaty of Versailles](<{TREATY.url}>)\n  - “{SIGNED}”" in entries["transcript.md"].decode()


async def test_the_same_session_gives_the_same_bundle(bundles: Bundles, sample: SampleSession) -> None:
    first, second = [read_entries(await export_bundle(bundles, sample.session_id)) for _ in range(2)]
    manifests = [json_of(entries.pop(MANIFEST)) for entries in (first, second)]
    assert first == second
    assert manifests[0]["seal"] == manifests[1]["seal"]
    assert manifests[0]["exported_at"] != manifests[1]["exported_at"]


async def test_anybody_can_make_the_seal_with_common_tools(
    bundles: Bundles, sample: SampleSession, tmp_path: Path
) -> None:
    entries = read_entries(await export_bundle(bundles, sample.session_id))
    for name, content in entries.items():
        (tmp_path / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "out" / name).write_bytes(content)
    command = r"find . -type f ! -path ./bundle.json -printf '%P\0' | xargs -0 sha256sum | LC_ALL=C sort | sha256sum"
    result = subprocess.run(command, shell=True, cwd=tmp_path / "out", capture_output=True, check=True)
    assert result.stdout.split()[0].decode() == json_of(entries[MANIFEST])["seal"]


async def test_no_session_of_somebody_else_is_exported(bundles: Bundles, sample: SampleSession) -> None:
    with pytest.raises(Unknown):
        await export_bundle(bundles, sample.session_id, "ben")


async def test_one_changed_byte_names_its_entry_and_no_other(
    bundles: Bundles, sample: SampleSession, tmp_path: Path
) -> None:
    entries = read_entries(await export_bundle(bundles, sample.session_id))
    for name, content in entries.items():
        report = verify(write_bundle(tmp_path, {**entries, name: flip_bit(content)}))
        expected = "unreadable" if name == MANIFEST else "changed"
        assert (report.ok, problem_pairs(report.findings)) == (False, [(name, expected)])


async def test_any_changed_byte_of_the_list_itself_is_found(
    bundles: Bundles, sample: SampleSession, tmp_path: Path
) -> None:
    entries = read_entries(await export_bundle(bundles, sample.session_id))
    content = entries[MANIFEST]
    for at in range(0, len(content), 37):
        try:
            report = verify(write_bundle(tmp_path, {**entries, MANIFEST: flip_bit(content, at)}))
        except NotABundle:  # that byte held the type of the entry
            continue
        assert [one.entry for one in report.findings] == [MANIFEST], content[at : at + 20]


async def test_bytes_that_are_damaged_inside_the_zip_name_their_entry(
    bundles: Bundles, sample: SampleSession, tmp_path: Path
) -> None:
    data = await export_bundle(bundles, sample.session_id)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        info = archive.getinfo("files/large.txt")
    at = info.header_offset + 30 + len(info.filename) + info.compress_size // 2
    report = verify(write_bundle(tmp_path, flip_bit(data, at)))
    assert problem_pairs(report.findings) in ([("files/large.txt", "unreadable")], [("files/large.txt", "changed")])


async def test_missing_and_added_entries_are_named(bundles: Bundles, sample: SampleSession, tmp_path: Path) -> None:
    entries = read_entries(await export_bundle(bundles, sample.session_id))
    for name in entries:
        left = {other: content for other, content in entries.items() if other != name}
        if name == MANIFEST:
            with pytest.raises(NotABundle, match=r"it has no bundle\.json"):
                verify(write_bundle(tmp_path, left))
        else:
            assert problem_pairs(verify(write_bundle(tmp_path, left)).findings) == [(name, "missing")]
    report = verify(write_bundle(tmp_path, {**entries, "files/more.txt": b"more"}))
    assert problem_pairs(report.findings) == [("files/more.txt", "added")]


async def test_swapped_versions_are_both_named(bundles: Bundles, sample: SampleSession, tmp_path: Path) -> None:
    entries = read_entries(await export_bundle(bundles, sample.session_id))
    one, two = f"versions/{ONE}", f"versions/{TWO}"
    swapped = {**entries, one: entries[two], two: entries[one]}
    assert sorted(problem_pairs(verify(write_bundle(tmp_path, swapped)).findings)) == sorted(
        [(one, "changed"), (two, "changed")]
    )
    [finding] = verify(write_bundle(tmp_path, reseal(swapped))).findings
    assert (finding.entry, finding.problem) == ("files.json", "wrong")
    assert finding.message == "version 2 of /notes/report.md has no content with its hash"


async def test_a_forged_quotation_is_found_though_all_hashes_fit(
    bundles: Bundles, sample: SampleSession, tmp_path: Path
) -> None:
    entries = read_entries(await export_bundle(bundles, sample.session_id))
    other = SIGNED.replace("28", "29")

    def change(verdicts: dict[str, list[dict[str, object]]]) -> None:
        verdicts["verdicts"][1]["quote"] = other

    [finding] = verify(write_bundle(tmp_path, forge_entry(entries, "verdicts.json", change))).findings
    assert (finding.entry, finding.message) == (
        "verdicts.json",
        "it differs from session.json",
    )
    texts = (name for name in entries if not name.startswith("snapshots/") and name != MANIFEST)
    lie = {name: entries[name].replace(SIGNED.encode(), other.encode()) for name in texts}
    everywhere = reseal({**entries, **lie})
    messages = [one.message for one in verify(write_bundle(tmp_path, everywhere)).findings]
    assert any(f"is not in snapshots/{TREATY.id}.txt" in one for one in messages)


async def test_a_forged_verdict_is_found_though_everything_tells_it(
    bundles: Bundles, sample: SampleSession, tmp_path: Path
) -> None:
    entries = read_entries(await export_bundle(bundles, sample.session_id))
    lie = {
        name: content if name == MANIFEST else content.replace(b'"unsupported"', b'"supported"')
        for name, content in entries.items()
    }
    lie["transcript.md"] = entries["transcript.md"]
    findings = verify(write_bundle(tmp_path, reseal(lie))).findings
    assert {one.entry for one in findings} <= {"verdicts.json", "transcript.md"}
    [wrong] = [one for one in findings if one.entry == "verdicts.json"]
    assert wrong.message.startswith(f"{sample.first.message_id}, block 0, [1] after “{FALSE}")
    assert wrong.message.endswith("its verdict is 'supported', and judged again it is 'unsupported'")


async def test_verdicts_that_were_taken_away_are_missed(
    bundles: Bundles, sample: SampleSession, tmp_path: Path
) -> None:
    entries = read_entries(await export_bundle(bundles, sample.session_id))

    def change(session: dict[str, Any]) -> None:
        run = next(run for run in session["runs"] if run["id"] == sample.edited.run_id)
        run["messages"][0]["message"]["content"][0].pop("citations")
        run["ending"]["usage"] = msgspec.to_builtins(TurnUsage.of(Usage(), None))

    messages = [
        one.message for one in verify(write_bundle(tmp_path, forge_entry(entries, "session.json", change))).findings
    ]
    assert f"{sample.edited.message_id}, block 0: its footnotes differ from those that are judged again" in messages


async def test_another_text_of_a_page_is_not_the_one_that_was_read(
    bundles: Bundles, sample: SampleSession, tmp_path: Path
) -> None:
    entries = read_entries(await export_bundle(bundles, sample.session_id))
    name = f"snapshots/{TREATY.id}.txt"
    lie = reseal({**entries, name: entries[name].replace(b"28 June", b"29 June")})
    [finding] = verify(write_bundle(tmp_path, lie)).findings
    assert (finding.entry, finding.problem) == (name, "wrong")
    assert finding.message == "the hash of its text is not its id"


async def test_a_page_that_was_removed_since_is_told_and_not_held_against_the_bundle(
    bundles: Bundles, library: Library, sample: SampleSession, tmp_path: Path
) -> None:
    await library.for_user("ann").remove(TREATY.url)
    report = verify(write_bundle(tmp_path, await export_bundle(bundles, sample.session_id)))
    assert (report.findings, report.verdicts) == ((), 0)
    assert report.notes[-1].startswith("4 footnotes could not be judged again: a snapshot was removed")


async def test_a_session_without_anything_is_a_bundle_too(
    bundles: Bundles, turn_writer: TurnWriter, tmp_path: Path
) -> None:
    for session_id in (await turn_writer.session(), await turn_writer.session("Why?")):
        assert verify(write_bundle(tmp_path, await export_bundle(bundles, session_id))).findings == ()


async def test_a_session_that_is_being_answered_can_be_exported(
    bundles: Bundles, turn_writer: TurnWriter, tmp_path: Path
) -> None:
    session_id = await turn_writer.session()
    await turn_writer.turn(session_id, "Why?", answer("Half"), state="running")
    data = await export_bundle(bundles, session_id)
    assert json_of(read_entries(data)["history.json"])["active_run"] is not None
    assert verify(write_bundle(tmp_path, data)).findings == ()


def test_what_is_no_bundle_is_not_called_a_broken_one(tmp_path: Path) -> None:
    for data in (
        b"",
        b"PK",
        b"hello" * 100,
        zip_entries({"a.txt": b"a"}),
        zip_entries({MANIFEST: b'{"format":"x","version":1}'}),
    ):
        with pytest.raises(NotABundle):
            verify(write_bundle(tmp_path, data))
    with pytest.raises(NotABundle, match="cannot be read"):
        verify(tmp_path / "none.zip")


async def test_a_bundle_that_is_cut_off_is_none(bundles: Bundles, sample: SampleSession, tmp_path: Path) -> None:
    data = await export_bundle(bundles, sample.session_id)
    with pytest.raises(NotABundle, match="its end is missing"):
        verify(write_bundle(tmp_path, data[: len(data) // 2]))


async def test_a_bundle_of_a_newer_version_says_so(bundles: Bundles, sample: SampleSession, tmp_path: Path) -> None:
    entries = read_entries(await export_bundle(bundles, sample.session_id))
    newer = entries[MANIFEST].replace(b'"version": 2', b'"version": 3')
    with pytest.raises(NotABundle, match="it is too old"):
        verify(write_bundle(tmp_path, {**entries, MANIFEST: newer}))


async def test_a_file_that_is_deleted_meanwhile_ends_the_export(
    bundles: Bundles, sessions: Sessions, sample: SampleSession
) -> None:
    async with aclosing(bundles.export("ann", sample.session_id)) as pieces:
        assert (await anext(pieces)).startswith(b"PK")
        await sessions.workspace("ann", sample.session_id).delete("/large.txt")
        with pytest.raises(Conflict, match="Export it again"):
            assert [piece async for piece in pieces]
    assert len(await export_bundle(bundles, sample.session_id)) > 0


async def test_a_reader_who_leaves_in_the_middle_leaves_nothing_open(bundles: Bundles, sample: SampleSession) -> None:
    async with aclosing(bundles.export("ann", sample.session_id)) as pieces:
        async for _ in pieces:
            break
    assert len(await export_bundle(bundles, sample.session_id)) > 0
