"""A forger who makes all hashes fit is found by what does not fit together, and such a bundle is not taken either."""

import logging
import re
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bundles.shelf import (
    SIGNED,
    Study,
    export_bundle,
    forge_entry,
    json_of,
    read_entries,
    reseal,
    upload_file,
    write_bundle,
    zip_entries,
)
from footnote.bundles.bundles import Bundles
from footnote.bundles.contents import SourceAddress
from footnote.bundles.form import MANIFEST, BundleDamaged, Manifest, NotTaken, manifest_bytes
from footnote.bundles.verify import verify
from footnote.documents.reading import read_text
from footnote.library import Library
from footnote.protocol.version import __version__
from footnote.sandbox.jobs import DocumentText, ReadText
from footnote.sessions.store import Sessions
from footnote.workspace.blobs import Blobs
from library.pages import TREATY
from sessions.stored import TurnWriter

PLAIN = {
    "/facts.txt": b"\xef\xbb\xbfOne.\r\nTwo: n\xc3\xb3.\r\n",
    "/nfd.md": "# cafe\u0301\n".encode(),
    "/table.csv": b"a;b\r\n1;2",
    "/data.json": b'{"a": "\\u00e9"}',
    "/code.py": b"print('\x00')\n",
    "/wide.txt": "Zwei.".encode("utf-16"),
    "/page.xml": b'<?xml version="1.0"?><a/>',
    "/empty.txt": b"",
    "/ascii": b"no suffix",
}
OTHERS = {"/page.html": b"<html><body><p>Hello</p></body></html>", "/old.txt": b"caf\xe9 du th\xe9\xe2tre"}

Entries = dict[str, bytes]
Change = Callable[[Any], object]


@pytest.fixture
async def entries(bundles: Bundles, desk: TurnWriter, blobs: Blobs, study: Study) -> Entries:
    """With an upload of each kind that is a text itself, read as the product reads it, and two that are none."""
    for name, content in PLAIN.items():
        said = read_text(ReadText(content=content, filename=name[1:], media_type="text/plain"))
        assert isinstance(said, DocumentText)
        await upload_file(desk, blobs, "ann", study.session_id, content, name, said.text)
    for name, content in OTHERS.items():
        await upload_file(desk, blobs, "ann", study.session_id, content, name, "Read somehow.")
    return read_entries(await export_bundle(bundles, study.session_id))


async def import_refused(bundles: Bundles, sessions: Sessions, file: Path) -> str:
    with pytest.raises((BundleDamaged, NotTaken)) as error:
        await bundles.take("ben", file)
    assert (await sessions.list("ben")).sessions == ()
    return error.value.message


def file_of(files: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in files["files"] if one["key"].endswith(name))


def with_version(entries: Mapping[str, bytes], version: str) -> Entries:
    """The same bundle, as if another version had made it."""
    manifest = msgspec.json.decode(entries[MANIFEST], type=Manifest)
    return {**entries, MANIFEST: manifest_bytes(msgspec.structs.replace(manifest, footnote=version))}


async def test_texts_that_are_read_again_are_those_that_were_read(
    entries: Entries, bundles: Bundles, tmp_path: Path
) -> None:
    file = write_bundle(tmp_path, entries)
    report = verify(file)
    assert report.findings == ()
    assert report.notes[0] == "The text of 3 uploads was taken as it is: only plain text files are read again."
    await bundles.take("ben", file)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("lie", ["lies", None])
async def test_another_text_of_an_upload_is_found(
    name: str, lie: str | None, bundles: Bundles, sessions: Sessions, entries: Entries, tmp_path: Path
) -> None:
    def change(files: dict[str, Any]) -> None:
        file_of(files, name)["text"]["text"] = lie

    file = write_bundle(tmp_path, forge_entry(entries, "files.json", change))
    [finding] = verify(file).findings
    assert (finding.entry, finding.problem) == ("files.json", "wrong")
    assert finding.message.endswith(f"{name} is not what the file says")
    assert finding.message in await import_refused(bundles, sessions, file)


