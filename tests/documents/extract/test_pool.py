import asyncio
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from footnote.documents.extract import Extracted, Unreadable, pool
from footnote.documents.extract.pool import JOBS, Extractor

READER = "documents.extract.readers:read"
LONG = 30.0


class Witness:
    """Sees a worker begin, and sees it gone: the FIFO that it holds ends with it."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.body = os.fsencode(path)
        # Nobody waits in `open` for a worker that never begins.
        self._fifo = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    async def begun(self) -> None:
        said: bytes | None = b""
        async with asyncio.timeout(LONG):
            while not said:
                await asyncio.sleep(0.001)
                said = self._read()
        assert said == b"begun\n"

    async def gone(self) -> None:
        async with asyncio.timeout(LONG):
            while (said := self._read()) is None:
                await asyncio.sleep(0.001)
        assert said == b""

    def _read(self) -> bytes | None:
        """None: whoever holds the other end says nothing."""
        try:
            return os.read(self._fifo, 100)
        except BlockingIOError:
            return None

    def close(self) -> None:
        os.close(self._fifo)


@pytest.fixture
def witness(tmp_path: Path) -> Iterator[Witness]:
    witness = Witness(tmp_path / "witness")
    yield witness
    witness.close()


async def extracted(extractor: Extractor, url: str, body: bytes = b"body", seconds: float = LONG) -> Extracted:
    return await extractor.extract(body, "text/html", url, seconds=seconds)


async def failure(extractor: Extractor, url: str, body: bytes = b"body", seconds: float = LONG) -> tuple[str, str]:
    with pytest.raises(Unreadable) as raised:
        await extracted(extractor, url, body, seconds)
    return raised.value.failure, raised.value.reason


async def test_a_document_is_taken_apart_by_the_real_reader_in_another_process() -> None:
    async with Extractor() as extractor:
        read = await extractor.extract("# Sông Hồng\n\nĐỏ.".encode(), "text/markdown", "https://a.test/", seconds=LONG)
    assert read == Extracted(text="# Sông Hồng\n\nĐỏ.", title="Sông Hồng", media_type="text/markdown")


async def test_a_process_knows_no_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {"ANTHROPIC_API_KEY": "sk-1", "FOOTNOTE_TOKEN": "secret", "https_proxy": "http://me:secret@proxy.test"}
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    environ = {**keys, "PATH": os.defpath, "LC_CTYPE": "C.UTF-8", "TMPDIR": "/tmp", "PYTHONPATH": "/nowhere"}
    async with Extractor(READER, environ=environ) as some, Extractor(READER) as none:
        assert (await extracted(some, "environment")).text.split() == ["LC_CTYPE", "PATH", "TMPDIR"]
        # Python itself may say which letters it decided for.
        assert set((await extracted(none, "environment")).text.split()) <= {"LC_CTYPE"}


async def test_what_makes_a_document_unreadable_comes_back_as_it_was_said() -> None:
    async with Extractor(READER) as extractor:
        assert await failure(extractor, "unreadable") == ("consent_wall", "it asks for consent first")


async def test_one_worker_serves_jobs_that_follow_each_other() -> None:
    async with Extractor(READER) as extractor:
        pids = {(await extracted(extractor, "page")).title for _ in range(3)}
    assert len(pids) == 1
    assert pids != {str(os.getpid())}


async def test_a_worker_is_replaced_after_many_jobs() -> None:
    async with Extractor(READER) as extractor:
        pids = [(await extracted(extractor, "page")).title for _ in range(JOBS + 1)]
    assert [len(set(pids[:JOBS])), len(set(pids))] == [1, 2]


async def test_twenty_jobs_at_once_get_each_its_own_answer_from_two_workers() -> None:
    async with Extractor(READER) as extractor:
        jobs = (extracted(extractor, f"page {number}", b"x" * number * 50_000) for number in range(20))
        answers = await asyncio.gather(*jobs)
    assert [answer.text for answer in answers] == [f"page {number} {number * 50_000}" for number in range(20)]
    assert len({answer.title for answer in answers}) == 2


async def test_a_document_that_hangs_is_given_up_and_its_process_killed(
    witness: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Extractor(READER) as extractor:
        await extracted(extractor, "page")  # the start of a process takes as long as it takes
        with monkeypatch.context() as patch:
            patch.setattr(pool, "SECONDS", 2.0)
            job = asyncio.create_task(failure(extractor, "hang", witness.body))
            await witness.begun()
            assert await job == ("timeout", "it could not be taken apart within 2 seconds")
        await witness.gone()
        assert (await extracted(extractor, "next")).text == "next 4"


async def test_a_job_whose_turn_does_not_come_says_so(tmp_path: Path) -> None:
    witnesses = [Witness(tmp_path / name) for name in ("one", "two")]
    async with Extractor(READER) as extractor:
        jobs = [asyncio.create_task(extracted(extractor, "hang", witness.body)) for witness in witnesses]
        for witness in witnesses:
            await witness.begun()
        assert await failure(extractor, "page", seconds=0.05) == (
            "timeout",
            "its turn to be taken apart did not come within 0.05 seconds",
        )
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)
        for witness in witnesses:
            await witness.gone()
            witness.close()


@pytest.mark.parametrize("crash", ["abort", "killed"])
async def test_a_crash_costs_one_document(crash: str) -> None:
    async with Extractor(READER) as extractor:
        before = (await extracted(extractor, "page")).title
        assert await failure(extractor, crash) == ("unreadable", "it could not be taken apart")
        assert (await extracted(extractor, "next")).title != before


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
async def test_a_document_that_eats_memory_costs_one_document() -> None:
    async with Extractor(READER) as extractor:
        before = (await extracted(extractor, "page")).title
        assert await failure(extractor, "memory") == ("unreadable", "it could not be taken apart")
        assert (await extracted(extractor, "next")).title != before


async def test_a_mistake_of_ours_is_logged_and_the_worker_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    async with Extractor(READER) as extractor:
        before = (await extracted(extractor, "page")).title
        with caplog.at_level(logging.WARNING):
            assert await failure(extractor, "mistake") == ("unreadable", "it could not be taken apart")
        assert (await extracted(extractor, "next")).title == before
    assert caplog.messages == ["Taking a document apart failed: ValueError: of ours"]


async def test_what_a_library_prints_does_not_come_between_the_answers() -> None:
    async with Extractor(READER) as extractor:
        assert [(await extracted(extractor, url)).text for url in ("print", "next")] == ["print 4", "next 4"]


async def test_a_worker_that_died_between_two_jobs_is_replaced() -> None:
    async with Extractor(READER) as extractor:
        pid = int((await extracted(extractor, "page")).title)
        os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(LONG):
            while _exists(pid):
                await asyncio.sleep(0)
        assert (await extracted(extractor, "next")).text == "next 4"


async def test_a_cancelled_job_leaves_no_answer_for_the_next(witness: Witness) -> None:
    async with Extractor(READER) as extractor:
        job = asyncio.create_task(extracted(extractor, "hang", witness.body))
        await witness.begun()
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
        assert (await extracted(extractor, "next")).text == "next 4"
        await witness.gone()


async def test_jobs_cancelled_while_their_worker_starts_leave_the_turns_free() -> None:
    async with Extractor(READER) as extractor:
        for rounds in range(6):
            job = asyncio.create_task(extracted(extractor, "page"))
            for _ in range(rounds):
                await asyncio.sleep(0)
            job.cancel()
            await asyncio.gather(job, return_exceptions=True)
        assert (await extracted(extractor, "next")).text == "next 4"


async def test_closing_ends_a_job_that_is_under_way(witness: Witness) -> None:
    extractor = Extractor(READER)
    job = asyncio.create_task(failure(extractor, "hang", witness.body))
    await witness.begun()
    await extractor.close()
    await witness.gone()
    assert await job == ("unreadable", "it could not be taken apart")
    assert await failure(extractor, "next") == ("unreadable", "it could not be taken apart")


async def test_ctrl_c_does_not_reach_a_worker() -> None:
    async with Extractor(READER) as extractor:
        pid = int((await extracted(extractor, "page")).title)
        assert os.getpgid(pid) != os.getpgid(0)
        os.kill(pid, signal.SIGINT)
        assert int((await extracted(extractor, "next")).title) == pid


async def test_a_module_in_the_current_folder_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "msgspec.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    async with Extractor(READER) as extractor:
        assert (await extracted(extractor, "page")).text == "page 4"


PARENT = """
import asyncio, os, signal, sys
from footnote.documents.extract.pool import Extractor

async def main(url, body):
    async with Extractor("documents.extract.readers:read") as extractor:
        await extractor.extract(b"", "text/html", "first", seconds=30)
        await extractor.extract(os.fsencode(body), "text/html", url, seconds=3)
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main(*sys.argv[1:]))
"""


def _parent(url: str, body: bytes) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(sys.path)
    return subprocess.Popen([sys.executable, "-c", PARENT, url, os.fsdecode(body)], env={"PYTHONPATH": path})


async def test_a_worker_ends_with_its_parent_also_when_that_is_killed(witness: Witness) -> None:
    with _parent("page", witness.body) as parent:
        await witness.begun()
        await witness.gone()
        assert await asyncio.to_thread(parent.wait) == -signal.SIGKILL


@pytest.mark.slow
async def test_a_worker_that_hangs_ends_by_itself_when_its_parent_is_killed(witness: Witness) -> None:
    with _parent("hang", witness.body) as parent:
        await witness.begun()
        parent.kill()
        await witness.gone()


def _exists(pid: int) -> bool:
    """Not reaped counts as gone."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False
