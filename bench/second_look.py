"""What a second look adds to verdicts by text, with scripted models that know the truth or lie.

    .venv/bin/python bench/second_look.py                about two minutes
    .venv/bin/python bench/second_look.py --claims DIR   also public claims of your own: claims.jsonl

The truthful model quotes the evidence of true statements. One liar says `supports` to everything and invents its
quotations, the other one quotes the sentence of the page that resembles the statement most. The translations are made
of the parallel paragraphs in tests/fixtures/xquad: statements in one language, pages in another, and the same
statements with a number changed.
"""

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from report import FAIL, NO_BAR, PASS, Table, conclude

from footnote.cancel import CancelScope
from footnote.evidence.quotations import missing_values
from footnote.evidence.second_look import SecondLook
from footnote.evidence.sources import Sources
from footnote.evidence.tokens import tokenize
from footnote.evidence.verdict import check_citations
from footnote.models.base import Context
from footnote.models.scripted import ScriptedModel, ScriptedText, text
from footnote.protocol.sources import Snapshot, Source
from footnote.text.sentences import sentences

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from fixtures.citations.labelled import LANGUAGES, articles

PRECISION, RECALL, MAX_LIFTED = 0.98, 0.95, 0.02
LONGEST_QUOTATION = 400
_NUMBER = re.compile(r"(?<![\d.,])\d{2,4}(?![\d.,])")


class Case(NamedTuple):
    """`label`: S, R or N, as in public sets. `evidence`: what a truthful model quotes of the page."""

    origin: str
    statement: str
    page: str
    label: str
    evidence: str


class Outcome(NamedTuple):
    by_text: str
    truthful: str
    inventing: str
    quoting: str


