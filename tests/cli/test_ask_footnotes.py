"""The footnotes below an answer: the quotations that support it, and what is not supported."""

from typing import Any

import pytest

from cli.emulator import TerminalEmulator
from cli.run_events import CapturedOutput, EventClock, call, call_running, end, feed, result, say, start
from footnote.cli.terminal.answer import PaintedAnswer, PlainAnswer
from footnote.cli.terminal.lines import StyledText
from footnote.cli.terminal.painting import Painter
from footnote.cli.terminal.renderer import TerminalRenderer
from footnote.cli.terminal.screen import LiveRegion, Screen
from footnote.protocol.events import BlockDelta, BlockStop, CitationsGrowth, Event
from footnote.protocol.sources import Citation, Verdict
from footnote.protocol.tools import Locale

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\u202e"
PRICE = "HPG closed at 26,500 VND on Friday."


def source(number: int, title: str, **more: Any) -> dict[str, Any]:
    facts = {"url": f"https://{number}.example/page", "title": title, "snippet": "…", "domain": f"{number}.example"}
    return {**facts, "favicon": None, "number": number, "status": "read", **more}


def search_events(index: int, *sources: dict[str, Any]) -> list[Event]:
    artifact = {"query": "HPG", "sources": list(sources)}
    return [
        *call(index, f"c{index}", "web_search", "Search the web", query="HPG"),
        *call_running(f"c{index}"),
        *result(index + 1, f"c{index}", "web_search", "…", artifact=artifact),
    ]


def cite(text: str, sentence: str, number: int, verdict: Verdict = "supported", quote: str | None = None) -> Citation:
    at = text.index(sentence)
    offsets = (None, None) if quote is None else (0, len(quote))
    return Citation(f"[{number}]", number, at, at + len(sentence), verdict, quote, *offsets)


def answer(index: int, text: str, *citations: Citation) -> list[Event]:
    *head, stop = say(index, text)
    return [*head, BlockDelta(index, CitationsGrowth(citations)), stop]


def render_plain(events: list[Event], *, encoding: str = "utf-8", locale: Locale = "en", quiet: bool = False) -> str:
    out = CapturedOutput(encoding)
    screen = Screen(out.sink, CapturedOutput(encoding).sink)
    renderer = TerminalRenderer(screen, PlainAnswer(screen), clock=EventClock(), locale=locale, quiet=quiet)
    feed(renderer, events)
    renderer.close()
    return out.text


def render_painted(events: list[Event], columns: int) -> TerminalEmulator:
    terminal, painter = TerminalEmulator(columns), Painter(color=True)
    out, err = CapturedOutput(), CapturedOutput()
    out.follower = err.follower = terminal.write
    screen = Screen(out.sink, err.sink, region=LiveRegion(out.sink, painter, lambda: terminal.size), live_notes=True)
    renderer = TerminalRenderer(screen, PaintedAnswer(screen, painter), quiet=True)
    feed(renderer, events)
    renderer.close()
    return terminal


ANSWER = "HPG fell to 26,500 VND [1]. It will double by May [2]. Its rival is larger [2]. Nobody knows why [7]."
EVERY_VERDICT = [
    *start(),
    *search_events(0, source(1, "HPG today"), source(2, "Outlook"), source(3, "Not cited"), source(4, "Nor this")),
    *answer(
        2,
        ANSWER,
        cite(ANSWER, "HPG fell to 26,500 VND [1].", 1, "supported", PRICE),
        cite(ANSWER, "It will double by May [2].", 2, "unsupported", "Analysts expect a quiet spring."),
        cite(ANSWER, "Its rival is larger [2].", 2, "partial", "The rival has more furnaces."),
        cite(ANSWER, "Nobody knows why [7].", 7, "unsupported"),
    ),
    *end(),
]


