"""kill -9 at any point of a run: it continues at the next start, and nothing is lost, doubled or repeated."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import aiohttp
import pytest

import engines
from plugin_packages import install
from runs.effect import EFFECT
from runs.fold import FoldedTurn, blocks_of_history
from runs.server_process import RunClient, ServerProcess
from upstream import Upstream, call, hold, parallel_calls, pause, reply, say, stop
from upstream.server import ModelRequest

RUNS = 10
KILLS = 5
MAX_KILLS = 8
"""The server is killed when so many runs have sent text, and none has ended."""


def _rounds(request: ModelRequest) -> int:
    """The number of rounds with calls before this request."""
    turn = request.body["messages"]
    return sum(message["role"] == "assistant" for message in turn)


def _slowly(*words: str) -> list[Any]:
    return [step for word in words for step in (say(f"{word} "), pause(0.04))]


def _answer(request: ModelRequest, *before_the_end: Any) -> Any:
    name = request.body["messages"][0]["content"][-1]["text"].split()[-1]
    match _rounds(request):
        case 0:
            calls = parallel_calls(
                call("effect", {"name": f"{name}-first"}, id=f"{name}_1"),
                call("write_file", {"file_path": "/report.md", "content": "one\ntwo\n"}, id=f"{name}_2"),
            )
            return reply(*_slowly("I", "will", "look", "into", "it."), calls, stop("toolUse"))
        case 1:
            edit = {"file_path": "/report.md", "old_string": "two", "new_string": "two and two"}
            calls = parallel_calls(
                call("edit_file", edit, id=f"{name}_3"), call("effect", {"name": f"{name}-second"}, id=f"{name}_4")
            )
            return reply(*_slowly("Now", "I", "change", "it."), calls, stop("toolUse"))
        case _:
            return reply(*_slowly(*(f"word{number}" for number in range(13))), *before_the_end, stop())


def _settings(home: Path) -> dict[str, str]:
    site = home / "site"
    if not site.exists():
        site.mkdir(parents=True)
        install(site, "effect_package", EFFECT, "effect = effect_package:effect\n")
    return {
        "PYTHONPATH": str(site),
        "EFFECTS": str(home / "effects.txt"),
        "FOOTNOTE_LIMITS_RUNS_PER_USER": "100",
        "FOOTNOTE_AGENTS": json.dumps([{"id": "a"}]),
    }


async def _wait_for_end(client: RunClient, run_id: str, folded: FoldedTurn) -> dict[str, Any]:
    while not folded.ended:
        await client.follow(run_id, folded)
    view = await client.json("GET", f"/v2/runs/{run_id}")
    history = await client.json("GET", f"/v2/sessions/{view['session_id']}/history")
    assert view["state"] == "done", view
    assert history["active_run"] is None
    assert folded.shown["stop_reason"] == "stop"
    blocks = folded.shown["blocks"]
    assert blocks_of_history(history, view["message_id"]) == blocks, "a reload shows what was streamed"
    whole = FoldedTurn()
    await client.follow(run_id, whole)
    assert whole.shown == folded.shown, "and so does a replay"
    return history


@pytest.mark.slow
async def test_a_run_that_is_killed_anywhere_finishes_and_does_nothing_twice(upstream: Upstream, tmp_path: Path):
    killed = asyncio.Event()
    upstream.script(lambda request: _answer(request, hold(killed)))
    settings = _settings(tmp_path)
    rng = random.Random(20261115)
    restarts = 0
    for kill in range(KILLS):
        killed.clear()
        process = await ServerProcess.start(tmp_path, upstream, **settings)
        turns: dict[str, FoldedTurn] = {}
        async with process.client() as client:
            tasks = [
                asyncio.create_task(_ask(client, f"k{kill}n{number}", rng.uniform(0, 0.8), turns))
                for number in range(RUNS)
            ]
            await _wait_until(lambda turns=turns: sum(bool(folded.blocks) for folded in turns.values()) >= MAX_KILLS)
            await process.kill()
            killed.set()
            await asyncio.gather(*tasks)
        process = await ServerProcess.start(tmp_path, upstream, **settings)
        async with process.client() as client:
            histories = await asyncio.gather(*(_wait_for_end(client, *one) for one in turns.items()))
        assert await process.stop() == 0
        restarts += sum(folded.restarts for folded in turns.values())
        for history in histories:
            _check_effects(history, tmp_path)
    assert restarts > RUNS * KILLS * 0.5, "most of them were interrupted"
    assert upstream.problems == []


async def _wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


async def _ask(client: RunClient, name: str, delay: float, turns: dict[str, FoldedTurn]) -> None:
    """Asks after a delay, and follows until the server is killed."""
    await asyncio.sleep(delay)
    try:
        run_id = await client.start(await client.session(), f"Tell me about {name}")
    except aiohttp.ClientError:
        return
    turns[run_id] = FoldedTurn()
    await client.follow(run_id, turns[run_id])


def _check_effects(history: dict[str, Any], home: Path) -> None:
    done = Counter((home / "effects.txt").read_text().split())
    results = {message["tool_call_id"]: message for message in history["messages"] if message["role"] == "tool"}
    assert len(results) == 4
    for call_id, result in results.items():
        name, _, number = call_id.partition("_")
        if result["name"] == "effect":
            times = done[f"{name}-{'first' if number == '1' else 'second'}"]
            assert times == 1 or (times == 0 and result["status"] == "error"), (call_id, times)
        else:
            assert result["status"] == "success", result
    [file] = history["workspace"]["workspace_files"]
    assert file["path"] == "/report.md"


@pytest.mark.slow
async def test_a_server_that_is_stopped_in_good_order_leaves_its_runs_to_the_next_start(
    upstream: Upstream, tmp_path: Path
):
    upstream.script(_answer)
    process = await ServerProcess.start(tmp_path, upstream, **_settings(tmp_path))
    folded = FoldedTurn()
    async with process.client() as client:
        run_id = await client.start(await client.session(), "Tell me about x")
        following = asyncio.create_task(client.follow(run_id, folded))
        await upstream.wait_received(1)
        assert await process.stop() == 0
        await following
    assert not folded.ended
    process = await ServerProcess.start(tmp_path, upstream, **_settings(tmp_path))
    async with process.client() as client:
        await _wait_for_end(client, run_id, folded)
    assert await process.stop() == 0
    assert "Traceback" not in process.stderr


SLOW = """
    import asyncio
    import os
    from msgspec import Struct
    from footnote.protocol.tools import text_result
    from footnote.tools.define import tool

    class Effect(Struct):
        name: str
        wait: bool = False

    @tool(titles={"en": "Do it", "vi": "Làm", "zh": "做"})
    async def effect(params: Effect, context):
        "Does something that shows."
        with open(os.environ["EFFECTS"], "a") as file:
            file.write(params.name + "\\n")
        if params.wait:
            await asyncio.sleep(60)
        return text_result("done")
