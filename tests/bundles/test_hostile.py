"""Bundles are untrusted input: a hostile one is refused with a message, and nothing of it is stored."""

import io
import os
import struct
import warnings
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bundles.sample_session import (
    SampleSession,
    export_bundle,
    forge_entry,
    read_entries,
    reseal,
    write_bundle,
    zip_entries,
)
from footnote.bundles.bundles import Bundles
from footnote.bundles.manifest import MANIFEST, MAX_ENTRIES
from footnote.bundles.schema import BundleDamaged, BundleRejected, NotABundle
from footnote.bundles.verify import verify
from footnote.sessions.store import Sessions

RUN = "run_" + "0" * 28


@pytest.fixture
async def entries(bundles: Bundles, sample: SampleSession) -> dict[str, bytes]:
    return read_entries(await export_bundle(bundles, sample.session_id))


async def import_refused(bundles: Bundles, sessions: Sessions, file: Path) -> str:
    """The message of the refusal. `verify` must refuse the bundle too, and nothing may be stored."""
    with pytest.raises((BundleDamaged, NotABundle, BundleRejected)) as error:
        await bundles.import_bundle("ben", file)
    assert (await sessions.list("ben")).sessions == ()
    with suppress(NotABundle):
        assert not verify(file).ok
    return error.value.message


Change = Callable[[dict[str, Any]], object]

SESSIONS: dict[str, tuple[Change, str]] = {
    "an id of another form": (
        lambda one: one["session"].update(id="../../x"),
        "session.json (wrong): its content is invalid",
    ),
    "an unknown field": (lambda one: one.update(more=1), "unknown field `more`"),
    "a run of no question": (lambda one: one["runs"][0].update(question_id="msg_" + "0" * 28), "does not follow"),
    "a question after no run": (lambda one: one["questions"][1].update(after_run=RUN), "that are not in it"),
    "a circle of turns": (lambda one: one["questions"][0].update(after_run=one["runs"][-1]["id"]), "does not follow"),
    "a head that is nowhere": (lambda one: one["session"].update(head=RUN), "that are not in it"),
    "two questions with one id": (lambda one: one["questions"].append(one["questions"][0]), "the same id"),
    "a question and an answer with one id": (
        lambda one: one["runs"][0].update(message_id=one["questions"][0]["id"]),
        "the same id",
    ),
    "two runs with one id": (lambda one: one["runs"].append(one["runs"][0]), "the same id"),
    "a state that does not exist": (lambda one: one["runs"][0].update(state="paused"), "Invalid enum value"),
    "a number beyond all": (lambda one: one["runs"][0].update(created_at=1e300), "Expected `float` <="),
    "a role that does not exist": (
        lambda one: one["runs"][0]["messages"][0]["message"].update(role="system"),
        "Invalid value 'system'",
    ),
    "a title of a megabyte": (lambda one: one["session"].update(title="x" * 1_000_000), "Expected `str` of length"),
    "a question at no moment": (lambda one: one["questions"][0].update(created_at="soon"), "soon is not a timestamp"),
    "another session": (lambda one: one["session"].update(title="Other"), "another session than session.json"),
}
FILES: dict[str, tuple[Change, str]] = {
    "a path that climbs": (lambda one: one["files"][0].update(key="/../../etc/passwd"), "files.json"),
    "a path of the machine": (lambda one: one["files"][0].update(key="C:\\x"), "drive letter"),
    "a path that is written otherwise": (lambda one: one["files"][0].update(key="//large.txt"), "is not the path"),
    "an upload that climbs": (lambda one: one["files"][2].update(key="uploads/a/../../b"), "files.json"),
    "two files at one path": (lambda one: one["files"][1].update(key=one["files"][0]["key"]), "the same path"),
    "two files with one id": (
        lambda one: one["files"][1]["record"].update(id=one["files"][0]["record"]["id"]),
        "the same id",
    ),
    "versions out of order": (lambda one: one["files"][1]["versions"].reverse(), "out of order"),
    "no versions": (lambda one: one["files"][1].update(versions=[]), "Expected `array` of length >= 1"),
    "a version of another content": (
        lambda one: one["files"][1]["versions"][0].update(hash="0" * 64),
        "has no content with its hash",
    ),
    "a version without end": (lambda one: one["files"][0]["versions"][0].update(number=2**70), "out of order"),
    "a version at no moment": (
        lambda one: one["files"][0]["versions"][0].update(created_at="9999-01-01"),
        "is not a timestamp",
    ),
    "a version in no entry": (lambda one: one["files"][1]["versions"][0].update(entry="versions/x"), "has no content"),
    "an entry that climbs": (
        lambda one: one["files"][1]["versions"][0].update(entry="files/../../x"),
        "Expected `str`",
    ),
    "an entry of another folder": (lambda one: one["files"][1]["versions"][0].update(entry="x"), "Expected `str`"),
}