def test_every_source_that_is_cited_is_listed_with_its_passage_and_what_does_not_hold_says_so() -> None:
    assert render_plain(EVERY_VERDICT) == (
        f"{ANSWER}\n"
        "\n"
        "Sources:\n"
        "[1] HPG today\n"
        "    https://1.example/page\n"
        f"    “{PRICE}”\n"
        "[2] Outlook\n"
        "    https://2.example/page\n"
        "    ✗ not supported: “It will double by May.”\n"
        "      nearest passage: “Analysts expect a quiet spring.”\n"
        "    ~ partly supported: “Its rival is larger.”\n"
        "      the page says: “The rival has more furnaces.”\n"
        "[7] no such source\n"
        "2 more sources were found and are not cited.\n"
    )


def test_the_words_are_those_of_the_locale() -> None:
    vietnamese, chinese = render_plain(EVERY_VERDICT, locale="vi"), render_plain(EVERY_VERDICT, locale="zh")
    assert vietnamese.removeprefix(f"{ANSWER}\n\n") == (
        "Nguồn:\n"
        "[1] HPG today\n"
        "    https://1.example/page\n"
        f"    “{PRICE}”\n"
        "[2] Outlook\n"
        "    https://2.example/page\n"
        "    ✗ không có căn cứ: “It will double by May.”\n"
        "      đoạn gần nhất: “Analysts expect a quiet spring.”\n"
        "    ~ chỉ có căn cứ một phần: “Its rival is larger.”\n"
        "      trang viết: “The rival has more furnaces.”\n"
        "[7] không có nguồn này\n"
        "Còn 2 nguồn được tìm thấy nhưng không được trích dẫn.\n"
    )
    assert chinese.removeprefix(f"{ANSWER}\n\n") == (
        "来源：\n"
        "[1] HPG today\n"
        "    https://1.example/page\n"
        f"    “{PRICE}”\n"
        "[2] Outlook\n"
        "    https://2.example/page\n"
        "    ✗ 没有依据: “It will double by May.”\n"
        "      最接近的段落: “Analysts expect a quiet spring.”\n"
        "    ~ 部分有依据: “Its rival is larger.”\n"
        "      原文: “The rival has more furnaces.”\n"
        "[7] 没有这个来源\n"
        "另有 2 个来源未被引用。\n"
    )


def test_quiet_keeps_the_footnotes_because_they_belong_to_the_answer() -> None:
    assert render_plain(EVERY_VERDICT, quiet=True) == render_plain(EVERY_VERDICT)


def test_an_encoding_without_the_signs_has_others() -> None:
    assert render_plain(EVERY_VERDICT, encoding="ascii").splitlines()[5:10] == [
        f'    "{PRICE}"',
        "[2] Outlook",
        "    https://2.example/page",
        '    x not supported: "It will double by May."',
        '      nearest passage: "Analysts expect a quiet spring."',
    ]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([], ""),
        ([source(1, "A")], "\n1 source was found; the answer does not cite it.\n"),
        ([source(1, "A"), source(2, "B")], "\n2 sources were found; the answer cites none of them.\n"),
    ],
)
def test_an_answer_that_cites_nothing_says_so_if_there_was_something(
    found: list[dict[str, Any]], expected: str
) -> None:
    assert render_plain([*start(), *search_events(0, *found), *say(2, "42"), *end()]) == f"42\n{expected}"


def test_one_source_that_is_left_over_is_one() -> None:
    events = [*search_events(0, source(1, "A"), source(2, "B")), *answer(2, "So [1].", cite("So [1].", "So [1].", 1))]
    assert render_plain(events).splitlines()[-1] == "1 more source was found and is not cited."


def test_a_passage_that_the_answer_quotes_is_only_named_again() -> None:
    """The reader's answers consist of quotations, so their passages are not repeated."""
    passage = "The Great Red Spot is a storm that has been seen for at least three hundred and fifty years."
    text = f"> {passage[:40]}\n> {passage[40:]} [1]"
    events = [*search_events(0, source(1, "Jupiter")), *answer(2, text, cite(text, text, 1, "supported", passage))]
    assert render_plain(events).splitlines()[-1] == "    “The Great Red Spot is a storm that has been…”"


def test_a_sentence_taken_from_a_longer_passage_is_only_named_again() -> None:
    passage = "Jupiter is the fifth planet from the Sun. It is the largest of all of them, and has been known for ever."
    text = "- It is the largest of all of them [1]"
    events = [*search_events(0, source(1, "Jupiter")), *answer(2, text, cite(text, text, 1, "supported", passage))]
    assert render_plain(events).splitlines()[-1] == "    “Jupiter is the fifth planet from the Sun. It is…”"


