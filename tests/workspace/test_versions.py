"""Versions, edits by agent and user, and restoring, compared with a plain list of texts."""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import engines
from footnote.db.engine import Database
from footnote.library import Library
from footnote.protocol.errors import FileChanged, UsageError
from footnote.sessions.store import Sessions
from footnote.storage.local import LocalStorage, MemoryStorage
from footnote.workspace.blobs import Blobs
from footnote.workspace.files import FileChange, FileMissing, Workspace
from footnote.workspace.text import make_diff, replace
from workspace.in_memory import in_memory_workspace

PATHS = st.sampled_from(["/a.md", "/folder/b.md", "/Ca\u0301.md", "/c\u00e1.md"])
TEXTS = st.text(alphabet="ab\n\r\u00e9\u4e2d", max_size=6) | st.sampled_from(["x" * 70_000, "y" * 70_000])


class VersionsMachine(RuleBasedStateMachine):
    """After any actions of agent and user each file equals its last version, and every version is still there."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.workspace: Workspace = self.run(self.open_workspace())
        self.files: dict[str, list[tuple[str, str]]] = {}
        self.seen: dict[str, int] = {}
        self.calls = 0

    async def open_workspace(self) -> Workspace:
        return in_memory_workspace()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        self.loop.close()

    def add(self, path: str, text: str, author: str) -> None:
        self.files.setdefault(path, []).append((text, author))

    def unseen(self, path: str) -> bool:
        return any(author == "user" for _, author in self.files.get(path, [])[self.seen.get(path, 0) :])

    def hash(self, path: str) -> str | None:
        versions = self.files.get(path)
        return sha256(versions[-1][0].encode()).hexdigest() if versions else None

    @rule(path=PATHS, text=TEXTS, again=st.booleans())
    def agent_writes(self, path: str, text: str, again: bool) -> None:
        self.calls += 1
        call_id = f"c{self.calls}"
        if self.unseen(normalize(path)):
            with pytest.raises(FileChanged):
                self.run(self.write(path, text, call_id))
            return
        for _ in range(1 + again):  # the same call, repeated after a crash, writes nothing
            assert self.run(self.write(path, text, call_id)).record.path == normalize(path)
        self.add(normalize(path), text, "agent")
        self.seen[normalize(path)] = len(self.files[normalize(path)])

    def write(self, path: str, text: str, call_id: str) -> Coroutine[Any, Any, Any]:
        return self.workspace.change(
            path, lambda _: FileChange(text, "done"), message_id="m", call_id=call_id, allow_unseen=False
        )

    @rule(path=PATHS, old=st.sampled_from("ab"), new=st.text(alphabet="ab", max_size=2), everywhere=st.booleans())
    def agent_edits(self, path: str, old: str, new: str, everywhere: bool) -> None:
        path = normalize(path)
        versions = self.files.get(path)
        current = versions[-1][0] if versions else None
        self.calls += 1
        work = self.workspace.edit(
            path,
            lambda text: FileChange(replace(text, old, new, replace_all=everywhere).text),
            message_id="m",
            call_id=f"c{self.calls}",
        )
        if current is None or old == new or not (current.count(old) == 1 or (everywhere and old in current)):
            with pytest.raises(FileMissing if current is None else UsageError):
                self.run(work)
            return
        self.run(work)
        knew = not self.unseen(path)
        self.add(path, current.replace(old, new), "agent")
        if knew:
            self.seen[path] = len(self.files[path])

    @rule(path=PATHS)
    def agent_reads(self, path: str) -> None:
        path = normalize(path)
        if path in self.files:
            self.run(self.workspace.mark_seen(path))
            if self.unseen(path):
                self.seen[path] = len(self.files[path])

    @rule(path=PATHS, text=TEXTS, knows=st.booleans())
    def user_saves(self, path: str, text: str, knows: bool) -> None:
        path = normalize(path)
        base = self.hash(path) if knows else sha256(b"something else").hexdigest()
        work = self.workspace.put(path, text, base_hash=base)
        if not knows:
            with pytest.raises(FileChanged):
                self.run(work)
            return
        self.run(work)
        if not self.files.get(path) or self.files[path][-1][0] != text:
            self.add(path, text, "user")

    @rule(path=PATHS, number=st.integers(1, 4))
    def user_restores(self, path: str, number: int) -> None:
        path = normalize(path)
        versions = self.files.get(path, [])
        if number > len(versions):
            with pytest.raises(FileMissing):
                self.run(self.workspace.restore(path, number))
            return
        self.run(self.workspace.restore(path, number))
        if versions[-1][0] != versions[number - 1][0]:
            self.add(path, versions[number - 1][0], "user")

    @rule(path=PATHS)
    def user_deletes(self, path: str) -> None:
        path = normalize(path)
        if path not in self.files:
            with pytest.raises(FileMissing):
                self.run(self.workspace.delete(path))
            return
        self.run(self.workspace.delete(path))
        del self.files[path]
        self.seen.pop(path, None)

    @invariant()
    def everything_is_there(self) -> None:
        assert [record.path for record in self.run(self.workspace.list())] == sorted(self.files)
        for path, versions in self.files.items():
            stored = self.run(self.workspace.versions(path))
            assert [(one.number, one.author) for one in reversed(stored)] == [
                (number, author) for number, (_, author) in enumerate(versions, 1)
            ]
            for number, (text, _) in enumerate(versions, 1):
                assert self.run(self.workspace.read(path, number)) == text.encode()
            assert self.run(self.workspace.read_text(path)) == versions[-1][0]


def normalize(path: str) -> str:
    return path.replace("a\u0301", "\u00e1")


class StoredVersionsMachine(VersionsMachine):
    """The same in a database, with small contents in it and large ones in the storage."""

    async def open_workspace(self) -> Workspace:
        self.opening = Database.in_memory()
        self.database = await self.opening.__aenter__()
        self.storage = MemoryStorage()
        self.blobs = Blobs(self.database, self.storage)
        sessions = Sessions(self.database, Library(self.database), self.blobs)
        return sessions.workspace("local", (await sessions.create("local", "researcher")).id)

    @invariant()
    def nothing_lies_in_the_storage_that_no_version_needs(self) -> None:
        large = {text for versions in self.files.values() for text, _ in versions if len(text.encode()) > 65_536}
        self.run(self.blobs.sweep())
        assert len(self.storage._contents) == len(large)

    def teardown(self) -> None:
        self.run(self.opening.__aexit__(None, None, None))
        super().teardown()


TestVersions = VersionsMachine.TestCase
TestVersions.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestStoredVersions = StoredVersionsMachine.TestCase
TestStoredVersions.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)


async def test_two_versions_are_compared_line_by_line() -> None:
    workspace = in_memory_workspace()
    await workspace.write("/a.md", "one\ntwo\u2028x\nthree", message_id=None)
    record = await workspace.write("/a.md", "one\n2\u2028x\nthree\n", message_id=None)
    newer, older = [
        (version, await workspace.read("/a.md", version.number)) for version in await workspace.versions("/a.md")
    ]
    diff = make_diff(record, older, newer)
    assert (diff.older, diff.newer, diff.added, diff.removed) == (1, 2, 2, 2)
    assert diff.diff == (
        "--- a.md (version 1)\n+++ a.md (version 2)\n@@ -1,3 +1,3 @@\n one\n-two\u2028x\n-three\n"
        "\\ No newline at end of file\n+2\u2028x\n+three\n"
    )
    assert make_diff(record, newer, newer).diff == ""
    assert make_diff(record, (older[0], b"\xff"), newer).diff is None


async def test_texts_of_lines_that_come_again_and_again_are_compared_as_a_block() -> None:
    workspace = in_memory_workspace()
    texts = ["".join(f"{number * step % 120}\n" for number in range(size)) for step, size in ((1, 20_000), (7, 24_000))]
    for text in texts:
        record = await workspace.write("/a.md", f"first\n{text}last\n", message_id=None)
    newer, older = [(one, await workspace.read("/a.md", one.number)) for one in await workspace.versions("/a.md")]
    diff = make_diff(record, older, newer)  # as one block: line by line it would take a minute
    assert diff.diff is not None
    assert (diff.added - diff.removed, diff.diff.splitlines()[:4]) == (
        4000,
        ["--- a.md (version 1)", "+++ a.md (version 2)", "@@ -1,20002 +1,24002 @@", " first"],
    )


WRITER = """
import asyncio, sys
from pathlib import Path
from footnote.db.engine import Database
from footnote.library import Library
from footnote.sessions.store import Sessions
from footnote.storage.local import LocalStorage
from footnote.workspace.blobs import Blobs

