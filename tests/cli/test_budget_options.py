"""The options for time, money and pages."""

import argparse
from contextlib import redirect_stderr
from io import StringIO

import pytest

from footnote.cli import CommandParser
from footnote.cli.budget import add_budget_options, budget_from
from footnote.cli.terminal.lines import format_clock, format_dollars
from footnote.protocol.plans import Budget


def parsed(*arguments: str) -> argparse.Namespace:
    parser = CommandParser(prog="footnote")
    add_budget_options(parser)
    return parser.parse_args(arguments)


def refusal(*arguments: str) -> str:
    err = StringIO()
    with redirect_stderr(err), pytest.raises(SystemExit) as stop:
        parsed(*arguments)
    assert stop.value.code == 2
    return err.getvalue().splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30), ("90", 90), ("10m", 600), ("1.5m", 90), ("1h30m", 5400), ("1h 30min 5sec", 5405), ("24H", 86_400)],
)
def test_a_time_is_written_as_people_write_it(text: str, seconds: float) -> None:
    assert budget_from(parsed("--within", text)) == Budget(seconds=seconds)


@pytest.mark.parametrize("text", ["", "soon", "10x", "m", "1h30", "30s10m", "1e3", "nan", "-5m", "1,5m"])
def test_what_is_no_time_is_refused_with_an_example(text: str) -> None:
    assert refusal(f"--within={text}").endswith(f"argument --within: {text!r} is not a time, such as 30s, 10m or 1h30m")


@pytest.mark.parametrize("text", ["0", "0s", "25h", "99999h"])
def test_a_time_has_bounds(text: str) -> None:
    assert refusal("--within", text).endswith(f"{text!r} is not a time above 0 and up to 24h")


@pytest.mark.parametrize(("text", "usd"), [("0.50", 0.5), ("$2", 2), (".5", 0.5), ("3 USD", 3), ("0", 0)])
def test_an_amount_of_money(text: str, usd: float) -> None:
    assert budget_from(parsed("--spend", text)) == Budget(usd=usd)


@pytest.mark.parametrize("text", ["", "free", "-1", "1,50", "10001", "inf", "5€"])
def test_what_is_no_amount_of_dollars_is_refused(text: str) -> None:
    assert "is not an amount of US dollars" in refusal(f"--spend={text}")


@pytest.mark.parametrize("text", ["-1", "1.5", "1001", "many", "１０x"])
def test_what_is_no_number_of_pages_is_refused(text: str) -> None:
    assert "is not a number of pages" in refusal(f"--pages={text}")


def test_limits_go_together_and_none_is_no_budget() -> None:
    assert budget_from(parsed("--within", "10m", "--spend", "0.5", "--pages", "60")) == Budget(600, 0.5, 60)
    assert budget_from(parsed()) is None


def test_amounts_are_short() -> None:
    assert [format_clock(seconds) for seconds in (0, 42.9, 725, 3723)] == ["0:00", "0:42", "12:05", "1:02:03"]
    assert [format_dollars(usd) for usd in (0, 0.0042, 0.5, 1.5)] == ["$0.00", "$0.0042", "$0.50", "$1.50"]
