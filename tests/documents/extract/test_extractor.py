"""Documents of the web are parsed in the sandbox, one process each, where an exploited parser gains nothing."""

import asyncio
import json
import logging
import platform
import sqlite3
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from footnote.documents.extract import ExtractedPage, UnreadableDocument
from footnote.sandbox.pool import SandboxPool
from footnote.web_search.crawl.crawler import Extractor
from sandbox.hang_monitor import TIMEOUT_SECONDS, HangMonitor, is_running
from sandbox.test_confine import landlock

WORKER = "documents.extract.hostile_worker:work"
BROKEN = ("unreadable", "it could not be taken apart")
LINUX = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"), reason="only Linux has such a sandbox"
)


@pytest.fixture
async def extractor() -> AsyncIterator[Extractor]:
    async with SandboxPool(worker=WORKER) as sandbox:
        yield Extractor(sandbox)


async def extract_page(
    extractor: Extractor, url: str, body: bytes = b"body", seconds: float = TIMEOUT_SECONDS
) -> ExtractedPage:
    return await extractor.extract(body, "text/html", url, seconds=seconds)


async def failure(extractor: Extractor, url: str, seconds: float = TIMEOUT_SECONDS) -> tuple[str, str]:
    with pytest.raises(UnreadableDocument) as raised:
        await extract_page(extractor, url, seconds=seconds)
    return raised.value.failure, raised.value.reason


async def test_a_document_is_taken_apart_by_the_real_parser_in_another_process() -> None:
    async with SandboxPool() as sandbox:
        read = await Extractor(sandbox).extract(
            "# Sông Hồng\n\nĐỏ.".encode(), "text/markdown", "https://a.test/", seconds=TIMEOUT_SECONDS
        )
    assert read == ExtractedPage(text="# Sông Hồng\n\nĐỏ.", title="Sông Hồng", media_type="text/markdown")


@LINUX
async def test_a_broken_parser_reads_no_settings_opens_no_database_connects_nowhere_and_starts_nothing(
    extractor: Extractor, tmp_path: Path
) -> None:
    settings = json.dumps({"key": "secret"})
    (tmp_path / "config.json").write_text(settings)
    with sqlite3.connect(tmp_path / "footnote.db") as database:
        database.execute("CREATE TABLE secret (value TEXT)")
    outcomes = dict(
        line.split(": ") for line in (await extract_page(extractor, f"break-out#{tmp_path}")).text.splitlines()
    )
    if not landlock():
        outcomes = {name: outcome for name, outcome in outcomes.items() if name in ("connect", "start a program")}
    assert set(outcomes.values()) == {"refused"}
    assert (tmp_path / "config.json").read_text() == settings or not landlock()


@LINUX
async def test_a_broken_parser_sees_no_other_document_and_does_not_survive_its_own(extractor: Extractor) -> None:
    assert (await extract_page(extractor, "remember", b"of the first user")).text == ""
    assert (await extract_page(extractor, "remember", b"of the second user")).text == ""
    assert (await extract_page(extractor, "stay")).text == "refused"
    one, other = [await extract_page(extractor, "page") for _ in range(2)]
    assert one.title != other.title
    assert one.author == other.author


async def test_a_process_knows_no_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {"ANTHROPIC_API_KEY": "sk-1", "FOOTNOTE_TOKEN": "secret", "https_proxy": "http://me:secret@proxy.test"}
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    async with SandboxPool(worker=WORKER, environ=keys) as sandbox:
        known = (await extract_page(Extractor(sandbox), "environment")).text.split()
    assert not {*known} & {*keys}


async def test_what_makes_a_document_unreadable_comes_back_as_it_was_said(extractor: Extractor) -> None:
    assert await failure(extractor, "unreadable") == ("consent_wall", "it asks for consent first")


async def test_twenty_documents_at_once_get_each_its_own_answer(extractor: Extractor) -> None:
    jobs = (extract_page(extractor, f"page-{number}", b"x" * number * 50_000) for number in range(20))
    answers = await asyncio.gather(*jobs)
    assert [answer.text for answer in answers] == [f"page-{number} {number * 50_000}" for number in range(20)]
    assert len({answer.title for answer in answers}) == 20, "each in a process of its own"


async def test_a_document_that_hangs_holds_up_no_other_and_is_killed_when_its_time_is_over(
    hang_monitor: HangMonitor,
) -> None:
    async with SandboxPool(worker=WORKER, environ=hang_monitor.environ) as sandbox:
        extractor = Extractor(sandbox)
        await extract_page(extractor, "page")  # the fork server may start slowly
        job = asyncio.create_task(failure(extractor, "hang", seconds=3.0))
        await hang_monitor.wait_started()
        assert (await extract_page(extractor, "next")).text == "next 4"
        assert await job == ("timeout", "it could not be taken apart within 3 seconds")
        await hang_monitor.wait_gone()


async def test_a_document_whose_turn_does_not_come_says_so(hang_monitor: HangMonitor) -> None:
    async with SandboxPool(worker=WORKER, environ=hang_monitor.environ, max_processes=1) as sandbox:
        extractor = Extractor(sandbox)
        job = asyncio.create_task(extract_page(extractor, "hang"))
        await hang_monitor.wait_started()
        assert await failure(extractor, "page", seconds=0.05) == (
            "timeout",
            "its turn to be taken apart did not come within 0.05 seconds",
        )
        job.cancel()
        await asyncio.gather(job, return_exceptions=True)
        await hang_monitor.wait_gone()


async def test_a_search_that_is_given_up_kills_the_processes_of_its_documents(hang_monitor: HangMonitor) -> None:
    async with SandboxPool(worker=WORKER, environ=hang_monitor.environ) as sandbox:
        job = asyncio.create_task(extract_page(Extractor(sandbox), "hang"))
        await hang_monitor.wait_started()
        assert is_running(hang_monitor.pid)
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
        await hang_monitor.wait_gone()


@pytest.mark.parametrize("crash", ["abort", "killed"])
async def test_a_crash_costs_one_document(extractor: Extractor, crash: str) -> None:
    assert await failure(extractor, crash) == BROKEN
    assert (await extract_page(extractor, "next")).text == "next 4"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
async def test_a_document_that_eats_memory_costs_one_document(extractor: Extractor) -> None:
    assert await failure(extractor, "memory") == BROKEN
    assert (await extract_page(extractor, "next")).text == "next 4"


async def test_a_mistake_of_ours_is_logged_and_costs_one_document(
    extractor: Extractor, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert await failure(extractor, "mistake") == BROKEN
    assert (await extract_page(extractor, "next")).text == "next 4"
    assert caplog.messages == ["A file could not be read: ValueError: of ours"]


async def test_what_a_library_prints_does_not_come_between_the_answers(extractor: Extractor) -> None:
    assert [(await extract_page(extractor, url)).text for url in ("noise", "next")] == ["quiet", "next 4"]


async def test_closing_ends_a_document_that_is_under_way(hang_monitor: HangMonitor) -> None:
    sandbox = SandboxPool(worker=WORKER, environ=hang_monitor.environ)
    extractor = Extractor(sandbox)
    job = asyncio.create_task(failure(extractor, "hang"))
    await hang_monitor.wait_started()
    await sandbox.close()
    await hang_monitor.wait_gone()
    assert await job == BROKEN
    assert await failure(extractor, "next") == BROKEN
