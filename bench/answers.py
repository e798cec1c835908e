"""Answers of a real model: how often they contain the right one, how often they are proved, and what they cost.

    bench/answers.py --server http://127.0.0.1:11434/v1 --model qwen3:4b     any OpenAI-compatible server
    bench/answers.py --server URL --questions 20 --styles guided --languages en,vi --failures failed.md
    bench/answers.py --csv simple_qa.csv                                     the configured model and search providers

With --server, the whole product answers XQuAD's questions: a provider on loopback returns five pages of the small web,
one of them with the answer; the crawler reads them; the model answers. With --csv, questions and right answers are in
a file (columns `problem` and `answer`, as SimpleQA has them, or `question` and `answer`), and the providers are those
of the home folder. The reference asks the same model for each question once more, with one plain prompt and the
passages that the product found.

Ctrl-C ends early, with the tables of what was answered. With --results FILE a later run goes on from there.
"""

import argparse
import asyncio
import csv
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import msgspec
from answer_turn import ask, ask_plainly
from answers_report import GUIDED, REFERENCE, Outcome, failures_text, tables
from quality import cases
from report import conclude
from xquad import reader_settings

from footnote.app import App
from footnote.config.providers import MODEL_PROVIDERS
from footnote.models.base import Endpoint
from footnote.models.stream import list_models
from footnote.net.client import Net
from footnote.net.proxies import Proxies
from footnote.protocol.errors import FootnoteError
from web import Web
from web.providers import Hit, SearchServer
from web.site import LANGUAGES, articles

STYLES = (GUIDED, "agentic", REFERENCE)
LEFT_OUT = (
    "answers is left out: it needs a model. --server URL names an OpenAI-compatible server, --csv FILE asks the "
    "configured model."
)


class Question(NamedTuple):
    """`hits`: what the provider on loopback returns for it; none where real providers are asked."""

    text: str
    right_answers: tuple[str, ...]
    hits: tuple[Hit, ...] = ()


class Plan(NamedTuple):
    """What to measure. `environ` is the environment of the product, without the style."""

    arguments: argparse.Namespace
    model: str
    environ: Mapping[str, str]


# The questions -------------------------------------------------------------------------------------------------------