"""


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["agent gone", "cancel wanted"])
async def test_a_run_that_cannot_go_on_keeps_the_results_that_its_calls_had_and_shows_its_files(
    upstream: Upstream, tmp_path: Path, ending: str
):
    calls = parallel_calls(
        call("effect", {"name": "quick"}, id="c1"), call("effect", {"name": "slow", "wait": True}, id="c2")
    )
    write = call("write_file", {"file_path": "/report.md", "content": "one"}, id="c0")
    upstream.script(reply(write, stop("toolUse")), reply(say("I do it."), calls, stop("toolUse")))
    settings = _settings(tmp_path)
    (tmp_path / "site" / "effect_package.py").write_text(dedent(SLOW), encoding="utf-8")
    process = await ServerProcess.start(tmp_path, upstream, **settings)
    folded = FoldedTurn()
    async with process.client() as client:
        session_id = await client.session()
        run_id = await client.start(session_id, "Do it")
        following = asyncio.create_task(client.follow(run_id, folded))
        await _wait_until(lambda: any(block.get("tool_use_id") == "c1" for block in folded.blocks.values()))
        await _wait_until(lambda: "slow" in (tmp_path / "effects.txt").read_text())
        await process.kill()
        await following
    if ending == "agent gone":
        settings["FOOTNOTE_AGENTS"] = json.dumps([{"id": "b"}])
    else:
        engines.rows(tmp_path / ".footnote", "UPDATE run SET cancel_wanted = 1")
    process = await ServerProcess.start(tmp_path, upstream, **settings)
    async with process.client() as client:
        while not folded.ended:
            await client.follow(run_id, folded)
        view = await client.json("GET", f"/v2/runs/{run_id}")
        history = await client.json("GET", f"/v2/sessions/{session_id}/history")
    assert await process.stop() == 0
    assert view["state"] == ("failed" if ending == "agent gone" else "cancelled")
    assert view["usage"]["input_tokens"] == 20, "what was used before the crash was used"
    assert blocks_of_history(history, view["message_id"]) == folded.shown["blocks"]
    assert folded.shown["blocks"][-1] == {"type": "attachments", "files": history["workspace"]["workspace_files"]}
    assert [file["path"] for file in folded.shown["blocks"][-1]["files"]] == ["/report.md"]
    assert folded.statuses == {"c0": "done", "c1": "done", "c2": "error"}
    results = {message["tool_call_id"]: message for message in history["messages"] if message["role"] == "tool"}
    assert (results["c1"]["status"], results["c1"]["content"]) == ("success", "done")
    assert "may or may not have had its effect" in results["c2"]["content"]
    assert sorted((tmp_path / "effects.txt").read_text().split()) == ["quick", "slow"]