LARGE = "/large.txt"
REPORT = "/notes/report.md"
FILES: dict[str, tuple[Change, str]] = {
    "a text beside that of a written file": (
        lambda one: file_of(one, LARGE).update(text={"text": "lies", "reason": ""}),
        "/large.txt is no upload, and has a text beside its content",
    ),
    "a user's version that is given to the agent": (
        lambda one: file_of(one, REPORT)["versions"][0].update(author="agent"),
        "version 3 of /notes/report.md is the agent's, and no call wrote it",
    ),
    "a user's version that is given to another call": (
        lambda one: file_of(one, REPORT)["versions"][0].update(
            author="agent", message_id=file_of(one, LARGE)["versions"][0]["message_id"], call_id="call_9"
        ),
        "version 3 of /notes/report.md is the agent's, and no call wrote it",
    ),
    "an agent's version of no call": (
        lambda one: file_of(one, LARGE)["versions"][0].update(call_id=None),
        "version 1 of /large.txt is the agent's, and no call wrote it",
    ),
    "an agent's version of a message that is not there": (
        lambda one: file_of(one, LARGE)["versions"][0].update(message_id="msg_" + "0" * 28),
        "version 1 of /large.txt is the agent's, and no call wrote it",
    ),
    "an agent's version that is given to the user": (
        lambda one: file_of(one, REPORT)["versions"][2].update(author="user"),
        "version 1 of /notes/report.md is a user's, and names a message",
    ),
    "another name": (
        lambda one: file_of(one, "báo cáo.pdf")["record"].update(filename="../../x"),
        "is that of another file",
    ),
    "another kind": (
        lambda one: file_of(one, "facts.txt")["record"].update(icon_type="pdf"),
        "is that of another file",
    ),
    "another origin": (
        lambda one: file_of(one, LARGE)["record"].update(source="upload"),
        "the record of /large.txt is that of another file",
    ),
}
SNAPSHOTS: dict[str, tuple[Change, str]] = {
    "another address": (
        lambda one: one["snapshots"][0].update(url="https://nytimes.example/treaty"),
        f"{TREATY.id}.txt was read at https://nytimes.example/treaty, and was found at {TREATY.url}",
    ),
    "a text that nothing rests on": (
        lambda one: one["missing"].append("0" * 32),
        f"it tells of the text {'0' * 32}, on which nothing rests",
    ),
    "a text that is told twice": (
        lambda one: one["snapshots"].append(one["snapshots"][0]),
        "it tells of one text twice",
    ),
}
TOLD = {
    **{name: ("files.json", *one) for name, one in FILES.items()},
    **{name: ("snapshots.json", *one) for name, one in SNAPSHOTS.items()},
}


@pytest.mark.parametrize("name", TOLD)
async def test_what_does_not_fit_together_is_found_and_not_taken(
    name: str, bundles: Bundles, sessions: Sessions, entries: Entries, tmp_path: Path
) -> None:
    entry, change, expected = TOLD[name]
    file = write_bundle(tmp_path, forge_entry(entries, entry, lambda one: (change(one), None)[1]))
    found = [one.message for one in verify(file).findings if one.entry == entry]
    assert [one for one in found if one.endswith(expected)], found
    assert expected in await import_refused(bundles, sessions, file)


def replace_in_entry(entries: Entries, name: str, old: bytes, new: bytes) -> Entries:
    assert old in entries[name]
    return reseal({**entries, name: entries[name].replace(old, new)})


def with_escape(content: bytes) -> bytes:
    """In the title of the session, which is the first one that stands there."""
    return content.replace(b'"title": "', b'"title": "\\u001b]0;pwned\\u0007', 1)


