"""`footnote research` as a process: the report, its formats, Ctrl-C, a server, terminals and pipes."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from cli.emulator import TerminalEmulator
from cli.process import FootnoteProcess, environment, run_footnote
from client.fake_servers import TruncatingProxy, serve
from footnote.protocol.events import BudgetUpdate, Event, MessageStop, PlanUpdate, item_of
from research.barrage import FACTS, QUESTION, THEMES
from research.research_web import ResearchWeb
from research.scripted_model import ResearchModel
from server.harness import LOCAL_TOKEN, open_server
from upstream import Upstream

SLOW_THEME = THEMES[1].keyword


@pytest.fixture
async def research_web() -> AsyncIterator[ResearchWeb]:
    async with ResearchWeb(hangs=False) as web:
        yield web


@pytest.fixture
def model(upstream: Upstream) -> ResearchModel:
    model = ResearchModel()
    upstream.script(model)
    return model


@pytest.fixture
def env(tmp_path: Path, upstream: Upstream, research_web: ResearchWeb, model: ResearchModel) -> dict[str, str]:
    """The environment of a machine with a scripted model, which takes no second look, and a web of its own."""
    assert model.plan
    return environment(tmp_path, upstream, **research_web.settings, FOOTNOTE_CITATIONS_MODEL="off")


def saved_report(tmp_path: Path) -> str:
    (report,) = (tmp_path / ".footnote" / "research").glob("*/report.md")
    return report.read_text(encoding="utf-8")


def events_in(text: str) -> list[Event]:
    return [msgspec.json.decode(line, type=Event) for line in text.splitlines()]


async def test_the_summary_is_printed_and_the_report_saved(env: dict[str, str], tmp_path: Path) -> None:
    code, out, err = await run_footnote("research", QUESTION, env=env)
    assert code == 0, err
    report = saved_report(tmp_path)
    assert [fact.value for fact in FACTS if fact.value not in report] == []
    assert "/report.md · " in out
    assert "\nSources:\n[1] " in out
    lines = err.splitlines()
    assert lines[0] == f"Plan: {len(THEMES)} questions"
    assert [line for line in lines if line.startswith("✓ q1 ")] != []
    assert [line for line in lines if line.startswith("Read for it: ")] != []
    assert [line for line in lines if line.startswith("Saved /report.md as ")] != []


async def test_as_json_the_events_are_all_that_is_printed(env: dict[str, str]) -> None:
    code, out, _ = await run_footnote("research", QUESTION, "--json", "--pages", "50", env=env)
    events = events_in(out)
    assert code == 0
    assert isinstance(events[-1], MessageStop)
    assert {item.status for item in [one for one in events if isinstance(one, PlanUpdate)][-1].items} == {"done"}
    assert [one for one in events if isinstance(one, BudgetUpdate)][-1].budget.pages == 50
    assert len({item_of(event) for event in events} - {None}) == len(THEMES)


@pytest.mark.parametrize(
    ("name", "beginning"), [("r.md", b"# "), ("r.pdf", b"%PDF-"), ("new/R.DOCX", b"PK\x03\x04")], ids=str
)
async def test_the_report_is_saved_in_the_format_of_its_name(
    env: dict[str, str], tmp_path: Path, name: str, beginning: bytes
) -> None:
    target = tmp_path / name
    code, _, err = await run_footnote("research", QUESTION, "--output", str(target), env=env)
    assert code == 0, err
    assert target.read_bytes().startswith(beginning)
    assert f"Saved /report.md as {target}\n" in err
    assert not (tmp_path / ".footnote" / "research").exists()


async def test_an_existing_file_is_kept_unless_forced(
    env: dict[str, str], tmp_path: Path, model: ResearchModel
) -> None:
    target = tmp_path / "r.md"
    target.write_text("mine")
    code, _, err = await run_footnote("research", QUESTION, "--out", str(target), env=env)
    assert (code, target.read_text(), model.asked) == (2, "mine", {})
    assert "--force" in err
    assert (await run_footnote("research", QUESTION, "--out", str(target), "--force", env=env))[0] == 0
    assert target.read_text(encoding="utf-8").startswith("# ")


async def test_a_folder_gets_all_files_and_loses_none(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "reports.2026").mkdir()
    (tmp_path / "reports.2026" / "report.md").write_text("mine")
    code, _, _ = await run_footnote("research", QUESTION, "--out", str(tmp_path / "reports.2026"), env=env)
    assert code == 0
    assert sorted(path.name for path in (tmp_path / "reports.2026").iterdir()) == ["report-2.md", "report.md"]
    assert (tmp_path / "reports.2026" / "report.md").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output", "report.html"], "a report can be saved as .md, .pdf, .docx, or in a folder; not .html"),
        (["--output", "-"], "footnote files get last /report.md --output -"),
        (["--template", "novel"], "There are: general, comparison, "),
        (["--within", "soon"], "'soon' is not a time"),
        (["--session", "x", "--agent", "researcher"], "A session keeps its agent"),
    ],
)
async def test_what_cannot_be_costs_no_tokens(
    env: dict[str, str], model: ResearchModel, arguments: list[str], message: str
) -> None:
    code, out, err = await run_footnote("research", QUESTION, *arguments, env=env)
    assert (code, out, model.asked) == (2, "", {})
    assert message in err


# Ctrl-C ------------------------------------------------------------------------------------------------------


async def test_the_first_ctrl_c_asks_for_the_report_with_what_is_there(
    env: dict[str, str], tmp_path: Path, model: ResearchModel
) -> None:
    model.hanging = frozenset({SLOW_THEME})
    async with FootnoteProcess("research", QUESTION, env=env) as process:
        await process.err.wait_for_text("\n✓ q1 ")
        process.signal(signal.SIGINT)
        assert await process.exit_code() == 0
    assert "Writing with what is there. Ctrl-C: stop without a report\n" in process.err.text
    assert THEMES[0].facts[0].value in saved_report(tmp_path)
    assert process.out is not None
    assert process.out.text


async def test_the_second_ctrl_c_stops_the_run(env: dict[str, str], tmp_path: Path, model: ResearchModel) -> None:
    model.hanging = frozenset(theme.keyword for theme in THEMES)
    async with FootnoteProcess("research", QUESTION, env=env) as process:
        await process.err.wait_for_text("Plan: ")
        process.signal(signal.SIGINT)
        await process.err.wait_for_text("Writing with what is there.")
        process.signal(signal.SIGINT)
        assert await process.exit_code() == 130
    assert "\nStopped. There was no answer yet.\n" in process.err.text
    assert not (tmp_path / ".footnote" / "research").exists()


async def test_sigterm_stops_at_once(env: dict[str, str], model: ResearchModel) -> None:
    model.hanging = frozenset(theme.keyword for theme in THEMES)
    async with FootnoteProcess("research", QUESTION, env=env) as process:
        await process.err.wait_for_text("Plan: ")
        process.signal(signal.SIGTERM)
        assert await process.exit_code() == 130
    assert "Writing with what is there" not in process.err.text


# On a server -------------------------------------------------------------------------------------------------


async def test_on_a_server_the_report_is_fetched_through_lost_connections(
    upstream: Upstream, research_web: ResearchWeb, model: ResearchModel, tmp_path: Path
) -> None:
    assert model.plan
    env = environment(tmp_path, FOOTNOTE_TOKEN=LOCAL_TOKEN)
    target = tmp_path / "report.md"
    async with open_server(tmp_path / "server", upstream, **research_web.settings) as server:
        cutting = TruncatingProxy(server.url, 40_000)
        async with serve(cutting) as url:
            code, out, err = await run_footnote("research", QUESTION, "--server", url, "--out", str(target), env=env)
    assert code == 0, err
    assert target.read_text(encoding="utf-8").startswith("# ")
    assert cutting.connections > 3
    assert "was lost" in err
    assert "/report.md · " in out
    assert "On the server: /report.md\n" in err


async def test_ctrl_c_finishes_the_run_on_the_server(
    upstream: Upstream, research_web: ResearchWeb, model: ResearchModel, tmp_path: Path
) -> None:
    model.hanging = frozenset({SLOW_THEME})
    env = environment(tmp_path, FOOTNOTE_TOKEN=LOCAL_TOKEN)
    target = tmp_path / "report.docx"
    async with (
        open_server(tmp_path / "server", upstream, **research_web.settings) as server,
        FootnoteProcess("research", QUESTION, "--server", server.url, "--out", str(target), env=env) as process,
    ):
        await process.err.wait_for_text("\n✓ q1 ")
        process.signal(signal.SIGINT)
        assert await process.exit_code() == 0
    assert target.read_bytes().startswith(b"PK")
    assert "On the server: /report.md\n" in process.err.text


# Terminals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [100, 30])
async def test_in_a_terminal_the_plan_is_drawn_live(env: dict[str, str], model: ResearchModel, columns: int) -> None:
    model.hanging = frozenset({SLOW_THEME})
    terminal = {"stdin": "terminal", "stdout": "terminal", "stderr": "terminal", "columns": columns}
    async with FootnoteProcess("research", QUESTION, "--no-color", env=env, **terminal) as process:
        await process.err.wait_for_text(lambda text: "✓" in text and "Ctrl-C" in text)
        process.err.type("\x03")
        assert await process.exit_code() == 0
    screen = TerminalEmulator(columns, 24)
    screen.write(process.err.text.replace("^C", ""))
    assert "Saved /report.md as " in screen.text
    assert "write the report now" not in screen.text
    assert not screen.styled


async def test_a_terminal_without_utf8_gets_lines_in_ascii(env: dict[str, str]) -> None:
    terminal = {"stdin": "terminal", "stdout": "terminal", "stderr": "terminal", "columns": 80}
    ascii_env = {**env, "LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    async with FootnoteProcess("research", QUESTION, env=ascii_env, **terminal) as process:
        assert await process.exit_code() == 0
    assert "\nok q1 " in process.err.text
    assert process.err.text.isascii()


async def test_without_a_model_the_report_is_in_the_language_of_the_question(
    research_web: ResearchWeb, tmp_path: Path
) -> None:
    """Not in that of the terminal, unless it is asked for."""
    env = environment(tmp_path, **research_web.settings, LC_ALL="vi_VN.UTF-8")
    target = tmp_path / "report.md"
    code, _, err = await run_footnote("research", QUESTION, "--out", str(target), env=env)
    assert code == 0, err
    assert "Đã đọc: " in err
    assert "\n## Not settled, not checked\n" in target.read_text(encoding="utf-8")


async def test_the_reader_of_stdout_may_leave(env: dict[str, str]) -> None:
    async with FootnoteProcess("research", QUESTION, env=env) as process:
        await process.err.wait_for_text("Plan: ")
        assert process.out is not None
        process.out.close()
        async with asyncio.timeout(60):
            assert await process._process.wait() == 0
