"""`footnote sessions`: list, show, export and delete, in the home folder and on a server."""

import json
import zipfile
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from cli.process import FootnoteProcess, environment, run_footnote
from cli.small_web import FACT, article, env_for, hits
from footnote.bundles.verify import verify
from server.harness import LOCAL_TOKEN, open_server
from upstream import Upstream, call, reply, say, stop
from web import Web
from web.providers import SearchServer

WRITE = call("write_file", {"file_path": "/notes/báo cáo.md", "content": "# R\n"})


@pytest.fixture(params=["here", "there"])
async def env(request: pytest.FixtureRequest, tmp_path: Path, upstream: Upstream) -> AsyncIterator[dict[str, str]]:
    """The environment for sessions in a home folder or on a server. `SERVER` is the value of `--server`, if any."""
    if request.param == "here":
        yield {**environment(tmp_path, upstream), "SERVER": ""}
        return
    async with open_server(tmp_path / "server", upstream) as server:
        yield {**environment(tmp_path, FOOTNOTE_TOKEN=LOCAL_TOKEN), "SERVER": server.url}


async def run(env: dict[str, str], *words: str, **more: Any) -> tuple[int, str, str]:
    server_option = ("--server", env["SERVER"]) if env["SERVER"] else ()
    return await run_footnote(*words, *server_option, env=env, **more)


async def ask_question(env: dict[str, str], question: str) -> str:
    """Asks, and returns the id of the session."""
    code, out, err = await run(env, "ask", "--json", question)
    assert code == 0, err
    return json.loads(out.splitlines()[0])["message"]["session_id"]


async def test_sessions_are_listed_the_last_used_first_and_found_by_their_words(
    env: dict[str, str], upstream: Upstream
) -> None:
    upstream.script(reply(say("Gold is dear."), stop()), reply(say("Nước sôi ở 100 độ."), stop()))
    gold = await ask_question(env, "What does gold cost?")
    water = await ask_question(env, "Nước sôi ở bao nhiêu độ?")
    code, out, err = await run(env, "sessions", "list", "--json")
    assert (code, err) == (0, "")
    assert [(one["id"], one["title"]) for one in json.loads(out)] == [
        (water, "Nước sôi ở bao nhiêu độ?"),
        (gold, "What does gold cost?"),
    ]
    _, out, _ = await run(env, "sessions", "list", "--query", "nuoc soi")
    head, row = out.splitlines()
    assert head.split() == ["ID", "LAST", "USED", "TITLE"]
    assert row.startswith(f"{water[-8:]}  20")
    assert "Nước sôi ở bao nhiêu độ?" in row
    _, out, _ = await run(env, "sessions", "list", "--query", "silver")
    assert len(out.splitlines()) == 1


async def test_a_conversation_is_shown_as_text(env: dict[str, str], upstream: Upstream) -> None:
    upstream.script(
        *(reply(say("I write."), WRITE, stop("toolUse")), reply(say("Giá là **42**."), stop())),
        reply(say("Half of \x1b[31mit"), stop("length")),
    )
    session = await ask_question(env, "Giá?")
    await run(env, "ask", "--session", session, "And\nthen?")
    code, out, err = await run(env, "sessions", "show", session[-6:])
    assert (code, err) == (0, "")
    heading, facts, *parts = out.rstrip("\n").split("\n\n")
    assert heading == "# Giá?"
    assert facts.startswith(f"{session} · researcher · 20")
    assert parts == [
        *("## Question", "Giá?", "## Answer", "I write.", "- Write a file: /notes/báo cáo.md", "Giá là **42**."),
        *("Files:", "- /notes/báo cáo.md", "*Nothing was looked up for this answer.*"),
        *("## Question", "And\nthen?", "## Answer", "Half of it"),
        "*Cut here: the longest that the model may write.*",
    ]


async def test_a_conversation_as_json_is_its_history(env: dict[str, str], upstream: Upstream) -> None:
    upstream.script(reply(say("42"), stop()))
    session = await ask_question(env, "?")
    _, out, _ = await run(env, "sessions", "show", session, "--json")
    history = json.loads(out)
    assert (history["session"]["id"], history["active_run"]) == (session, None)
    assert [one["role"] for one in history["messages"]] == ["user", "assistant"]


async def test_an_id_can_be_shortened_as_long_as_it_means_one_session(env: dict[str, str], upstream: Upstream) -> None:
    upstream.script(reply(say("1"), stop()), reply(say("2"), stop()))
    first, second = await ask_question(env, "One?"), await ask_question(env, "Two?")
    alike = next(length for length in range(len(first)) if first[:length] != second[:length])
    for text in (first, first[:alike], first.removeprefix("session_")[: alike - len("session_")], first[-10:]):
        code, out, _ = await run(env, "sessions", "show", text)
        assert (code, out.splitlines()[0]) == (0, "# One?")
    code, out, err = await run(env, "sessions", "show", "session_")
    assert (code, out) == (2, "")
    assert "2 sessions begin or end with session_. Give more of the id: " in err
    assert (await run(env, "sessions", "show", "last"))[1].startswith("# Two?")
    code, _, err = await run(env, "sessions", "show", "")
    assert (code, "There is no session ''." in err) == (2, True)


