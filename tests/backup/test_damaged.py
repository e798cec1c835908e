"""A truncated, changed, forged, newer or foreign backup is refused, and nothing of it is stored."""

import hashlib
import io
import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from backup.installations import Installation, add_sample_session, without_storage_places
from footnote.backup.format import (
    BackupDamaged,
    BackupEnd,
    BackupKind,
    Head,
    NotABackup,
    PartWriter,
    RowsPart,
    decode,
    encode,
    read_parts,
)
from footnote.backup.verify import verify_backup
from footnote.db.backup import TABLES, NotEmpty
from footnote.db.errors import DatabaseFailed
from sessions.turn_writer import add_user

pytestmark = pytest.mark.embedded  # these tests name both kinds of engine themselves

LEFT = struct.calcsize(">cBII32s")


@pytest.fixture
async def backup(source: Installation) -> bytes:
    await add_sample_session(source)
    return await source.backup()


def write_parts(*parts: tuple[BackupKind, bytes]) -> bytes:
    target = io.BytesIO()
    writer = PartWriter(target.write)
    writer.begin()
    for kind, payload in parts:
        writer.add(kind, payload)
    return target.getvalue()


def split_parts(data: bytes) -> list[tuple[BackupKind, bytes]]:
    return [(part.kind, part.payload()) for part in read_parts(io.BytesIO(data))]


def with_rows(
    parts: list[tuple[BackupKind, bytes]], change: Callable[[RowsPart], RowsPart]
) -> list[tuple[BackupKind, bytes]]:
    return [
        (kind, encode(change(decode(payload, RowsPart))) if kind is BackupKind.ROWS else payload)
        for kind, payload in parts
    ]


def write_backup(folder: Path, data: bytes) -> Path:
    file = folder / "one.backup"
    file.write_bytes(data)
    return file


async def is_empty(installation: Installation) -> bool:
    rows = await installation.rows()
    files = [file for file in (installation.home / "files").rglob("*") if file.is_file()]
    return [row[0] for row in rows["account"]] == ["local"] and not rows["session"] and not files


async def test_a_backup_that_is_cut_off_anywhere_is_refused(
    backup: bytes, target: Installation, tmp_path: Path
) -> None:
    rng = random.Random(3)
    cuts = {0, 1, 17, 18, LEFT, len(backup) - 1, *(rng.randrange(len(backup)) for _ in range(40))}
    for cut in cuts:
        with pytest.raises((BackupDamaged, NotABackup)):
            verify_backup(write_backup(tmp_path, backup[:cut]))
    with pytest.raises(BackupDamaged, match="cut off: its end is missing"):
        await target.restore_backup(backup[:-1])
    assert await is_empty(target)


async def test_a_byte_that_is_another_one_is_noticed_wherever_it_stands(backup: bytes, tmp_path: Path) -> None:
    rng = random.Random(4)
    for _ in range(60):
        at = rng.randrange(len(backup))
        changed = bytearray(backup)
        changed[at] ^= 1 << rng.randrange(8)
        with pytest.raises((BackupDamaged, NotABackup)):
            verify_backup(write_backup(tmp_path, bytes(changed)))


