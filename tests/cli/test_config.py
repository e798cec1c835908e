"""`footnote config show`, and what all commands share: options, exit codes, one-line errors."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.process import FootnoteProcess, environment, run_footnote
from footnote.cli import COMMANDS, Exit, main

SECRETS = {"ANTHROPIC_API_KEY": "sk-ant-planted", "FOOTNOTE_DATABASE_URL": "postgresql://me:planted@db/footnote"}
AGENTS = {
    "agents": [
        {
            "id": "a",
            "mcpServers": {
                "started": {"command": "x", "args": ["--token", "planted"], "env": {"LEVEL": "planted"}},
                "reached": {
                    "url": "https://h/mcp?k=planted",
                    "headers": {"X-Trace": "planted", "Authorization": "Bearer ${TOKEN}"},
                },
            },
        }
    ]
}


def show_config(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["config", "show", "--json", *arguments]) == Exit.OK
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


def values(report: dict[str, Any]) -> dict[str, Any]:
    return {entry["key"]: entry["value"] for entry in report["settings"]}


def origins(report: dict[str, Any]) -> dict[str, Any]:
    return {entry["key"]: entry["origin"] for entry in report["settings"]}


def test_every_value_is_shown_with_its_origin(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "config.json").write_text('{"tools":\n {"webSearch": {"maxResults": 7}}}')
    monkeypatch.setenv("FOOTNOTE_SERVER_PORT", "9000")
    report = show_config(capsys)
    assert report["home"] == str(home)
    assert values(report)["tools.webSearch.maxResults"] == 7
    place = {"name": str(home / "config.json"), "place": "tools.webSearch.maxResults", "line": 2}
    assert origins(report)["tools.webSearch.maxResults"] == {"kind": "file", **place}
    assert values(report)["server.port"] == 9000
    assert origins(report)["server.port"] == {"kind": "environment", "name": "FOOTNOTE_SERVER_PORT"}
    assert values(report)["agents[0].id"] == "researcher"
    assert origins(report)["agents[0].id"] == {"kind": "default"}


def test_a_known_provider_is_shown_with_what_its_name_implies(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "planted")
    report = show_config(capsys)
    assert {key: value for key, value in values(report).items() if key.startswith("models.providers")} == {
        "models.providers.anthropic.type": "anthropic",
        "models.providers.anthropic.apiKey": "***",
        "models.providers.anthropic.baseUrl": "https://api.anthropic.com",
    }
    assert origins(report)["models.providers.anthropic.apiKey"]["name"] == "ANTHROPIC_API_KEY"


def test_no_secret_is_shown_in_either_form(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "config.json").write_text('{"tools": {"webSearch": {"providers": {"brave": {"apiKey": "planted"}}}}}')
    (home / "agents.json").write_text(json.dumps(AGENTS))
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    report = show_config(capsys)
    assert "planted" not in json.dumps(report)
    assert main(["config", "show"]) == Exit.OK
    table = capsys.readouterr().out
    assert "planted" not in table
    masked = {
        "tools.webSearch.providers.brave.apiKey": "***",
        "models.providers.anthropic.apiKey": "***",
        "database.url": "postgresql://me:***@db/footnote",
        "agents[0].mcpServers.started.args": ["--token", "***"],
        "agents[0].mcpServers.started.env.LEVEL": "***",
        "agents[0].mcpServers.reached.url": "https://h/mcp?k=***",
        "agents[0].mcpServers.reached.headers.X-Trace": "***",
        "agents[0].mcpServers.reached.headers.Authorization": "Bearer ${TOKEN}",
    }
    assert {key: value for key, value in values(report).items() if key in masked} == masked


def test_the_table_has_a_row_for_every_value_of_the_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = list(values(show_config(capsys)))
    assert main(["config", "show"]) == Exit.OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [f"Home folder: {home}", "", lines[2]]
    assert lines[2].split() == ["SETTING", "VALUE", "ORIGIN"]
    assert [line.split()[0] for line in lines[3:]] == keys
    (row,) = (line.split() for line in lines if line.startswith("server.port"))
    assert row == ["server.port", "8484", "default"]


def test_a_value_in_the_table_is_one_line_that_cannot_steer_the_terminal(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "agents.json").write_text(json.dumps({"agents": [{"id": "a", "name": "A\x1b[2J\n B" + "b" * 100}]}))
    assert main(["config", "show"]) == Exit.OK
    (row,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("agents[0].name"))
    assert row.split()[1:3] == ["A", "B" + "b" * 44 + "…"]


def test_a_variable_that_changes_nothing_is_pointed_out(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "config.json").write_text('{"models": {"providers": {"openai": {"apiKey": "one"}}}}')
    monkeypatch.setenv("OPENAI_API_KEY", "two")
    place, file = "models.providers.openai.apiKey", str(home / "config.json")
    assert show_config(capsys)["ignored"] == [{"variable": "OPENAI_API_KEY", "file": file, "place": place}]
    main(["config", "show"])
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"OPENAI_API_KEY is set, but {place} in {file} wins over it."


@pytest.mark.parametrize("before", [True, False])
def test_the_places_can_be_given_before_and_after_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], before: bool
) -> None:
    file = tmp_path / "other.json"
    file.write_text('{"server": {"port": 3}}')
    places = ["--home", str(tmp_path / "h"), "--config", str(file)]
    command = ["config", "show", "--json"]
    assert main(places + command if before else command + places) == Exit.OK
    report = json.loads(capsys.readouterr().out)
    assert (report["home"], values(report)["server.port"]) == (str(tmp_path / "h"), 3)


def test_a_wrong_configuration_is_said_on_stderr_with_exit_code_2(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "config.json").write_text('{"sever": {}}')
    assert main(["config", "show"]) == Exit.USAGE
    assert capsys.readouterr() == (
        "",
        f'footnote: {home}/config.json, line 1, sever: unknown key "sever"; the nearest valid key is "server".\n',
    )


def test_a_file_that_was_asked_for_must_be_there(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--config", str(home / "nope.json"), "config", "show"]) == Exit.USAGE
    assert "nope.json: there is no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], Exit.USAGE),
        (["--help"], Exit.OK),
        (["--version"], Exit.OK),
        (["nonsense"], Exit.USAGE),
        (["config"], Exit.USAGE),
        (["config", "show", "--nonsense"], Exit.USAGE),
        (["config", "show", "--help"], Exit.OK),
        (["doctor", "--help"], Exit.OK),
        (["ask", "--help"], Exit.OK),
        (["--home"], Exit.USAGE),
    ],
)
def test_exit_codes_of_usage(arguments: list[str], code: Exit, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == code
    captured = capsys.readouterr()
    assert bool(captured.out) is (code == Exit.OK)
    assert bool(captured.err) is (code != Exit.OK)


def test_the_help_names_every_command_and_imports_none_of_them() -> None:
    program = (
        "import sys, footnote.cli; code = footnote.cli.main(['--help']); "
        "print(sorted(name for name in sys.modules if name.startswith(('footnote.c', 'aiohttp', 'rich', 'msgspec'))))"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert all(f"\n    {name} " in out for name in COMMANDS)
    assert out.splitlines()[-1] == "['footnote.cli', 'footnote.cli.terminal', 'footnote.cli.terminal.clean']"


class FailingCommand:
    """A command that raises the given error."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def register(self, subparsers: Any) -> None:
        subparsers.add_parser("broken").set_defaults(run=self.run)

    def run(self, _: Any) -> int:
        raise self.error