@pytest.mark.parametrize(
    ("entry", "name"), [*(("session.json", name) for name in SESSIONS), *(("files.json", name) for name in FILES)]
)
async def test_a_session_or_a_file_that_cannot_be_is_refused(
    entry: str, name: str, bundles: Bundles, sessions: Sessions, entries: dict[str, bytes], tmp_path: Path
) -> None:
    change, expected = (SESSIONS if entry == "session.json" else FILES)[name]
    lie = forge_entry(entries, entry, lambda one: (change(one), None)[1])
    assert expected in await import_refused(bundles, sessions, write_bundle(tmp_path, lie))


async def test_values_that_are_nested_too_deeply_are_refused(
    bundles: Bundles, sessions: Sessions, entries: dict[str, bytes], tmp_path: Path
) -> None:
    for depth in (300, 100_000):
        deep = b'{"path": ' * depth + b"1" + b"}" * depth
        session = entries["session.json"].replace(b'"artifact": {', b'"artifact": {"deep": ' + deep + b",", 1)
        lie = reseal({**entries, "session.json": session})
        assert "nested too deeply" in await import_refused(bundles, sessions, write_bundle(tmp_path, lie))


async def test_events_that_are_none_are_refused(
    bundles: Bundles, sessions: Sessions, sample: SampleSession, entries: dict[str, bytes], tmp_path: Path
) -> None:
    name = f"events/{sample.first.run_id}.sse"
    whole = entries[name]
    for data in (
        *(b"", whole[:-1], whole + b"id: 1\nevent: ping\ndata: {}\n\n", whole + whole, b"<script>\n\n" + whole),
        *(whole.replace(b'"message_start"', b'"launch"'), whole[: whole.index(b"\n\n") + 2]),
        whole.replace(sample.first.message_id.encode(), b"msg_" + b"0" * 28),
    ):
        message = await import_refused(bundles, sessions, write_bundle(tmp_path, reseal({**entries, name: data})))
        assert f": {name} (wrong): " in message


async def test_texts_that_are_not_what_their_name_says_are_refused(
    bundles: Bundles, sessions: Sessions, entries: dict[str, bytes], tmp_path: Path
) -> None:
    name = next(one for one in entries if one.startswith("snapshots/"))
    for text in (b"Another text.", b"\xff\xfe"):
        message = await import_refused(bundles, sessions, write_bundle(tmp_path, reseal({**entries, name: text})))
        assert f": {name} (wrong): " in message


async def test_a_damaged_bundle_is_refused_with_the_names_of_what_is_wrong(
    bundles: Bundles, sessions: Sessions, entries: dict[str, bytes], tmp_path: Path
) -> None:
    changed = {**entries, "transcript.md": b"Lies.", "files/evil\x1b[31m.txt": b""}
    del changed["README.txt"]
    message = await import_refused(bundles, sessions, write_bundle(tmp_path, changed))
    assert "README.txt (missing)" in message
    assert "transcript.md (changed)" in message
    assert "files/evil\\x1b[31m.txt (added)" in message
    assert message.startswith("The bundle was not imported, because it is not as it was exported: ")


async def test_names_in_the_zip_are_never_paths(
    bundles: Bundles, sessions: Sessions, entries: dict[str, bytes], tmp_path: Path
) -> None:
    names = ("../../escaped.txt", "/escaped.txt", "C:\\escaped.txt", "files/../../escaped.txt")
    lie = reseal({**entries, **dict.fromkeys(names, b"x")})
    report = verify(write_bundle(tmp_path, lie))
    assert sorted(one.entry for one in report.findings) == sorted(names)
    assert "../../escaped.txt (added): nothing in the bundle refers to it" in await import_refused(
        bundles, sessions, write_bundle(tmp_path, lie)
    )
    around = (*tmp_path.rglob("*"), *tmp_path.parent.glob("*"))
    assert not [path for path in around if path.name.endswith("escaped.txt")]


