"""Sources that contradict each other, as a small table in the terminal."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from cli.process import run_footnote
from cli.run_events import call, result, say, start
from cli.small_web import article, env_for, hits
from cli.test_ask_plain import render
from footnote.cli.terminal.disagreements import disagreement_table
from footnote.cli.terminal.footnotes import Layout
from footnote.cli.terminal.lines import ASCII, as_text, width
from footnote.protocol.sources import Disagreement, DisagreementValue
from footnote.protocol.tools import Locale
from web import Web
from web.providers import SearchServer

QUESTION = "When was the tower built?"
TOWER = "The tower was built in {} by a company from the north, and it stands by the river."


def side(number: int, text: str, published: str | None = None) -> DisagreementValue:
    return DisagreementValue(text=text, number=number, quote_start=0, quote_end=len(text), published=published)


FOUND = Disagreement(
    about=QUESTION, values=(side(1, "Built in 1887.", "2019-03-02T08:00:00Z"), side(12, "Built in 1913.", "last week"))
)


def table(*found: Disagreement, **layout: Any) -> list[str]:
    return [as_text(line) for line in disagreement_table(found, Layout(**layout))]


@pytest.mark.parametrize(
    ("locale", "heading"),
    [
        ("en", f"Sources contradict each other: {QUESTION}"),
        ("vi", f"Các nguồn mâu thuẫn với nhau: {QUESTION}"),
        ("zh", f"来源相互矛盾：{QUESTION}"),
    ],
)
def test_each_side_has_a_row_with_its_number_its_day_and_its_quotation(locale: Locale, heading: str):
    assert table(FOUND, locale=locale) == [
        heading,
        "    [1]  2019-03-02 “Built in 1887.”",
        "    [12]            “Built in 1913.”",
    ]


def test_without_any_day_there_is_no_column_for_it():
    found = Disagreement(about="a\nb", values=(side(1, "One."), side(2, "Two.")))
    assert table(found, symbols=ASCII) == ["Sources contradict each other: a b", '    [1] "One."', '    [2] "Two."']


def test_long_quotations_are_shortened_and_wrapped_below_themselves():
    found = Disagreement(about="a", values=(side(1, "word " * 100), side(2, "\x1b[2Jevil\u202e " * 9)))
    lines = table(found, columns=40)
    assert max(map(width, lines)) <= 40
    assert lines[2].startswith("        word")
    assert not any("\x1b" in line or "\u202e" in line for line in lines)
    assert sum(line.count("word") for line in lines) < 40


def test_at_most_three_disagreements_are_listed():
    found = [Disagreement(about=f"{number}", values=FOUND.values) for number in range(9)]
    assert sum(line.startswith("Sources") for line in table(*found)) == 3


def run_of(answer: str) -> list[Any]:
    artifact = {"query": QUESTION, "sources": [], "disagreements": [msgspec.to_builtins(FOUND), {"about": 1}]}
    searched = result(1, "c1", "web_search", "Found.", artifact=artifact)
    return [*start(), *call(0, "c1", "web_search", "Search", query=QUESTION), *searched, *searched, *say(2, answer)]


def test_an_answer_that_gives_one_side_only_is_followed_by_the_table_once():
    out, _ = render(run_of("It was built in 1887 [1]."))
    assert out.startswith("It was built in 1887 [1].\n\nSources contradict each other: When was the tower built?\n")
    assert out.count("Built in 1913.") == 1


def test_an_answer_that_quotes_both_sides_is_followed_by_no_table():
    out, _ = render(run_of("> Built in\n> 1887. [1]\n\n> Built in 1913. [12]"))
    assert "Sources contradict" not in out


async def test_a_search_shows_the_table_above_its_sources(web: Web, tmp_path: Path):
    for year in (1887, 1913):
        web.put(f"/tower-{year}", article("Tower", TOWER.format(year)))
    async with SearchServer("duckduckgo", hits(web, "/tower-1887", "/tower-1913")) as duckduckgo:
        env = env_for(tmp_path, web, duckduckgo)
        code, out, err = await run_footnote("search", QUESTION, "--locale", "vi", env=env)
    assert code == 0, err
    head, _, rows = out.partition(f"\nCác nguồn mâu thuẫn với nhau: {QUESTION}\n")
    assert "> " in head
    lines = rows.splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["[1]", "[2]"]
    assert ["1887" in lines[0], "1913" in lines[1]] == [True, True]
    assert "Nguồn:" in lines