def test_a_passage_between_words_of_the_answer_is_only_named_again() -> None:
    passage = "It is the largest of all the planets, and has been known to everybody for ever."
    text = f"The page says: “{passage}” [1]"
    events = [*search_events(0, source(1, "Jupiter")), *answer(2, text, cite(text, text, 1, "supported", passage))]
    assert render_plain(events).splitlines()[-1] == "    “It is the largest of all the planets, and has…”"


def test_a_long_passage_is_shortened_and_stays_on_its_line() -> None:
    passage = "so it\nis | with\tdata " * 30
    events = [
        *search_events(0, source(1, "A")),
        *answer(2, "It is [1].", cite("It is [1].", "It is [1].", 1, quote=passage)),
    ]
    line = render_plain(events).splitlines()[-1]
    assert line.startswith("    “so it is | with data so it is | with data")
    assert line.endswith("…”")
    assert 140 < len(line) <= 4 + 160 + 2


@pytest.mark.parametrize(
    ("count", "rest"), [(2, []), (3, ["    and 1 more passage"]), (4, ["    and 2 more passages"])]
)
def test_of_many_passages_of_one_source_the_first_are_shown_and_the_rest_counted(count: int, rest: list[str]) -> None:
    text = "".join(f"Fact {at} [1]. " for at in range(5))
    facts = [cite(text, f"Fact {at} [1].", 1, quote=f"The page says {at % count}.") for at in range(5)]
    entry = render_plain([*search_events(0, source(1, "A")), *answer(2, text, *facts)]).splitlines()[3:]
    assert entry == [
        "[1] A",
        "    https://1.example/page",
        "    “The page says 0.”",
        "    “The page says 1.”",
        *rest,
    ]


@pytest.mark.parametrize("status", ["snippet", "failed"])
def test_a_source_of_which_only_the_search_result_was_read_says_so(status: str) -> None:
    events = [*search_events(0, source(1, "A", status=status)), *answer(2, "So [1].", cite("So [1].", "So [1].", 1))]
    assert "[1] A\n    https://1.example/page\n    (only its search result was read)\n" in render_plain(events)


def test_a_page_that_was_read_is_not_forgotten_when_it_is_found_again() -> None:
    again = search_events(2, source(1, "A", status="snippet"))
    events = [*search_events(0, source(1, "A")), *again, *answer(4, "So [1].", cite("So [1].", "So [1].", 1))]
    assert "search result" not in render_plain(events)


def test_sources_of_tools_that_number_none_are_counted_and_what_is_no_source_is_not() -> None:
    foreign = {"url": "https://a.example", "title": "A", "snippet": "", "domain": "a.example", "favicon": None}
    other = foreign | {"url": "https://b.example"}
    events = [*search_events(0, foreign, other, foreign, {"url": 5}), *say(2, "42")]
    assert render_plain(events) == "42\n\n2 sources were found; the answer cites none of them.\n"


def test_a_run_that_was_stopped_still_lists_what_its_finished_part_cites() -> None:
    first = answer(2, "So [1].", cite("So [1].", "So [1].", 1, quote="It is so."))
    events = [*search_events(0, source(1, "A")), *first, *say(3, "And half of a")[:-1]]
    assert render_plain(events) == (
        "So [1].\n\nAnd half of a\n\nSources:\n[1] A\n    https://1.example/page\n    “It is so.”\n"
    )


def test_footnotes_of_several_texts_are_one_list_in_the_order_of_their_numbers() -> None:
    events = [
        *search_events(0, source(1, "A"), source(2, "B")),
        *answer(2, "Two [2].", cite("Two [2].", "Two [2].", 2, quote="2.")),
        *answer(3, "One [1].", cite("One [1].", "One [1].", 1, quote="1.")),
    ]
    listed = [line for line in render_plain(events).splitlines() if line.startswith("[")]
    assert listed == ["[1] A", "[2] B"]