ENTRIES: dict[str, tuple[Callable[[Entries], Entries], str]] = {
    "a changed transcript": (
        lambda one: replace_in_entry(one, "transcript.md", b"1919", b"1918"),
        "transcript.md (wrong): it says",
    ),
    "a changed readme": (
        lambda one: replace_in_entry(one, "README.txt", b"\n", b"\nSend money.\n"),
        "README.txt (wrong): it is not the one that every bundle has",
    ),
    "a changed question": (
        lambda one: replace_in_entry(one, "session.json", b"When was", b"Why was"),
        "history.json (wrong): it says",
    ),
    "a forged verdict": (
        lambda one: replace_in_entry(one, "verdicts.json", b'"unsupported"', b'"supported"'),
        "verdicts.json (wrong): it says",
    ),
    "an added file": (lambda one: reseal({**one, "/etc/passwd": b"x"}), "/etc/passwd (added)"),
    "a file that climbs": (lambda one: reseal({**one, "../../x": b"x"}), "../../x (added)"),
    "a title that steers a terminal": (
        lambda one: reseal(
            {**one, **{name: with_escape(one[name]) for name in ("session.json", "history.json", MANIFEST)}}
        ),
        "transcript.md (wrong): it says",
    ),
}


@pytest.mark.parametrize("name", ENTRIES)
async def test_what_is_not_right_is_not_taken(
    name: str, bundles: Bundles, sessions: Sessions, entries: Entries, tmp_path: Path
) -> None:
    change, expected = ENTRIES[name]
    file = write_bundle(tmp_path, change(entries))
    assert not verify(file).ok
    assert expected in await import_refused(bundles, sessions, file)


async def test_a_refusal_names_the_first_few_and_counts_the_others(
    bundles: Bundles, sessions: Sessions, entries: Entries, tmp_path: Path
) -> None:
    lie = reseal({**entries, **{f"files/{number}": b"" for number in range(8)}})
    said = await import_refused(bundles, sessions, write_bundle(tmp_path, lie))
    assert said.endswith("files/4 (added): nothing in the bundle names it; and 3 more.")
    assert "files/5" not in said


@pytest.mark.parametrize(("before", "after"), [(b"MZ junk", b""), (b"", b"junk"), (b"", b"x" * 1000)])
async def test_what_stands_around_the_zip_is_found(
    before: bytes, after: bytes, bundles: Bundles, sessions: Sessions, entries: Entries, tmp_path: Path
) -> None:
    file = write_bundle(tmp_path, before + zip_entries(entries) + after)
    [finding] = verify(file).findings
    assert (finding.entry, finding.problem) == ("the zip file itself", "added")
    assert finding.message == "something stands before its first entry, or after its end"
    assert "the zip file itself (added)" in await import_refused(bundles, sessions, file)


def shift_offsets(data: bytes, by: int) -> bytes:
    """The same zip, whose list says that everything stands so much further on."""
    changed = bytearray(data)
    end = data.rindex(b"PK\x05\x06")
    [start] = struct.unpack_from("<L", data, end + 16)
    struct.pack_into("<L", changed, end + 16, start + by)
    at = start
    while data[at : at + 4] == b"PK\x01\x02":
        struct.pack_into("<L", changed, at + 42, struct.unpack_from("<L", data, at + 42)[0] + by)
        at += 46 + sum(struct.unpack_from("<3H", data, at + 28))
    return bytes(changed)


async def test_what_stands_around_the_zip_is_found_though_its_list_counts_with_it(
    entries: Entries, tmp_path: Path
) -> None:
    data = zip_entries(entries)
    for lie in (b"MZ junk" + shift_offsets(data, 7), b"PK\x03\x04junk" + data, shift_offsets(data, 4) + b"junk"):
        [finding] = verify(write_bundle(tmp_path, lie)).findings
        assert (finding.entry, finding.problem) == ("the zip file itself", "added")


async def test_a_comment_of_the_zip_is_found(entries: Entries, tmp_path: Path) -> None:
    data = zip_entries(entries)
    report = verify(write_bundle(tmp_path, data[:-2] + b"\x04\x00junk"))
    assert [(one.entry, one.problem) for one in report.findings] == [("the zip file itself", "added")]


# Other versions -----------------------------------------------------------------------------------------------


def with_other_verdicts(entries: Entries) -> Entries:
    """Everywhere, and the transcript is not compared with what another version wrote."""
    lie = {
        name: content if name == MANIFEST else content.replace(b'"unsupported"', b'"partial"')
        for name, content in entries.items()
    }
    return reseal(lie)