async def test_parts_that_are_left_out_doubled_or_moved_are_noticed(backup: bytes, tmp_path: Path) -> None:
    """Also if all checksums were computed again."""
    whole = split_parts(backup)
    rows = next(at for at, (kind, _) in enumerate(whole) if kind is BackupKind.ROWS)
    content = next(at for at, (kind, _) in enumerate(whole) if kind is BackupKind.CONTENT)
    close = next(at for at, (kind, _) in enumerate(whole) if kind is BackupKind.CLOSE)
    for forged in (
        whole[:rows] + whole[rows + 1 :],
        [*whole[:rows], whole[rows], *whole[rows:]],
        whole[:content] + whole[close + 1 :],
        whole[1:],
        [*whole[:1], whole[-1]],
        whole[: content + 1] + whole[content + 2 :],
        whole[:close] + whole[close + 1 :],
    ):
        with pytest.raises(BackupDamaged):
            verify_backup(write_backup(tmp_path, write_parts(*forged)))
    assert verify_backup(write_backup(tmp_path, write_parts(*whole))).end.rows["session"] == 1
    with pytest.raises(BackupDamaged, match="behind the end"):
        verify_backup(write_backup(tmp_path, backup + b"\n"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a backup of Footnote"),
        (b"SQLite format 3\0", "not a backup of Footnote"),
        (b"Footnote backup x\n", "not a backup of Footnote"),
        (b"Footnote backup 2\n", "is of version 2, and this Footnote knows 1. Upgrade Footnote"),
    ],
)
def test_what_is_no_backup_or_a_newer_one_is_told(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(NotABackup, match=message):
        verify_backup(write_backup(tmp_path, data))


async def test_tables_of_a_newer_footnote_are_refused(backup: bytes, tmp_path: Path) -> None:
    (_, first), *others = split_parts(backup)
    head = decode(first, Head)
    for tables in ({**head.tables, "news": ("id",)}, {**head.tables, "account": (*head.tables["account"], "more")}):
        newer = encode(msgspec.structs.replace(head, tables=tables))
        with pytest.raises(NotABackup, match="a column that this one does not know"):
            verify_backup(write_backup(tmp_path, write_parts((BackupKind.HEAD, newer), *others)))


async def test_a_backup_of_an_older_footnote_gets_what_columns_are_without_being_named(
    backup: bytes, source: Installation, target: Installation
) -> None:
    """A backup without the table of digests and without three columns."""
    missing = {"session": {"titled", "origin"}, "run": {"pruned_to"}}
    (_, first), *others = split_parts(backup)
    head = decode(first, Head)
    tables = {name: _drop_columns(columns, columns, missing.get(name)) for name, columns in head.tables.items()}
    del tables["digest"]

    def older(part: RowsPart) -> RowsPart:
        columns = head.tables[part.table]
        return RowsPart(part.table, [_drop_columns(columns, row, missing.get(part.table)) for row in part.rows])

    end = decode(others[-1][1], BackupEnd)
    counted = msgspec.structs.replace(end, rows={name: end.rows[name] for name in tables})
    data = write_parts(
        (BackupKind.HEAD, encode(msgspec.structs.replace(head, tables=tables))),
        *with_rows(others[:-1], older),
        (BackupKind.END, encode(counted)),
    )
    await target.restore_backup(data)
    assert without_storage_places(await target.rows()) == without_storage_places(await source.rows())


def _drop_columns(columns: tuple[str, ...], values: tuple[Any, ...], names: set[str] | None) -> tuple[Any, ...]:
    return tuple(value for column, value in zip(columns, values, strict=True) if column not in (names or ()))


HEAD = encode(Head("0", "", {table.name: table.backup_columns for table in TABLES}))


@pytest.mark.parametrize(
    "row",
    [("a",), ("a", {}), ("a", [1]), ("a", True), ("a", 2**64 - 1), (1, b"", None), ("a", msgspec.msgpack.Ext(1, b""))],
)
def test_values_that_no_column_takes_are_refused(tmp_path: Path, row: tuple[Any, ...]) -> None:
    rows = msgspec.msgpack.encode(["library_fact", [row]])
    with pytest.raises(BackupDamaged):
        verify_backup(write_backup(tmp_path, write_parts((BackupKind.HEAD, HEAD), (BackupKind.ROWS, rows))))


@pytest.mark.parametrize("payload", [b"", b"\xc1", b"\x91" * 5000, b'{"a": 1}', encode(BackupEnd({}, 0, 0, 0, 0))])
def test_parts_that_are_something_else_are_refused(tmp_path: Path, payload: bytes) -> None:
    for kind in (
        BackupKind.ROWS,
        BackupKind.CONTENT,
        BackupKind.CHUNK,
        BackupKind.CLOSE,
        BackupKind.END,
        BackupKind.HEAD,
    ):
        with pytest.raises(BackupDamaged):
            verify_backup(write_backup(tmp_path, write_parts((BackupKind.HEAD, HEAD), (kind, payload))))


def test_a_part_that_unpacks_to_more_than_it_says_is_refused_before_it_does(tmp_path: Path) -> None:
    first = write_parts((BackupKind.HEAD, HEAD))
    bomb = zlib.compress(bytes(300_000_000), 1)
    for size, message in ((10, "cannot be unpacked"), (300_000_000, "not as it was written")):
        head = struct.pack(">cBII", b"R", 1, len(bomb), size)
        digest = _last_checksum(first, head, bomb)
        with pytest.raises(BackupDamaged, match=message):
            verify_backup(write_backup(tmp_path, first + head + digest + bomb))


def _last_checksum(first: bytes, head: bytes, body: bytes) -> bytes:
    before = first[first.index(b"\n") + 1 :][10:42]
    return hashlib.sha256(before + head + body).digest()


async def test_rows_that_the_database_refuses_leave_nothing_behind(backup: bytes, target: Installation) -> None:
    """The last table is invalid, so that all other rows and all files were written before."""
    whole = split_parts(backup)
    forged = RowsPart("rendition", [("nowhere", "key", None, "0" * 64, b"[]", 0.0)])
    end = decode(whole[-1][1], BackupEnd)
    counted = msgspec.structs.replace(end, rows={**end.rows, "rendition": 1})
    with pytest.raises(DatabaseFailed):
        await target.restore_backup(
            write_parts(*whole[:-1], (BackupKind.ROWS, encode(forged)), (BackupKind.END, encode(counted)))
        )
    assert await is_empty(target)
    await target.restore_backup(backup)
    assert (await target.rows())["session"]


async def test_only_an_empty_footnote_is_restored_into(
    backup: bytes, source: Installation, target: Installation
) -> None:
    before = await source.rows()
    with pytest.raises(NotEmpty, match="Choose an empty home folder"):
        await source.restore_backup(backup)
    assert await source.rows() == before
    async with target.open_stores() as (database, _):
        await database.write(add_user("ben"))
    with pytest.raises(NotEmpty):
        await target.restore_backup(backup)


async def test_no_place_is_taken_from_a_backup(backup: bytes, target: Installation) -> None:
    def elsewhere(part: RowsPart) -> RowsPart:
        if part.table != "blob":
            return part
        return RowsPart("blob", [(row[0], row[1], row[2] and "../../etc/passwd", row[3]) for row in part.rows])

    await target.restore_backup(write_parts(*with_rows(split_parts(backup), elsewhere)))
    places = [row[2] for row in (await target.rows())["blob"] if row[2] is not None]
    assert len(places) == 2
    assert not any(".." in place for place in places)
