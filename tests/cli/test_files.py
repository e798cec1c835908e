"""`footnote files`: the files of a session from the terminal, in the home folder and on a server."""

import json
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from cli.process import FootnoteProcess, environment, run_footnote
from server.harness import LOCAL_TOKEN, open_server
from upstream import Upstream, call, reply, say, stop

REPORT = "# Báo cáo\n\nOne.\n"
WRITE = call("write_file", {"file_path": "/notes/báo cáo.md", "content": REPORT})
EDIT = call("edit_file", {"file_path": "/notes/báo cáo.md", "old_string": "One.", "new_string": "Two."})
PATH = "/notes/báo cáo.md"


@pytest.fixture(params=["here", "there"])
async def env(request: pytest.FixtureRequest, tmp_path: Path, upstream: Upstream) -> AsyncIterator[dict[str, str]]:
    """The environment for a session with one file of two versions, here or on a server; `SERVER` is the value of
    `--server`."""
    upstream.script(reply(WRITE, stop("toolUse")), reply(EDIT, stop("toolUse")), reply(say("Done."), stop()))
    if request.param == "here":
        env = {**environment(tmp_path, upstream), "SERVER": ""}
        await ask_question(env, "Write!")
        yield env
        return
    async with open_server(tmp_path / "server", upstream) as server:
        env = {**environment(tmp_path, FOOTNOTE_TOKEN=LOCAL_TOKEN), "SERVER": server.url}
        await ask_question(env, "Write!")
        yield env


async def run(env: dict[str, str], *words: str, **more: Any) -> tuple[int, str, str]:
    server_option = ("--server", env["SERVER"]) if env["SERVER"] else ()
    return await run_footnote(*words, *server_option, env=env, **more)


async def files(env: dict[str, str], action: str, *words: str, **more: Any) -> tuple[int, str, str]:
    return await run(env, "files", action, "last", *words, **more)


async def ask_question(env: dict[str, str], question: str, *more: str) -> None:
    code, _, err = await run(env, "ask", question, "--quiet", *more)
    assert code == 0, err


async def list_files(env: dict[str, str]) -> list[tuple[str, str]]:
    code, out, err = await files(env, "list", "--json")
    assert code == 0, err
    return [(one["source"], one["filename"]) for one in json.loads(out)]


async def test_files_are_listed_and_fetched(env: dict[str, str], tmp_path: Path) -> None:
    code, out, err = await files(env, "list")
    head, row = out.splitlines()
    assert (code, err, head.split()) == (0, "", ["KIND", "TYPE", "CREATED", "PATH"])
    assert row.startswith("generated  md    20")
    assert row.endswith(PATH)
    for version, expected in ((None, REPORT.replace("One", "Two")), ("1", REPORT)):
        chosen = () if version is None else ("--version", version)
        code, out, err = await files(env, "get", PATH, "--output", "-", *chosen)
        assert (code, out, err) == (0, expected, "")
    target = tmp_path / "mine.md"
    code, out, _ = await files(env, "get", PATH, "--output", str(target))
    assert (code, out, target.read_text()) == (0, f"{target}\n", REPORT.replace("One", "Two"))
    code, out, err = await files(env, "get", PATH, "--output", str(target), "--version", "1")
    assert (code, out, "already exists. Give --force" in err) == (2, "", True)
    assert "Two" in target.read_text()
    assert (await files(env, "get", PATH, "--output", str(target), "--version", "1", "--force"))[0] == 0
    assert target.read_text() == REPORT
    assert list(tmp_path.glob(".mine*")) == []


async def test_a_file_that_is_not_there_is_told_with_what_is_meant(env: dict[str, str]) -> None:
    for words in (
        ("get", "/notes/bao cao.md"),
        ("versions", "/no.md"),
        ("diff", "/no.md"),
        ("get", PATH, "--version", "9"),
    ):
        code, out, err = await files(env, *words)
        assert (code, out) == (2, ""), words
        assert err.startswith("footnote: ")
    code, _, err = await run(env, "files", "list", "nothing")
    assert (code, "There is no session 'nothing'." in err) == (2, True)
    code, _, err = await files(env, "get", PATH, "--version", "0")
    assert (code, "count from 1" in err) == (2, True)


