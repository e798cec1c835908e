"""In a terminal finished blocks stay, the rest is redrawn, and the screen is correct at every step."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.emulator import TerminalEmulator
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
from footnote.cli.terminal.answer import PaintedAnswer, PlainAnswer
from footnote.cli.terminal.lines import StyledText
from footnote.cli.terminal.painting import Painter
from footnote.cli.terminal.renderer import TerminalRenderer
from footnote.cli.terminal.screen import LiveRegion, Screen
from footnote.protocol.events import Event, Ping

WELCOME = "$ footnote ask\n"


class RenderedTerminal:
    """A renderer whose stdout and stderr are one terminal emulator."""

    def __init__(self, columns: int = 60, rows: int = 24, *, color: bool = True, **options: Any) -> None:
        self.terminal = TerminalEmulator(columns, rows)
        self.terminal.write(WELCOME)
        self.painter = Painter(color=color)
        self.out, self.err = CapturedOutput(), CapturedOutput()
        region = LiveRegion(self.out.sink, self.painter, lambda: self.terminal.size)
        self.screen = Screen(self.out.sink, self.err.sink, region=region, live_notes=True)
        self.clock = EventClock()
        self.renderer = TerminalRenderer(
            self.screen, PaintedAnswer(self.screen, self.painter), clock=self.clock, **options
        )
        self.out.follower = self.err.follower = self.terminal.write

    def feed(self, events: list[Event], *, tick: bool = True) -> None:
        feed(self.renderer, events, self.clock, tick=tick)

    @property
    def shown(self) -> str:
        assert self.terminal.text.startswith(WELCOME), "something above the run was erased"
        return self.terminal.text.removeprefix(WELCOME)


def final(events: list[Event], **options: Any) -> str:
    session = RenderedTerminal(**options)
    session.feed(events)
    session.renderer.close()
    return session.shown


def test_a_whole_run_leaves_the_answer_and_a_line_for_every_call() -> None:
    assert final(research()) == (
        "I will search.\n"
        "\n"
        "✓ Search the web · HPG share price · 3.0s · 2 sources\n"
        "✓ Write a file · /report.md · 2.0s · Wrote /report.md (9 by…\n"
        "\n"
        "The price\n"
        "is 42.\n"
        "\n"
        "See the report."
    )


def test_calls_side_by_side_are_shown_live_with_their_progress() -> None:
    session = RenderedTerminal()
    session.feed(research()[:18])
    assert session.shown == (
        "I will search.\n\n⏳ Search the web · HPG share price · searching · 1s\n⏳ Write a file · /report.md · 0s"
    )


def test_a_call_that_ended_before_the_one_above_it_keeps_its_place() -> None:
    session = RenderedTerminal()
    events = [
        *call(0, "c1", "slow", "Slow"),
        *call(1, "c2", "fast", "Fast"),
        *call_running("c1"),
        *call_running("c2"),
        *progress("c1", "reading", 3, 5, "simplize.vn"),
        *call_finished("c2"),
    ]
    session.feed(events, tick=False)
    session.renderer.tick()
    assert session.shown == "⏳ Slow · reading 3/5 simplize.vn · 1s\n✓ Fast · 1.0s"
    session.feed([*call_finished("c1"), *result(2, "c1", "slow", "Read."), *result(3, "c2", "fast", "Done.")])
    assert session.shown == "✓ Slow · 2.0s · Read.\n✓ Fast · 1.0s · Done."


def test_while_nothing_comes_the_model_is_named() -> None:
    session = RenderedTerminal()
    session.feed(start())
    assert session.shown == f"waiting for {MODEL}…"


def test_the_seconds_of_a_silent_model_are_counted() -> None:
    session = RenderedTerminal()
    session.feed(start())
    session.clock.now += 2
    session.renderer.tick()
    assert session.shown == f"waiting for {MODEL}…"
    session.clock.now += 70
    session.renderer.tick()
    assert session.shown == f"waiting for {MODEL}… · 72s"
    session.feed([Ping()])
    assert session.shown == f"waiting for {MODEL}… · 72s"
    session.feed([*say(0, "42"), *end()])
    assert session.shown == "42"


def test_thinking_is_one_line_that_counts() -> None:
    session = RenderedTerminal()
    session.feed([*start(), *think(0, "x" * 900, "y" * 345)[:-1]])
    assert session.shown == "thinking… 1.2k chars"
    session.feed(think(0)[1:])
    session.feed([*say(1, "42"), *end()])
    assert session.shown == "42"


def test_thinking_in_full_stays_above_the_answer() -> None:
    assert final([*start(), *think(0, "One.\nTwo."), *say(1, "42")], show_thinking=True) == "│ One.\n│ Two.\n\n42"


def test_quiet_shows_the_answer_alone() -> None:
    session = RenderedTerminal(quiet=True)
    session.feed(research()[:18])
    assert session.shown == "I will search."


def test_the_unfinished_block_is_shown_before_it_is_finished() -> None:
    session = RenderedTerminal()
    session.feed([*start(), *say(0, "First.\n\nSecond **bo", "ld** and")[:-1]])
    assert session.shown == "First.\n\nSecond bold and"


def test_what_became_permanent_is_not_shown_twice() -> None:
    session = RenderedTerminal()
    session.feed([*start(), *say(0, "Some text")[:-1]])
    session.feed(say(0)[-1:], tick=False)
    assert session.shown == "Some text"


def test_a_step_that_did_not_change_is_not_drawn_again() -> None:
    session = RenderedTerminal()
    session.feed([*start(), *call(0, "c1", "slow", "Slow"), *call_running("c1")])
    before = session.out.text
    session.renderer.tick()
    assert session.out.text == before
    session.clock.now += 1
    session.renderer.tick()
    assert session.shown == "⏳ Slow · 1s"


def test_no_styles_without_colour_but_the_same_words() -> None:
    plain, painted = RenderedTerminal(color=False), RenderedTerminal()
    for session in (plain, painted):
        session.feed(research())
        session.renderer.close()
    assert (plain.shown, plain.terminal.styled, painted.terminal.styled) == (painted.shown, False, True)


def test_model_text_cannot_steer_the_terminal() -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x1b[9A\x9b31m\r\u202e&#27;[2J&#x202e;&#13;&#155;2J"
    events = [
        *start(),
        *think(0, evil),
        *say(1, f"a {evil} b\n\n`{evil}`\n\n```{evil}\n{evil}\n```\n", f"[{evil}](http://{evil}) ![{evil}](http://x)"),
        *call(2, "c1", "evil", f"title {evil}", query=evil),
        *call_running("c1"),
        *progress("c1", evil, 1, 2, evil),
        *result(3, "c1", "evil", evil, ok=False),
        *say(4, "The end."),
    ]
    assert final(events, show_thinking=True).endswith("\n\nThe end.")  # the emulator fails on other sequences


def test_a_note_is_written_above_what_is_still_moving() -> None:
    session = RenderedTerminal()
    session.feed([*start(), *call(0, "c1", "slow", "Slow"), *call_running("c1")])
    session.screen.note((StyledText("A note."),))
    assert session.shown == "A note.\n⏳ Slow · 0s"


def test_nothing_moves_while_somebody_types() -> None:
    session = RenderedTerminal()
    session.feed([*start(), *call(0, "c1", "slow", "Slow"), *call_running("c1")])
    session.screen.hold()
    session.err.sink.write("Allow? [y/N] ")
    session.feed([*call_finished("c1"), *result(1, "c1", "slow", "Read."), *say(2, "42"), *end()])
    assert session.shown == "Allow? [y/N]"
    session.err.sink.write("y\n")
    session.screen.release()
    assert session.shown == "Allow? [y/N] y\n✓ Slow · 0.5s · Read.\n\n42"


DOCUMENT = """\
# Giá cổ phiếu 股价走势

