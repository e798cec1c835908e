"""Output without a terminal: the answer alone on stdout, a line per step on stderr."""

import logging
from typing import Any

import msgspec
import pytest

from cli.run_events import (
    MODEL,
    CapturedOutput,
    EventClock,
    call,
    call_finished,
    call_running,
    end,
    feed,
    progress,
    research,
    result,
    say,
    start,
    think,
)
from footnote.cli.question import RunSummary
from footnote.cli.terminal.answer import PlainAnswer
from footnote.cli.terminal.lines import StyledText
from footnote.cli.terminal.renderer import JsonRenderer, TerminalRenderer
from footnote.cli.terminal.screen import Screen, show_warnings
from footnote.protocol.events import (
    BlockDelta,
    BlockStart,
    BlockStop,
    CitationsGrowth,
    Event,
    RoundRestart,
    TextBlock,
    TextGrowth,
)
from footnote.protocol.sources import Citation, Source
from footnote.protocol.sse import encode


def render(events: list[Event], *, encoding: str = "utf-8", **options: Any) -> tuple[str, str]:
    out, err = CapturedOutput(encoding), CapturedOutput(encoding)
    screen = Screen(out.sink, err.sink)
    clock = EventClock()
    renderer = TerminalRenderer(screen, PlainAnswer(screen), clock=clock, **options)
    feed(renderer, events, clock)
    renderer.close()
    return out.text, err.text


ANSWER = "I will search.\n\nThe price\nis **42**.\n\nSee the report.\n"


def test_the_answer_alone_is_on_stdout_and_every_step_has_a_line_on_stderr() -> None:
    out, err = render(research())
    assert out == ANSWER
    assert err == (
        "thinking…\n"
        "⏳ Search the web · HPG share price\n"
        "⏳ Write a file · /report.md\n"
        "⏳ Search the web · HPG share price · searching\n"
        "⏳ Search the web · HPG share price · reading 1/5 simplize.vn\n"
        "✓ Search the web · HPG share price · 3.0s · 2 sources\n"
        "✓ Write a file · /report.md · 2.0s · Wrote /report.md (9 bytes).\n"
    )


def test_signs_that_the_encoding_lacks_are_written_in_ascii() -> None:
    _, err = render(research(), encoding="ascii")
    assert err == (
        "thinking...\n"
        "... Search the web - HPG share price\n"
        "... Write a file - /report.md\n"
        "... Search the web - HPG share price - searching\n"
        "... Search the web - HPG share price - reading 1/5 simplize.vn\n"
        "ok Search the web - HPG share price - 3.0s - 2 sources\n"
        "ok Write a file - /report.md - 2.0s - Wrote /report.md (9 bytes).\n"
    )


def test_an_answer_that_the_encoding_cannot_hold_is_still_an_answer() -> None:
    assert render([*start(), *say(0, "Giá 42"), *end()], encoding="ascii") == ("Gi? 42\n", "")


def test_quiet_leaves_only_the_answer() -> None:
    assert render(research(), quiet=True) == (ANSWER, "")


def test_thinking_is_shown_line_by_line_when_wanted() -> None:
    events = [*start(), *think(0, "First", " line.\nSec", "ond\x1b[2J", " line."), *say(1, "42"), *end()]
    assert render(events, show_thinking=True) == ("42\n", "│ First line.\n│ Second line.\n")


def test_progress_does_not_repeat_what_the_call_is_about() -> None:
    query = "a query that is longer than the place that a line of ours has for it, and goes on"
    events = [
        *call(0, "c1", "web_search", "Search the web", query=query),
        *call_running("c1"),
        *progress("c1", "searching", label=query),
    ]
    assert render(events)[1].splitlines()[-1] == f"⏳ Search the web · {query[:59]}… · searching"


def test_a_failed_call_says_why() -> None:
    events = [
        *start(),
        *call(0, "c1", "read_page", "Read a page", url="https://a.example"),
        *call_running("c1"),
        *call_finished("c1", ok=False),
        *result(1, "c1", "read_page", "The page took longer than 15 s.", ok=False),
        *end(),
    ]
    _, err = render(events)
    assert err.splitlines()[-1] == "✗ Read a page · https://a.example · 0.5s · The page took longer than 15 s."


def test_a_call_that_never_ran_has_no_duration() -> None:
    events = [
        *call(0, "c1", "nope", "nope"),
        *call_finished("c1", ok=False),
        *result(1, "c1", "nope", "There is no tool called 'nope'.", ok=False),
    ]
    assert render(events) == ("", "✗ nope · There is no tool called 'nope'.\n")


def test_control_characters_of_the_model_and_of_tools_stay_out_of_both_streams() -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\u202e"
    events = [
        *start(),
        *think(0, evil),
        *say(1, "a\x1b", "[31", f"mb{evil}c"),
        *call(2, "c1", "evil", f"Ti{evil}tle", query=f"que{evil}ry"),
        *call_running("c1"),
        *progress("c1", f"sta{evil}ge", 1, 2, f"la{evil}bel"),
        *result(3, "c1", "evil", f"re{evil}sult", ok=False),
        *end(),
    ]
    assert render(events, show_thinking=True) == (
        "abc\n",
        "⏳ Title · query\n⏳ Title · query · stage 1/2 label\n✗ Title · query · 1.0s · result\n",
    )


