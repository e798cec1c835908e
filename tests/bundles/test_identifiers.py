"""An import replaces ids in machine-readable places, and nowhere in text for people."""

import time

import pytest

from bundles.sample_session import SampleSession, export_bundle, read_entries
from footnote.bundles.bundles import Bundles
from footnote.bundles.identifiers import NewIds
from footnote.bundles.schema import FILES, SESSION, FilesEntry, SessionEntry, decode_json
from footnote.protocol.messages import AssistantMessage, Text, ToolCall

ADDRESS = "s3://bucket/team/"


@pytest.fixture
async def entries(bundles: Bundles, sample: SampleSession) -> tuple[SessionEntry, FilesEntry]:
    found = read_entries(await export_bundle(bundles, sample.session_id))
    return decode_json(found[SESSION], SessionEntry, SESSION), decode_json(found[FILES], FilesEntry, FILES)


@pytest.fixture
def new_ids(entries: tuple[SessionEntry, FilesEntry]) -> NewIds:
    return NewIds(*entries, "cat", ADDRESS)


def test_an_address_of_any_storage_becomes_one_of_this_one(
    entries: tuple[SessionEntry, FilesEntry], new_ids: NewIds
) -> None:
    record = entries[1].files[-1].record
    new = new_ids.file(record)
    assert new.path == f"{ADDRESS}uploads/cat/{new.id}/báo cáo.pdf"
    for before in ("local://", "s3://other/", "s3://other/deep/er/"):
        text = f"See {before}{record.url}, and {record.url}: {record.id}."
        assert new_ids.text(text) == f"See {new.path}, and {new.url}: {new.id}."
    twice = f"{record.path} {record.path}"
    assert new_ids.text(twice) == f"{new.path} {new.path}"


def test_what_is_not_in_the_bundle_keeps_its_name(new_ids: NewIds) -> None:
    for text in (
        "local://uploads/ann/3f2a9c1e-0000-4000-8000-000000000000/x.pdf",
        "run_0000000000000000000000000000",
        "https://example.org/uploads/2024/x.png",
        "",
    ):
        assert new_ids.text(text) == text


def test_ids_keep_their_order_and_length(entries: tuple[SessionEntry, FilesEntry], new_ids: NewIds) -> None:
    old = [run.id for run in entries[0].runs]
    assert [new_ids.ids[one] for one in old] == sorted(new_ids.ids[one] for one in old)
    assert all(len(before) == len(after) and before != after for before, after in new_ids.ids.items())


def test_what_was_said_is_not_touched(entries: tuple[SessionEntry, FilesEntry], new_ids: NewIds) -> None:
    run_id = entries[0].runs[0].id
    message = AssistantMessage((Text(f"The run {run_id}."), ToolCall("c", "x", {"run": run_id})), "toolUse", "m")
    renamed = new_ids.message(message)
    assert renamed.content == (Text(f"The run {run_id}."), ToolCall("c", "x", {"run": new_ids.ids[run_id]}))


def test_long_texts_take_no_longer_than_they_are(new_ids: NewIds) -> None:
    # CPU seconds, so that a busy machine changes nothing.
    began = time.process_time()
    for text in (
        "a" * 2_000_000,
        "uploads/" * 200_000,
        "s3://" * 200_000,
        "uploads/" + "a" * 2_000_000,
        "msg_" * 500_000,
    ):
        assert new_ids.text(text) == text
    assert time.process_time() - began < 10
