"""`footnote search` in pipes: results of a provider, pages of a small web, and progress on stderr."""

import json
import os
import re
from pathlib import Path

import msgspec
import pytest

from cli.process import CLOSED, FootnoteProcess, run_footnote
from cli.small_web import FACT, article, env_for, hits, without_times
from footnote.protocol.sources import SearchArtifact
from upstream import Upstream, reply, say, stop
from web import Web
from web.providers import KEY, SearchServer, recorded_reply


async def test_the_summary_and_the_sources_are_on_stdout_and_what_it_took_on_stderr(web: Web, tmp_path: Path) -> None:
    pages = hits(web, "/oxygen", "/500", "/private/forbidden", "/chain/2", "/404", "/oxy")
    async with SearchServer("duckduckgo", pages) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo) | {"FOOTNOTE_TOOLS_WEB_SEARCH_MAX_RESULTS": "6"}
        code, out, err = await run_footnote("search", "Who isolated", "oxygen", "--count", "6", env=env)
    assert code == 0
    summary, table = without_times(out).split("\nSources:\n")
    assert f"> {FACT} [1]" in summary
    rows = [re.sub(r" {2,}", "  ", line) for line in table.splitlines() if line.startswith("[")]
    assert rows == [
        "[1] ✓ Title of /oxygen  127.0.0.1  2024-03-02  read · … s · … B",
        "[2] ✗ Title of /500  127.0.0.1  2024-03-02  HTTP 500",
        "[3] ✗ Title of /private/forbidden  127.0.0.1  2024-03-02  robots.txt asks to stay away",
        "[4] ✓ Title of /chain/2  127.0.0.1  2024-03-02  read · … s · … B",
        "[5] ✗ Title of /404  127.0.0.1  2024-03-02  HTTP 404",
        "[6] · Title of /oxy  127.0.0.1  2024-03-02  not opened",
    ]
    assert f"    {web.url('/chain/2')} → {web.url('/en/Oxygen')}\n" in table
    stages = err.splitlines()
    assert stages[0] == "⏳ searching"
    assert stages[1].startswith("⏳ reading 1/5 · ")
    assert stages[2] == "⏳ summarising"
    assert without_times(stages[3]).startswith("duckduckgo: 6 results … s · 2 of 5 pages read · 1 not opened · ")
    assert without_times(stages[3]).endswith(" · summary of quotations · … s")


@pytest.mark.parametrize("evidence_tokens", ["2000", "0"])
async def test_without_a_summary_the_best_quotations_stand_in_its_place(
    web: Web, tmp_path: Path, upstream: Upstream, evidence_tokens: str
) -> None:
    settings = {
        "FOOTNOTE_TOOLS_WEB_SEARCH_SUMMARY": "false",
        "FOOTNOTE_TOOLS_WEB_SEARCH_EVIDENCE_TOKENS": evidence_tokens,
    }
    async with SearchServer("duckduckgo", hits(web, "/oxygen")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo, upstream=upstream, **settings)
        code, out, err = await run_footnote("search", "Who isolated oxygen?", env=env)
        _, as_json, _ = await run_footnote("search", "Who isolated oxygen?", "--json", env=env)
    assert code == 0
    assert out.startswith(f"> {FACT} [1]")
    assert "\nSources:\n[1] ✓ Title of /oxygen" in out
    assert "summarising" not in err
    assert " · no summary · " in err
    artifact = msgspec.json.decode(as_json, type=SearchArtifact)
    assert (artifact.summary, artifact.citations, artifact.receipt.summary_by) == ("", (), None)
    assert bool(artifact.evidence) == (evidence_tokens != "0")
    assert upstream.requests == []


async def test_as_json_the_whole_artifact_is_one_object(web: Web, tmp_path: Path) -> None:
    async with SearchServer("duckduckgo", hits(web, "/oxygen", "/500")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo)
        code, out, err = await run_footnote("search", "Who isolated oxygen?", "--json", "--quiet", env=env)
    assert (code, err) == (0, "")
    assert list(json.loads(out)) == [
        "query",
        "sources",
        "summary",
        "citations",
        "passages",
        "evidence",
        "disagreements",
        "receipt",
    ]
    artifact = msgspec.json.decode(out, type=SearchArtifact)
    assert artifact.query == "Who isolated oxygen?"
    assert [(one.number, one.status, one.url) for one in artifact.sources] == [
        (1, "read", web.url("/oxygen")),
        (2, "failed", web.url("/500")),
    ]
    first = artifact.citations[0]
    assert (first.number, first.verdict, first.quote) == (1, "supported", FACT)
    assert [(one.provider, one.outcome, one.count) for one in artifact.receipt.providers] == [
        ("duckduckgo", "results", 2)
    ]


