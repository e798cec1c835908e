"""A bundle whose verdicts or quotations were forged, with matching hashes, fails verification and is not imported."""

import logging
import re
import struct
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import pytest

from bundles.sample_session import (
    SIGNED,
    SampleSession,
    export_bundle,
    json_of,
    read_entries,
    reseal,
    write_bundle,
    zip_entries,
)
from footnote.bundles.bundles import Bundles
from footnote.bundles.derived import SourceAddress
from footnote.bundles.manifest import MANIFEST, Manifest, encode_manifest
from footnote.bundles.schema import BundleDamaged, BundleRejected
from footnote.bundles.verify import verify
from footnote.library import Library
from footnote.protocol import __version__
from footnote.sessions.store import Sessions
from library.samples import TREATY

Entries = dict[str, bytes]


@pytest.fixture
async def entries(bundles: Bundles, sample: SampleSession) -> Entries:
    return read_entries(await export_bundle(bundles, sample.session_id))


async def import_refused(bundles: Bundles, sessions: Sessions, file: Path) -> str:
    with pytest.raises((BundleDamaged, BundleRejected)) as error:
        await bundles.import_bundle("ben", file)
    assert (await sessions.list("ben")).sessions == ()
    return error.value.message


def with_version(entries: Mapping[str, bytes], version: str) -> Entries:
    """The same bundle, with the version of another Footnote."""
    manifest = msgspec.json.decode(entries[MANIFEST], type=Manifest)
    return {**entries, MANIFEST: encode_manifest(msgspec.structs.replace(manifest, footnote=version))}


def replace_in_entry(entries: Entries, name: str, old: bytes, new: bytes) -> Entries:
    assert old in entries[name]
    return reseal({**entries, name: entries[name].replace(old, new)})


def with_escape(content: bytes) -> bytes:
    """With an escape sequence in the title of the session, which is the first title in the file."""
    return content.replace(b'"title": "', b'"title": "\\u001b]0;pwned\\u0007', 1)


ENTRIES: dict[str, tuple[Callable[[Entries], Entries], str]] = {
    "a changed transcript": (
        lambda one: replace_in_entry(one, "transcript.md", b"1919", b"1918"),
        "transcript.md (wrong): it differs from session.json",
    ),
    "a changed question": (
        lambda one: replace_in_entry(one, "session.json", b"Where was", b"Why was"),
        "transcript.md (wrong): it differs from session.json",
    ),
    "a forged verdict": (
        lambda one: replace_in_entry(one, "verdicts.json", b'"unsupported"', b'"supported"'),
        "verdicts.json (wrong): it differs from session.json",
    ),
    "an added file": (lambda one: reseal({**one, "/etc/passwd": b"x"}), "/etc/passwd (added)"),
    "a file that climbs": (lambda one: reseal({**one, "../../x": b"x"}), "../../x (added)"),
    "a title that steers a terminal": (
        lambda one: reseal(
            {**one, **{name: with_escape(one[name]) for name in ("session.json", "history.json", MANIFEST)}}
        ),
        "transcript.md (wrong): it differs from session.json",
    ),
}