async def main(home: Path, url: str, session_id: str) -> None:
    async with Database.open(url, home) as database:
        blobs = Blobs(database, LocalStorage(home / "files"))
        workspace = Sessions(database, Library(database), blobs).workspace("local", session_id)
        for number in range(1, 100_000):
            size = 10 if number % 2 else 300_000
            await workspace.write("/a.md", f"{number} " * (size // len(f"{number} ")), message_id=None)
            print(number, flush=True)

asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
"""


@pytest.mark.slow
async def test_a_writer_that_is_killed_leaves_the_old_version_or_the_new_one(tmp_path: Path) -> None:
    async with Database.open(engines.database_url(tmp_path), tmp_path) as database:
        blobs = Blobs(database, LocalStorage(tmp_path / "files"), clock=lambda: 2e9)
        sessions = Sessions(database, Library(database), blobs)
        session_id = (await sessions.create("local", "researcher")).id
    for round_ in range(12):
        program = (sys.executable, "-c", WRITER, str(tmp_path), engines.database_url(tmp_path), session_id)
        writer = await asyncio.create_subprocess_exec(*program, stdout=asyncio.subprocess.PIPE)
        assert writer.stdout is not None
        for _ in range(3):
            await writer.stdout.readline()
        await asyncio.sleep(round_ * 0.002)  # somewhere during the next writes
        os.kill(writer.pid, signal.SIGKILL)
        await writer.wait()
        async with Database.open(engines.database_url(tmp_path), tmp_path) as database:
            blobs = Blobs(database, LocalStorage(tmp_path / "files"), clock=lambda: 2e9)
            workspace = Sessions(database, Library(database), blobs).workspace("local", session_id)
            for version in await workspace.versions("/a.md"):
                content = await workspace.read("/a.md", version.number)
                assert sha256(content).hexdigest() == version.hash
                assert len(content) == version.size
                number = content.split()[0]
                assert set(content.split()) == {number}
            await blobs.sweep()
            large = {one.hash for one in await workspace.versions("/a.md") if one.size > 65_536}
            lying = [file for file in (tmp_path / "files").rglob("*") if file.is_file()]
            assert len([file for file in lying if len(file.name) == 73]) == len(large)
