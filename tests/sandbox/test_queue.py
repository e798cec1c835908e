"""The order of jobs: one queue for each kind of job, in which users take turns."""

import asyncio
from collections.abc import Awaitable

import pytest

from footnote.protocol.errors import LimitReached
from footnote.sandbox.jobs import ConvertDocument, DocumentText, ReadText
from footnote.sandbox.pool import JobQueue, QueueLimits, SandboxPool
from sandbox.hang_monitor import TIMEOUT_SECONDS, HangMonitor

LIMITS = QueueLimits("converted", max_running=1, max_waiting_per_user=3, max_waiting=5)


@pytest.fixture
async def queue() -> JobQueue:
    queue = JobQueue("convert", LIMITS)
    await queue.acquire("first")
    return queue


async def start_waiting(*waits: Awaitable[None]) -> list[asyncio.Task[None]]:
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    await asyncio.sleep(0)
    return tasks


async def refusal(queue: JobQueue, user: str) -> LimitReached:
    with pytest.raises(LimitReached) as raised:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await queue.acquire(user)
    return raised.value


async def test_users_take_turns_however_many_jobs_one_of_them_has(queue: JobQueue) -> None:
    order: list[str] = []

    async def job(user: str) -> None:
        await queue.acquire(user)
        order.append(user)
        queue.release()

    tasks = await start_waiting(job("many"), job("many"), job("many"), job("one"), job("other"))
    queue.release()
    await asyncio.gather(*tasks)
    assert order == ["many", "one", "other", "many", "many"]
    assert (queue.running, queue.waiting) == (0, 0)


async def test_a_user_with_too_many_waiting_jobs_is_told_what_to_do_and_others_are_not_held_up(queue: JobQueue) -> None:
    tasks = await start_waiting(*(queue.acquire("many") for _ in range(3)))
    error = await refusal(queue, "many")
    assert error.message == (
        "3 files of yours are waiting to be converted already: wait until one of them is done, then try again."
    )
    assert (error.retry_after, error.retryable) == (30.0, True)
    tasks += await start_waiting(queue.acquire("one"), queue.acquire("other"))
    assert (await refusal(queue, "third")).message == "Too many files are waiting to be converted: try again later."
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (queue.running, queue.waiting) == (1, 0)


async def test_a_job_that_is_given_up_leaves_the_queue_and_gives_back_a_turn_that_just_came(queue: JobQueue) -> None:
    waiting, granted = await start_waiting(queue.acquire("one"), queue.acquire("other"))
    waiting.cancel()
    await asyncio.wait([waiting])
    assert queue.waiting == 1
    queue.release()
    granted.cancel()
    await asyncio.wait([granted])
    assert (queue.running, queue.waiting) == (0, 0)
    await queue.acquire("one")


async def test_conversions_that_hang_hold_up_no_other_kind_of_job(tmp_path) -> None:
    hang_monitor = HangMonitor(tmp_path)
    async with SandboxPool(
        worker="sandbox.scripted_worker:work", max_processes=1, environ=hang_monitor.environ
    ) as sandbox:
        hanging = [
            asyncio.create_task(sandbox.run(ConvertDocument(target="pdf", markdown=f"hang {number}", filename="a.md")))
            for number in range(3)
        ]
        await hang_monitor.wait_started()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            read = await sandbox.run(ReadText(content=b"words", filename="text 3", media_type="text/plain"))
        assert read == DocumentText(text="xxx")
        assert not [task for task in hanging if task.done()], "it did not wait for their time limit"
        for task in hanging:
            task.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)
    hang_monitor.close()