@pytest.fixture
def install_failing_command(monkeypatch: pytest.MonkeyPatch) -> Any:
    def install(error: BaseException) -> None:
        monkeypatch.setitem(sys.modules, "broken", FailingCommand(error))
        monkeypatch.setitem(COMMANDS, "broken", ("broken", ""))

    return install


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), Exit.INTERRUPTED, "Interrupted."),
        (
            KeyError("planted"),
            Exit.FAILURE,
            "Unexpected error: KeyError. Set FOOTNOTE_DEBUG=1 to see where it happened.",
        ),
        (
            OSError(28, "No space left on device", "/x"),
            Exit.FAILURE,
            "No space left on device (/x). Set FOOTNOTE_DEBUG=1 to see where it happened.",
        ),
    ],
)
def test_an_error_is_one_line_and_an_exit_code(
    install_failing_command: Any, error: BaseException, code: Exit, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    install_failing_command(error)
    assert main(["broken"]) == code
    assert capsys.readouterr().err == f"footnote: {message}\n"


def test_the_traceback_can_be_asked_for(install_failing_command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    install_failing_command(KeyError("planted"))
    monkeypatch.setenv("FOOTNOTE_DEBUG", "1")
    with pytest.raises(KeyError):
        main(["broken"])


@pytest.mark.parametrize(
    ("arguments", "agents"), [(["--version"], 1), (["config", "show"], 1), (["config", "show"], 2000)]
)
async def test_a_reader_that_has_left_ends_the_command_quietly(
    tmp_path: Path, arguments: list[str], agents: int
) -> None:
    """Depending on the amount of output, Python notices the closed pipe at the first write, at the last flush or at
    exit."""
    reading, writing = os.pipe()
    os.close(reading)
    listed = json.dumps([{"id": f"a{number}"} for number in range(agents)])
    async with FootnoteProcess(
        *arguments, env=environment(tmp_path, FOOTNOTE_AGENTS=listed), stdout=writing
    ) as process:
        os.close(writing)
        assert (await process.exit_code(), process.err.text) == (Exit.OK, "")


async def test_a_terminal_that_knows_few_characters_gets_escapes(tmp_path: Path) -> None:
    env = environment(tmp_path, PYTHONIOENCODING="ascii", FOOTNOTE_HOME=str(tmp_path / "hồ"))
    code, out, _ = await run_footnote("config", "show", env=env)
    assert (code, out.splitlines()[0]) == (0, f"Home folder: {tmp_path}/h\\u1ed3")
