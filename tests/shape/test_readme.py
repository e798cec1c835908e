"""The examples of the README work."""

import asyncio
import json
import os
import re
import sys
from pathlib import Path

from shape.tree import ROOT
from upstream import Upstream, reply, say, stop

README = (ROOT / "README.md").read_text(encoding="utf-8")


async def test_the_library_example_runs(upstream: Upstream, tmp_path: Path) -> None:
    upstream.script(reply(say("To be", " checked."), stop()))
    provider = {"type": "anthropic", "apiKey": upstream.key, "baseUrl": upstream.url}
    models = {"default": "anthropic/claude-sonnet-5", "providers": {"anthropic": provider}}
    (tmp_path / "config.json").write_text(json.dumps({"models": models}), encoding="utf-8")
    code, output = await _python("-c", _example("python"), home=tmp_path)
    assert code == 0, output
    assert re.findall(r"TextGrowth\(text='(.*?)'\)", output) == ["To be", " checked."]
    assert output.splitlines()[-1] == "MessageStop()"


async def test_the_configuration_example_is_accepted(tmp_path: Path) -> None:
    example = _example("json")
    (tmp_path / "config.json").write_text(example, encoding="utf-8")
    code, output = await _python("-m", "footnote", "config", "show", home=tmp_path)
    assert code == 0, output
    assert json.loads(example)["models"]["default"] in output


async def test_every_command_that_is_shown_exists(tmp_path: Path) -> None:
    shown = set(
        re.findall(
            r"\bfootnote ((?:ask|config|doctor|research|search|serve|sessions|users|tokens)\b(?: show)?)", README
        )
    )
    assert {"ask", "config show", "doctor", "research", "sessions", "users"} <= shown
    for command in shown:
        code, output = await _python("-m", "footnote", *command.split(), "--help", home=tmp_path)
        assert code == 0, output


def _example(language: str) -> str:
    """The only block of the README in that language."""
    (block,) = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return block


async def _python(*arguments: str, home: Path) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        env={**os.environ, "FOOTNOTE_HOME": str(home)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await asyncio.wait_for(process.communicate(), 120)
    return process.returncode, output.decode()
