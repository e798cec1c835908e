import asyncio
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest

from documents.office import cells, xlsx
from footnote.documents.inspection import XLSX
from footnote.protocol.errors import UnprocessableFile
from footnote.sandbox.jobs import ConvertDocument, ConvertedDocument, DocumentText, ReadText
from footnote.sandbox.pool import JobFailed, SandboxPool
from responsive import responsive
from sandbox.hang_monitor import TIMEOUT_SECONDS, HangMonitor, is_running

WORKER = "sandbox.scripted_worker:work"
PROCESSES = Path("/proc/self/task")
pytestmark = pytest.mark.skipif(not PROCESSES.exists(), reason="looks at processes where Linux shows them")
FORKS = pytest.mark.parametrize("forks", [True, False], ids=["forked", "alone"])


def read_job(action: str, content: bytes = b"content") -> ReadText:
    return ReadText(content=content, filename=action, media_type="text/plain")


async def refusal(sandbox: SandboxPool, action: str, seconds: float = TIMEOUT_SECONDS) -> str:
    with pytest.raises(UnprocessableFile) as raised:
        await sandbox.run(read_job(action), seconds)
    return raised.value.message


# Work ----------------------------------------------------------------------------------------------------------------


@FORKS
async def test_a_file_is_read_by_the_real_reader_in_another_process(forks: bool) -> None:
    async with SandboxPool(use_fork=forks) as sandbox:
        text = "# Sông Hồng\n\nĐỏ.".encode()
        read = await sandbox.run(ReadText(content=text, filename="sông.md", media_type="text/markdown"))
    assert read == DocumentText(text="# Sông Hồng\n\nĐỏ.")


@FORKS
async def test_all_that_a_conversion_needs_comes_through(forks: bool) -> None:
    conversion = ConvertDocument(
        target="pdf", markdown="Đỏ", filename="a.md", images={"b.png": b"second", "a.png": b"", "c.png": b"third"}
    )
    async with SandboxPool(worker=WORKER, use_fork=forks) as sandbox:
        assert await sandbox.run(conversion) == ConvertedDocument(
            content=b"secondthird" + "Đỏ".encode(), notes=("b.png", "a.png", "c.png")
        )


@FORKS
async def test_large_files_go_both_ways_and_nobody_else_waits(forks: bool) -> None:
    megabytes = b"0123456789abcdef" * 2_500_000
    conversion = ConvertDocument(target="docx", markdown="", filename="a.md", images={"a.png": megabytes})
    async with SandboxPool(worker=WORKER, use_fork=forks) as sandbox, responsive():
        assert (await sandbox.run(read_job("size", megabytes))).text == "40000000"
        assert (await sandbox.run(conversion)).content == megabytes
        assert len((await sandbox.run(read_job("text 2000000"))).text or "") == 2_000_000


async def test_nothing_is_started_before_the_first_job() -> None:
    before = children()
    async with SandboxPool(worker=WORKER) as sandbox:
        assert children() <= before
        await sandbox.run(read_job("size"))
        assert len(children() - before) == 1
    assert children() <= before


def children() -> set[str]:
    found: set[str] = set()
    for file in PROCESSES.glob("*/children"):
        with suppress(OSError):  # of a thread that has just ended
            found.update(file.read_text().split())
    return found


async def test_each_job_has_a_process_of_its_own_and_all_have_one_parent() -> None:
    async with SandboxPool(worker=WORKER) as sandbox:
        done = [await sandbox.run(read_job("size")) for _ in range(3)]
    assert len({job.title for job in done}) == 3
    assert len({job.author for job in done}) == 1


async def test_many_jobs_at_once_get_each_its_own_answer() -> None:
    async with SandboxPool(worker=WORKER, max_processes=3) as sandbox:
        jobs = (sandbox.run(read_job("size", b"x" * number * 50_000), user=str(number)) for number in range(20))
        assert [job.text for job in await asyncio.gather(*jobs)] == [str(number * 50_000) for number in range(20)]


@FORKS
async def test_a_process_knows_no_key_of_the_environment(monkeypatch: pytest.MonkeyPatch, forks: bool) -> None:
    keys = {"ANTHROPIC_API_KEY": "sk-1", "FOOTNOTE_TOKEN": "secret", "https_proxy": "http://me:secret@proxy.test"}
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    environ = {**keys, "PATH": os.defpath, "LC_CTYPE": "C.UTF-8", "TZ": "UTC", "PYTHONPATH": "/nowhere"}
    async with SandboxPool(worker=WORKER, environ=environ, use_fork=forks) as sandbox:
        known = (await sandbox.run(read_job("environment"))).text
    assert known == "LC_CTYPE MALLOC_ARENA_MAX PATH TZ"


async def test_what_a_library_prints_does_not_come_into_the_answer() -> None:
    for forks in (True, False):
        async with SandboxPool(worker=WORKER, use_fork=forks) as sandbox:
            assert await sandbox.run(read_job("noise")) == DocumentText(text="quiet")


