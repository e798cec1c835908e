"""The behaviour of every storage: a folder, the memory, and a bucket of a real S3-compatible server."""

import asyncio
import secrets
from contextlib import aclosing
from pathlib import Path

import pytest

from footnote.storage.base import Storage, StorageFailed
from storage.contents import hash_of, place_of, put, read_all

SIZES = [0, 1, 262_143, 262_144, 262_145, 5_000_003]


@pytest.mark.parametrize("size", SIZES)
async def test_what_was_put_is_read_again_byte_for_byte(storage: Storage, size: int):
    content = secrets.token_bytes(size)
    assert await read_all(storage, await put(storage, content)) == content


@pytest.mark.parametrize("size", SIZES)
async def test_the_content_of_a_file_is_put_without_its_name(storage: Storage, tmp_path: Path, size: int):
    content = secrets.token_bytes(size)
    file = tmp_path / "../ödd näme".replace("/", "_")
    file.write_bytes(content)
    place = place_of(content)

    await storage.put(place, file, hash_of(content))

    assert await read_all(storage, place) == content
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    ("start", "end"),
    [(0, 1), (0, 10), (3, 7), (9, 10), (5, None), (0, 99), (9, 99), (10, None), (10, 20), (50, 60), (4, 4), (7, 3)],
)
async def test_a_range_is_read_as_python_cuts_a_text(storage: Storage, start: int, end: int | None):
    content = b"0123456789"
    place = await put(storage, content)
    assert await read_all(storage, place, start, end) == content[start:end]


async def test_a_range_of_a_large_content_crosses_pieces(storage: Storage):
    content = secrets.token_bytes(1_000_000)
    place = await put(storage, content)
    assert await read_all(storage, place, 200_000, 800_001) == content[200_000:800_001]


async def test_a_place_that_is_not_there_is_a_failure_that_says_so(storage: Storage):
    with pytest.raises(StorageFailed, match="A file that the database knows of is not in"):
        await read_all(storage, place_of(b"nothing"))


async def test_what_was_deleted_is_gone_and_can_be_deleted_again(storage: Storage):
    place = await put(storage, b"something")
    await storage.delete(place)
    await storage.delete(place)
    with pytest.raises(StorageFailed):
        await read_all(storage, place)


async def test_putting_the_same_content_twice_at_a_place_changes_nothing(storage: Storage):
    place = await put(storage, b"something")
    await storage.put(place, b"something", hash_of(b"something"))
    assert await read_all(storage, place) == b"something"


async def test_two_places_with_the_same_content_are_deleted_one_by_one(storage: Storage):
    first, second = await put(storage, b"the same"), await put(storage, b"the same")
    await storage.delete(first)
    assert await read_all(storage, second) == b"the same"


async def test_many_are_put_and_read_at_once(storage: Storage):
    contents = [secrets.token_bytes(1000 * number) for number in range(40)]
    places = await asyncio.gather(*(put(storage, content) for content in contents))
    assert await asyncio.gather(*(read_all(storage, place) for place in places)) == contents


async def test_a_reader_who_stops_halfway_leaves_nothing_open(storage: Storage):
    content = secrets.token_bytes(3_000_000)
    place = await put(storage, content)
    async with aclosing(storage.read(place)) as pieces:
        first = await anext(pieces)
    assert content.startswith(first)
    assert 0 < len(first) < len(content)
    assert await read_all(storage, place) == content


@pytest.mark.parametrize(
    "place", ["", "report.md", "../" + "a" * 64 + ".00000000", "aa/../../etc/passwd", "/etc/passwd", "aa/" + "a" * 64]
)
async def test_anything_but_a_place_is_a_mistake_of_ours(storage: Storage, place: str):
    with pytest.raises(AssertionError):
        await storage.put(place, b"", hash_of(b""))
    with pytest.raises(AssertionError):
        await read_all(storage, place)
    with pytest.raises(AssertionError):
        await storage.delete(place)


async def test_a_storage_that_works_has_nothing_to_say_when_it_is_checked(storage: Storage):
    assert await storage.check() is None
    await storage.close()
