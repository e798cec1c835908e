"""A file that could not be read for a transient reason is read when it is uploaded again; no other file is."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from documents.office import docx, paragraph
from footnote.app import App
from footnote.protocol.errors import UnprocessableFile
from footnote.protocol.files import FileRecord
from footnote.sandbox.jobs import Job, ReadText
from footnote.sandbox.pool import JobFailed, ParserRefused, SandboxPool
from footnote.workspace.files import NotText
from footnote.workspace.uploads import Uploads

AGAIN = "upload it again to have that tried once more"
WORDS = docx(paragraph("A treaty was signed."))


class FailingSandboxPool(SandboxPool):
    """Raises the given failures in turn, and then does the work."""

    def __init__(self, *failures: Exception) -> None:
        super().__init__()
        self._failures = list(failures)
        self.read_count = 0

    async def run(self, job: Job, seconds: float = 30.0, **options: Any):
        if isinstance(job, ReadText):
            self.read_count += 1
            if self._failures:
                raise self._failures.pop(0)
        return await super().run(job, seconds, **options)


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    async with App.open(home=tmp_path / "home", environ={}) as opened:
        yield opened


@pytest.fixture
async def session_id(app: App) -> str:
    return (await app.sessions.create("local", "researcher")).id


async def upload(app: App, session_id: str, content: bytes = WORDS) -> FileRecord:
    async def pieces() -> AsyncIterator[bytes]:
        yield content

    async with app.uploads.spool(pieces()) as spooled:
        return await app.uploads.accept("local", session_id, "a.docx", spooled)


async def stored_text(app: App, session_id: str, record: FileRecord) -> str:
    try:
        return await app.sessions.workspace("local", session_id).extracted_text(record.path)
    except NotText as error:
        return error.message


def use_sandbox(app: App, sandbox: SandboxPool) -> None:
    app.uploads = Uploads(app._database, app.blobs, app.library, sandbox, app.spool, max_bytes=1_000_000)


async def test_what_failed_for_a_passing_reason_is_read_when_it_is_brought_again(app: App, session_id: str) -> None:
    async with FailingSandboxPool(
        JobFailed("a.docx takes too long to be read."), JobFailed("a.docx takes too long again.")
    ) as sandbox:
        use_sandbox(app, sandbox)
        first = await upload(app, session_id)
        assert await stored_text(app, session_id, first) == (
            f"a.docx has no text to be read: it takes too long to be read; {AGAIN}."
        )
        assert await upload(app, session_id) == first
        assert await stored_text(app, session_id, first) == (
            f"a.docx has no text to be read: it takes too long again; {AGAIN}."
        )
        assert sandbox.read_count == 2, "asking for the text tries nothing: a file that kills its reader is no loop"
        assert await upload(app, session_id) == first
        assert await stored_text(app, session_id, first) == "A treaty was signed."
        [found] = await app.library.for_user("local").search("treaty signed", 5)
        assert found.url.startswith("footnote://files/a.docx")
        assert await upload(app, session_id) == first
        assert sandbox.read_count == 3
    assert len(await app.sessions.workspace("local", session_id).list()) == 1


async def test_what_the_reader_said_of_a_file_stands(app: App, session_id: str) -> None:
    async with FailingSandboxPool(ParserRefused("a.docx is damaged.")) as sandbox:
        use_sandbox(app, sandbox)
        first = await upload(app, session_id)
        assert await upload(app, session_id) == first
        assert await stored_text(app, session_id, first) == "a.docx has no text to be read: it is damaged."
        assert sandbox.read_count == 1


async def test_many_that_bring_it_again_at_once_get_one_file_with_its_text(app: App, session_id: str) -> None:
    async with FailingSandboxPool(JobFailed("a.docx was lost.")) as sandbox:
        use_sandbox(app, sandbox)
        first = await upload(app, session_id)
        assert set(await asyncio.gather(*(upload(app, session_id) for _ in range(4)))) == {first}
        assert await stored_text(app, session_id, first) == "A treaty was signed."


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        *((action, ParserRefused) for action in ("refuse", "memory", "deep")),
        *(
            (action, JobFailed)
            for action in ("killed SIGKILL", "killed SIGXCPU", "killed SIGSEGV", "missing", "fail", "quit")
        ),
    ],
)
async def test_only_what_the_reader_says_is_a_fact_about_the_file(action: str, kind: type[UnprocessableFile]) -> None:
    async with SandboxPool(worker="sandbox.scripted_worker:work") as sandbox:
        with pytest.raises(kind):
            await sandbox.run(ReadText(content=b"words", filename=action, media_type="text/plain"))