async def test_verdicts_of_another_version_are_taken_and_that_is_said(
    bundles: Bundles, sessions: Sessions, entries: Entries, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lie = with_other_verdicts(entries)
    said = await import_refused(bundles, sessions, write_bundle(tmp_path, lie))
    assert "its verdict is 'partial', and made anew it is 'unsupported'" in said
    file = write_bundle(tmp_path, with_version(lie, "0.0.1\x1b[2J"))
    report = verify(file)
    assert [(one.entry, one.problem) for one in report.findings] == [("verdicts.json", "wrong")]
    assert report.notes[-1].endswith("another version may judge otherwise.")
    with caplog.at_level(logging.WARNING):
        head = await bundles.take("ben", file)
    assert [one.id for one in (await sessions.list("ben")).sessions] == [head.id]
    [logged] = caplog.messages
    assert logged == (
        "A bundle of Footnote 0.0.1\\x1b[2J was taken, of which 1 footnote would be judged otherwise by this version, "
        f"{__version__}."
    )


async def test_another_version_is_no_excuse_for_anything_else(
    bundles: Bundles, sessions: Sessions, entries: Entries, tmp_path: Path
) -> None:
    quoted = {
        name: content if name == MANIFEST or name.startswith("snapshots/") else content.replace(b"28 June", b"29 June")
        for name, content in entries.items()
    }
    said = await import_refused(bundles, sessions, write_bundle(tmp_path, with_version(reseal(quoted), "0.0.1")))
    assert f"a quotation does not stand in snapshots/{TREATY.id}.txt" in said
    cited = {
        name: content if name == MANIFEST else re.sub(rb'("quote": ?"It was signed on )28', rb"\g<1>29", content)
        for name, content in entries.items()
    }
    said = await import_refused(bundles, sessions, write_bundle(tmp_path, with_version(reseal(cited), "0.0.1")))
    assert f"its quotation does not stand in snapshots/{TREATY.id}.txt" in said
    lie = reseal({**with_other_verdicts(entries), "more": b""})
    said = await import_refused(bundles, sessions, write_bundle(tmp_path, with_version(lie, "0.0.1")))
    assert said.endswith("more (added): nothing in the bundle names it.")


# Addresses ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "url", "may_be"),
    [
        (SourceAddress("https://a.example/x", None), "https://a.example/x", True),
        (SourceAddress("https://a.example/x", None), "http://www.a.example/y?z", True),
        (SourceAddress("https://a.example/x", None), "https://b.example/x", False),
        (SourceAddress("https://a.example/x", "https://b.example/y"), "https://b.example/y", True),
        (SourceAddress("https://a.example/x", "https://b.example/y"), "https://b.example/z", False),
        (SourceAddress("https://a.example/x", "https://a.example/y"), "https://a.example/z", False),
        (SourceAddress("footnote://files/a.txt", None), "https://files/a.txt", False),
        (SourceAddress("footnote://files/a.txt", None), "footnote:bundles/ann/0", True),
        (SourceAddress("https://[", None), "https://a.example/", False),
    ],
)
def test_where_a_text_may_have_been_read(address: SourceAddress, url: str, may_be: bool) -> None:
    assert address.may_be(url) is may_be


async def test_a_text_that_was_read_elsewhere_since_is_told_where_the_session_found_it(
    bundles: Bundles, library: Library, study: Study, tmp_path: Path
) -> None:
    """The same text has one id, wherever it stands, and the library knows it by where it was read last."""
    later = msgspec.structs.replace(TREATY, url="https://mirror.example/treaty", fetched_at="2099-01-01T00:00:00Z")
    await library.for_user("ann").store(later)
    kept = await library.for_user("ann").snapshot(TREATY.id)
    assert (kept and kept.url) == later.url
    entries = read_entries(await export_bundle(bundles, study.session_id))
    [record] = json_of(entries["snapshots.json"])["snapshots"]
    assert record["url"] == TREATY.url
    assert SIGNED.encode() in entries[f"snapshots/{TREATY.id}.txt"]
    assert verify(write_bundle(tmp_path, entries)).findings == ()
