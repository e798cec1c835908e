"""The local storage: no partial or leftover files, and no access for other users."""

import asyncio
import os
import random
import secrets
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from footnote.storage.base import StorageFailed, StorageFull
from footnote.storage.local import INCOMING, LocalStorage
from storage.contents import hash_of, place_of, put, read_all

_WRITER = """
import asyncio, hashlib, secrets, sys
from pathlib import Path
from footnote.storage.local import LocalStorage

async def main():
    storage = LocalStorage(Path(sys.argv[1]))
    content = secrets.token_bytes(30_000_000)
    sha256 = hashlib.sha256(content).hexdigest()
    while True:
        await storage.put(f"{sha256[:2]}/{sha256}.{secrets.token_hex(4)}", content, sha256)
        print("put", flush=True)

asyncio.run(main())
"""


def _files(folder: Path) -> list[Path]:
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


async def test_only_the_owner_may_read_what_is_there(tmp_path: Path):
    place = await put(LocalStorage(tmp_path / "home" / "files"), b"private")
    file = tmp_path / "home" / "files" / place
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent, file.parent.parent)]
    assert modes == [0o600, 0o700, 0o700]


@pytest.mark.slow
def test_a_kill_in_the_middle_of_a_write_leaves_no_broken_place(tmp_path: Path):
    rng = random.Random(5)
    for round_ in range(8):
        folder = tmp_path / str(round_)
        writer = subprocess.Popen([sys.executable, "-c", _WRITER, folder], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        with writer.stdout as stdout:
            assert stdout.readline() == b"put\n"
            time.sleep(rng.uniform(0, 0.1))  # somewhere during one of the next writes
            writer.kill()
            writer.wait()
        places = [path for path in _files(folder) if path.parts[0] != INCOMING]
        assert {path.name[:64] for path in places} == {hash_of((folder / path).read_bytes()) for path in places}
        shutil.rmtree(folder)


async def test_what_a_killed_process_left_is_removed_after_an_hour(tmp_path: Path):
    old, new = tmp_path / INCOMING / "old", tmp_path / INCOMING / "new"
    old.parent.mkdir()
    old.write_bytes(b"half")
    new.write_bytes(b"hal")
    hour_ago = time.time() - 3601
    os.utime(old, (hour_ago, hour_ago))

    place = await put(LocalStorage(tmp_path), b"whole")

    assert _files(tmp_path) == sorted([new.relative_to(tmp_path), Path(place)])


@pytest.mark.parametrize("as_file", [True, False])
async def test_a_content_that_has_another_hash_is_not_kept(tmp_path: Path, *, as_file: bool):
    storage = LocalStorage(tmp_path / "files")
    source = tmp_path / "source"
    source.write_bytes(b"changed")
    with pytest.raises(StorageFailed, match="the content changed while it was copied"):
        await storage.put(place_of(b"as it was"), source if as_file else b"changed", hash_of(b"as it was"))
    assert _files(tmp_path / "files") == []


async def test_a_write_that_is_cancelled_leaves_nothing_and_lets_go_of_its_source(tmp_path: Path):
    storage = LocalStorage(tmp_path / "files")
    source = tmp_path / "source"
    os.mkfifo(source)  # the test decides when a piece is read
    incoming = tmp_path / "files" / INCOMING

    putting = asyncio.create_task(storage.put(place_of(b"one, two"), source, hash_of(b"one, two")))
    with await asyncio.to_thread(source.open, "wb", buffering=0) as stream:
        stream.write(b"one, ")
        while not any(file.stat().st_size for file in incoming.iterdir()):
            await asyncio.sleep(0.001)
        putting.cancel()
        for _ in range(10):
            await asyncio.sleep(0)
        assert not putting.done(), "the source is still being read"
        stream.write(b"two")
    with pytest.raises(asyncio.CancelledError):
        await putting

    assert _files(tmp_path / "files") == []


async def test_a_folder_that_is_none_is_a_failure_that_says_what_to_do(tmp_path: Path):
    (tmp_path / "files").write_text("no folder")
    storage = LocalStorage(tmp_path / "files")
    with pytest.raises(StorageFailed, match=r"cannot be written: .*storage\.url in config\.json"):
        await put(storage, b"x")
    with pytest.raises(StorageFailed, match="cannot be written"):
        await storage.check()
    with pytest.raises(StorageFailed, match="is not in"):
        await read_all(storage, place_of(b"x"))
    await storage.delete(place_of(b"x"))


@contextmanager
def _small_disk(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("only root may make a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="only there a small disk is made like this")
async def test_a_full_disk_is_said_to_be_full_and_keeps_what_it_had(tmp_path: Path):
    with _small_disk(tmp_path / "disk") as disk:
        storage = LocalStorage(disk / "files")
        small = await put(storage, b"small")
        with pytest.raises(StorageFull, match="There is no space left"):
            await put(storage, secrets.token_bytes(2_000_000))
        assert await read_all(storage, small) == b"small"
        assert _files(disk / "files") == [Path(small)]
        assert await read_all(storage, await put(storage, b"small too")) == b"small too"