Câu trả lời **đầu tiên** với `mã` và [liên kết](https://vi.example/trang) 中文字符一个接一个没有空格一直写下去。

| Mã | 名称 | Price |
|----|------|------:|
| HPG | 和发集团 | 42 |
| VNM | Vinamilk là công ty sữa | 71 |

1. first
   - nested 👩‍🔬 with a_very_long_word_that_no_narrow_terminal_can_hold_in_one_row
2. second

```python
def f(x):
    return "một dòng rất dài, dài hơn cả màn hình, và còn dài hơn nữa"
```

> quoted

[1]: https://a.example
[2]: https://b.example
"""


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, len(DOCUMENT)), max_size=12), st.sampled_from([20, 33, 80]))
def test_the_screen_does_not_depend_on_how_the_answer_arrived(cuts: list[int], columns: int) -> None:
    edges = [0, *sorted(cuts), len(DOCUMENT)]
    pieces = [DOCUMENT[low:high] for low, high in pairwise(edges)]
    whole = final([*start(), *say(0, DOCUMENT)], columns=columns)
    assert final([*start(), *say(0, *pieces)], columns=columns) == whole


@pytest.mark.parametrize("columns", [1, 2, 7, 20, 21, 80])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    session = RenderedTerminal(columns=columns)
    session.terminal.lines = [[]]
    session.terminal.line = 0
    session.feed([*start(), *say(0, *DOCUMENT), *end()])
    session.renderer.close()
    # A character of two cells does not fit into a terminal of one column.
    assert session.terminal.widest <= max(columns, 2)


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
def test_what_is_redrawn_is_lower_than_the_screen(rows: int) -> None:
    events = [*start(), *say(0, *DOCUMENT), *call(1, "c1", "slow", "Slow"), *call_running("c1"), *end()]
    session = RenderedTerminal(columns=30, rows=rows)
    for event in events:
        session.feed([event])
        assert len(session.screen.region._drawn) <= max(rows - 1, 0)
    session.renderer.close()
    assert session.shown == final(events, columns=30)


@pytest.mark.parametrize(("before", "after"), [(80, 20), (20, 80), (40, 39)])
def test_a_resize_leaves_nothing_behind_and_erases_nothing(before: int, after: int) -> None:
    session = RenderedTerminal(columns=before)
    paragraph = "Một đoạn văn dài hơn một dòng 中文字符一个接一个 to the end of it."
    session.feed([*start(), *say(0, f"First.\n\n{paragraph}")[:-1]])
    session.terminal.resize(after)
    session.feed([*say(0, " And on.")[1:], *end()])
    session.renderer.close()
    assert session.shown == final([*start(), *say(0, f"First.\n\n{paragraph} And on.")], columns=after)


def test_a_redraw_costs_what_the_screen_holds_not_what_the_answer_has() -> None:
    session = RenderedTerminal(columns=80, rows=24)
    session.feed([*start(), *say(0, "```\n", *["a line of code\n"] * 5000)[:-1]], tick=False)
    before = len(session.out.text)
    session.renderer.tick()
    assert len(session.out.text) - before < 80 * 24 * 2


def test_many_events_between_two_ticks_are_one_redraw() -> None:
    session = RenderedTerminal()
    session.feed([*start(), *say(0, *["word "] * 1000)[:-1]], tick=False)
    assert session.out.text == ""
    session.renderer.tick()
    once = session.out.text
    session.renderer.tick()
    assert session.out.text == once != ""


def test_with_the_answer_in_a_file_the_steps_are_still_live() -> None:
    out, err, terminal = CapturedOutput(), CapturedOutput(), TerminalEmulator()
    err.follower = terminal.write
    screen = Screen(
        out.sink, err.sink, region=LiveRegion(err.sink, Painter(color=True), lambda: (80, 24)), live_notes=True
    )
    renderer = TerminalRenderer(screen, PlainAnswer(screen))
    feed(renderer, research())
    renderer.close()
    assert out.text == "I will search.\n\nThe price\nis **42**.\n\nSee the report.\n"
    assert terminal.text.splitlines()[0].startswith("✓ Search the web")
    assert len(terminal.text.splitlines()) == 2


def test_with_the_steps_in_a_file_the_answer_is_still_painted() -> None:
    out, err, terminal = CapturedOutput(), CapturedOutput(), TerminalEmulator()
    out.follower = terminal.write
    painter = Painter(color=True)
    screen = Screen(out.sink, err.sink, region=LiveRegion(out.sink, painter, lambda: (80, 24)), live_notes=False)
    renderer = TerminalRenderer(screen, PaintedAnswer(screen, painter))
    feed(renderer, research())
    renderer.close()
    assert terminal.text == "I will search.\n\nThe price\nis 42.\n\nSee the report."
    assert "\x1b" not in err.text
    assert err.text.count("\n") == 7