async def test_two_entries_of_one_name_are_refused(
    bundles: Bundles, sessions: Sessions, entries: dict[str, bytes], tmp_path: Path
) -> None:
    target = io.BytesIO(zip_entries(entries))
    with zipfile.ZipFile(target, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr("transcript.md", b"Lies.")
    message = await import_refused(bundles, sessions, write_bundle(tmp_path, target.getvalue()))
    assert message == "transcript.md: the zip has it twice."


async def test_a_zip_that_would_fill_a_disk_is_refused_before_it_is_unpacked(
    bundles: Bundles, sessions: Sessions, entries: dict[str, bytes], tmp_path: Path
) -> None:
    target = io.BytesIO(zip_entries(entries))
    with zipfile.ZipFile(target, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("zeros", "w") as entry:
        for _ in range(210):
            entry.write(bytes(1_000_000))
    message = await import_refused(bundles, sessions, write_bundle(tmp_path, target.getvalue()))
    assert message.startswith("zeros: decompressed it would have 210,000,000 bytes, and the whole bundle 210,")
    assert message.endswith("made to fill a disk.")


async def test_an_entry_that_would_fill_the_memory_is_refused_before_it_is_read(
    bundles: Bundles, sessions: Sessions, entries: dict[str, bytes], tmp_path: Path
) -> None:
    lie = reseal({**entries, "session.json": entries["session.json"] + b" " * 30_000_000})
    message = await import_refused(bundles, sessions, write_bundle(tmp_path, lie))
    assert "session.json (wrong): it is larger than 20,000,000 bytes" in message


async def test_a_header_that_lies_about_a_size_is_not_believed(
    bundles: Bundles, sessions: Sessions, entries: dict[str, bytes], tmp_path: Path
) -> None:
    data = bytearray(zip_entries(entries))
    at = data.index(b"PK\x01\x02")
    struct.pack_into("<L", data, at + 24, 1)
    message = await import_refused(bundles, sessions, write_bundle(tmp_path, bytes(data)))
    assert "is not as it was exported" in message


async def test_a_zip_with_too_many_entries_is_refused(bundles: Bundles, sessions: Sessions, tmp_path: Path) -> None:
    many = zip_entries({f"{number}": b"" for number in range(MAX_ENTRIES + 5)})
    assert "more entries than a bundle may have" in await import_refused(
        bundles, sessions, write_bundle(tmp_path, many)
    )
    at = many.rindex(b"PK\x05\x06")
    lying = many[: at + 8] + struct.pack("<2H", 1, 1) + many[at + 12 :]
    assert "more entries than a bundle may have" in await import_refused(
        bundles, sessions, write_bundle(tmp_path, lying)
    )
    long = many[: at + 12] + struct.pack("<L", 2**31) + many[at + 16 :]
    assert "more entries than a bundle may have" in await import_refused(
        bundles, sessions, write_bundle(tmp_path, long)
    )


async def test_an_encrypted_entry_is_unreadable(
    bundles: Bundles, sessions: Sessions, entries: dict[str, bytes], tmp_path: Path
) -> None:
    data = bytearray(zip_entries(entries))
    first = next(iter(entries))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        struct.pack_into("<H", data, data.index(mark) + offset, 1)
    message = await import_refused(bundles, sessions, write_bundle(tmp_path, bytes(data)))
    assert f"{first} (unreadable)" in message


async def test_any_flipped_byte_of_the_zip_is_refused_or_changes_nothing(
    bundles: Bundles, entries: dict[str, bytes], tmp_path: Path
) -> None:
    data = zip_entries(entries)
    for at in range(0, len(data), 97):
        file = write_bundle(tmp_path, data[:at] + bytes([data[at] ^ 0x20]) + data[at + 1 :])
        try:
            report = verify(file)
        except NotABundle:
            continue
        assert not report.ok or read_entries(file.read_bytes()) == entries


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (Path("/dev/zero"), tmp_path / "pipe", tmp_path):
        with pytest.raises(NotABundle, match=f"{path.name} is not a file"):
            verify(path)


def test_the_manifest_alone_is_no_bundle(tmp_path: Path) -> None:
    report = verify(write_bundle(tmp_path, {MANIFEST: b'{"format":"footnote-bundle","version":1}'}))
    assert [(one.entry, one.problem) for one in report.findings] == [(MANIFEST, "unreadable")]
