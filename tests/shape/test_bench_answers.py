"""The benchmark of answers: what counts as right, what the model's own words are, and a whole run on loopback."""

import asyncio
import csv
import json
import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from footnote.agent.guided_prompts import PROMPTS
from footnote.protocol.tools import Locale
from shape.tree import ROOT
from upstream import Upstream, call, reply, say, stop, usage

BENCH = ROOT / "bench" / "answers.py"
QUOTATIONS = "> The Norman Drogo was ennobled. [1]\n\n> Another. [2]"


def _matcher():
    spec = spec_from_file_location("answer_match", BENCH.with_name("answer_match.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MATCHER = _matcher()


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("It was **Louis XIV**, the king.", "louis xiv"),
        ("An Amazon rainforest, mostly.", "The Amazon rainforest"),
        ("They are Segregation-Academies", "segregation academies"),
        ("Khoảng 1.160.000 dặm vuông", "1,160,000"),
        ("about 1\u202f160\u202f000 in all", "1160000"),
        ("1,234.50 dollars", "1.234,5"),
        ("Có 51,6% phiếu bầu", "51.6 percent"),
        ("51,6 phần trăm", "51.6%"),
        ("占百分之51.6", "51.6%"),
        ("\uff11\uff19\uff19\uff18\u5e74", "1998"),
        ("由卓戈\uff08Drogo\uff09率领", "卓戈 (Drogo)"),
        ("on 08 February 2007", "8 February 2007"),
        ("There were three of them.", "3"),
        ("Thắng ba trận", "3"),
        ("共有三个", "3"),
        ("It has 20 of them", "twenty"),
        ("version 1\\.5", "1.5"),
        ("soft\u00adware", "software"),
    ],
)
def test_the_format_of_an_answer_makes_no_difference(text: str, answer: str) -> None:
    assert MATCHER.contains_answer(text, [answer])


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("They scored 15 points", "5"),
        ("in 2015", "15"),
        ("0.123 of it", "123"),
        ("See the page [3].", "3"),
        ("See the page \u30103\u3011.", "3"),
        ("năm 1990", "5"),
        ("Oxy là nguyên tố", "Ôxy"),
        ("unmanned", "man"),
        ("", "anything"),
        ("a text", ""),
    ],
)
def test_another_answer_is_not_taken_for_the_right_one(text: str, answer: str) -> None:
    assert not MATCHER.contains_answer(text, [answer])


def test_one_of_several_right_answers_is_enough() -> None:
    assert MATCHER.contains_answer("It was Drogo.", ["Guiscard", "Drogo"])


@pytest.mark.parametrize("locale", PROMPTS)
@pytest.mark.parametrize("own", ["Drogo led them [1].", ""])
def test_the_quotations_after_an_answer_are_not_the_models_own_words(own: str, locale: Locale) -> None:
    answer = f"{own}\n\n{PROMPTS[locale].unconfirmed}\n\n{QUOTATIONS}"
    assert MATCHER.split_quotations(answer) == (own, QUOTATIONS)


@pytest.mark.parametrize("text", ["Drogo led them [1].", "As they write:\n\n> A motto", "The reason:", ""])
def test_an_answer_to_which_nothing_was_added_is_all_in_the_models_own_words(text: str) -> None:
    assert MATCHER.split_quotations(text) == (text, "")


def test_an_answer_for_which_nothing_was_found_has_no_quotations() -> None:
    assert MATCHER.split_quotations(f"I do not know.\n\n{PROMPTS['en'].no_sources}") == ("I do not know.", "")


async def _run(*arguments: str, **variables: str) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(BENCH),
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"], **variables},
        cwd=ROOT,
    )
    output, errors = await process.communicate()
    assert b"Traceback" not in errors, errors.decode()
    return process.returncode, output.decode()


async def test_without_a_model_it_says_in_one_line_what_it_needs() -> None:
    code, output = await _run()
    assert code == 0
    assert output.count("\n") == 1
    assert "--server URL" in output


def _cells(output: str, *first: str) -> list[list[str]]:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in output.splitlines()]
    return [row[len(first) :] for row in rows if tuple(row[: len(first)]) == first]


@pytest.mark.slow
async def test_the_whole_product_and_one_plain_prompt_are_asked_and_compared(
    tmp_path: Path, upstream: Upstream
) -> None:
    results, failed = tmp_path / "results.jsonl", tmp_path / "failed.md"
    upstream.script(
        reply(call("web_search", {"query": "Panthers defense points surrendered"}), usage(700, 20), stop("toolUse")),
        reply(say("The passages say it. [1]"), usage(500, 10), stop()),
        reply(say("They surrendered 308 points."), usage(900, 9), stop()),
        reply(say("It was 308."), usage(800, 8), stop()),
    )
    command = ("--server", upstream.url, "--model", "small", "--key-variable", "MY_KEY", "--languages", "en")
    command = (*command, "--styles", "agentic,reference", "--questions", "1", "--results", str(results))
    code, output = await _run(*command, "--failures", str(failed), MY_KEY=upstream.key or "")
    assert code == 0
    right, own, proved, costs = _cells(output, "en", "agentic")
    assert right[:4] == ["1", "1.00", "1.00", "0"]
    assert own[:3] == ["1", "1.00", "1.00"]
    assert proved[0] == "0.00"
    assert costs[:3] == ["2100", "39", "700"]
    assert _cells(output, "en", "reference")[-1][:3] == ["800", "8", "800"]
    assert failed.read_text(encoding="utf-8") == ""

    plain = upstream.requests[-1].body
    assert [message["role"] for message in plain["messages"]] == ["user"]
    assert "tools" not in plain
    assert "308" in plain["messages"][0]["content"]

    assert await _run(*command, MY_KEY=upstream.key or "") == (0, output)
    _, output = await _run(*command, "--styles", "reference", MY_KEY=upstream.key or "")
    assert output.count("###") == 2
    assert len(upstream.requests) == 4


@pytest.mark.slow
async def test_questions_from_a_file_are_asked_over_the_configured_providers(
    tmp_path: Path, upstream: Upstream
) -> None:
    questions, failed = tmp_path / "simple.csv", tmp_path / "failed.md"
    with questions.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("metadata", "problem", "answer"))
        writer.writerow(("{}", "Who was ennobled by Henry III?", "Drogo"))
    upstream.script(reply(say("That was Guiscard."), usage(600, 5), stop()))
    code, output = await _run(
        *("--csv", str(questions), "--styles", "agentic", "--failures", str(failed)),
        FOOTNOTE_HOME=str(tmp_path / "home"),
        FOOTNOTE_MODELS_DEFAULT="openai/small",
        FOOTNOTE_MODELS_PROVIDERS_OPENAI_BASE_URL=upstream.url,
        FOOTNOTE_MODELS_PROFILES=json.dumps({"openai/small": {"window": 20000}}),
        OPENAI_API_KEY=upstream.key or "",
    )
    assert code == 0
    assert _cells(output, "simple", "agentic")[0][:4] == ["1", "0.00", "0.00", "0"]
    assert "Right: Drogo (it does not stand in the evidence)" in failed.read_text(encoding="utf-8")
    assert "That was Guiscard." in failed.read_text(encoding="utf-8")