def test_it_works_on_the_loop_of_the_server() -> None:
    uvloop = pytest.importorskip("uvloop")

    async def main() -> DocumentText:
        async with SandboxPool(worker=WORKER) as sandbox:
            return await sandbox.run(read_job("size", b"x" * 3_000_000))

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(main()).text == "3000000"


async def test_without_the_packages_the_user_is_told_which() -> None:
    needs = 'Reading such files needs packages that are not installed: pip install "footnote[documents]"'
    async with SandboxPool(worker="sandbox.bare_worker:run") as sandbox:
        with pytest.raises(UnprocessableFile) as raised:
            await sandbox.run(ConvertDocument(target="pdf", markdown="x", filename="a.md"))
        for media_type, content in ((XLSX, xlsx({"A": cells(1, 1)})), ("application/pdf", b"%PDF-1.7")):
            with pytest.raises(JobFailed) as error:
                await sandbox.run(ReadText(content=content, filename="a", media_type=media_type))
            assert error.value.message == needs
    assert raised.value.message == 'Converting needs packages that are not installed: pip install "footnote[convert]"'


# Refusals ------------------------------------------------------------------------------------------------------------

MISTAKE = "could not be read: it is damaged, or there is a mistake in Footnote."


@FORKS
@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("refuse", "It is hostile."),
        ("memory", "memory is too large to be read: split it into smaller files."),
        ("killed SIGABRT", "killed SIGABRT is too large to be read: split it into smaller files."),
        ("killed SIGXCPU", "killed SIGXCPU takes too long to be read: split it into smaller files."),
        ("deep", "deep is nested too deeply: make it flatter."),
        (
            "missing",
            'Reading such files needs packages that are not installed: pip install "footnote[documents]"',
        ),
        ("killed SIGSEGV", f"killed SIGSEGV {MISTAKE}"),
        ("fail", f"fail {MISTAKE}"),
        ("panic", f"panic {MISTAKE}"),
        ("quit", f"quit {MISTAKE}"),
        ("lie", f"lie {MISTAKE}"),
    ],
)
async def test_whatever_a_job_does_the_user_gets_a_sentence_and_the_next_job_its_turn(
    action: str, message: str, forks: bool
) -> None:
    async with SandboxPool(worker=WORKER, use_fork=forks) as sandbox:
        assert await refusal(sandbox, action) == message
        assert (await sandbox.run(read_job("size"))).text == "7"


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("fail", "A file could not be read: ValueError: of ours"),
        ("panic", "A file could not be read: Panic: at the library"),
        ("quit", "A file could not be read: its process ended with 0"),
        ("lie", "A file could not be read: the result is of another kind"),
    ],
)
async def test_a_mistake_of_ours_is_logged(action: str, message: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        async with SandboxPool(worker=WORKER) as sandbox:
            await refusal(sandbox, action)
    assert caplog.messages == [message]


async def test_halves_of_characters_are_refused_before_they_are_sent() -> None:
    async with SandboxPool(worker=WORKER) as sandbox:
        with pytest.raises(UnprocessableFile, match=r"^a\.md holds characters that are none: remove them\.$"):
            await sandbox.run(ConvertDocument(target="pdf", markdown="\ud800", filename="a.md"))


# Ends ----------------------------------------------------------------------------------------------------------------


@FORKS
async def test_a_job_that_hangs_is_killed_and_what_it_wrote_is_removed(hang_monitor: HangMonitor, forks: bool) -> None:
    async with SandboxPool(worker=WORKER, environ=hang_monitor.environ, use_fork=forks) as sandbox:
        # A worker that starts cold must do so within this time.
        job = asyncio.create_task(refusal(sandbox, "hang", 2.0 if forks else 6.0))
        await hang_monitor.wait_started()
        assert await job == "hang takes too long to be read: split it into smaller files."
        await hang_monitor.wait_gone()


@FORKS
async def test_cancelling_kills_the_job_and_the_next_has_its_turn(hang_monitor: HangMonitor, forks: bool) -> None:
    async with SandboxPool(worker=WORKER, environ=hang_monitor.environ, use_fork=forks, max_processes=1) as sandbox:
        job = asyncio.create_task(sandbox.run(read_job("hang")))
        await hang_monitor.wait_started()
        following = asyncio.create_task(sandbox.run(read_job("hang")))
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
        await hang_monitor.wait_gone()
        await hang_monitor.wait_started()
        following.cancel()
        await asyncio.wait([following])


async def test_jobs_cancelled_while_their_process_starts_leave_the_turns_free_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    async with SandboxPool(worker=WORKER, max_processes=1) as sandbox:
        for rounds in range(12):
            job = asyncio.create_task(sandbox.run(read_job("size")))
            for _ in range(rounds):
                await asyncio.sleep(0)
            job.cancel()
            await asyncio.gather(job, return_exceptions=True)
        assert (await sandbox.run(read_job("size"))).text == "7"
    assert list(tmp_path.iterdir()) == []


@FORKS
async def test_closing_ends_a_job_that_is_under_way(hang_monitor: HangMonitor, forks: bool) -> None:
    sandbox = SandboxPool(worker=WORKER, environ=hang_monitor.environ, use_fork=forks)
    job = asyncio.create_task(refusal(sandbox, "hang"))
    await hang_monitor.wait_started()
    await sandbox.close()
    await hang_monitor.wait_gone()
    stopped = "was not read: the server is being stopped. Try again later."
    assert await job == f"hang {stopped}"
    assert await refusal(sandbox, "size") == f"size {stopped}"


@FORKS
async def test_closing_while_the_first_process_starts_leaves_nothing(
    forks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = children()
    for rounds in range(8):
        sandbox = SandboxPool(worker=WORKER, use_fork=forks)
        job = asyncio.create_task(sandbox.run(read_job("size")))
        for _ in range(rounds):
            await asyncio.sleep(0)
        await sandbox.close()
        await asyncio.gather(job, return_exceptions=True)
        await sandbox.close()
        assert (children() - before, list(tmp_path.iterdir())) == (set(), [])


@pytest.mark.parametrize("noticed", [True, False])
async def test_a_parent_that_died_between_two_jobs_is_replaced(noticed: bool) -> None:
    async with SandboxPool(worker=WORKER, max_processes=2) as sandbox:
        parent = int((await sandbox.run(read_job("size"))).author or 0)
        os.kill(parent, signal.SIGKILL)
        while is_running(parent):
            time.sleep(0.001)  # so that the end of the process goes unnoticed
        if noticed:
            assert sandbox._server is not None
            await asyncio.wait([sandbox._server._listening])
        following = await sandbox.run(read_job("size"))
    assert following.text == "7"
    assert int(following.author or 0) != parent


async def test_a_job_whose_parent_died_is_done_again(hang_monitor: HangMonitor) -> None:
    async with SandboxPool(worker=WORKER, environ=hang_monitor.environ) as sandbox:
        parent = int((await sandbox.run(read_job("size"))).author or 0)
        # It starts at once, and not when the first one times out.
        job = asyncio.create_task(sandbox.run(read_job("hang"), 20 * TIMEOUT_SECONDS))
        await hang_monitor.wait_started()
        before = hang_monitor.pid
        os.kill(parent, signal.SIGKILL)
        await hang_monitor.wait_started()
        assert hang_monitor.pid != before
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while is_running(before):
                await asyncio.sleep(0.001)
        job.cancel()
        await asyncio.wait([job])


async def test_a_job_whose_parent_died_twice_may_be_tried_another_time(hang_monitor: HangMonitor) -> None:
    async with SandboxPool(worker=WORKER, environ=hang_monitor.environ) as sandbox:
        job = asyncio.create_task(sandbox.run(read_job("hang")))
        for _ in range(2):
            await hang_monitor.wait_started()
            parent = Path(f"/proc/{hang_monitor.pid}/stat").read_text().rpartition(")")[2].split()[1]
            os.kill(int(parent), signal.SIGKILL)
        with pytest.raises(JobFailed, match="could not be read: the process that does it was ended from outside"):
            await job


async def test_ctrl_c_does_not_reach_the_processes() -> None:
    async with SandboxPool(worker=WORKER) as sandbox:
        parent = int((await sandbox.run(read_job("size"))).author or 0)
        assert os.getpgid(parent) != os.getpgid(0)
        os.kill(parent, signal.SIGINT)
        assert int((await sandbox.run(read_job("size"))).author or 0) == parent


async def test_a_module_in_the_current_folder_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "msgspec.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    async with SandboxPool(worker=WORKER) as sandbox:
        assert (await sandbox.run(read_job("size"))).text == "7"


SERVER = """
import asyncio, sys
from footnote.sandbox.jobs import ReadText
from footnote.sandbox.pool import SandboxPool

async def main(folder):
    async with SandboxPool(worker="sandbox.scripted_worker:work", environ={"TMPDIR": folder}) as sandbox:
        await sandbox.run(ReadText(content=b"", filename="hang", media_type=""))

asyncio.run(main(sys.argv[1]))
"""


async def test_all_processes_end_with_the_server_also_when_it_is_killed(
    hang_monitor: HangMonitor, tmp_path: Path
) -> None:
    environ = {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", SERVER, str(tmp_path)], env=environ) as server:
        await hang_monitor.wait_started()
        (parent,) = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
        server.kill()
        await hang_monitor.wait_gone()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while is_running(int(parent)) or hang_monitor.leftover.parents[2].exists():
                await asyncio.sleep(0.001)
