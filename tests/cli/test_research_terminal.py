"""The plan, the work on its items and the budget of a research run in a terminal, drawn live and kept at the end."""

import pytest

from cli.research_events import (
    LIMITS,
    found,
    handing_over,
    investigating,
    plan,
    plan_now,
    reading,
    report_written,
    searching,
    source,
    spent,
    whole_run,
    writing,
)
from cli.run_events import end, say, start
from cli.test_ask_live import RenderedTerminal
from footnote.protocol.events import BlockStart, BlockStop, Event, PlanBlock, PlanUpdate, RoundRestart
from footnote.protocol.plans import Budget, PlanItem

HINT = "Ctrl-C: write the report now, with what is there"
BARS = (
    "time  ██░░░░░░░░░░░░░░░░░░░░░░░░░░░░ 0:30 of 10:00\n"
    "money ████░░░░░░░░░░░░░░░░░░░░░░░░░░ $0.06 of $0.50\n"
    "pages █░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ 2 of 60"
)

A_SECOND_LATER = BARS.replace("0:30", "0:31")


def shown_at(events: list[Event], columns: int = 80, rows: int = 24, **options: object) -> str:
    session = RenderedTerminal(columns, rows, **options)
    session.feed(events)
    return session.shown


def test_items_are_shown_with_what_they_read_and_have_found() -> None:
    assert shown_at(investigating()) == (
        "✓  Who isolated oxygen first? · 2 pages · 2 statements · 0:09\n"
        "⏳ When was it published? · reading 2/3 nature.example · 0:09\n"
        "⏳ Who named it? · 0:00\n"
        f"{BARS}\n{HINT}"
    )


def test_the_plan_stays_above_the_answer_with_what_was_read_for_it() -> None:
    session = RenderedTerminal(80)
    session.feed(whole_run())
    session.renderer.close()
    assert session.shown == (
        "✓  Who isolated oxygen first? · 2 pages · 2 statements · 0:09\n"
        "✓  When was it published? · 2 pages · 1 statement · 0:13\n"
        "✗  Who named it? · It took too long. · 0:04\n"
        "✓ Write a file · /report.md · 0.5s · Wrote /report.md (4 bytes).\n"
        "Read for it: 3 pages of 3 sites · 1 could not be read\n"
        "\n"
        "Scheele isolated oxygen.\n"
        "\n"
        "The report has more.\n"
        "\n"
        "time 8:07 of 10:00 · money $0.20 of $0.50 · pages 3 of 60"
    )


def test_the_text_of_an_item_is_no_part_of_the_answer() -> None:
    session = RenderedTerminal(80)
    session.feed(whole_run())
    session.renderer.close()
    assert "Scheele did" not in session.shown
    assert "not supported" not in session.shown


def test_the_sections_are_counted_while_they_are_written() -> None:
    ended = [*start(), *plan("running"), *plan_now("done")]
    assert shown_at(ended) == f"✓  Who isolated oxygen first? · 0:01\nputting the findings together…\n{HINT}"
    assert shown_at([*ended, *writing(2, 5, "Discovery")]) == (
        "✓  Who isolated oxygen first? · 0:01\nwriting the report · 2/5 · Discovery"
    )


def test_while_the_report_is_stored_the_budget_is_still_shown() -> None:
    events = [*start(), *plan("running"), *plan_now("done"), *spent(30, 0.06, 2), *report_written(1)[:3]]
    assert shown_at(events) == f"✓  Who isolated oxygen first? · 0:01\n⏳ Write a file · /report.md\n{A_SECOND_LATER}"


def test_after_ctrl_c_the_hint_says_what_the_next_one_does() -> None:
    session = RenderedTerminal(80)
    session.feed([*start(), *plan("running")])
    session.renderer.show_finishing()
    session.renderer.tick()
    assert session.shown.endswith("Writing with what is there. Ctrl-C: stop without a report")


def test_a_narrow_terminal_has_the_work_below_the_question() -> None:
    assert shown_at(investigating(), 40).splitlines()[:6] == [
        "✓  Who isolated oxygen first?",
        "   2 pages · 2 statements · 0:09",
        "⏳ When was it published?",
        "   reading 2/3 nature.example · 0:09",
        "⏳ Who named it? · 0:00",
        "time  █░░░░░░░░░░░░░░░░░░ 0:30 of 10:00",
    ]


def test_a_low_terminal_has_figures_instead_of_bars() -> None:
    assert shown_at(investigating(), 80, 8).splitlines()[3:] == [
        "time 0:30 of 10:00 · money $0.06 of $0.50 · pages 2 of 60",
        HINT,
    ]


