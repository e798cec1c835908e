"""`footnote ask` within a budget: it ends in time, it answers in any case, and it tells what it has used."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.process import CLOSED, environment, run_footnote
from cli.small_web import FACT, env_for, hits
from upstream import Upstream, call, pause, reply, say, stall, stop, usage
from web import Web
from web.providers import SearchServer
from web.replies import hanging_reply

QUESTION = "Who isolated oxygen?"
SEARCH = call("web_search", {"query": QUESTION})
PRICES = json.dumps({"openai/m": {"price": {"input": 1.0, "output": 10.0}}})
MODEL = {"FOOTNOTE_MODELS_DEFAULT": "openai/m", "FOOTNOTE_MODELS_PROFILES": PRICES}
NO_SUMMARY = {"FOOTNOTE_TOOLS_WEB_SEARCH_SUMMARY": "false"}
SLACK = 1.0 + 10 * bool(os.environ.get("CI"))


async def ask(*arguments: str, env: dict[str, str]) -> tuple[int, list[dict[str, Any]], str]:
    code, out, err = await run_footnote("ask", QUESTION, *arguments, "--json", env=env)
    return code, [json.loads(line) for line in out.splitlines()], err


def text_of(events: list[dict[str, Any]]) -> str:
    deltas = (event["delta"] for event in events if event["type"] == "content_block_delta")
    return "".join(delta.get("text", "") for delta in deltas)


def artifact_of(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Of the first search."""
    blocks = (event["content_block"] for event in events if event["type"] == "content_block_start")
    return next(block["artifact"] for block in blocks if block["type"] == "tool_result")


def last_update(events: list[dict[str, Any]]) -> dict[str, Any]:
    return [event for event in events if event["type"] == "budget_update"][-1]


def stop_reason(events: list[dict[str, Any]]) -> str:
    return next(event["delta"]["stop_reason"] for event in events if event["type"] == "message_delta")


async def test_a_model_that_hangs_is_answered_for_with_what_was_found(web: Web, upstream: Upstream, tmp_path: Path):
    upstream.script(reply(SEARCH, stop("toolUse")), reply(stall()))
    async with SearchServer("duckduckgo", hits(web, "/oxygen")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo, upstream=upstream) | MODEL | NO_SUMMARY
        code, events, err = await ask("--within", "4s", env=env)

    assert (code, stop_reason(events)) == (0, "stop"), err
    assert text_of(events).startswith("*The budget of this question was used up")
    assert f"> {FACT} [1]" in text_of(events)
    verdicts = [
        one["verdict"]
        for event in events
        if event["type"] == "content_block_delta" and event["delta"]["type"] == "citations_delta"
        for one in event["delta"]["citations"]
    ]
    assert verdicts == ["supported"], "an answer by rule is judged like any other"
    update = last_update(events)
    assert update["budget"] == {"seconds": 4.0}
    assert 4.0 <= update["spent"]["seconds"] <= 4.0 + SLACK
    assert update["spent"]["pages"] == 1


async def test_a_summary_that_hangs_leaves_time_for_the_answer(web: Web, upstream: Upstream, tmp_path: Path):
    """What it was to be made of is there: the model answers from the passages."""
    upstream.script(reply(SEARCH, stop("toolUse")), reply(stall()), reply(say("Scheele isolated it [1]."), stop()))
    async with SearchServer("duckduckgo", hits(web, "/oxygen")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo, upstream=upstream) | MODEL
        code, events, err = await ask("--within", "4s", env=env)

    assert (code, text_of(events)) == (0, "Scheele isolated it [1]."), err
    assert last_update(events)["spent"]["seconds"] < 4.0
    assert "tools" not in upstream.requests[-1].body, "the answer is due"
    assert FACT in upstream.requests[-1].body["messages"][-1]["content"]
    receipt = artifact_of(events)["receipt"]
    assert receipt["notes"][-1].startswith("openai/m was stopped, because the answer was due")


