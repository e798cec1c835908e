import logging
from pathlib import Path
from textwrap import dedent

import pytest

from footnote.tools.registry import plugin_tools
from plugin_packages import install, site
from tools.calls import run_for_result

__all__ = ["site"]

ECHO = """
    from msgspec import Struct
    from footnote.protocol.tools import text_result
    from footnote.tools.define import tool

    class Echo(Struct):
        text: str

    @tool(titles={"en": "Echo", "vi": "Lặp lại", "zh": "回声"})
    async def echo(params: Echo, context):
        "Say it again."
        return text_result(params.text)

    both = [echo]
    nothing = None
"""


async def test_an_installed_package_brings_its_tools(site: Path) -> None:
    install(site, "echo_package", ECHO, "echo = echo_package:echo\n")
    (tool,) = plugin_tools()
    assert (await run_for_result(tool, {"text": "hi"})).text == "hi"


def test_one_entry_point_may_bring_several_tools(site: Path) -> None:
    install(site, "echo_package", ECHO, "all = echo_package:both\n")
    assert [tool.name for tool in plugin_tools()] == ["echo"]


def test_without_plugins_there_are_no_tools() -> None:
    assert plugin_tools() == ()


def test_plugins_are_looked_for_once(site: Path) -> None:
    install(site, "echo_package", ECHO, "echo = echo_package:echo\n")
    tools = plugin_tools()
    install(site, "second", ECHO, "second = second:echo\n")
    assert plugin_tools() is tools


@pytest.mark.parametrize(
    ("code", "entry", "reason"),
    [
        ("raise RuntimeError('no luck')", "bad:tool", "RuntimeError: no luck"),
        ("import sys; sys.exit(3)", "bad:tool", "SystemExit: 3"),
        ("", "bad:tool", "AttributeError: module 'bad' has no attribute 'tool'"),
        ("tool = 5", "bad:tool", "TypeError: 'int' object is not iterable"),
        ("tool = [5]", "bad:tool", "TypeError: 5 is not a tool; make it one with footnote.tools.define.tool."),
        (
            f"{dedent(ECHO)}\nfrom dataclasses import replace\ntool = replace(echo, name='a b')",
            "bad:tool",
            "TypeError: 'a b' cannot be the name of a tool: 1 to 64 of a-z, A-Z, 0-9, _ and -.",
        ),
    ],
)
def test_a_broken_plugin_is_left_out_and_its_package_is_named(
    site: Path, caplog: pytest.LogCaptureFixture, code: str, entry: str, reason: str
) -> None:
    install(site, "bad", code, f"broken = {entry}\n")
    install(site, "echo_package", ECHO, "echo = echo_package:echo\n")
    with caplog.at_level(logging.WARNING):
        assert [tool.name for tool in plugin_tools()] == ["echo"]
    assert [record.getMessage() for record in caplog.records] == [
        f"The plugin broken of the package bad could not be loaded and is left out: {reason}"
    ]