async def test_versions_are_listed_compared_and_restored(env: dict[str, str]) -> None:
    code, out, _ = await files(env, "versions", PATH)
    rows = [line.split() for line in out.splitlines()]
    assert (code, rows[0]) == (0, ["VERSION", "WRITTEN", "BY", "BYTES", "SHA-256"])
    assert [(row[0], row[3], row[4]) for row in rows[1:]] == [("2", "agent", "18"), ("1", "agent", "18")]
    code, out, err = await files(env, "diff", PATH)
    assert (code, [line for line in out.splitlines() if line[0] in "+-"][2:]) == (0, ["-One.", "+Two."])
    assert err == "Between version 1 and version 2: 1 line added, 1 removed.\n"
    code, out, _ = await files(env, "diff", PATH, "--from", "2", "--to", "1", "--json")
    assert (json.loads(out)["from"], json.loads(out)["to"], json.loads(out)["added"]) == (2, 1, 1)
    code, out, err = await files(env, "restore", PATH, "1")
    assert (code, out, err) == (0, "", f"Restored version 1 of {PATH} as version 3.\n")
    code, out, _ = await files(env, "versions", PATH, "--json")
    assert [(one["number"], one["author"]) for one in json.loads(out)] == [(3, "user"), (2, "agent"), (1, "agent")]


async def test_uploads_come_back_byte_for_byte(env: dict[str, str], tmp_path: Path) -> None:
    contents = {
        "Tiền lương.csv": "tên,lương\r\nAn,1\r\n".encode(),
        "note.txt": b"\xef\xbb\xbfWith a mark\r\n",
        "picture.png": _png(),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    code, out, err = await files(env, "put", *(str(tmp_path / name) for name in contents))
    assert code == 0, err
    assert [line.rpartition("/")[2] for line in out.splitlines()] == list(contents)
    for path, (name, content) in zip(out.splitlines(), contents.items(), strict=True):
        target = tmp_path / f"back-{name}"
        assert (await files(env, "get", path, "--output", str(target)))[0] == 0
        assert target.read_bytes() == content
    assert (await files(env, "get", "picture.png", "--output", str(tmp_path / "by-name.png")))[0] == 0
    assert (tmp_path / "by-name.png").read_bytes() == _png()
    assert sorted(await list_files(env)) == sorted(
        [("generated", "báo cáo.md"), *(("upload", name) for name in contents)]
    )


def _png() -> bytes:
    """An image of one pixel."""
    return bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001e221bc330000"
        "000049454e44ae426082"
    )


async def test_one_file_that_is_not_taken_does_not_keep_out_the_others(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "good.md").write_text("Good.")
    (tmp_path / "bad.pdf").write_text("I am no PDF.")
    code, out, err = await files(env, "put", str(tmp_path / "bad.pdf"), str(tmp_path / "good.md"))
    assert (code, [line.rpartition("/")[2] for line in out.splitlines()]) == (1, ["good.md"])
    assert "bad.pdf: " in err
    code, out, err = await files(env, "put", str(tmp_path / "none.md"))
    assert (code, out, "there is no such file" in err) == (2, "", True)


async def test_a_users_edit_is_a_version_that_the_agent_sees(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "edited.md").write_text("# Mine\n")
    code, out, err = await files(env, "put", str(tmp_path / "edited.md"), "--as", PATH)
    assert (code, out, err) == (0, f"{PATH}\n", "")
    code, out, _ = await files(env, "versions", PATH, "--json")
    assert [one["author"] for one in json.loads(out)] == ["user", "agent", "agent"]
    assert (await files(env, "put", str(tmp_path / "edited.md"), "--as", "new/one.md"))[1] == "/new/one.md\n"
    assert await list_files(env) == [("generated", "one.md"), ("generated", "báo cáo.md")]
    (tmp_path / "raw.bin").write_bytes(b"\xff\x00")
    code, _, err = await files(env, "put", str(tmp_path / "raw.bin"), "--as", "/raw.bin")
    assert (code, "is not UTF-8 text" in err) == (2, True)
    code, _, err = await files(env, "put", *[str(tmp_path / "edited.md")] * 2, "--as", "/x.md")
    assert (code, "give one FILE with it" in err) == (2, True)


async def test_deleting_needs_a_yes(env: dict[str, str]) -> None:
    code, _, err = await files(env, "delete", PATH)
    assert (code, "Give --yes" in err) == (2, True)
    assert (await files(env, "delete", PATH, "--yes"))[:2] == (0, "")
    assert await list_files(env) == []
    assert (await files(env, "delete", PATH, "--yes"))[0] == 2