def test_nothing_that_a_page_says_steers_the_terminal() -> None:
    evil = source(1, f"Ti{EVIL}tle\nof it", url=f"https://1.example/{EVIL}")
    text = f"So{EVIL} [1]. Else [1]."
    citations = (
        cite(text, f"So{EVIL} [1].", 1, "unsupported", f"a{EVIL}b"),
        cite(text, "Else [1].", 1, "supported", f"c{EVIL}\nd"),
    )
    events = [*search_events(0, evil), *answer(2, text, *citations)]
    assert render_plain(events) == (
        "So [1]. Else [1].\n"
        "\n"
        "Sources:\n"
        "[1] Title of it\n"
        "    https://1.example/\n"
        "    “c d”\n"
        "    ✗ not supported: “So.”\n"
        "      nearest passage: “ab”\n"
    )
    assert render_painted(events, 60).text.endswith("nearest passage: “ab”")  # the emulator fails on other sequences


def test_in_a_terminal_long_lines_are_wrapped_below_themselves_and_addresses_are_left_whole() -> None:
    text = "和发集团今天的股价下跌了很多，跌到了二万六千五百越南盾 [1]."
    passage = "河内消息：和发集团的股票今天收于二万六千五百越南盾，比昨天低百分之三。"
    page = source(1, "Giá cổ phiếu HPG hôm nay: diễn biến mới nhất", url="https://a.example/a/very/long/path/to/it")
    events = [*search_events(0, page), *answer(2, text, cite(text, text, 1, "partial", passage))]
    shown = render_painted(events, 30)
    assert shown.text.split("\n\n")[1] == (
        "Sources:\n"
        "[1] Giá cổ phiếu HPG hôm nay:\n"
        "    diễn biến mới nhất\n"
        "    https://a.example/a/very/long/path/to/it\n"
        "    ~ partly supported: “和发\n"
        "      集团今天的股价下跌了很\n"
        "      多，跌到了二万六千五百越\n"
        "      南盾.”\n"
        "      the page says: “河内消\n"
        "        息：和发集团的股票今天\n"
        "        收于二万六千五百越南\n"
        "        盾，比昨天低百分之\n"
        "        三。”"
    )


@pytest.mark.parametrize("columns", [1, 2, 7, 20, 33])
def test_no_line_but_an_address_is_wider_than_the_terminal(columns: int) -> None:
    lines = render_painted(EVERY_VERDICT, columns).lines
    wide = ["".join(line) for line in lines if len(line) > max(columns, 2)]
    assert [line.strip() for line in wide if "https://" not in line] == []


def test_verdicts_look_different_in_colour() -> None:
    out = CapturedOutput()
    painter = Painter(color=True)
    screen = Screen(out.sink, CapturedOutput().sink, region=LiveRegion(out.sink, painter, lambda: (80, 24)))
    renderer = TerminalRenderer(screen, PaintedAnswer(screen, painter), quiet=True)
    feed(renderer, EVERY_VERDICT)
    renderer.close()
    assert "\x1b[31m✗ not supported: \x1b[0m" in out.text
    assert "\x1b[33m~ partly supported: \x1b[0m" in out.text
    assert "\x1b[31m[7] no such source\x1b[0m" in out.text


def test_a_citation_that_ends_a_block_does_not_disturb_the_answer() -> None:
    events = answer(0, "So [1].", cite("So [1].", "So [1].", 1))
    assert isinstance(events[-1], BlockStop)
    assert render_plain([*start(), *events, *end()]) == "So [1].\n\nSources:\n[1] no such source\n"


def test_an_answer_without_sources_leaves_no_gap_for_them() -> None:
    terminal, painter, out, err = TerminalEmulator(40), Painter(color=True), CapturedOutput(), CapturedOutput()
    out.follower = err.follower = terminal.write
    screen = Screen(out.sink, err.sink, region=LiveRegion(out.sink, painter, lambda: terminal.size), live_notes=True)
    renderer = TerminalRenderer(screen, PaintedAnswer(screen, painter))
    feed(renderer, [*start(), *say(0, "42"), *end()])
    renderer.close()
    screen.note((StyledText("A note."),))
    assert terminal.text == "42\n\nA note."