async def test_with_json_progress_is_still_on_stderr(web: Web, tmp_path: Path) -> None:
    async with SearchServer("duckduckgo", hits(web, "/oxygen")) as duckduckgo:
        _, out, err = await run_footnote("search", "oxygen", "--json", env=env_for(tmp_path, web, duckduckgo))
    assert err.splitlines() == ["⏳ searching", f"⏳ reading 1/1 · {web.address}", "⏳ summarising"]
    json.loads(out)


async def test_the_model_summarises_and_what_it_made_up_is_marked(upstream: Upstream, web: Web, tmp_path: Path) -> None:
    summary = "Carl Wilhelm Scheele isolated oxygen in Uppsala [1]. Napoleon paid for it in 1805 [1]. So did Paris [4]."
    upstream.script(reply(say(summary), stop()))
    async with SearchServer("duckduckgo", hits(web, "/oxygen")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo, upstream=upstream)
        code, out, err = await run_footnote("search", "Who isolated oxygen?", env=env)
    assert code == 0
    assert out.startswith(f"{summary}\n\nSources:\n[1] ✓ Title of /oxygen")
    assert f"    “{FACT}”\n" in out
    assert "    ✗ not supported: “Napoleon paid for it in 1805.”\n" in out
    assert out.endswith("\n[4] no such source\n")
    assert "⏳ summarising\n" in err
    assert re.search(r" · summary by openai/\S+ · 10 tokens in, 5 out · \d+\.\d s\n$", err)


async def test_a_provider_that_blocks_us_is_told_and_the_next_one_answers(web: Web, tmp_path: Path) -> None:
    async with SearchServer("duckduckgo") as duckduckgo, SearchServer("brave", hits(web, "/oxygen")) as brave:
        duckduckgo.script(recorded_reply("ddg_html_blocked_202.html", 202))
        code, out, err = await run_footnote("search", "oxygen", env=env_for(tmp_path, web, duckduckgo, brave))
    assert (code, "Title of /oxygen" in out) == (0, True)
    assert "\nduckduckgo: blocked " in err
    assert " · brave: 1 result " in err
    assert "\nNote: duckduckgo did not answer (" in err
    assert KEY not in out + err


async def test_a_provider_without_its_key_is_replaced_with_one_line_about_it(web: Web, tmp_path: Path) -> None:
    async with SearchServer("duckduckgo", hits(web, "/oxygen")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo) | {"FOOTNOTE_TOOLS_WEB_SEARCH_DEFAULT_PROVIDER": "brave"}
        code, _, err = await run_footnote("search", "oxygen", env=env)
        named = await run_footnote("search", "oxygen", "--provider", "brave", env=env)
    warning = "Warning: Footnote searches with duckduckgo instead of brave, which needs a key: set BRAVE_API_KEY."
    assert (code, err.splitlines().count(warning)) == (0, 1)
    assert (named[0], named[2]) == (2, "footnote: The search provider brave needs a key: set BRAVE_API_KEY.\n")


async def test_when_all_are_dead_every_cause_is_named(web: Web, tmp_path: Path) -> None:
    env = env_for(tmp_path, web) | {"BRAVE_API_KEY": KEY, "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_BRAVE_BASE_URL": CLOSED}
    code, out, err = await run_footnote("search", "zzzyzx qwertzuiop", "--quiet", env=env)
    assert (code, out) == (1, "")
    assert err.startswith("footnote: No search provider had an answer.")
    for provider in ("duckduckgo: ", "brave: "):
        assert provider in err


async def test_nothing_found_is_an_answer(web: Web, tmp_path: Path) -> None:
    async with SearchServer("duckduckgo", []) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo)
        code, out, err = await run_footnote("search", "zzzyzx qwertzuiop", env=env)
        assert (code, out) == (0, "")
        assert "\nNothing was found. Try other words, or another provider (--provider).\n" in err
        assert "\nduckduckgo: empty " in err
        quiet = await run_footnote("search", "zzzyzx qwertzuiop", "--quiet", env=env)
    assert quiet == (0, "", "Nothing was found. Try other words, or another provider (--provider).\n")


async def test_options_reach_the_provider(web: Web, tmp_path: Path) -> None:
    async with SearchServer("duckduckgo") as duckduckgo, SearchServer("brave", hits(web, "/oxygen")) as brave:
        options = ("--provider", "brave", "--count", "3", "--country", "us", "--freshness", "pw")
        code, _, _ = await run_footnote("search", "oxygen", *options, env=env_for(tmp_path, web, duckduckgo, brave))
    assert code == 0
    (request,) = brave.requests
    assert {name: request.options[name] for name in ("q", "count", "country", "freshness")} == {
        "q": "oxygen",
        "count": "3",
        "country": "US",
        "freshness": "pw",
    }
    assert duckduckgo.requests == []