def public_claims(folder: Path) -> Iterator[Case]:
    for line in (folder / "claims.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield Case(f"{row['set']} {row['lang']}", row["claim"], row["evidence"], row["label"], row["evidence"])


def translations() -> Iterator[Case]:
    """The sentences of paragraphs that have as many of them in both languages."""
    for said in LANGUAGES:
        for read in LANGUAGES:
            if said != read:
                for one, other in zip(articles(said), articles(read), strict=True):
                    yield from _translated(f"{said} on {read}", one, other)


def _translated(origin: str, said: Sequence[str], read: Sequence[str]) -> Iterator[Case]:
    page = "\n\n".join(read)
    for paragraph, other in zip(said, read, strict=True):
        ours, theirs = _sentences(paragraph), _sentences(other)
        if len(ours) == len(theirs):
            for statement, evidence in zip(ours, theirs, strict=True):
                yield Case(origin, statement, page, "S", evidence)
                changed = _NUMBER.sub(lambda number: str(int(number[0]) + 3), statement, count=1)
                if changed != statement:
                    yield Case(origin, changed, page, "R", evidence)


def _sentences(paragraph: str) -> list[str]:
    return [paragraph[span.start : span.end] for span in sentences(paragraph)]


def nearest_sentence(case: Case) -> str:
    """The sentence of the page that resembles a statement most."""
    claimed = {token.key for token in tokenize(case.statement, "en").tokens if token.is_content}
    return max(_sentences(case.page), key=lambda one: len(claimed & tokenize(one, "en").keys), default=case.page)


def truth_of(case: Case) -> tuple[str, str]:
    """The answer of the model that knows the truth: verdict and quotation."""
    short = case.evidence if len(case.evidence) <= LONGEST_QUOTATION else nearest_sentence(case)
    return {"S": ("supports", short), "R": ("contradicts", short)}.get(case.label, ("nothing", ""))


async def judge(case: Case) -> Outcome:
    sources = Sources()
    source = Source(url="https://example.org/", title="", snippet="", domain="example.org", status="read")
    sources.add(source, Snapshot(url=source.url, text=case.page))
    footnoted = f"> {case.statement} [1]"
    by_text = check_citations(footnoted, sources)

    async def verdict(opinion: str, quotation: str) -> str:
        entry = [{"id": 1, "verdict": opinion, "quotation": quotation}]
        reply: Callable[[Context], list[ScriptedText]] = lambda _: [text(json.dumps(entry))]  # noqa: E731 - one use
        found = await SecondLook(ScriptedModel([reply])).review(footnoted, by_text, sources, CancelScope())
        return found.citations[0].verdict

    if not by_text or by_text[0].verdict == "supported":
        return Outcome(*[by_text[0].verdict if by_text else "unsupported"] * 4)
    return Outcome(
        by_text[0].verdict,
        await verdict(*truth_of(case)),
        await verdict("supports", case.statement),
        await verdict("supports", nearest_sentence(case)),
    )


def truthful_table(judged: Sequence[tuple[Case, Outcome]]) -> Table:
    """`provable`: of the true statements whose numbers the evidence has. One without is `partial` by the rules."""
    rows: list[tuple[str, ...]] = []
    for origin, own in _by_origin(judged):
        true = [pair for pair in own if pair[0].label == "S"]
        found = [case.label for case, outcome in own if outcome.truthful == "supported"]
        precision = found.count("S") / max(1, len(found))
        provable = [pair for pair in true if not [*missing_values(pair[0].statement, truth_of(pair[0])[1])]]
        recall, of_provable = _share(true, "truthful"), _share(provable, "truthful")
        bars: tuple[str, str] = NO_BAR
        if origin == "all":
            is_met = precision >= PRECISION and of_provable >= RECALL
            bars = (f"precision ≥ {PRECISION}, provable ≥ {RECALL}", PASS if is_met else FAIL)
        rows.append((origin, str(len(own)), *(f"{one:.3f}" for one in (precision, recall, of_provable)), *bars))
    columns = ("statements", "count", "precision of supported", "recall", "recall of provable", "bar", "")
    return Table("A model that knows the truth", columns, rows)


def liars_table(judged: Sequence[tuple[Case, Outcome]]) -> Table:
    rows: list[tuple[str, ...]] = []
    for origin, own in _by_origin(judged):
        untrue = [pair for pair in own if pair[0].label != "S"]
        by_text, inventing, quoting = (_share(untrue, name) for name in ("by_text", "inventing", "quoting"))
        bars: tuple[str, str] = NO_BAR
        if origin == "all":
            bars = (f"inventing ≤ text + {MAX_LIFTED}", PASS if inventing <= by_text + MAX_LIFTED else FAIL)
        rows.append((origin, str(len(untrue)), *(f"{one:.3f}" for one in (by_text, inventing, quoting)), *bars))
    columns = ("untrue statements", "count", "text alone", "invents quotations", "quotes the nearest", "bar", "")
    return Table("Models that say yes to everything: share called supported", columns, rows)


def _by_origin(judged: Sequence[tuple[Case, Outcome]]) -> Iterator[tuple[str, list[tuple[Case, Outcome]]]]:
    for origin in dict.fromkeys(case.origin for case, _ in judged):
        yield origin, [pair for pair in judged if pair[0].origin == origin]
    yield "all", list(judged)


def _share(judged: Sequence[tuple[Case, Outcome]], name: str) -> float:
    return sum(getattr(outcome, name) == "supported" for _, outcome in judged) / max(1, len(judged))


async def judge_all(cases: Iterable[Case]) -> list[tuple[Case, Outcome]]:
    return [(case, await judge(case)) for case in cases]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--claims", type=Path, metavar="DIR", help="a folder with claims.jsonl")
    parser.add_argument("--quick", action="store_true", help="every tenth statement, which is too few for the bars")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a bar is missed")
    arguments = parser.parse_args()
    cases = [*(public_claims(arguments.claims) if arguments.claims else ()), *list(translations())[::4]]
    judged = asyncio.run(judge_all(cases[:: 10 if arguments.quick else 1]))
    conclude([truthful_table(judged), liars_table(judged)], strict=arguments.strict)


if __name__ == "__main__":
    main()
