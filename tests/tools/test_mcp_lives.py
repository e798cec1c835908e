"""Servers that do not start, end too early, come back, and are stopped."""

import asyncio
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest
from mcp import Client

from footnote.protocol.errors import ToolFailed, TransientFailure, UpstreamError
from footnote.protocol.tools import Progress, error_result
from footnote.tools.mcp import McpServerSettings, McpSource, probe
from footnote.tools.mcp.client import McpClient
from footnote.tools.wrappers import wrap_tool
from tools.calls import run_for_result, run_for_steps
from tools.mcp_servers.start import EXAMPLE, port_of, serve_example, tool

pytestmark = pytest.mark.slow
replace = msgspec.structs.replace
SILENT = McpServerSettings("silent", command=sys.executable, args=("-c", "import sys; sys.stdin.read()"))


def python(name: str, code: str) -> McpServerSettings:
    return McpServerSettings(name, command=sys.executable, args=("-c", code))


@pytest.fixture
def free_port() -> Iterator[int]:
    """A port that is occupied and does not accept connections."""
    with socket.socket() as occupied:
        occupied.bind(("127.0.0.1", 0))
        yield occupied.getsockname()[1]


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.DEBUG, logger="footnote"):
        yield caplog


def warnings(log: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in log.records if record.levelno == logging.WARNING]


async def pid_of(source: McpSource) -> int:
    return int((await run_for_result(tool(source, "process"), {})).text)


def is_alive(pid: int) -> bool:
    """Also true of a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_no_child_is_left_when_the_source_is_closed() -> None:
    async with McpSource([EXAMPLE]) as source:
        pid = await pid_of(source)
        assert is_alive(pid)
    assert not is_alive(pid)


async def test_no_child_is_left_when_the_run_fails() -> None:
    pids: list[int] = []

    async def fail() -> None:
        async with McpSource([EXAMPLE]) as source:
            pids.append(await pid_of(source))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert [is_alive(pid) for pid in pids] == [False]


async def test_servers_that_do_not_work_are_left_out_with_the_reason(
    free_port: int, log: pytest.LogCaptureFixture
) -> None:
    port = f"http://127.0.0.1:{free_port}/mcp"
    async with serve_example(TOKEN="right") as locked:
        servers = [
            McpServerSettings("absent", command="no-such-command"),
            python("crashing", "raise SystemExit('the port is taken')"),
            McpServerSettings("down", url=port),
            replace(locked, name="locked", headers={"authorization": "Bearer wrong-token"}),
            EXAMPLE,
        ]
        async with McpSource(servers) as source:
            assert {tool.name.split("__")[1] for tool in source.tools} == {"demo"}
            assert (await run_for_result(tool(source, "add"), {"a": 1, "b": 1})).text == "2"
    assert sorted(warnings(log)) == sorted(
        f"{reason} Its tools are left out."
        for reason in (
            "The MCP server absent (the command no-such-command) could not be started: there is no such command.",
            f"The MCP server crashing ({SILENT.location}) ended before it answered. It said: the port is taken.",
            f"The MCP server down ({port}) could not be reached: nothing answers there.",
            f"The MCP server locked ({locked.url}) answered with HTTP status 401; check its headers.",
        )
    )
    assert "wrong-token" not in log.text


async def test_a_server_that_does_not_answer_is_given_up(log: pytest.LogCaptureFixture) -> None:
    async with McpSource([SILENT], connect_timeout=0.3) as source:
        assert source.tools == ()
    assert warnings(log) == [
        f"The MCP server silent ({SILENT.location}) did not answer within 0.3 s. Its tools are left out."
    ]


class EndedConnection:
    """A connection that ended while its client was handed out, which is not yet known."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()

    async def client(self) -> Client:
        return Client("http://127.0.0.1:1/mcp")


async def test_a_connection_that_ends_before_the_list_is_asked_for_is_the_servers_failure() -> None:
    link = McpClient(SILENT, connect_timeout=1)
    connections: list[Any] = [EndedConnection()]
    link._connections = connections
    with pytest.raises(UpstreamError, match=r"^The MCP server silent could not list its tools: .*[^.]\.$"):
        await link.list_tools()


async def test_the_headers_of_the_configuration_are_sent() -> None:
    async with serve_example(TOKEN="right") as server:
        assert "add" in await probe(replace(server, headers={"authorization": "Bearer right"}))


async def test_a_probe_that_fails_says_why() -> None:
    with pytest.raises(UpstreamError, match="could not be started: there is no such command"):
        await probe(McpServerSettings("absent", command="no-such-command"))


