"""A research run where nothing can be redrawn: lines that make sense in a log, in any encoding; and as JSON."""

import msgspec
import pytest

from cli.research_events import plan, plan_now, spent, whole_run
from cli.run_events import CapturedOutput, end, feed, say, start
from footnote.cli.terminal.answer import PlainAnswer
from footnote.cli.terminal.renderer import JsonRenderer, TerminalRenderer
from footnote.cli.terminal.screen import Screen
from footnote.protocol.events import Event, PlanUpdate
from footnote.protocol.plans import PlanItem


def lines_of(events: list[Event], encoding: str = "utf-8") -> tuple[str, str]:
    out, err = CapturedOutput(encoding), CapturedOutput(encoding)
    screen = Screen(out.sink, err.sink)
    renderer = TerminalRenderer(screen, PlainAnswer(screen), clock=lambda: 0.0)
    feed(renderer, events)
    renderer.close()
    return out.text, err.text


def test_every_change_is_a_line() -> None:
    out, err = lines_of(whole_run())
    assert out == "Scheele isolated oxygen.\n\nThe report has more.\n"
    assert err.splitlines() == [
        "Plan: 3 questions",
        "+ q1 Who isolated oxygen first?",
        "+ q2 When was it published?",
        "+ q3 Who named it?",
        "⏳ q1 Who isolated oxygen first?",
        "⏳ q2 When was it published?",
        "q1 ✓ Search the web · oxygen · 0.0s · 3 sources",
        "✓ q1 Who isolated oxygen first? · 2 pages · 2 statements · 0:00",
        "⏳ q3 Who named it?",
        "q2 ✓ Search the web · oxygen published · 0.0s · 2 sources",
        "✓ q2 When was it published? · 2 pages · 1 statement · 0:00",
        "✗ q3 Who named it? · It took too long. · 0:00",
        "writing the report · 1/2 · Discovery",
        "writing the report · 2/2 · Names",
        "time 8:00 of 10:00 · money $0.20 of $0.50 · pages 3 of 60",
        "⏳ Write a file · /report.md",
        "✓ Write a file · /report.md · 0.0s · Wrote /report.md (4 bytes).",
        "Read for it: 3 pages of 3 sites · 1 could not be read",
        "time 8:00 of 10:00 · money $0.20 of $0.50 · pages 3 of 60",
    ]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_encoding_without_the_symbols_has_words(encoding: str) -> None:
    _, err = lines_of(whole_run(), encoding)
    assert "?" not in err.replace("first?", "").replace("published?", "").replace("it?", "")
    assert "ok q1 Who isolated oxygen first? - 2 pages - 2 statements - 0:00" in err
    assert "FAILED q3 Who named it? - It took too long. - 0:00" in err


def test_what_the_user_changes_is_a_line() -> None:
    changed = (
        PlanItem("q2", "When was it published?", "running"),
        PlanItem("q1", "Who isolated oxygen first?", "dropped"),
        PlanItem("q3", "Where?"),
    )
    _, err = lines_of([*start(), *plan("pending", "pending"), PlanUpdate(0, changed, ("Only before 1800.",))])
    assert err.splitlines()[3:7] == [
        "⏳ q2 When was it published?",
        "· q1 Who isolated oxygen first? · dropped",
        "+ q3 Where?",
        "You: Only before 1800.",
    ]


def test_the_budget_is_a_line_at_each_quarter() -> None:
    events = [event for seconds in range(0, 600, 10) for event in spent(seconds, 0.0, 0)]
    _, err = lines_of([*start(), *plan("running"), *events])
    assert [line for line in err.splitlines() if line.startswith("time")] == [
        f"time {at} of 10:00 · money $0.00 of $0.50 · pages 0 of 60" for at in ("2:30", "5:00", "7:30", "9:50")
    ]


def test_a_plan_that_did_not_change_is_no_line() -> None:
    _, err = lines_of([*start(), *plan("running"), *plan_now("running"), *plan_now("running")])
    assert err.count("q1") == 2


def test_json_is_the_events_and_nothing_else() -> None:
    out = CapturedOutput()
    feed(JsonRenderer(out.sink, on_terminal=False), whole_run())
    assert [msgspec.json.decode(line, type=Event) for line in out.text.splitlines()] == whole_run()


def test_what_a_plain_question_has_used_of_its_budget_is_the_last_line() -> None:
    _, err = lines_of([*start(), *say(0, "42"), *spent(12, 0.01, 3), *end()])
    assert err.splitlines()[-1] == "time 0:12 of 10:00 · money $0.01 of $0.50 · pages 3 of 60"
