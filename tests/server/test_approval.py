"""Approvals on a server: the run waits for a decision or the timeout."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import engines
from cli.process import environment, with_tool_server
from cli.test_ask_approval import SHOUT
from footnote.app import App
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.sessions import Approval
from runs.fold import FoldedTurn
from runs.server_process import RunClient, ServerProcess
from server.harness import SECONDS, ApiClient, open_server, parse_events
from upstream import Upstream, call, parallel_calls, reply, say, stop

TOOL = "mcp__tools__shout"


def _script_calls(upstream: Upstream, *calls: Any) -> None:
    upstream.script(*[step for one in calls for step in (reply(one, stop("toolUse")), reply(say("Done."), stop()))])


async def _wait_for_state(client: ApiClient, run_id: str, expected: str) -> None:
    async with asyncio.timeout(SECONDS):
        while (await client.request("GET", f"/v2/runs/{run_id}")).json["state"] != expected:
            await asyncio.sleep(0.02)


async def _start_waiting_run(client: ApiClient, session_id: str) -> str:
    run_id = await client.start_run(session_id, "Shout")
    await _wait_for_state(client, run_id, "waiting")
    return run_id


async def _decide(client: ApiClient, run_id: str, decision: str, call_id: str = "call_1", **more: str) -> Any:
    return await client.request("POST", f"/v2/runs/{run_id}/approvals/{call_id}", {"decision": decision, **more})


def _tool_result(events: list[dict[str, Any]]) -> dict[str, Any]:
    blocks = [event["content_block"] for event in events if event["type"] == "content_block_start"]
    [result] = [block for block in blocks if block["type"] == "tool_result"]
    return result


def _approval_events(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == "approval_required"]


async def test_a_call_waits_for_the_user_and_is_made_when_it_is_allowed(upstream: Upstream, tmp_path: Path) -> None:
    with_tool_server(tmp_path, approval=True)
    _script_calls(upstream, SHOUT)
    async with open_server(tmp_path, upstream) as server:
        me = server.local
        session_id = await me.create_session()
        run_id = await _start_waiting_run(me, session_id)
        history = (await me.request("GET", f"/v2/sessions/{session_id}/history?turns=true")).json
        again = await me.request("POST", f"/v2/sessions/{session_id}/messages", {"content": "And?"})
        allowed = await _decide(me, run_id, "once")
        events = parse_events(await me.run_events(run_id))

    assert history["turns"][-1]["state"] == "waiting"
    assert history["active_run"]["run_id"] == run_id
    assert (again.status, again.error) == (409, "run_active")
    assert allowed.status == 200
    [request] = _approval_events(events)
    assert request == {
        "type": "approval_required",
        "tool_use_id": "call_1",
        "name": TOOL,
        "input": {"text": "hello\x1b[2J"},
        "reasons": [{"kind": "setting"}],
        "id": request["id"],
    }
    order = [event.get("status") or event["type"] for event in events if event.get("tool_use_id") == "call_1"]
    assert order == ["pending", "approval_required", "running", "done"]
    assert _tool_result(events)["content"] == "HELLO\x1b[2J"


async def test_the_model_is_told_of_a_no_with_the_users_note(upstream: Upstream, tmp_path: Path) -> None:
    with_tool_server(tmp_path, approval=True)
    _script_calls(upstream, SHOUT)
    async with open_server(tmp_path, upstream) as server:
        run_id = await _start_waiting_run(server.local, await server.local.create_session())
        denied = await _decide(server.local, run_id, "deny", note="Not on a Friday.")
        result = _tool_result(parse_events(await server.local.run_events(run_id)))
    assert denied.status == 200
    assert result["status"] == "error"
    message = str(upstream.requests[1].body["messages"][-1])
    assert "The user declined this call" in message
    assert "Not on a Friday." in message


@pytest.mark.parametrize(("decision", "asks_again"), [("session", True), ("always", False), ("once", True)])
async def test_a_decision_holds_for_as_much_as_it_says(
    upstream: Upstream, tmp_path: Path, decision: str, asks_again: bool
) -> None:
    with_tool_server(tmp_path, approval=True)
    _script_calls(upstream, *[call(TOOL, {"text": str(number)}, id=f"call_{number}") for number in (1, 2, 3)])
    async with open_server(tmp_path, upstream) as server:
        me = server.local
        here = await me.create_session()
        first = await _start_waiting_run(me, here)
        assert (await _decide(me, first, decision)).status == 200
        await _wait_for_state(me, first, "done")
        second = await me.start_run(here, "Shout")
        if decision == "once":
            await _wait_for_state(me, second, "waiting")
            await _decide(me, second, "once", "call_2")
        events = parse_events(await me.run_events(second))
        assert bool(_approval_events(events)) is (decision == "once")
        assert _tool_result(events)["content"] == "2"
        third = await me.start_run(await me.create_session(), "Shout")
        await _wait_for_state(me, third, "waiting" if asks_again else "done")
        if asks_again:
            await me.request("POST", f"/v2/runs/{third}/cancel")


async def test_what_is_allowed_in_a_session_lets_the_other_calls_that_wait_go_on(
    upstream: Upstream, tmp_path: Path
) -> None:
    with_tool_server(tmp_path, approval=True)
    calls = [call(TOOL, {"text": str(number)}, id=f"call_{number}") for number in (1, 2)]
    _script_calls(upstream, parallel_calls(*calls))
    async with open_server(tmp_path, upstream) as server:
        run_id = await _start_waiting_run(server.local, await server.local.create_session())
        assert (await _decide(server.local, run_id, "session")).status == 200
        await _wait_for_state(server.local, run_id, "done")


async def test_the_same_decision_twice_is_one_and_another_one_is_too_late(upstream: Upstream, tmp_path: Path) -> None:
    with_tool_server(tmp_path, approval=True)
    _script_calls(upstream, SHOUT)
    async with open_server(tmp_path, upstream) as server:
        me, other = server.local, await server.add_user("other")
        run_id = await _start_waiting_run(me, await me.create_session())
        refused = [
            await _decide(other, run_id, "once"),
            await _decide(me, run_id, "once", "call_9"),
            await _decide(me, "run_0", "once"),
            await _decide(me, run_id, "perhaps"),
        ]
        assert [response.status for response in refused] == [404, 404, 404, 400]
        responses = [await _decide(me, run_id, decision) for decision in ("deny", "deny", "once")]
        await _wait_for_state(me, run_id, "done")
        responses += [await _decide(me, run_id, decision) for decision in ("deny", "always")]
    assert [response.status for response in responses] == [200, 200, 409, 200, 409]


async def test_a_run_that_waits_can_be_cancelled_and_decides_nothing_after_that(
    upstream: Upstream, tmp_path: Path
) -> None:
    with_tool_server(tmp_path, approval=True)
    _script_calls(upstream, SHOUT)
    async with open_server(tmp_path, upstream) as server:
        run_id = await _start_waiting_run(server.local, await server.local.create_session())
        stopped = await server.local.request("POST", f"/v2/runs/{run_id}/cancel")
        response = await _decide(server.local, run_id, "once")
        events = parse_events(await server.local.run_events(run_id))
    assert stopped.json["state"] == "cancelled"
    assert response.status == 409
    assert _tool_result(events)["content"] == "Stopped on request before this call began."


async def test_nobody_waits_for_ever_and_the_model_is_told_that_nobody_answered(
    upstream: Upstream, tmp_path: Path
) -> None:
    with_tool_server(tmp_path, approval=True)
    _script_calls(upstream, SHOUT)
    async with open_server(tmp_path, upstream, FOOTNOTE_LIMITS_APPROVAL_SECONDS="1") as server:
        run_id = await server.local.start_run(await server.local.create_session(), "Shout")
        events = parse_events(await server.local.run_events(run_id))
        response = await _decide(server.local, run_id, "once")
    assert len(_approval_events(events)) == 1
    assert _tool_result(events)["content"].startswith("Nobody answered")
    assert response.status == 409


async def test_a_run_that_waits_keeps_nobody_else_from_being_answered(upstream: Upstream, tmp_path: Path) -> None:
    with_tool_server(tmp_path, approval=True)
    upstream.script(reply(SHOUT, stop("toolUse")), reply(say("Because."), stop()), reply(say("Done."), stop()))
    async with open_server(tmp_path, upstream, FOOTNOTE_LIMITS_RUNS_AT_ONCE="1") as server:
        run_id = await _start_waiting_run(server.local, await server.local.create_session())
        await server.local.ask_for_events(await server.local.create_session())
        await _decide(server.local, run_id, "once")
        await _wait_for_state(server.local, run_id, "done")


async def test_clients_of_other_apis_cannot_be_asked_and_the_model_learns_that(
    upstream: Upstream, tmp_path: Path
) -> None:
    with_tool_server(tmp_path, approval=True)
    _script_calls(upstream, SHOUT)
    async with open_server(tmp_path, upstream) as server:
        body = {"model": "a", "messages": [{"role": "user", "content": "Shout"}]}
        response = await server.local.request("POST", "/v1/chat/completions", body)
    assert response.status == 200
    message = str(upstream.requests[1].body["messages"][-1])
    assert "Nobody could be asked" in message
    assert "declined this call" not in message


async def test_what_a_removed_user_always_allowed_is_forgotten(upstream: Upstream, tmp_path: Path) -> None:
    with_tool_server(tmp_path, approval=True)
    _script_calls(upstream, SHOUT)
    async with open_server(tmp_path, upstream) as server:
        ann = await server.add_user("ann")
        run_id = await _start_waiting_run(ann, await ann.create_session())
        await _decide(ann, run_id, "always")
        await _wait_for_state(ann, run_id, "done")
        assert _count_standing_approvals(tmp_path) == 1
        removed = await server.local.request("DELETE", f"/v2/users/{ann.id}")
        assert removed.status == 204
        assert _count_standing_approvals(tmp_path) == 0


def _count_standing_approvals(home: Path) -> int:
    [(count,)] = engines.rows(home / ".footnote", "SELECT count(*) FROM standing_approval")
    return count


@pytest.mark.slow
@pytest.mark.parametrize("decided_before", [True, False])
async def test_a_question_outlives_kill_9_and_is_asked_again_only_if_nobody_decided(
    upstream: Upstream, tmp_path: Path, decided_before: bool
) -> None:
    with_tool_server(tmp_path, approval=True)
    _script_calls(upstream, SHOUT)
    process = await ServerProcess.start(tmp_path, upstream)
    try:
        async with process.client() as client:
            run_id = await client.start(await client.session())
            await _client_state(client, run_id, "waiting")
        await process.kill()
        if decided_before:  # at another replica, while the run had no owner
            async with App.open(home=tmp_path / ".footnote", environ=environment(tmp_path, upstream)) as app:
                await app.runner.decide(LOCAL_USER, run_id, "call_1", Approval("once"))
        process = await ServerProcess.start(tmp_path, upstream)
        async with process.client() as client:
            folded = FoldedTurn()
            following = asyncio.create_task(client.follow(run_id, folded))
            async with asyncio.timeout(SECONDS):
                if not decided_before:
                    while folded.approval_requests < 2:
                        await asyncio.sleep(0.02)
                    await client.json("POST", f"/v2/runs/{run_id}/approvals/call_1", {"decision": "once"})
                await following
        assert folded.approval_requests == (1 if decided_before else 2)
        assert "HELLO" in str(folded.shown["blocks"])
    finally:
        await process.kill()


async def _client_state(client: RunClient, run_id: str, expected: str) -> None:
    async with asyncio.timeout(SECONDS):
        while (await client.json("GET", f"/v2/runs/{run_id}"))["state"] != expected:
            await asyncio.sleep(0.05)


async def test_a_run_with_a_deadline_waits_until_its_answer_is_due(upstream: Upstream, tmp_path: Path) -> None:
    with_tool_server(tmp_path, approval=True)
    _script_calls(upstream, SHOUT)
    async with open_server(tmp_path, upstream) as server:
        me = server.local
        started = await me.request(
            "POST",
            f"/v2/sessions/{await me.create_session()}/messages",
            {"content": "Shout", "budget": {"seconds": 8}},
            accept="application/json",
        )
        run_id = started.json["run_id"]
        await _wait_for_state(me, run_id, "waiting")
        await _wait_for_state(me, run_id, "done")
        late = await _decide(me, run_id, "once")
        events = parse_events(await me.run_events(run_id))
    assert _tool_result(events)["status"] == "error"
    assert "tools" not in upstream.requests[-1].body, "the answer is due"
    assert [event["delta"]["stop_reason"] for event in events if event["type"] == "message_delta"] == ["stop"]
    assert (late.status, late.json["error"]["code"]) == (409, "approval_expired")