@pytest.mark.parametrize("name", ENTRIES)
async def test_a_forged_entry_is_found_and_not_imported(
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
    message = await import_refused(bundles, sessions, write_bundle(tmp_path, lie))
    assert message.endswith("files/4 (added): nothing in the bundle refers to it; and 3 more.")
    assert "files/5" not in message


@pytest.mark.parametrize(("before", "after"), [(b"MZ junk", b""), (b"", b"junk"), (b"", b"x" * 1000)])
async def test_what_stands_around_the_zip_is_found(
    before: bytes, after: bytes, bundles: Bundles, sessions: Sessions, entries: Entries, tmp_path: Path
) -> None:
    file = write_bundle(tmp_path, before + zip_entries(entries) + after)
    [finding] = verify(file).findings
    assert (finding.entry, finding.problem) == ("the zip file itself", "added")
    assert finding.message == "there are bytes before its first entry or after its end"
    assert "the zip file itself (added)" in await import_refused(bundles, sessions, file)


def shift_offsets(data: bytes, by: int) -> bytes:
    """The same zip, whose directory shifts all offsets."""
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
    """Replaces the text everywhere; transcripts of another version are not compared."""
    lie = {
        name: content if name == MANIFEST else content.replace(b'"unsupported"', b'"partial"')
        for name, content in entries.items()
    }
    return reseal(lie)


async def test_verdicts_of_another_version_are_imported_and_logged(
    bundles: Bundles, sessions: Sessions, entries: Entries, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lie = with_other_verdicts(entries)
    message = await import_refused(bundles, sessions, write_bundle(tmp_path, lie))
    assert "its verdict is 'partial', and judged again it is 'unsupported'" in message
    file = write_bundle(tmp_path, with_version(lie, "0.0.1\x1b[2J"))
    report = verify(file)
    assert [(one.entry, one.problem) for one in report.findings] == [("verdicts.json", "wrong")]
    assert report.notes[-1].endswith("another version may judge otherwise.")
    with caplog.at_level(logging.WARNING):
        head = await bundles.import_bundle("ben", file)
    assert [one.id for one in (await sessions.list("ben")).sessions] == [head.id]
    [logged] = caplog.messages
    assert logged == (
        f"A bundle of Footnote 0.0.1\\x1b[2J was imported; this version, {__version__}, "
        "would judge 1 footnote differently."
    )


async def test_another_version_is_no_excuse_for_anything_else(
    bundles: Bundles, sessions: Sessions, entries: Entries, tmp_path: Path
) -> None:
    quoted = {
        name: content if name == MANIFEST or name.startswith("snapshots/") else content.replace(b"28 June", b"29 June")
        for name, content in entries.items()
    }
    message = await import_refused(bundles, sessions, write_bundle(tmp_path, with_version(reseal(quoted), "0.0.1")))
    assert f"a quotation of a source is not in snapshots/{TREATY.id}.txt" in message
    cited = {
        name: content if name == MANIFEST else re.sub(rb'("quote": ?"It was signed on )28', rb"\g<1>29", content)
        for name, content in entries.items()
    }
    message = await import_refused(bundles, sessions, write_bundle(tmp_path, with_version(reseal(cited), "0.0.1")))
    assert f"its quotation is not in snapshots/{TREATY.id}.txt" in message
    lie = reseal({**with_other_verdicts(entries), "more": b""})
    message = await import_refused(bundles, sessions, write_bundle(tmp_path, with_version(lie, "0.0.1")))
    assert message.endswith("more (added): nothing in the bundle refers to it.")


# Addresses ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "url", "may_serve"),
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
def test_where_a_text_may_have_been_read(address: SourceAddress, url: str, may_serve: bool) -> None:
    assert address.may_serve(url) is may_serve


async def test_a_text_that_was_read_elsewhere_since_is_told_where_the_session_found_it(
    bundles: Bundles, library: Library, sample: SampleSession, tmp_path: Path
) -> None:
    """A text has one id wherever it was read; the library knows it by the URL where it was read last."""
    later = msgspec.structs.replace(TREATY, url="https://mirror.example/treaty", fetched_at="2099-01-01T00:00:00Z")
    await library.for_user("ann").store(later)
    stored = await library.for_user("ann").snapshot(TREATY.id)
    assert (stored and stored.url) == later.url
    entries = read_entries(await export_bundle(bundles, sample.session_id))
    [record] = json_of(entries["snapshots.json"])["snapshots"]
    assert record["url"] == TREATY.url
    assert SIGNED.encode() in entries[f"snapshots/{TREATY.id}.txt"]
    assert verify(write_bundle(tmp_path, entries)).findings == ()
