"""Every regular expression of the package has linear cost on long runs of its own characters."""

import asyncio
import json
import sys
import time
from pathlib import Path

import pytest

from footnote.models.reader.conversation import parse_turn
from footnote.models.reader.question import parse_message
from footnote.protocol.messages import user_message

PARTS = 2
SECONDS = 900
"""Only ends a hang: on an idle machine the program takes less than a minute."""


async def _expressions_of(part: int) -> dict[str, list[object]]:
    program = Path(__file__).with_name("expressions.py")
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(program), str(part), str(PARTS), stdout=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(SECONDS):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return json.loads(output)


@pytest.mark.slow
async def test_no_regular_expression_of_the_package_takes_more_than_linear_time_over_runs_of_its_own_characters() -> (
    None
):
    reports = await asyncio.gather(*map(_expressions_of, range(PARTS)))
    assert sum(len(report["looked_at"]) for report in reports) > 400, "it finds those that there are"
    assert [slow for report in reports for slow in report["slow"]] == []


@pytest.mark.parametrize(
    "text",
    [
        " " * 20_000,
        "what" + " " * 20_000 + "is tea?",
        "\n" * 20_000 + "x",
        "in " + "a" * 20_000,
        "-/" * 10_000,
        "tea" + " and" * 5_000,
        "https://a.b/" + ")" * 20_000,
    ],
    ids=["spaces", "spaces in the middle", "line breaks", "one word", "slashes", "ands", "brackets"],
)
def test_a_question_of_any_characters_is_understood_in_a_moment(text: str) -> None:
    began = time.thread_time()
    turn = parse_turn((user_message(text),))
    parse_message(turn.question)
    assert time.thread_time() - began < 2, "milliseconds; an expression that backtracks takes ten seconds"


def test_a_path_is_taken_out_of_a_question_with_the_words_that_lead_to_it() -> None:
    cases = {
        "Write a report on tea to the file /tea.md please": ("Write a report on tea please", "/tea.md"),
        "Write a report on tea   into   /notes/tea.txt": ("Write a report on tea", "/notes/tea.txt"),
        "写一份关于茶的报告，保存到 /茶.md": ("写一份关于茶的报告，", "/茶.md"),
        "viết báo cáo vào tệp /tra.md": ("viết báo cáo", "/tra.md"),
        "What is https://a.b/c.md?": ("What is https://a.b/c.md?", None),
    }
    assert {
        text: (parse_turn((user_message(text),)).question, parse_turn((user_message(text),)).path) for text in cases
    } == cases