async def test_what_a_server_writes_to_stderr_goes_to_the_log_without_keys(
    log: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    async with McpSource([replace(EXAMPLE, env={"TOKEN": "very-secret"})]):
        pass
    assert "MCP server demo: ready, with TOKEN=***" in [record.getMessage() for record in log.records]
    assert "very-secret" not in log.text
    assert capfd.readouterr() == ("", "")


async def test_a_child_sees_its_own_settings_and_no_keys_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_SECRET", "ours")
    async with McpSource([replace(EXAMPLE, env={"THEIRS": "given"})]) as source:
        environment = tool(source, "environment")
        environment_seen = {
            name: (await run_for_result(environment, {"name": name})).text for name in ("OUR_SECRET", "THEIRS")
        }
    assert environment_seen == {"OUR_SECRET": "not set", "THEIRS": "given"}


async def test_a_server_that_ends_during_a_call_fails_the_call_and_is_back_for_the_next() -> None:
    async with McpSource([EXAMPLE]) as source:
        first = await pid_of(source)
        assert await run_for_result(wrap_tool(tool(source, "die")), {}) == error_result(
            "The MCP server demo ended during this call, so it is unknown whether the call had an effect. The next"
            " call will connect again."
        )
        second = await pid_of(source)
    assert first != second
    assert not is_alive(first)
    assert not is_alive(second)


async def test_a_call_that_may_be_repeated_survives_the_end_of_its_server(tmp_path: Path) -> None:
    async with McpSource([EXAMPLE]) as source:
        steps = await run_for_steps(wrap_tool(tool(source, "die_once")), {"marker": str(tmp_path / "died")})
    assert steps[0] == Progress("retrying", 1, 2)
    assert getattr(steps[1], "text", None) == "still here"


async def test_a_server_that_ended_between_calls_is_started_again_unnoticed() -> None:
    async with McpSource([EXAMPLE]) as source:
        first = await pid_of(source)
        connection = source._clients[0]._connections[0]
        os.kill(first, signal.SIGKILL)
        await asyncio.wait_for(connection.ended.wait(), 60)
        assert await pid_of(source) != first


async def test_an_http_server_that_was_started_anew_is_found_again() -> None:
    async with serve_example() as server, McpSource([server]) as source:
        with pytest.raises(TransientFailure, match="ended during this call"):
            await run_for_steps(tool(source, "die"), {})
        with pytest.raises(TransientFailure, match=r"nothing answers there|ended during this call"):
            await run_for_steps(tool(source, "look"), {})
        async with serve_example(port_of(server)):
            assert (await run_for_result(tool(source, "look"), {})).text == "nothing new"


async def test_an_http_server_that_forgot_the_session_gets_a_new_one() -> None:
    async with AsyncExitStack() as first:
        server = await first.enter_async_context(serve_example(SESSIONS="yes"))
        async with McpSource([server]) as source:
            assert (await run_for_result(tool(source, "add"), {"a": 1, "b": 1})).text == "2"
            await first.aclose()
            async with serve_example(port_of(server), SESSIONS="yes"):
                assert (await run_for_result(tool(source, "add"), {"a": 1, "b": 2})).text == "3"


async def test_a_server_has_its_own_time_limit() -> None:
    async with McpSource([replace(EXAMPLE, timeout=0.5)]) as source:
        with pytest.raises(ToolFailed, match=r"^The MCP server demo did not answer within 0\.5 s\.$"):
            await run_for_steps(tool(source, "hang"), {})


async def test_cancelling_while_servers_are_connected_leaves_no_child(log: pytest.LogCaptureFixture) -> None:
    said_pid = asyncio.Event()
    pids: list[int] = []

    class PidHandler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            pids.append(int(record.getMessage().rpartition(" ")[2]))
            loop.call_soon_threadsafe(said_pid.set)

    loop = asyncio.get_running_loop()
    listening = PidHandler()
    logger = logging.getLogger("footnote.tools.mcp.client")
    logger.addHandler(listening)
    code = "import os, sys; print('pid', os.getpid(), file=sys.stderr, flush=True); sys.stdin.read()"

    async def connect() -> None:
        async with McpSource([python("silent", code)]):
            raise AssertionError

    try:
        task = asyncio.create_task(connect())
        await asyncio.wait_for(said_pid.wait(), 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    finally:
        logger.removeHandler(listening)
    assert len(pids) == 1
    assert not is_alive(pids[0])


async def test_no_servers_are_no_work() -> None:
    async with McpSource([]) as source:
        assert source.tools == ()


def test_without_the_extra_the_error_says_how_to_install_it() -> None:
    code = (
        "import asyncio, sys; sys.modules['mcp'] = None\n"
        "from footnote.tools.mcp import McpServerSettings, McpSource\n"
        "from footnote.protocol.errors import ConfigError\n"
        "try: asyncio.run(McpSource([McpServerSettings('x', command='y')]).__aenter__())\n"
        "except ConfigError as error: print(error.message)"
    )
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert shown == (
        'The MCP server x needs a package that is not installed (mcp). Install it with: pip install "footnote[mcp]"\n'
    )
