import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from footnote.plugins import load_tools
from tools.calls import run_for_result

ECHO = """
    from msgspec import Struct
    from footnote.protocol.tools import said
    from footnote.tools.define import tool

    class Echo(Struct):
        text: str

    @tool(titles={"en": "Echo", "vi": "Lặp lại", "zh": "回声"})
    async def echo(params: Echo, context):
        "Say it again."
        return said(params.text)

    both = [echo]
    nothing = None
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder where packages can be put as an installer would."""
    known = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    load_tools.cache_clear()
    yield tmp_path
    load_tools.cache_clear()
    for name in set(sys.modules) - known:
        del sys.modules[name]


def install(site: Path, package: str, code: str, entries: str) -> None:
    (site / f"{package}.py").write_text(dedent(code), encoding="utf-8")
    metadata = site / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[footnote.tools]\n{dedent(entries)}")


async def test_an_installed_package_brings_its_tools(site: Path) -> None:
    install(site, "echo_package", ECHO, "echo = echo_package:echo\n")
    (tool,) = load_tools()
    assert (await run_for_result(tool, {"text": "hi"})).text == "hi"


def test_one_entry_point_may_bring_several_tools(site: Path) -> None:
    install(site, "echo_package", ECHO, "all = echo_package:both\n")
    assert [tool.name for tool in load_tools()] == ["echo"]


def test_without_plugins_there_are_no_tools() -> None:
    assert load_tools() == ()


def test_plugins_are_looked_for_once(site: Path) -> None:
    install(site, "echo_package", ECHO, "echo = echo_package:echo\n")
    tools = load_tools()
    install(site, "second", ECHO, "second = second:echo\n")
    assert load_tools() is tools


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
        assert [tool.name for tool in load_tools()] == ["echo"]
    assert [record.getMessage() for record in caplog.records] == [
        f"The plugin broken of the package bad could not be loaded and is left out: {reason}"
    ]
