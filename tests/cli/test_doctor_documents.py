"""The findings of `footnote doctor` about fonts, the converter and the storage."""

import re
from pathlib import Path

from cli.doctor_report import doctor, ok
from cli.process import CLOSED, environment, run_footnote

INSTALL = 'pip install "footnote[convert]"'


async def test_a_page_is_converted_and_no_file_is_left(tmp_path: Path) -> None:
    _, found = await doctor(tmp_path)
    assert found["fonts"] == ok("all fonts for documents are installed; those of this machine are not needed")
    (finding,) = found["converter"]
    message = "a page became a PDF of … KiB in … ms, including the start of the process"
    assert finding | {"message": re.sub(r"\d+", "…", finding["message"])} == ok(message)[0]
    assert found["storage"] == ok(f"{tmp_path}/files is created when the first large file is stored")
    assert list(tmp_path.iterdir()) == []


async def test_a_storage_that_is_there_is_written_to_and_left_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    _, found = await doctor(tmp_path)
    assert found["storage"] == ok("local:files can be written, read and deleted from")
    assert [path for path in folder.rglob("*") if path.is_file()] == []


async def test_a_storage_that_cannot_be_used_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "files").write_text("a file, not a folder")
    code, found = await doctor(tmp_path)
    (finding,) = found["storage"]
    assert (code, finding["status"]) == (1, "FAIL")
    assert finding["remedy"] == "Until then no upload and no large file can be stored. Check storage.url."


async def test_a_bucket_is_asked_and_its_keys_are_never_shown(tmp_path: Path) -> None:
    url = f"s3://bucket?endpoint={CLOSED}"
    _, found = await doctor(tmp_path, FOOTNOTE_STORAGE_URL=url)
    (finding,) = found["storage"]
    assert finding["message"].startswith("storage.url names a bucket, but AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    keys = {"AWS_ACCESS_KEY_ID": "planted-id", "AWS_SECRET_ACCESS_KEY": "planted-secret"}
    code, found = await doctor(tmp_path, FOOTNOTE_STORAGE_URL=url, **keys)
    (finding,) = found["storage"]
    assert (code, finding["status"]) == (1, "FAIL")
    assert "planted" not in str(found)


async def test_without_the_packages_the_remedy_is_to_install_them(tmp_path: Path) -> None:
    hidden = "import sys; sys.modules.update(typst=None); from footnote.cli import main; sys.exit(main())"
    env = environment(tmp_path, FOOTNOTE_HOME=str(tmp_path))
    _, out, _ = await run_footnote("doctor", env=env, program=hidden)
    assert (
        f"WARN  fonts: the typesetter is not installed, so nothing can be converted to PDF\n      -> {INSTALL}\n" in out
    )
    assert f"WARN  extras: typst is not installed; it is needed for PDF and Word documents\n      -> {INSTALL}\n" in out
