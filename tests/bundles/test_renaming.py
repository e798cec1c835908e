"""New ids for old ones, in what programs said to each other, and in nothing that was said to people."""

import time

import pytest

from bundles.shelf import Study, export_bundle, read_entries
from footnote.bundles.bundles import Bundles
from footnote.bundles.form import FILES, SESSION, FilesEntry, SessionEntry, read_json
from footnote.bundles.renaming import Renaming
from footnote.protocol.messages import AssistantMessage, Text, ToolCall

ADDRESS = "s3://bucket/team/"


@pytest.fixture
async def entries(bundles: Bundles, study: Study) -> tuple[SessionEntry, FilesEntry]:
    found = read_entries(await export_bundle(bundles, study.session_id))
    return read_json(found[SESSION], SessionEntry, SESSION), read_json(found[FILES], FilesEntry, FILES)


@pytest.fixture
def renaming(entries: tuple[SessionEntry, FilesEntry]) -> Renaming:
    return Renaming(*entries, "cat", ADDRESS)


def test_an_address_of_any_storage_becomes_one_of_this_one(
    entries: tuple[SessionEntry, FilesEntry], renaming: Renaming
) -> None:
    record = entries[1].files[-1].record
    new = renaming.file(record)
    assert new.path == f"{ADDRESS}uploads/cat/{new.id}/báo cáo.pdf"
    for before in ("local://", "s3://other/", "s3://other/deep/er/"):
        text = f"See {before}{record.url}, and {record.url}: {record.id}."
        assert renaming.text(text) == f"See {new.path}, and {new.url}: {new.id}."
    twice = f"{record.path} {record.path}"
    assert renaming.text(twice) == f"{new.path} {new.path}"


def test_what_is_not_in_the_bundle_keeps_its_name(renaming: Renaming) -> None:
    for text in (
        "local://uploads/ann/3f2a9c1e-0000-4000-8000-000000000000/x.pdf",
        "run_0000000000000000000000000000",
        "https://example.org/uploads/2024/x.png",
        "",
    ):
        assert renaming.text(text) == text


def test_ids_keep_their_order_and_length(entries: tuple[SessionEntry, FilesEntry], renaming: Renaming) -> None:
    old = [run.id for run in entries[0].runs]
    assert [renaming.ids[one] for one in old] == sorted(renaming.ids[one] for one in old)
    assert all(len(before) == len(after) and before != after for before, after in renaming.ids.items())


def test_what_was_said_is_not_touched(entries: tuple[SessionEntry, FilesEntry], renaming: Renaming) -> None:
    run_id = entries[0].runs[0].id
    message = AssistantMessage((Text(f"The run {run_id}."), ToolCall("c", "x", {"run": run_id})), "toolUse", "m")
    renamed = renaming.said(message)
    assert renamed.content == (Text(f"The run {run_id}."), ToolCall("c", "x", {"run": renaming.ids[run_id]}))


def test_long_texts_take_no_longer_than_they_are(renaming: Renaming) -> None:
    # Of the processor, which a busy machine gives when it has some.
    began = time.process_time()
    for text in (
        "a" * 2_000_000,
        "uploads/" * 200_000,
        "s3://" * 200_000,
        "uploads/" + "a" * 2_000_000,
        "msg_" * 500_000,
    ):
        assert renaming.text(text) == text
    assert time.process_time() - began < 10