def sample(questions: Sequence[Any], count: int, offset: int) -> list[Any]:
    """`count` of them, evenly spread, so that every article has its share. Another offset draws others."""
    count = min(count, len(questions))
    return [questions[(at * len(questions) // count + offset) % len(questions)] for at in range(count)]


def xquad_questions(language: str, web: Web) -> list[Question]:
    return [
        Question(
            case.question.text,
            case.question.answers,
            tuple(Hit(page.title, web.url(page.path), "") for page in case.pages),
        )
        for case in cases(articles(language), 1)
    ]


def csv_questions(path: Path) -> list[Question]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [{(name or "").strip().casefold(): text for name, text in row.items()} for row in csv.DictReader(file)]
    found = [Question(row.get("problem") or row.get("question") or "", (row.get("answer") or "",)) for row in rows]
    usable = [one for one in found if one.text.strip() and one.right_answers[0].strip()]
    if not usable:
        sys.exit(f"{path} has no rows with the columns problem (or question) and answer.")
    return usable


# A measurement -------------------------------------------------------------------------------------------------------


class Results:
    """All outcomes, in the order in which they are shown; with a file, also those of earlier runs."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known: dict[tuple[str, str, str, str], Outcome] = {}
        self.outcomes: list[Outcome] = []
        if path is not None and path.exists():
            lines = path.read_bytes().splitlines()
            self._known = {one.key: one for one in (msgspec.json.decode(line, type=Outcome) for line in lines)}

    def take_known(self, key: tuple[str, str, str, str]) -> bool:
        known = self._known.get(key)
        if known is not None:
            self.outcomes.append(known)
        return known is not None

    def add(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        if self._path is not None:
            with self._path.open("ab") as file:
                file.write(msgspec.json.encode(outcome) + b"\n")

    def evidence(self, language: str, question: str) -> tuple[str, ...]:
        """What a style has found for a question; the styles were asked before the reference."""
        found = (one.evidence for one in self.outcomes if (one.language, one.question) == (language, question))
        return next((evidence for evidence in found if evidence), ())


@asynccontextmanager
async def opened(plan: Plan, style: str) -> AsyncIterator[App]:
    """The product in that style."""
    profiles = json.loads(plan.environ.get("FOOTNOTE_MODELS_PROFILES") or "{}")
    if style != REFERENCE:
        profiles[plan.model] = {**profiles.get(plan.model, {}), "style": style}
    environ = {**plan.environ, "FOOTNOTE_MODELS_PROFILES": json.dumps(profiles)} if profiles else plan.environ
    async with App.open(environ=environ) as app:
        yield app


async def measure_set(
    plan: Plan, label: str, questions: Sequence[Question], listed: list[Hit], results: Results
) -> None:
    """All styles on the same questions. `listed`: where the provider on loopback takes its results from."""
    arguments = plan.arguments
    for style in arguments.styles:
        async with opened(plan, style) as app:
            for at, question in enumerate(questions, 1):
                key = (plan.model, label, style, question.text)
                if results.take_known(key):
                    continue
                listed[:] = question.hits
                if style == REFERENCE:
                    evidence = results.evidence(label, question.text)
                    fields = await ask_plainly(app, question.text, evidence, arguments.timeout)
                else:
                    fields = await ask(app, question.text, arguments.timeout)
                outcome = Outcome(
                    language=label,
                    style=style,
                    model=plan.model,
                    question=question.text,
                    right_answers=question.right_answers,
                    **fields,
                )
                results.add(outcome)
                mark = "right" if outcome.is_right else "wrong" if outcome.failure is None else "broken off"
                print(f"{label} {style} {at}/{len(questions)}: {mark}, {outcome.seconds:.1f} s", file=sys.stderr)


async def measure_xquad(arguments: argparse.Namespace, results: Results) -> None:
    listed: list[Hit] = []
    async with Web(None) as web, SearchServer("searxng", lambda _: listed) as provider:
        for language in arguments.languages:
            with tempfile.TemporaryDirectory() as home:
                model, access = await server_settings(arguments)
                loopback = {**reader_settings(home, web.host, provider.url), **access}
                questions = sample(xquad_questions(language, web), arguments.questions, arguments.offset)
                await measure_set(Plan(arguments, model, loopback), language, questions, listed, results)


async def measure_csv(arguments: argparse.Namespace, results: Results) -> None:
    environ = dict(os.environ)
    if arguments.server:
        model, access = await server_settings(arguments)
        environ |= access
    else:
        environ |= {"FOOTNOTE_MODELS_DEFAULT": arguments.model} if arguments.model else {}
        async with App.open(environ=environ) as app:
            model = (await app.model(app.configuration.agent(None))).id
    questions = sample(csv_questions(arguments.csv), arguments.questions, arguments.offset)
    await measure_set(Plan(arguments, model, environ), arguments.csv.stem, questions, [], results)


async def server_settings(arguments: argparse.Namespace) -> tuple[str, dict[str, str]]:
    """The name of the model at the server, and the settings with which the product asks it."""
    url = arguments.server.rstrip("/")
    provider = next((name for name, known in MODEL_PROVIDERS.items() if known.base_url == url), "server")
    key = os.environ.get(arguments.key_variable) if arguments.key_variable else None
    name = arguments.model or await first_model(Endpoint(provider, url, key))
    prefix = f"FOOTNOTE_MODELS_PROVIDERS_{provider.upper()}"
    settings = {
        "FOOTNOTE_MODELS_DEFAULT": f"{provider}/{name}",
        f"{prefix}_TYPE": "openai",
        f"{prefix}_BASE_URL": url,
    }
    return f"{provider}/{name}", settings | ({f"{prefix}_API_KEY": key} if key else {})


async def first_model(endpoint: Endpoint) -> str:
    try:
        async with Net(Proxies.from_environment(os.environ)) as net:
            listed = await list_models("openai", endpoint, net)
    except FootnoteError as error:
        sys.exit(f"{endpoint.base_url} does not list its models: {error.message} --model names one.")
    if not listed:
        sys.exit(f"{endpoint.base_url} lists no model: --model names one.")
    return listed[0]


def named_items(choices: Sequence[str]) -> Callable[[str], list[str]]:
    """A type of argument: some of `choices`, between commas, in the order of `choices`."""

    def parse(text: str) -> list[str]:
        named = {item.strip() for item in text.split(",") if item.strip()}
        if not named or not named <= set(choices):
            raise argparse.ArgumentTypeError(f"some of {', '.join(choices)}, between commas")
        return [choice for choice in choices if choice in named]

    return parse


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--server", metavar="URL", help="the base address of an OpenAI-compatible server")
    parser.add_argument("--model", metavar="NAME", help="default: the first that the server lists")
    parser.add_argument("--key-variable", metavar="NAME", help="the environment variable with the server's key")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="questions with their right answers")
    parser.add_argument(
        "--styles", type=named_items(STYLES), default=list(STYLES), metavar="NAMES", help=", ".join(STYLES)
    )
    parser.add_argument(
        "--languages", type=named_items(LANGUAGES), default=list(LANGUAGES), metavar="NAMES", help=", ".join(LANGUAGES)
    )
    parser.add_argument("--questions", type=int, default=60, metavar="N", help="a language (default: 60)")
    parser.add_argument("--offset", type=int, default=0, metavar="N", help="draws other questions")
    parser.add_argument("--timeout", type=float, default=300, metavar="SECONDS", help="a question (default: 300)")
    parser.add_argument("--failures", type=Path, metavar="FILE", help="writes the questions that were not answered")
    parser.add_argument("--results", type=Path, metavar="FILE", help="keeps each answer, and takes up those it has")
    parser.add_argument("--quick", action="store_true", help="four questions a language")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a bar is missed")
    arguments = parser.parse_args()
    if arguments.server is None and arguments.csv is None:
        print(LEFT_OUT)
        return
    arguments.questions = max(1, 4 if arguments.quick else arguments.questions)
    results = Results(arguments.results)
    try:
        asyncio.run((measure_csv if arguments.csv else measure_xquad)(arguments, results))
    except KeyboardInterrupt:
        print("Interrupted: these are the figures of what was answered.")
    if arguments.failures:
        arguments.failures.write_text(failures_text(results.outcomes), encoding="utf-8")
    if results.outcomes:
        name = results.outcomes[0].model.rpartition("/")[2]
        conclude(tables(name, results.outcomes), strict=arguments.strict)


if __name__ == "__main__":
    main()