def test_what_looked_like_a_sequence_and_is_none_is_shown_at_the_end() -> None:
    assert render([*start(), *say(0, "a\x1b[3"), *end()]) == ("a[3\n", "")


def test_a_run_that_breaks_off_leaves_whole_lines() -> None:
    assert render([*start(), *say(0, "Half an ans")[:-1]]) == ("Half an ans\n", "")


def test_a_block_that_ends_its_line_is_kept_apart_from_the_next() -> None:
    assert render([*start(), *say(0, "a\n"), *say(1, "b\n"), *end()]) == ("a\n\nb\n", "")


@pytest.mark.parametrize("ending", ["", "\n"])
def test_an_answer_ends_with_one_newline(ending: str) -> None:
    assert render([*start(), *say(0, f"42{ending}"), *end()]) == ("42\n", "")


def test_an_empty_text_block_leaves_no_trace() -> None:
    assert render([*start(), *say(0), *say(1, "a"), *say(2), *say(3, "b"), *end()]) == ("a\n\nb\n", "")


def test_as_json_every_event_is_a_line_exactly_as_the_protocol_writes_it() -> None:
    out = CapturedOutput("ascii")
    renderer = JsonRenderer(out.sink, on_terminal=False)
    events = [*research(), *say(8, "Giá 股价\x1b[31m")]
    feed(renderer, events)
    renderer.close()
    assert out.getvalue().split(b"\n") == [*(encode(event) for event in events), b""]


def test_json_on_a_terminal_is_the_same_json_and_steers_nothing() -> None:
    out = CapturedOutput()
    renderer = JsonRenderer(out.sink, on_terminal=True)
    events = say(0, "Giá \x1b[31m\x9b31m\x7f\u202e\u2066 股价")
    feed(renderer, events)
    assert [msgspec.json.decode(line, type=Event) for line in out.text.splitlines()] == events
    assert not set("\x1b\x9b\x7f\u202e\u2066") & set(out.text)
    assert "Giá " in out.text


def test_the_model_is_not_named_where_nothing_can_be_redrawn() -> None:
    assert MODEL not in "".join(render(start()))


@pytest.mark.parametrize(("quiet", "notes"), [(False, "Warning: a server is gone\nError: b\n"), (True, "Error: b\n")])
def test_what_is_logged_is_a_note_and_cannot_steer_the_terminal(quiet: bool, notes: str) -> None:
    out, err = CapturedOutput(), CapturedOutput()
    log = logging.getLogger("footnote.tools")
    with show_warnings(Screen(out.sink, err.sink), quiet=quiet):
        log.info("not shown")
        log.warning("a server%s\nis gone", "\x1b[2J")
        log.error("b")
    log.warning("somewhere else again")
    assert (out.text, err.text) == ("", notes)


def test_a_message_that_cannot_be_shown_does_not_fail_whoever_logs_it(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = CapturedOutput(), CapturedOutput()

    def broken(_: str) -> None:
        raise ValueError("no")

    err.follower = broken
    with show_warnings(Screen(out.sink, err.sink), quiet=False):
        logging.getLogger("footnote.tools").warning("a server is gone")
    assert "Message: 'a server is gone'" in capsys.readouterr().err


def test_what_a_restart_says_again_is_not_footnoted_or_counted_twice() -> None:
    """The terminal cannot erase printed text, but the list of footnotes belongs to the final answer."""
    source = {"url": "https://a.example/1", "title": "One", "snippet": "", "domain": "a.example", "number": 1}
    cited = BlockDelta(2, CitationsGrowth((Citation("[1]", 1, 0, 8, "partial", "So it is.", 0, 9),)))
    answered = [BlockStart(2, TextBlock()), BlockDelta(2, TextGrowth("So. [1]")), cited, BlockStop(2)]
    events = [
        *start(),
        *call(0, "c1", "web_search", "Search the web", query="x"),
        *result(1, "c1", "web_search", "…", artifact={"query": "x", "sources": [source]}),
        *answered,
        *call(3, "c2", "write_file", "Write a file", file_path="/a"),
        RoundRestart(2),
        *answered,
        *end(),
    ]
    out, err = render(events)
    assert out.count("So. [1]") == 2
    assert out.count("~ partly supported: “So.”") == 1
    assert "The server was interrupted. This part of the answer starts again:\n" in err
    summary = RunSummary()
    for event in events[:-2]:
        summary.feed(event)
    assert summary.stopped_line(0) == (StyledText("Stopped. Kept: 2 words of the answer."),)


def test_sources_of_earlier_turns_can_be_cited_and_need_not_be() -> None:
    earlier = [
        Source(url=f"https://a.example/{number}", title=f"Page {number}", snippet="", domain="a.example", number=number)
        for number in (1, 2)
    ]
    out, err = CapturedOutput(), CapturedOutput()
    screen = Screen(out.sink, err.sink)
    renderer = TerminalRenderer(screen, PlainAnswer(screen))
    renderer.add_earlier_sources(earlier)
    cited = BlockDelta(0, CitationsGrowth((Citation("[2]", 2, 0, 7, "supported", "So it is.", 0, 9),)))
    for event in [*start(), BlockStart(0, TextBlock("So. [2]")), cited, BlockStop(0), *end()]:
        renderer.feed(event)
    renderer.close()
    assert out.text == "So. [2]\n\nSources:\n[2] Page 2\n    https://a.example/2\n    “So it is.”\n"
