"""The tools of servers, made acceptable for models."""

import sys
from collections.abc import AsyncIterator
from hashlib import sha256

import pytest
import pytest_asyncio
from jsonschema import Draft202012Validator
from msgspec.structs import replace
from rich.pretty import pretty_repr

from footnote.protocol.errors import ConfigError, ToolFailed
from footnote.tools.define import NAME
from footnote.tools.mcp import McpServerSettings, McpSource, probe
from footnote.tools.mcp.adapter import unique_name
from tools.calls import run_for_result, run_for_steps
from tools.mcp_servers.start import ODD

OBJECT = {"type": "object", "properties": {"x": {"type": "string"}}}

in_one_loop = pytest.mark.asyncio(loop_scope="module")


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name.startswith("footnote")]


def hashed_name(name: str, tool: str) -> str:
    return name + "_" + sha256(f"odd\0{tool}".encode()).hexdigest()[:8]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def source() -> AsyncIterator[McpSource]:
    async with McpSource([ODD]) as opened:
        yield opened


@in_one_loop
async def test_of_all_pages_the_tools_that_a_model_can_use_are_offered(source: McpSource) -> None:
    tools = {tool.name: tool for tool in source.tools}
    assert {name: tool.input_schema for name, tool in tools.items() if name != "mcp__odd__wordy"} == {
        "mcp__odd__plain": OBJECT,
        hashed_name("mcp__odd__with_space", "with space"): OBJECT,
        "mcp__odd__with_space": OBJECT,
        hashed_name("mcp__odd__with_space", "with.space"): OBJECT,
        hashed_name("mcp__odd__" + "n" * 45, "n" * 100): OBJECT,
        hashed_name("mcp__odd__" + "n" * 45, "n" * 99 + "m"): OBJECT,
        "mcp__odd__bare": {"type": "object", "properties": {}},
        "mcp__odd__choice": {"type": "object", "properties": {}},
        "mcp__odd__refusing": OBJECT,
        "mcp__odd__lying": OBJECT,
    }
    for tool in tools.values():
        assert NAME.fullmatch(tool.name)
        Draft202012Validator.check_schema(tool.input_schema)


async def test_each_tool_that_no_model_could_use_is_left_out_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    async with McpSource([ODD]):
        pass
    assert messages(caplog) == [
        f"The tool {name} of the MCP server odd is left out: {reason}."
        for name, reason in [
            ("broken", "its schema is not valid: 'text' is not valid under any of the given schemas"),
            ("named", "it has the parameter 'tên', a name that models cannot use"),
            ("remote", "its schema refers to https://x.invalid/y, which is not part of it"),
            ("huge", "its schema has 16,001 bytes, more than the 16,000 that a tool may take up"),
            ("deep", "its schema is nested too deeply"),
            ("l" * 80 + " …", "it has the parameter '" + "ê" * 200 + " …', a name that models cannot use"),
        ]
    ]


@in_one_loop
async def test_a_description_is_data_and_has_an_end(source: McpSource) -> None:
    descriptions = {tool.name: tool.description for tool in source.tools}
    start = "A tool of the MCP server odd, which describes it so: "
    assert descriptions["mcp__odd__plain"] == start + "Fine.[31m " + "a" * 1990 + " …"
    assert descriptions["mcp__odd__bare"] == start + "bare"


@in_one_loop
async def test_words_inside_a_schema_have_an_end_and_data_is_left_alone(source: McpSource) -> None:
    wordy = next(tool for tool in source.tools if tool.name == "mcp__odd__wordy")
    cut, data = "w" * 500 + " …", "w" * 600
    assert wordy.input_schema == {
        "type": "object",
        "title": cut,
        "description": cut,
        "properties": {
            "title": {"type": "string", "description": cut, "default": data},
            "default": {"type": "object", "description": cut, "default": {"title": data}},
            "list": {"type": "array", "items": {"anyOf": [{"description": cut, "const": data}, {"enum": [data]}]}},
        },
        "$defs": {"x": {"description": cut}},
    }


async def test_of_very_many_tools_the_first_are_taken(caplog: pytest.LogCaptureFixture) -> None:
    async with McpSource([replace(ODD, args=(*ODD.args, "200"))]) as source:
        names = [tool.name for tool in source.tools]
    assert names == [f"mcp__odd__tool_{number}" for number in range(128)]
    assert messages(caplog) == ["The MCP server odd offers more than 128 tools; all after these are left out."]


@in_one_loop
async def test_a_changed_name_still_calls_the_tool_that_it_stands_for(source: McpSource) -> None:
    answers = [(await run_for_result(tool, {})).text for tool in source.tools[:6]]
    assert answers == ["plain", "with space", "with_space", "with.space", "n" * 100, "n" * 99 + "m"]


@in_one_loop
async def test_an_answer_that_breaks_the_servers_own_promise_is_a_failure(source: McpSource) -> None:
    refusing, lying = (
        next(tool for tool in source.tools if tool.name.endswith(end)) for end in ("_refusing", "_lying")
    )
    with pytest.raises(ToolFailed, match=r"^The MCP server odd gave an invalid answer to the call\.$"):
        await run_for_steps(lying, {})
    with pytest.raises(ToolFailed, match=r"^The MCP server odd refused the call: not today$"):
        await run_for_steps(refusing, {})


async def test_a_probe_says_what_the_server_offers() -> None:
    assert (await probe(ODD))[:2] == ["plain", "with space"]


def test_two_servers_cannot_take_each_others_names() -> None:
    names: set[str] = set()
    for server, tool in [("a", "b__c"), ("a__b", "c")]:
        names.add(unique_name(server, tool, names))
    assert len(names) == 2


def test_approval_and_time_limit_are_those_of_the_configuration() -> None:
    server = McpServerSettings("x", command=sys.executable, approval=True, timeout=5)
    assert (server.approval, server.timeout) == (True, 5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "The MCP server x needs either a command or a url."),
        ({"command": "a", "url": "http://b"}, "The MCP server x needs either a command or a url."),
        ({"url": "ftp://b"}, "The url of the MCP server x must start with http:// or https://."),
    ],
)
def test_a_server_that_cannot_be_reached_by_any_way_is_a_wrong_setting(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        McpServerSettings("x", **settings)  # pyright: ignore[reportArgumentType] - the settings are wrong on purpose
    assert wrong.value.message == message


def test_keys_are_masked_in_what_is_told_of_a_server() -> None:
    server = McpServerSettings(
        "x",
        url="https://user:password@host:8000/mcp?key=query-secret",
        headers={"authorization": "Bearer header-secret"},
        env={"KEY": "environment-secret", "LEVEL": "info"},
    )
    assert server.location == "https://host:8000/mcp"
    message = f"{server.url} refused header-secret and environment-secret, info"
    assert server.mask_secrets(message) == "https://host:8000/mcp refused *** and ***, info"


def test_keys_do_not_stand_in_the_representation_of_a_server() -> None:
    reached = McpServerSettings(
        "x", url="https://user:password@host/mcp?key=secret", headers={"authorization": "secret"}
    )
    started = McpServerSettings("y", command="run", args=("--key=secret",), env={"KEY": "secret"})
    assert f"{[reached, started]}" == "[McpServer(x, https://host/mcp), McpServer(y, the command run)]"
    assert pretty_repr(started) == "McpServerSettings(name='y', place='the command run')"
