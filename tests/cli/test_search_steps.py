"""The progress of a search: one redrawn line in a terminal, one line for each stage elsewhere."""

from cli.emulator import TerminalEmulator
from cli.run_events import CapturedOutput, EventClock
from footnote.cli.search import SearchProgress
from footnote.cli.terminal.painting import Painter
from footnote.cli.terminal.screen import LiveRegion, Screen
from footnote.protocol.tools import Progress

SEARCH = [
    Progress("searching", label="HPG"),
    Progress("reading", 1, 5, "simplize.vn"),
    Progress("reading", 2, 5, "cafef.vn"),
    Progress("summarising"),
    Progress("summarising", 400),
]


def lines(*, quiet: bool = False, encoding: str = "utf-8") -> str:
    out, err = CapturedOutput(encoding), CapturedOutput(encoding)
    steps = SearchProgress(Screen(out.sink, err.sink), quiet=quiet)
    for step in SEARCH:
        steps.feed(step)
        steps.tick()
    assert out.text == ""
    return err.text


def test_without_a_terminal_every_stage_is_a_line() -> None:
    assert lines() == "⏳ searching\n⏳ reading 1/5 · simplize.vn\n⏳ summarising\n"
    assert lines(encoding="ascii") == "... searching\n... reading 1/5 - simplize.vn\n... summarising\n"


def test_quiet_says_nothing_about_it() -> None:
    assert lines(quiet=True) == ""


def test_in_a_terminal_one_line_is_redrawn_and_counts_the_seconds() -> None:
    terminal, clock, out, err = TerminalEmulator(40), EventClock(), CapturedOutput(), CapturedOutput()
    out.follower = err.follower = terminal.write
    region = LiveRegion(out.sink, Painter(color=True), lambda: terminal.size)
    steps = SearchProgress(Screen(out.sink, err.sink, region=region, live_notes=True), clock=clock)
    steps.tick()
    shown = [terminal.text]
    for step in SEARCH:
        steps.feed(step)
        clock.now += 0.75
        steps.tick()
        shown.append(terminal.text)
    assert shown == [
        "",
        "⏳ searching · 0s",
        "⏳ reading 1/5 · simplize.vn · 1s",
        "⏳ reading 2/5 · cafef.vn · 2s",
        "⏳ summarising · 3s",
        "⏳ summarising · 3s",
    ]


def test_in_a_narrow_terminal_the_line_is_cut_and_a_name_cannot_steer_it() -> None:
    terminal, out = TerminalEmulator(20), CapturedOutput()
    out.follower = terminal.write
    region = LiveRegion(out.sink, Painter(color=True), lambda: terminal.size)
    steps = SearchProgress(Screen(out.sink, CapturedOutput().sink, region=region, live_notes=True), clock=EventClock())
    steps.feed(Progress("reading", 3, 5, "a\x1b[2J\u202every-long-name.example"))
    steps.tick()
    assert terminal.text == "⏳ reading 3/5 · av…"