async def test_deleting_asks_on_a_terminal_and_needs_a_yes_elsewhere(env: dict[str, str], upstream: Upstream) -> None:
    upstream.script(reply(say("42"), stop()))
    session = await ask_question(env, "What is it?")
    code, _, err = await run(env, "sessions", "delete", session)
    assert (code, "Give --yes" in err) == (2, True)
    server_option = ("--server", env["SERVER"]) if env["SERVER"] else ()
    for answer, expected in (("\n", 1), ("y\n", 0)):
        words = ("sessions", "delete", session[-8:], *server_option)
        async with FootnoteProcess(*words, env=env, stdin="terminal", stdout="terminal", stderr="terminal") as process:
            await process.out.wait_for_text("Delete “What is it?” permanently? [y/N] ")
            process.out.type(answer)
            assert await process.exit_code() == expected
    _, out, _ = await run(env, "sessions", "list", "--json")
    assert json.loads(out) == []


async def test_deleting_with_yes_is_for_good(env: dict[str, str], upstream: Upstream, tmp_path: Path) -> None:
    upstream.script(reply(say("Unforgettable."), stop()))
    session = await ask_question(env, "?")
    assert (await run(env, "sessions", "delete", session, "--yes"))[:2] == (0, "")
    assert (await run(env, "sessions", "show", session))[0] == 2
    assert not [path for path in tmp_path.rglob("footnote.db*") if b"Unforgettable" in path.read_bytes()]


async def test_an_export_is_a_bundle_that_holds_what_was_said_and_read_and_written(
    tmp_path: Path, upstream: Upstream
) -> None:
    async with Web() as web, SearchServer("brave", lambda _: hits(web, "/oxygen")) as search_server:
        web.put("/oxygen", article("Oxygen", FACT))
        upstream.script(
            reply(call("web_search", {"query": "oxygen", "prompt": "Who?"}), WRITE, stop("toolUse")),
            *(reply(say(f"{FACT} [1] Napoleon paid 5 million for it. [1]"), stop()) for _ in range(2)),
        )
        default = {"FOOTNOTE_TOOLS_WEB_SEARCH_DEFAULT_PROVIDER": "brave"}
        env = {**env_for(tmp_path, web, search_server, upstream=upstream, **default), "SERVER": ""}
        session = await ask_question(env, "Who?")
        target = tmp_path / "out.zip"
        code, out, err = await run(env, "sessions", "export", "last", "--output", str(target))
        url = web.url("/oxygen")
    assert (code, out) == (0, f"{target}\n")
    with zipfile.ZipFile(BytesIO(target.read_bytes())) as archive:
        content = {name: archive.read(name).decode() for name in archive.namelist()}
    assert err == f"Seal: {json.loads(content['bundle.json'])['seal']}\n"
    assert content["files/notes/báo cáo.md"] == "# R\n"
    assert json.loads(content["history.json"])["session"]["id"] == session
    [source] = json.loads(content["sources.json"])["sources"]
    assert (source["number"], source["url"]) == (1, url)
    assert FACT in content[f"snapshots/{source['snapshots'][0]}.txt"]
    assert (
        f"Sources:\n\n- [1] [Title of /oxygen](<{url}>)\n  - “{FACT}”\n  - not supported: “" in content["transcript.md"]
    )
    assert list(tmp_path.glob(".out.zip*")) == []
    report = verify(target)
    assert (report.findings, report.notes, report.verdicts) == ((), (), 4)


async def test_an_export_overwrites_nothing(env: dict[str, str], upstream: Upstream, tmp_path: Path) -> None:
    upstream.script(reply(say("42"), stop()))
    session = await ask_question(env, "?")
    target = tmp_path / "mine.zip"
    target.write_text("mine")
    code, out, err = await run(env, "sessions", "export", session, "--output", str(target))
    assert (code, out, target.read_text()) == (2, "", "mine")
    assert "already exists. Give --force" in err
    code, _, err = await run(env, "sessions", "export", session, "--output", str(tmp_path / "no" / "x.zip"))
    assert (code, "cannot be written" in err) == (2, True)
    assert (await run(env, "sessions", "export", session, "--output", str(tmp_path / "x.zip")))[0] == 0
    assert (await run(env, "sessions", "export", session, "--output", str(target), "--force"))[0] == 0
    assert target.read_bytes().startswith(b"PK")
    assert target.stat().st_mode == (tmp_path / "x.zip").stat().st_mode


@pytest.mark.embedded
@pytest.mark.parametrize(
    "command", [("sessions", "list"), ("files", "list", "last"), ("ask", "--session", "x", "Why?")]
)
async def test_a_home_that_cannot_be_written_is_an_error_and_not_an_empty_list(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "footnote.db"
    code, out, err = await run_footnote(*command, env=environment(tmp_path, FOOTNOTE_DATABASE_URL=f"sqlite:{path}"))
    assert (code, out) == (1, "")
    assert f"{path} cannot be written ({tmp_path}/file is not a folder)." in err