async def test_a_zip_is_unpacked_on_request(env: dict[str, str], tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "both.zip", "w") as archive:
        archive.writestr("a.md", "A")
        archive.writestr("folder/b.csv", "b,c\n1,2\n")
    assert (await files(env, "put", str(tmp_path / "both.zip")))[0] == 0
    code, out, err = await files(env, "unpack", "both.zip")
    assert code == 0, err
    assert sorted(line.rpartition("/")[2] for line in out.splitlines()) == ["a.md", "b.csv"]


@pytest.mark.slow
async def test_a_file_is_converted(env: dict[str, str], tmp_path: Path) -> None:
    for kind, magic in (("pdf", b"%PDF-"), ("docx", b"PK"), ("md", b"# B")):
        target = tmp_path / f"out.{kind}"
        code, out, err = await files(env, "convert", PATH, "--to", kind, "--output", str(target))
        assert (code, out) == (0, f"{target}\n"), err
        assert target.read_bytes().startswith(magic)


@pytest.mark.slow
async def test_a_document_of_doubtful_statements_is_refused_on_request(env: dict[str, str], tmp_path: Path) -> None:
    report = tmp_path / "report.md"
    report.write_text("# Report\n\nIt weighs 12 tonnes [1].\n")
    code, _, err = await files(env, "put", str(report), "--as", "/report.md")
    assert code == 0, err
    target = tmp_path / "out.docx"
    convert = ("convert", "/report.md", "--to", "docx", "--output", str(target))
    code, out, err = await files(env, *convert, "--proof", "refuse")
    assert (code, out, target.exists()) == (1, "", False)
    listed, refusal = err.splitlines()
    assert listed.endswith(": It weighs 12 tonnes [1].")
    assert "One statement of report.md is not supported by its sources." in refusal
    for proof in ("mark", "plain"):
        code, out, err = await files(env, *convert, "--proof", proof, "--force")
        assert (code, err) == (0, ""), err
        document = zipfile.ZipFile(target).read("word/footnotes.xml").decode()
        assert ("No" in document) is (proof == "mark")
    code, _, err = await files(env, *convert, "--proof", "stamp")
    assert (code, "--proof" in err) == (2, True)


async def test_a_question_can_come_with_files(env: dict[str, str], tmp_path: Path, upstream: Upstream) -> None:
    (tmp_path / "data.csv").write_text("year,price\n2025,42\n")
    upstream.script(reply(say("42."), stop()))
    await ask_question(env, "What was the price?", "--file", str(tmp_path / "data.csv"))
    history = json.loads((await run(env, "sessions", "show", "last", "--json"))[1])
    [attached] = history["messages"][0]["attachments"]
    assert (attached["filename"], attached["source"]) == ("data.csv", "upload")
    assert await list_files(env) == [("upload", "data.csv")]
    assert attached["path"] in str(upstream.requests[-1].body["messages"])


async def test_a_question_whose_file_is_refused_leaves_no_session(
    env: dict[str, str], tmp_path: Path, upstream: Upstream
) -> None:
    (tmp_path / "bad.pdf").write_text("I am no PDF.")
    before = (await run(env, "sessions", "list", "--json"))[1]
    for name in ("bad.pdf", "none.csv"):
        code, out, _ = await run(env, "ask", "What?", "--file", str(tmp_path / name))
        assert (code, out) == (2, "")
    assert (await run(env, "sessions", "list", "--json"))[1] == before


async def test_a_file_on_a_terminal_steers_nothing(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "evil.md").write_text("red \x1b[31mtext\x07\n")
    (tmp_path / "raw.bin.png").write_bytes(_png())
    assert (await files(env, "put", str(tmp_path / "evil.md"), "--as", "/evil.md"))[0] == 0
    assert (await files(env, "put", str(tmp_path / "raw.bin.png")))[0] == 0
    server_option = ("--server", env["SERVER"]) if env["SERVER"] else ()
    words = ("files", "get", "last", "/evil.md", "--output", "-", *server_option)
    async with FootnoteProcess(*words, env=env, stdout="terminal") as process:
        assert await process.exit_code() == 0
        assert process.out is not None
        assert process.out.text == "red text\n"
    words = ("files", "get", "last", "raw.bin.png", "--output", "-", *server_option)
    async with FootnoteProcess(*words, env=env, stdout="terminal") as process:
        assert await process.exit_code() == 2
    assert (await files(env, "get", "/evil.md", "--output", "-"))[1] == "red \x1b[31mtext\x07\n"
