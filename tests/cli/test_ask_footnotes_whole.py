"""`footnote ask` with a search, from the question to the footnotes below the answer."""

import signal
from pathlib import Path

import msgspec
import pytest

from cli.process import FootnoteProcess, run_footnote
from cli.small_web import FACT, env_for, hits
from cli.test_ask_terminal import screen
from footnote.protocol.events import BlockDelta, CitationsGrowth, Event
from upstream import Upstream, call, reply, say, stop
from upstream.server import Api
from web import Web
from web.providers import SearchServer, recorded_reply

API = pytest.mark.parametrize("api", ["anthropic", "openai"])
SEARCH = call("web_search", {"query": "oxygen"})
ANSWER = "It was Scheele who isolated oxygen in Uppsala [1]. Napoleon paid for it in 1805 [1]. So did Paris [9]."


def script(upstream: Upstream) -> None:
    """The model searches, summarises the results, and answers."""
    upstream.script(
        reply(SEARCH, stop("toolUse")), reply(say("It was Scheele [1]."), stop()), reply(say(ANSWER), stop())
    )


def footnotes(web: Web) -> str:
    return (
        "Sources:\n"
        "[1] Title of /oxygen\n"
        f"    {web.url('/oxygen')}\n"
        f"    “{FACT}”\n"
        "    ✗ not supported: “Napoleon paid for it in 1805.”\n"
        "[9] no such source\n"
        "1 more source was found and is not cited.\n"
    )


@API
async def test_the_answer_ends_with_what_it_rests_on(upstream: Upstream, web: Web, tmp_path: Path, api: Api) -> None:
    script(upstream)
    async with SearchServer("duckduckgo") as duckduckgo, SearchServer("brave", hits(web, "/oxygen", "/500")) as brave:
        duckduckgo.script(recorded_reply("ddg_html_blocked_202.html", 202))
        env = env_for(tmp_path, web, duckduckgo, brave, upstream=upstream, api=api)
        code, out, err = await run_footnote("ask", "Who?", env=env)
    assert code == 0
    assert out == f"{ANSWER}\n\n{footnotes(web)}"
    assert "✓ Search the web · oxygen · " in err
    assert "s · 2 sources · brave instead of duckduckgo · 1 of 2 pages failed\n" in err


async def test_as_json_there_is_nothing_but_events(upstream: Upstream, web: Web, tmp_path: Path) -> None:
    script(upstream)
    async with SearchServer("duckduckgo", hits(web, "/oxygen")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo, upstream=upstream)
        code, out, _ = await run_footnote("ask", "Who?", "--json", env=env)
    events = [msgspec.json.decode(line, type=Event) for line in out.splitlines()]
    growths = [one.delta for one in events if isinstance(one, BlockDelta) and isinstance(one.delta, CitationsGrowth)]
    assert code == 0
    assert [(one.number, one.verdict) for growth in growths for one in growth.citations] == [
        (1, "supported"),
        (1, "unsupported"),
        (9, "unsupported"),
    ]


async def test_in_a_terminal_the_footnotes_stand_below_the_answer(upstream: Upstream, web: Web, tmp_path: Path) -> None:
    script(upstream)
    async with SearchServer("duckduckgo", hits(web, "/oxygen", "/500")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo, upstream=upstream)
        async with FootnoteProcess(
            "ask", "Who?", env=env, stdout="terminal", stderr="terminal", columns=120
        ) as process:
            assert await process.exit_code() == 0
    assert f"\n\n{ANSWER}\n\n{footnotes(web)}\nopenai/" in screen(process.out.text, 120)


async def test_without_any_key_the_answer_is_quotations_with_their_sources(web: Web, tmp_path: Path) -> None:
    async with SearchServer("duckduckgo", hits(web, "/oxygen")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo)
        code, out, _ = await run_footnote("ask", "Who isolated oxygen in Uppsala?", env=env)
        chinese, shown, _ = await run_footnote("ask", "Who isolated oxygen?", "--locale", "zh", env=env)
    assert (code, chinese) == (0, 0)
    assert f"\n> {FACT} [1]\n" in out
    entry = f"\n[1] Title of /oxygen\n    {web.url('/oxygen')}\n    “Oxygen was isolated by Carl Wilhelm Scheele in…”\n"
    assert f"\n\nSources:{entry}" in out
    assert f"\n\n来源：{entry}" in shown


async def test_ctrl_c_in_the_middle_of_a_search_closes_its_connections(
    upstream: Upstream, web: Web, tmp_path: Path
) -> None:
    upstream.script(reply(SEARCH, stop("toolUse")))
    async with SearchServer("duckduckgo", hits(web, "/hung", "/drip")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo, upstream=upstream)
        async with FootnoteProcess("ask", "Who?", env=env) as process:
            await web.wait_requested("/hung")
            await web.wait_requested("/drip")
            process.signal(signal.SIGINT)
            await web.wait_closed()
            assert await process.exit_code() == 130
    assert process.out.text == ""
    assert "\nStopped. There was no answer yet.\n" in process.err.text
