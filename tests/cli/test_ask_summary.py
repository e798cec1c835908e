"""The summary and the exit code at the end of a run."""

from pathlib import Path

import pytest

from cli.run_events import MODEL, call, end, result, say, start
from footnote.cli import Exit
from footnote.cli.output import locale_from_environ
from footnote.cli.question import RunSummary, file_lines
from footnote.cli.terminal.lines import UNICODE, Line, as_text
from footnote.protocol.events import ContextReport, ErrorBody, Event, TurnStopReason, TurnUsage


def summary(*events: Event) -> RunSummary:
    fold = RunSummary()
    for event in events:
        fold.feed(event)
    return fold


def texts(lines: list[Line]) -> list[str]:
    return [as_text(line) for line in lines]


CUT = (
    "The answer reached the maximum length of the model and was cut there. Ask for a shorter answer, or ask about "
    "one part at a time."
)
ALL_ROUNDS = (
    "The agent used up its tool rounds and answered with what it had found by then. For more, raise maxToolRounds of "
    "the agent in agents.json, or ask a narrower question."
)
NO_REASON = "Error: the model failed without a reason. Try again, or try another model."


@pytest.mark.parametrize(
    ("reason", "code", "problem"),
    [
        ("stop", Exit.OK, []),
        ("length", Exit.OK, [CUT]),
        ("max_rounds", Exit.OK, [ALL_ROUNDS]),
        ("error", Exit.FAILURE, [NO_REASON]),
    ],
)
def test_every_ending_has_its_exit_code_and_its_sentence(
    reason: TurnStopReason, code: Exit, problem: list[str]
) -> None:
    fold = summary(*start(), *say(0, "42"), *end(reason))
    assert (fold.exit_code, texts(fold.problems())) == (code, problem)


def test_an_error_is_said_in_its_own_words() -> None:
    passing = summary(*start(), *end("error", error=ErrorBody("overloaded_error", "The server is busy.", True)))
    lasting = summary(*start(), *end("error", error=ErrorBody("auth", "Check\nOPENAI_API_KEY\x1b[2J.", False)))
    assert (passing.exit_code, texts(passing.problems())) == (
        Exit.FAILURE,
        ["Error: The server is busy. This may pass: try again in a moment."],
    )
    assert texts(lasting.problems()) == ["Error: Check OPENAI_API_KEY."]


def test_a_run_without_an_end_is_a_failure() -> None:
    fold = summary(*start(), *say(0, "42"))
    assert (fold.exit_code, texts(fold.problems())) == (
        Exit.FAILURE,
        ["Error: the run ended early. Try again."],
    )


@pytest.mark.parametrize(
    ("usage", "line"),
    [
        (TurnUsage(1000, 567, 0, 0, 0), f"{MODEL} · 1,000 tokens in · 567 out"),
        (TurnUsage(1000, 567, 200, 34, 0, 0.01234), f"{MODEL} · 1,234 tokens in (200 cached) · 567 out · $0.0123"),
        (TurnUsage(1000, 567, 0, 0, 0, 12.3), f"{MODEL} · 1,000 tokens in · 567 out · $12.30"),
    ],
)
def test_usage_is_one_line(usage: TurnUsage, line: str) -> None:
    assert texts(summary(*start(), *end(usage=usage)).usage(UNICODE)) == [line]


def test_an_unusual_ending_stands_in_the_usage_line() -> None:
    assert texts(summary(*start(), *end("length")).usage(UNICODE)) == [
        f"{MODEL} · 10 tokens in · 5 out · ended: length"
    ]


def test_no_usage_no_line() -> None:
    assert summary(*start(), *end("error", usage=TurnUsage(0, 0, 0, 0, 0))).usage(UNICODE) == []


def test_what_was_left_out_of_the_request_is_said() -> None:
    context = ContextReport(900, 1000, shortened_results=2, summarised_turns=1)
    assert texts(summary(*start(), *end(context=context)).usage(UNICODE))[1:] == [
        "To fit into the model's window: 2 old tool results shortened, 1 old turn summarised."
    ]


@pytest.mark.parametrize(
    ("text", "files", "line"),
    [
        ("", 0, "Stopped. There was no answer yet."),
        ("One", 0, "Stopped. Kept: 1 word of the answer."),
        ("Hai từ", 1, "Stopped. Kept: 2 words of the answer, 1 file."),
        ("股价 HPG 今天", 0, "Stopped. Kept: 5 words of the answer."),
        ("", 2, "Stopped. Kept: 2 files."),
    ],
)
def test_a_stopped_run_says_what_it_kept(text: str, files: int, line: str) -> None:
    events = [*start(), *say(0, *text), *call(1, "c1", "x", "X"), *result(2, "c1", "x", "not counted")]
    assert as_text(summary(*events).stopped_line(files)) == line


def test_files_are_listed_with_their_place() -> None:
    saved = [("/a\x1b[2J.md", Path("/home/me/a.md")), ("/b.md", Path("/home/me/b  2.md"))]
    assert texts(file_lines(saved)) == ["Saved /a.md as /home/me/a.md", "Saved /b.md as /home/me/b  2.md"]


@pytest.mark.parametrize(
    ("environ", "locale"),
    [
        ({}, "en"),
        ({"LANG": "vi_VN.UTF-8"}, "vi"),
        ({"LANG": "vi_VN.UTF-8", "LC_ALL": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "vi_VN.UTF-8", "LC_ALL": ""}, "vi"),
        ({"LANG": "vi_VN.UTF-8", "LC_MESSAGES": "C"}, "en"),
        ({"LANG": "fr_FR"}, "en"),
    ],
)
def test_the_language_comes_from_the_usual_variables(environ: dict[str, str], locale: str) -> None:
    assert locale_from_environ(environ) == locale