async def test_a_search_that_hangs_fails_when_the_answer_is_due(upstream: Upstream, tmp_path: Path):
    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()  # to the end of the connection, without a word
        writer.close()

    upstream.script(reply(SEARCH, stop("toolUse")), reply(say("I could not look it up."), stop()))
    async with await asyncio.start_server(never, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        place = {"FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_DUCKDUCKGO_BASE_URL": url}
        code, events, err = await ask("--within", "4s", env=environment(tmp_path, upstream) | MODEL | place)

    assert (code, text_of(events)) == (0, "I could not look it up."), err
    assert last_update(events)["spent"]["seconds"] < 4.0
    [attempt] = artifact_of(events)["receipt"]["providers"]
    assert (attempt["provider"], attempt["code"]) == ("duckduckgo", "timeout")


async def test_pages_that_hang_leave_the_others(web: Web, upstream: Upstream, tmp_path: Path):
    upstream.script(reply(SEARCH, stop("toolUse")), reply(say("Scheele isolated it [1]."), stop()))
    web.put("/hangs", hanging_reply())
    async with SearchServer("duckduckgo", hits(web, "/oxygen", "/hangs")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo, upstream=upstream) | MODEL | NO_SUMMARY
        code, events, err = await ask("--within", "4s", env=env)

    assert (code, text_of(events)) == (0, "Scheele isolated it [1]."), err
    assert last_update(events)["spent"]["seconds"] < 4.0
    assert [(page["status"], page["reason"]) for page in artifact_of(events)["receipt"]["pages"]] == [
        ("read", None),
        ("failed", "not read to its end, because the answer was due"),
    ]


async def test_a_model_that_writes_slowly_is_cut_at_the_end_of_the_time(upstream: Upstream, tmp_path: Path):
    words = [step for number in range(200) for step in (say(f"word{number} "), pause(0.1))]
    upstream.script(reply(*words, stop()))
    code, events, err = await ask("--within", "2s", env=environment(tmp_path, upstream) | MODEL)

    assert (code, stop_reason(events)) == (0, "length"), err
    assert text_of(events).startswith("word0 word1 ")
    assert last_update(events)["spent"]["seconds"] <= 2.0 + SLACK


@pytest.mark.parametrize("limit", [("--within", "20s"), ("--spend", "0.0005")])
async def test_where_the_model_cannot_be_asked_the_search_is_made_by_rule(
    web: Web, upstream: Upstream, tmp_path: Path, limit: tuple[str, str]
):
    """It cannot be reached before a deadline, or one call would cost more than there is."""
    async with SearchServer("duckduckgo", hits(web, "/oxygen")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo, upstream=upstream) | MODEL
        if limit[0] == "--within":
            env["FOOTNOTE_MODELS_PROVIDERS_OPENAI_BASE_URL"] = CLOSED
        code, events, err = await ask(*limit, env=env)

    assert code == 0, err
    assert f"> {FACT} [1]" in text_of(events)
    assert upstream.requests == []
    assert last_update(events)["spent"]["usd"] == 0.0


async def test_money_is_counted_and_limits_what_a_model_may_write(upstream: Upstream, tmp_path: Path):
    upstream.script(reply(say("It is so."), usage(2_000, 100), stop()))
    code, events, err = await ask("--spend", "0.10", env=environment(tmp_path, upstream) | MODEL)

    assert code == 0, err
    [request] = upstream.requests
    assert 2_000 < request.body["max_completion_tokens"] < 2_500, "a quarter of the money"
    assert last_update(events)["spent"]["usd"] == pytest.approx(0.003)


async def test_pages_beyond_the_budget_are_not_read_and_the_receipt_says_so(
    web: Web, upstream: Upstream, tmp_path: Path
):
    upstream.script(reply(SEARCH, stop("toolUse")), reply(say("Scheele [1]."), stop()))
    async with SearchServer("duckduckgo", hits(web, "/oxygen", "/oxy", "/chain/2")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo, upstream=upstream) | MODEL | NO_SUMMARY
        code, events, err = await ask("--pages", "1", env=env)

    assert code == 0, err
    receipt = artifact_of(events)["receipt"]
    pages = receipt["pages"]
    assert [page["status"] for page in pages] == ["read", "snippet", "snippet"]
    assert [page["reason"] for page in pages[1:]] == ["the pages that this run may read are used up"] * 2
    assert "2 of 3 pages were not read" in receipt["notes"][-1]
    assert last_update(events)["spent"]["pages"] == 1


async def test_money_is_no_limit_for_a_model_whose_price_is_not_known(upstream: Upstream, tmp_path: Path):
    env = environment(tmp_path, upstream, FOOTNOTE_MODELS_DEFAULT="openai/m")
    code, out, err = await run_footnote("ask", "?", "--spend", "1", env=env)

    assert (code, out) == (2, "")
    assert err.startswith("footnote: The price of openai/m is not known")
    assert upstream.requests == []


async def test_nobody_waits_longer_for_a_tool_server_than_for_the_answer(upstream: Upstream, tmp_path: Path):
    upstream.script(reply(say("It is so."), stop()))
    silent = {"command": sys.executable, "args": ["-c", "import time; time.sleep(60)"]}
    (tmp_path / ".footnote").mkdir()
    agents = {"agents": [{"id": "a", "mcpServers": {"silent": silent}}]}
    (tmp_path / ".footnote" / "agents.json").write_text(json.dumps(agents))
    code, events, err = await ask("--within", "3s", env=environment(tmp_path, upstream) | MODEL)

    assert (code, text_of(events)) == (0, "It is so."), err
    assert last_update(events)["spent"]["seconds"] < 3.0