def test_a_plan_that_is_higher_than_the_terminal_keeps_what_is_being_done() -> None:
    statuses = ["done"] * 5 + ["running"] * 2 + ["pending"] * 13
    items = tuple(PlanItem(f"q{at}", f"Question {at}?", status) for at, status in enumerate(statuses))
    session = RenderedTerminal(60, 10)
    session.feed([*start(), *plan("pending"), PlanUpdate(0, items)])
    assert session.shown.splitlines() == [
        "   … 5 ended",
        "⏳ Question 5? · 0:00",
        "⏳ Question 6? · 0:00",
        *(f"·  Question {at}?" for at in range(7, 10)),
        "   … 10 more",
        HINT,
    ]


@pytest.mark.parametrize("columns", [1, 2, 5, 12, 21, 40, 79])
@pytest.mark.parametrize("rows", [1, 2, 5, 24])
def test_nothing_is_wider_or_higher_than_the_terminal(columns: int, rows: int) -> None:
    session = RenderedTerminal(columns, rows)
    for event in whole_run():
        session.feed([event])
        assert session.screen.region is not None
        drawn = session.screen.region._drawn
        assert len(drawn) <= max(rows - 1, 0)
        assert all(session.painter.rows(line, max(columns, 2)) == 1 for line in drawn)


def test_the_clock_goes_on_between_two_updates() -> None:
    session = RenderedTerminal(80)
    session.feed([*start(), *plan("running"), *spent(30, 0.06, 2)])
    session.clock.now += 12
    session.renderer.tick()
    assert "0:42 of 10:00" in session.shown


def test_a_budget_without_limits_has_figures_and_an_unknown_price_is_said() -> None:
    events = [*start(), *plan("running"), *spent(30, None, 2, Budget(usd=0.5))]
    assert shown_at(events).splitlines()[1:4] == [
        f"time  {' ' * 30} 0:30",
        f"money {'░' * 30} price not known of $0.50",
        f"pages {' ' * 30} 2",
    ]


def test_the_budget_of_a_plain_question_is_shown_while_it_is_answered() -> None:
    assert shown_at([*start(), *spent(30, 0.06, 2, LIMITS), *say(0, "42")[:-1]]) == f"42\n\n{A_SECOND_LATER}"


def test_dropped_items_and_notes_are_said() -> None:
    events = [*start(), *plan("running", "pending"), *plan_now("failed", "dropped", q1="No page answered.")]
    assert shown_at(events).splitlines()[:2] == [
        "✗  Who isolated oxygen first? · No page answered. · 0:01",
        "·  When was it published? · dropped",
    ]


def test_after_a_crash_of_the_server_the_same_work_counts_once() -> None:
    again = [
        *searching("q1", 1, "c1", "oxygen"),
        *reading("q1", "c1", 1, 1, "example.org"),
        *found("q1", 2, "c1", source(1, "example.org")),
        *handing_over("q1", 3, "Scheele did [1].", supported=1),
    ]
    session = RenderedTerminal(80)
    session.feed([*start(), *plan("running"), *again, RoundRestart(1), *again])
    assert session.shown == (
        "The server was interrupted. The research goes on.\n"
        f"⏳ Who isolated oxygen first? · 1 page · 1 statement · 0:13\n{HINT}"
    )


def test_a_page_cannot_steer_the_terminal() -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x1b[9A\x9b31m\r\u202e"
    item = PlanItem("q1", f"a {evil} b", "running", f"note {evil}")
    events = [
        *start(),
        *plan("pending"),
        PlanUpdate(0, (item,), (f"say {evil}",)),
        *searching("q1", 1, "c1", evil),
        *reading("q1", "c1", 1, 2, evil),
        *writing(1, 2, evil),
        *say(4, "The end."),
        *end(),
    ]
    session = RenderedTerminal(80)
    session.feed(events)
    session.renderer.close()
    assert session.shown.endswith("\n\nThe end.")  # the emulator fails on other sequences


def test_quiet_shows_the_summary_alone() -> None:
    session = RenderedTerminal(80, quiet=True)
    session.feed(whole_run())
    assert session.shown == "Scheele isolated oxygen.\n\nThe report has more."


@pytest.mark.parametrize(
    ("locale", "hint", "total"),
    [
        (
            "vi",
            "Ctrl-C: viết báo cáo ngay với những gì đã có",
            "Đã đọc: 3 trang từ 3 trang web · 1 trang không đọc được",
        ),
        ("zh", "Ctrl-C：立即用已有内容撰写报告", "已阅读：3 个网站的3 页 · 1 页无法读取"),
    ],
)
def test_it_speaks_the_language_of_the_user(locale: str, hint: str, total: str) -> None:
    assert shown_at(investigating(), locale=locale).endswith(hint)
    assert total in shown_at(whole_run(), locale=locale)


def test_a_plan_of_no_items_shows_nothing_of_its_own() -> None:
    assert shown_at([*start(), BlockStart(0, PlanBlock(())), BlockStop(0), *say(1, "42"), *end()]) == "42"
