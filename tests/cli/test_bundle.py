"""`footnote bundle`: a session is exported from one home folder, verified, and imported into another."""

import asyncio
import json
import os
import re
import zipfile
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from bundles.sample_session import reseal, zip_entries
from cli.process import FootnoteProcess, environment, run_footnote
from cli.small_web import FACT, article, env_for, hits
from footnote.bundles.verify import verify
from server.harness import LOCAL_TOKEN, open_server
from upstream import Upstream, call, reply, say, stop
from web import Web
from web.providers import KEY, SearchServer

WRITE = call("write_file", {"file_path": "/report.md", "content": "# One\n"})
EDIT = call("edit_file", {"file_path": "/report.md", "old_string": "One", "new_string": "Two"})
ANSWER = f"{FACT} [1] Napoleon paid 5 million for it. [1]"
IDS = re.compile(r"(?:session|run|msg)_[0-9a-f]{28}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.fixture
async def bundle(tmp_path: Path, upstream: Upstream) -> Path:
    """A session with a search and an edited file, exported."""
    home = tmp_path / "ann"
    home.mkdir()
    async with Web() as web, SearchServer("brave", lambda _: hits(web, "/oxygen")) as search_server:
        web.put("/oxygen", article("Oxygen", FACT))
        search = call("web_search", {"query": "oxygen", "prompt": "Who?"})
        upstream.script(
            reply(say("I look."), search, WRITE, stop("toolUse")),
            reply(say(f"{FACT} [1]"), stop()),  # the summary of the search
            reply(EDIT, stop("toolUse")),
            reply(say(ANSWER), stop()),
        )
        env = env_for(home, web, search_server, upstream=upstream, FOOTNOTE_TOOLS_WEB_SEARCH_DEFAULT_PROVIDER="brave")
        code, _, err = await run_footnote("ask", "Who isolated oxygen?", env=env)
        assert code == 0, err
        target = tmp_path / "research.zip"
        code, out, err = await run_footnote("sessions", "export", "last", "--output", str(target), env=env)
    assert (code, out) == (0, f"{target}\n"), err
    return target


async def history(env: dict[str, str], session: str = "last", *more: str) -> Any:
    code, out, err = await run_footnote("sessions", "show", session, "--json", *more, env=env)
    assert code == 0, err
    return json.loads(out)


def without_ids(value: Any) -> Any:
    """Without ids, and without the session in the URLs of imported files."""
    known: dict[str, str] = {}
    text = re.sub(r"\?session=\w+", "", json.dumps(value))
    return json.loads(IDS.sub(lambda found: known.setdefault(found[0], f"id-{len(known)}"), text))


def read(bundle: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(bundle.read_bytes())) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def replace_in_entry(entries: dict[str, bytes], name: str, old: bytes, new: bytes) -> dict[str, bytes]:
    """Changes an entry, and makes all hashes match."""
    assert old in entries[name]
    return reseal({**entries, name: entries[name].replace(old, new)})


async def test_a_bundle_is_verified_without_a_home(bundle: Path, tmp_path: Path) -> None:
    env = environment(tmp_path / "nowhere")
    code, out, err = await run_footnote("bundle", "verify", str(bundle), env=env)
    manifest = json.loads(read(bundle)["bundle.json"])
    assert (code, err) == (0, "")
    counted = "1 answer, 3 footnotes, 3 quotations, 1 text that was read, 2 versions of files"
    assert out.splitlines() == [
        f"Session   Who isolated oxygen? ({manifest['session']['id']})",
        f"Exported  {manifest['exported_at']} by Footnote {manifest['footnote']}",
        f"Seal      {manifest['seal']}",
        f"Checked   {len(manifest['entries'])} entries, {counted}",
        "All is right.",
    ]
    assert not (tmp_path / "nowhere").exists()
    code, out, _ = await run_footnote("bundle", "verify", str(bundle), "--json", "--seal", manifest["seal"], env=env)
    report = json.loads(out)
    assert (code, report["ok"], report["findings"], report["verdicts"]) == (0, True, [], 3)
    code, _, err = await run_footnote("bundle", "verify", str(bundle), "--seal", "0" * 64, env=env)
    assert (code, "this is another bundle" in err) == (1, True)
    code, _, err = await run_footnote("bundle", "verify", str(bundle), "--seal", "abc", env=env)
    assert (code, "is not a seal" in err) == (2, True)


async def test_a_bundle_holds_no_key_and_no_path_of_the_machine(
    bundle: Path, tmp_path: Path, upstream: Upstream
) -> None:
    assert upstream.key
    for name, content in read(bundle).items():
        for secret in (upstream.key, KEY, str(tmp_path)):
            assert secret.encode() not in content, name


async def test_what_was_changed_is_named_and_steers_no_terminal(bundle: Path, tmp_path: Path) -> None:
    entries = {**read(bundle), "transcript.md": b"Lies.", "evil\x1b[2J.txt": b""}
    changed = tmp_path / "changed.zip"
    with zipfile.ZipFile(changed, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    env = environment(tmp_path)
    code, out, err = await run_footnote("bundle", "verify", str(changed), env=env)
    assert (code, err) == (1, "")
    assert out.splitlines()[-3:] == [
        "added      evil.txt: it was not exported",
        "changed    transcript.md: its content differs from the exported one",
        "2 things are wrong.",
    ]
    code, out, err = await run_footnote("bundle", "import", str(changed), env=env)
    assert (code, out) == (2, "")
    assert "transcript.md (changed)" in err
    assert "\x1b" not in err
    assert json.loads((await run_footnote("sessions", "list", "--json", env=env))[1]) == []


async def test_what_cannot_be_unpacked_is_told_apart_from_its_entry(bundle: Path, tmp_path: Path) -> None:
    data = bytearray(bundle.read_bytes())
    with zipfile.ZipFile(bundle) as archive:
        info = archive.getinfo("transcript.md")
    data[info.header_offset + 30 + len(info.filename)] ^= 0xFF
    (tmp_path / "x.zip").write_bytes(data)
    code, out, _ = await run_footnote("bundle", "verify", str(tmp_path / "x.zip"), env=environment(tmp_path))
    assert (code, out.splitlines()[-2:]) == (
        1,
        ["unreadable transcript.md: it is damaged and cannot be decompressed", "1 thing is wrong."],
    )


async def test_what_is_no_bundle_has_an_exit_code_of_its_own(tmp_path: Path) -> None:
    env = environment(tmp_path)
    (tmp_path / "x.zip").write_text("hello")
    os.mkfifo(tmp_path / "pipe")
    for name, message in (("x.zip", "not a zip file"), ("none.zip", "cannot be read"), ("pipe", "pipe is not a file")):
        code, out, err = await run_footnote("bundle", "verify", str(tmp_path / name), env=env)
        assert (code, out, message in err) == (2, "", True)


async def test_a_session_goes_on_in_another_home(bundle: Path, tmp_path: Path, upstream: Upstream) -> None:
    home = tmp_path / "ben"
    home.mkdir()
    env = environment(home, upstream)
    code, out, err = await run_footnote("bundle", "import", str(bundle), env=env)
    session = out.strip()
    entries = len(json.loads(read(bundle)["bundle.json"])["entries"])
    assert (code, err.splitlines()) == (
        0,
        [
            f"Verified: {entries} hashes, 3 quotations, 3 verdicts judged again.",
            f'To continue: footnote ask --session {session[-8:]} "…"',
        ],
    )
    assert without_ids(await history(env, session)) == without_ids(json.loads(read(bundle)["history.json"]))
    code, out, _ = await run_footnote("sessions", "list", "--query", "scheele uppsala", "--json", env=env)
    assert [one["id"] for one in json.loads(out)] == [session]

    upstream.script(reply(say(f"As said: {FACT} [1]"), stop()))
    code, out, err = await run_footnote("ask", "--session", session, "Sure?", env=env)
    assert code == 0, err
    assert "Sources:\n[1] Title of /oxygen\n" in out
    assert f"“{FACT[:20]}" in out
    questions = [one["content"] for one in upstream.requests[-1].body["messages"] if one["role"] == "user"]
    assert questions == ["Who isolated oxygen?", "Sure?"]

    code, out, _ = await run_footnote("files", "versions", session, "/report.md", "--json", env=env)
    assert [(one["number"], one["author"]) for one in json.loads(out)] == [(2, "agent"), (1, "agent")]
    code, out, _ = await run_footnote("files", "get", session, "/report.md", "--version", "1", "--output", "-", env=env)
    assert (code, out) == (0, "# One\n")

    again = tmp_path / "again.zip"
    assert (await run_footnote("sessions", "export", session, "--output", str(again), env=env))[0] == 0
    code, out, _ = await run_footnote("bundle", "verify", str(again), env=env)
    assert (code, out.splitlines()[-1]) == (0, "All is right.")
    first, second = read(bundle), read(again)
    same = [name for name in first if name.startswith(("files/", "versions/", "snapshots/"))]
    assert len(same) == 3
    assert {name: first[name] for name in same} == {name: second[name] for name in same}


@pytest.mark.slow
async def test_an_import_that_is_killed_leaves_a_whole_session_or_none(bundle: Path, tmp_path: Path) -> None:
    home = tmp_path / "ben"
    home.mkdir()
    env = environment(home)
    for moment in (0.2, 0.5, 0.7, 0.8, 0.9, 1.0, 1.2):
        async with FootnoteProcess("bundle", "import", str(bundle), env=env) as process:
            with suppress(TimeoutError):
                async with asyncio.timeout(moment):
                    await process.exit_code()
    assert (await run_footnote("bundle", "import", str(bundle), env=env))[0] == 0
    code, out, err = await run_footnote("sessions", "list", "--json", env=env)
    assert code == 0, err
    for one in json.loads(out):
        target = tmp_path / f"{one['id']}.zip"
        assert (await run_footnote("sessions", "export", one["id"], "--output", str(target), env=env))[0] == 0
        report = verify(target)
        assert (report.findings, report.versions, report.verdicts) == ((), 2, 3)


async def test_a_server_takes_and_gives_bundles(bundle: Path, tmp_path: Path, upstream: Upstream) -> None:
    async with open_server(tmp_path / "server", upstream) as server:
        env = environment(tmp_path, FOOTNOTE_TOKEN=LOCAL_TOKEN)
        there = ("--server", server.url)
        code, out, err = await run_footnote("bundle", "import", str(bundle), "--json", *there, env=env)
        assert code == 0, err
        head = json.loads(out)
        assert head["title"] == "Who isolated oxygen?"
        shown = await history(env, head["id"], *there)
        assert without_ids(shown) == without_ids(json.loads(read(bundle)["history.json"]))
        again = tmp_path / "again.zip"
        code, _, err = await run_footnote("sessions", "export", head["id"], "--output", str(again), *there, env=env)
        assert code == 0, err
        damaged = tmp_path / "damaged.zip"
        damaged.write_bytes(bundle.read_bytes().replace(b"README.txt", b"README.TXT"))
        code, out, err = await run_footnote("bundle", "import", str(damaged), *there, env=env)
        assert (code, out) == (2, "")
        assert "README.txt (missing)" in err
        forged = tmp_path / "forged.zip"
        forged.write_bytes(zip_entries(replace_in_entry(read(bundle), "transcript.md", b"Napoleon", b"Bismarck")))
        code, out, err = await run_footnote("bundle", "import", str(forged), *there, env=env)
        assert (code, out) == (2, "")
        assert "because its content is wrong: transcript.md (wrong): it differs from session.json.\n" in err
    assert (await run_footnote("bundle", "verify", str(again), env=env))[0] == 0