async def test_what_is_wanted_decides_which_passages_are_quoted(web: Web, tmp_path: Path) -> None:
    price = "The price of tin in London fell by nine percent on Monday."
    others = [f"Tin melts at 232 degrees, and {thing} is made of it in many workshops." for thing in ("a can", "a cup")]
    web.put("/tin", article("Tin", *others, price))
    async with SearchServer("duckduckgo", hits(web, "/tin")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo)
        _, out, _ = await run_footnote("search", "tin", "--prompt", "How did the price in London change?", env=env)
    assert price in out.partition("[1]")[0]


async def test_the_query_may_come_from_stdin(web: Web, tmp_path: Path) -> None:
    async with SearchServer("duckduckgo", hits(web, "/oxygen")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo)
        code, _, _ = await run_footnote("search", "-", env=env, stdin="ôxy 氧\n".encode())
    assert (code, duckduckgo.requests[0].options["q"]) == (0, "ôxy 氧")


async def test_the_same_search_again_is_answered_from_the_cache(web: Web, tmp_path: Path) -> None:
    web.put("/kept", article("Oxygen", FACT, Cache_Control="max-age=600"))
    async with SearchServer("duckduckgo", hits(web, "/kept")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo)
        _, first, _ = await run_footnote("search", "oxygen", env=env)
        _, again, err = await run_footnote("search", "oxygen", env=env)
    assert len(duckduckgo.requests) == 1
    assert " read · from the cache\n" in again
    assert " read · from the cache\n" not in first
    assert "\nduckduckgo: 1 result from the cache · " in err


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        ([], b"", "There is no query. Give one: footnote search"),
        (["-"], b"\xff\xfe", "The query is not UTF-8 text."),
        (["?", "--count", "0"], b"", "count is 0; it can be 1 to 10."),
        (["?", "--count", "many"], b"", "invalid int value: 'many'"),
        (["?", "--country", "Vietnam"], b"", "country is 'Vietnam'; it is a code of two letters"),
        (["?", "--freshness", "soon"], b"", "freshness is 'soon'; it is pd, pw, pm or py"),
        (["?", "--provider", "altavista"], b"", "altavista"),
        (["?", "--provider", "brave"], b"", "BRAVE_API_KEY"),
        (["?", "--model", "nowhere/model"], b"", "nowhere"),
    ],
)
async def test_wrong_usage_is_a_sentence_and_exit_code_2(
    web: Web, tmp_path: Path, arguments: list[str], stdin: bytes, message: str
) -> None:
    async with SearchServer("duckduckgo") as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo)
        code, out, err = await run_footnote("search", *arguments, env=env, stdin=stdin)
    assert (code, out) == (2, "")
    assert message in err
    assert duckduckgo.requests == []


async def test_a_reader_that_leaves_is_no_failure(web: Web, tmp_path: Path) -> None:
    async with SearchServer("duckduckgo", hits(web, "/oxygen")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo)
        async with FootnoteProcess("search", "oxygen", env=env) as process:
            process.out.close()
            assert await process.exit_code() == 0
    assert [line[:1] for line in process.err.text.splitlines()] == ["⏳"] * 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
async def test_a_full_disk_is_said(web: Web, tmp_path: Path) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    async with SearchServer("duckduckgo", hits(web, "/oxygen")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo)
        async with FootnoteProcess("search", "oxygen", "--quiet", env=env, stdout=full) as process:
            os.close(full)
            assert await process.exit_code() == 1
    assert process.err.text == "Error: the sources could not be written: No space left on device.\n"


async def test_verdicts_are_in_the_language_of_the_environment(upstream: Upstream, web: Web, tmp_path: Path) -> None:
    upstream.script(*[reply(say("It rained in Hanoi [7]."), stop())] * 2)
    async with SearchServer("duckduckgo", hits(web, "/oxygen")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo, upstream=upstream, LANG="vi_VN.UTF-8", PYTHONUTF8="1")
        _, vietnamese, _ = await run_footnote("search", "oxygen", env=env)
        _, chinese, _ = await run_footnote("search", "oxygen", "--locale", "zh", env=env)
    assert vietnamese.endswith("\n[7] không có nguồn này\n")
    assert chinese.endswith("\n[7] 没有这个来源\n")
