"""The accuracy and the cost of verdicts on footnotes.

    .venv/bin/python bench/citations.py                own set and public claims, about two minutes
    .venv/bin/python bench/citations.py --claims DIR   public claims of your own: claims.jsonl
    .venv/bin/python bench/citations.py --all          the tuning half of the own set too

Precision of a verdict: the share of the claims with it that deserve it. Recall: the share of the claims that deserve it
that get it. The own set and its kinds are described in tests/fixtures/citations/README.md.

Public claims are rows `{set, lang, claim, evidence, label}`: the evidence supports the claim (S), refutes it (R) or
says neither (N; in `pawsx`: has the same words, in another order, with another meaning). Each is judged against a page
with that evidence. Precision there weighs the labels alike: the share of S that is `supported`, divided by the sum of
these shares of S, R and N. Beside it stands the same for token overlap: `supported` if the best three sentences have
at least 0.7 of the claim's words.
"""

import argparse
import hashlib
import json
import os
import platform
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from report import FAIL, NO_BAR, PASS, Table, conclude

from footnote.evidence.page_index import PageIndex
from footnote.evidence.sources import Sources
from footnote.evidence.verdict import check_citations, find_evidence
from footnote.protocol.sources import Snapshot, Source
from footnote.text.sentences import sentences
from footnote.text.terms import terms

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from fixtures.citations.labelled import LANGUAGES, LabelledClaim, articles, labelled

SUPPORTED_PRECISION = 0.95
NLI_PRECISION = 0.90
CONTRADICTED_PRECISION = 0.90
FALSE_RECALL = 0.90
MAX_SWAPPED = 0.10
MAX_TRUE_DENIED = 0.12
MIN_UNTRUE_DENIED = 0.75
MAX_REPORT_SECONDS = 4.0

EVIDENCE_SETS = ("vitaminc", "climatefever", "healthver", "citint")
DEFAULT_CLAIMS = Path(__file__).parents[2] / "shared" / "data" / "claims"
OVERLAP_SENTENCES = 3
OVERLAP_SUPPORTED = 0.7
OVERLAP_UNSUPPORTED = 0.35
PARAGRAPHS = 40
"""Paragraphs of other rows in which an evidence is embedded, as in a long page."""
STATEMENTS, PAGES = 400, 60
LONG_PAGE = 400_000
CLAIMS = 60
ALL_VERDICTS = ("supported", "partial", "contradicted", "unsupported")


class JudgedClaim(NamedTuple):
    row: LabelledClaim
    verdict: str


class PublicClaim(NamedTuple):
    """`overlap`: the share of the claim's words in the best three sentences of the evidence."""

    set: str
    language: str
    label: str
    claim: str
    evidence: str
    verdict: str
    overlap: float


def sources_of(*pages: str) -> Sources:
    sources = Sources()
    for number, page in enumerate(pages, 1):
        url = f"https://example.org/{number}"
        source = Source(url=url, title="", snippet="", domain="example.org", status="read")
        sources.add(source, Snapshot(url=url, text=page))
    return sources


def share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def bar(holds: bool, wanted: str) -> tuple[str, str]:
    return wanted, PASS if holds else FAIL


# The own set ---------------------------------------------------------------------------------------------------------


def judge_rows(rows: Iterable[LabelledClaim]) -> list[JudgedClaim]:
    pages: dict[str, Sources] = {}
    return [
        JudgedClaim(row, check_citations(row.footnoted, pages.setdefault(row.page, sources_of(row.page)))[0].verdict)
        for row in rows
    ]


def verdicts(results: Sequence[JudgedClaim]) -> Table:
    """A claim that is labelled `unsupported` is false: the page does not say so, or says otherwise. `contradicted` is
    right for it too. If it is reworded as well, `partial` with what is missing is as much as comparing texts can say;
    the bar for it is that it is not supported."""
    rows: list[tuple[str, ...]] = []
    for language in LANGUAGES:
        own = [one for one in results if one.row.language == language]
        true = [one for one in own if one.row.label == "supported"]
        called = [one for one in own if one.verdict == "supported"]
        precision = share(sum(one.row.label == "supported" for one in called), len(called))
        recall = share(sum(one.verdict == "supported" for one in true), len(true))
        holds = bar(precision >= SUPPORTED_PRECISION, f"precision ≥ {SUPPORTED_PRECISION}")
        rows.append((f"{language} supported", str(len(true)), f"{precision:.3f}", f"{recall:.3f}", *holds))
        rows += _false_rows(language, own)
        accused = [one for one in own if one.verdict == "contradicted"]
        precision = share(sum(one.row.label == "unsupported" for one in accused), len(accused))
        holds = bar(precision >= CONTRADICTED_PRECISION, f"precision ≥ {CONTRADICTED_PRECISION}")
        rows.append((f"{language} contradicted", str(len(accused)), f"{precision:.3f}", "", *holds))
    return Table("Own set: verdicts", ("verdict", "claims", "precision", "recall", "bar", ""), rows)


def _false_rows(language: str, own: Sequence[JudgedClaim]) -> Iterator[tuple[str, ...]]:
    false = [one for one in own if one.row.label == "unsupported"]
    for name, listed in (
        ("false, in the page's words", [one for one in false if not one.row.is_reworded]),
        ("false, all", false),
    ):
        denied = share(sum(one.verdict in ("unsupported", "contradicted") for one in listed), len(listed))
        holds = bar(denied >= FALSE_RECALL, f"recall ≥ {FALSE_RECALL}") if listed is not false else NO_BAR
        yield f"{language} {name}", str(len(listed)), "", f"{denied:.3f}", *holds


def kinds(results: Sequence[JudgedClaim]) -> Table:
    """For each kind of claim, the share of each verdict."""
    counts: dict[tuple[str, str], dict[str, Counter[str]]] = {}
    for one in results:
        of_kind = counts.setdefault((one.row.kind, one.row.label), {language: Counter() for language in LANGUAGES})
        of_kind[one.row.language][one.verdict] += 1
    rows = [
        (f"{kind}, {label}", *(_shares(of_language[language]) for language in LANGUAGES), *NO_BAR)
        for (kind, label), of_language in counts.items()
    ]
    return Table(f"Own set: {' / '.join(ALL_VERDICTS)}, in percent", ("kind, label", *LANGUAGES, "", ""), rows)


def _shares(found: Counter[str]) -> str:
    total = max(1, sum(found.values()))
    return " / ".join(f"{100 * found[verdict] / total:.0f}" for verdict in ALL_VERDICTS)


# Public claims -------------------------------------------------------------------------------------------------------


def judge_public(folder: Path, every: int) -> list[PublicClaim]:
    lines = (folder / "claims.jsonl").read_text(encoding="utf-8").splitlines()
    return [_judge_public_row(json.loads(line)) for line in lines[::every]]


def _judge_public_row(row: dict[str, Any]) -> PublicClaim:
    verdict = find_evidence(row["claim"], _page(row["evidence"])).verdict
    overlap = overlap_of(row["claim"], row["evidence"])
    return PublicClaim(row["set"], row["lang"], row["label"], row["claim"], row["evidence"], verdict, overlap)


def _page(text: str) -> PageIndex:
    return PageIndex(Snapshot(url="https://example.org/", text=text))


def overlap_of(claim: str, page: str) -> float:
    """The share of a claim's words that the best three sentences of a page have."""
    left = wanted = {term.text for term in terms(claim)}
    listed = [{term.text for term in terms(page[span.start : span.end])} for span in sentences(page)]
    for _ in range(OVERLAP_SENTENCES):
        left = left - max(listed, key=lambda words: len(words & left), default=set[str]())
    return 1 - share(len(left), len(wanted))


class _Rates(NamedTuple):
    """By label, the share with a verdict."""

    supported: dict[str, float]
    overlapping: dict[str, float]
    contradicted: int
    rightly_contradicted: int

    @property
    def precision(self) -> float:
        return share(self.supported["S"], sum(self.supported.values()))

    @property
    def overlap_precision(self) -> float:
        return share(self.overlapping["S"], sum(self.overlapping.values()))


def _rates(rows: Sequence[PublicClaim]) -> _Rates:
    by_label = {label: [row for row in rows if row.label == label] for label in "SRN"}
    accused = [row for row in rows if row.verdict == "contradicted"]
    return _Rates(
        {label: share(sum(row.verdict == "supported" for row in own), len(own)) for label, own in by_label.items()},
        {
            label: share(sum(row.overlap >= OVERLAP_SUPPORTED for row in own), len(own))
            for label, own in by_label.items()
        },
        len(accused),
        sum(row.label == "R" or (row.set == "pawsx" and row.label == "N") for row in accused),
    )


def public_verdicts(results: Sequence[PublicClaim]) -> Table:
    rows: list[tuple[str, ...]] = []
    for name, language in sorted({(row.set, row.language) for row in results}):
        own = [row for row in results if (row.set, row.language) == (name, language)]
        rates = _rates(own)
        holds = NO_BAR
        if name == "xnli":
            holds = bar(rates.precision >= NLI_PRECISION, f"precision ≥ {NLI_PRECISION}")
        elif name == "pawsx":
            holds = bar(rates.supported["N"] <= MAX_SWAPPED, f"of N ≤ {MAX_SWAPPED}")
        rows.append((f"{name} {language}", *_rate_cells(own, rates), *holds))
    evidence = [row for row in results if row.set in EVIDENCE_SETS]
    if evidence:
        rates = _rates(evidence)
        holds = bar(rates.precision >= SUPPORTED_PRECISION, f"precision ≥ {SUPPORTED_PRECISION}")
        rows.append(("evidence sets together", *_rate_cells(evidence, rates), *holds))
    rates = _rates(results)
    precision = share(rates.rightly_contradicted, rates.contradicted)
    holds = bar(precision >= CONTRADICTED_PRECISION, f"contradicted ≥ {CONTRADICTED_PRECISION}")
    rows.append(("all: contradicted", str(len(results)), "", "", "", f"{precision:.3f}", *holds))
    columns = (
        "set",
        "claims",
        "supported: S / R / N, percent",
        "precision",
        "of overlap",
        "contradicted right",
        "bar",
        "",
    )
    return Table("Public claims", columns, rows)


def _rate_cells(rows: Sequence[PublicClaim], rates: _Rates) -> tuple[str, ...]:
    shares = " / ".join(f"{100 * rates.supported[label]:.1f}" for label in "SRN")
    accused = f"{rates.rightly_contradicted} of {rates.contradicted}"
    return str(len(rows)), shares, f"{rates.precision:.3f}", f"{rates.overlap_precision:.3f}", accused


def public_spread(results: Sequence[PublicClaim]) -> Table:
    rows: list[tuple[str, ...]] = []
    for name, language in sorted({(row.set, row.language) for row in results}):
        counts = {label: Counter[str]() for label in "SRN"}
        for row in results:
            if (row.set, row.language) == (name, language):
                counts[row.label][row.verdict] += 1
        cells = (_shares(found) if found else "-" for found in counts.values())
        rows.append((f"{name} {language}", *cells, *NO_BAR))
    title = f"Public claims: {' / '.join(ALL_VERDICTS)}, in percent"
    return Table(title, ("set", "S", "R", "N", "", ""), rows)


def long_pages(results: Sequence[PublicClaim]) -> Table:
    """True claims against a long page that has their evidence among others, and against long pages without it: of other
    subjects, and of their own."""
    rng = random.Random(5)
    evidence = [row for row in results if row.set in EVIDENCE_SETS]
    names = sorted({row.set for row in evidence})
    cases: dict[str, list[tuple[str, str]]] = {
        "true": [],
        "untrue, another subject": [],
        "untrue, the same subject": [],
    }
    for row in evidence:
        if row.label != "S":
            continue
        own = [other for other in evidence if other.set == row.set and other.evidence != row.evidence]
        others = [other for other in evidence if other.set != row.set]
        page = [other.evidence for other in _sample(rng, evidence)]
        page.insert(rng.randrange(len(page) + 1), row.evidence)
        cases["true"].append((row.claim, "\n\n".join(page)))
        other_set = names[(names.index(row.set) + 1) % len(names)]
        foreign = [other for other in others if other.set == other_set]
        cases["untrue, another subject"].append((row.claim, "\n\n".join(one.evidence for one in _sample(rng, foreign))))
        cases["untrue, the same subject"].append((row.claim, "\n\n".join(one.evidence for one in _sample(rng, own))))
    rows: list[tuple[str, ...]] = []
    for name, listed in cases.items():
        denied = sum(
            find_evidence(claim, _page(page)).verdict in ("unsupported", "contradicted") for claim, page in listed
        )
        by_overlap = sum(overlap_of(claim, page) < OVERLAP_UNSUPPORTED for claim, page in listed)
        rate = share(denied, len(listed))
        holds = NO_BAR
        if name == "true":
            holds = bar(rate <= MAX_TRUE_DENIED, f"≤ {MAX_TRUE_DENIED}")
        elif name == "untrue, another subject":
            holds = bar(rate >= MIN_UNTRUE_DENIED, f"≥ {MIN_UNTRUE_DENIED}")
        rows.append((name, str(len(listed)), f"{rate:.3f}", f"{share(by_overlap, len(listed)):.3f}", *holds))
    columns = ("claims", "number", "unsupported or contradicted", f"overlap < {OVERLAP_UNSUPPORTED}", "bar", "")
    return Table("Public claims in long pages", columns, rows)


def _sample(rng: random.Random, rows: Sequence[PublicClaim]) -> list[PublicClaim]:
    return rng.sample(list(rows), min(PARAGRAPHS, len(rows)))


# Cost ----------------------------------------------------------------------------------------------------------------


def report_cost(rows: Sequence[LabelledClaim]) -> Table:
    """One report that cites many pages."""
    rng = random.Random(1)
    made: list[tuple[str, ...]] = []
    for language in LANGUAGES:
        claims = [row for row in rows if row.language == language]
        everything = [paragraph for article in articles(language) for paragraph in article]
        listed = articles(language)
        pages = ["\n\n".join([*listed[at % len(listed)], *rng.sample(everything, 25)]) for at in range(PAGES)]
        statements = [claims[at % len(claims)].claim for at in range(STATEMENTS)]
        text = "\n\n".join(f"> {statement} [{1 + at % PAGES}]" for at, statement in enumerate(statements))
        sources = sources_of(*pages)
        began = time.process_time()
        count = len(check_citations(text, sources))
        seconds = time.process_time() - began
        size = sum(map(len, pages)) // PAGES
        holds = bar(seconds <= MAX_REPORT_SECONDS, f"≤ {MAX_REPORT_SECONDS} s")
        made.append((f"{language}, {count} statements, {PAGES} pages", f"{size:,}", f"{seconds:.2f} s", *holds))
    return Table("CPU: a report, pages indexed included", ("report", "characters a page", "CPU", "bar", ""), made)


def costs(rows: Sequence[LabelledClaim]) -> Table:
    made: list[tuple[str, ...]] = []
    for language in LANGUAGES:
        claims = [row for row in rows if row.language == language]
        text = "\n\n".join(row.footnoted for row in claims[:: max(1, len(claims) // CLAIMS)][:CLAIMS])
        everything = "\n\n".join(paragraph for article in articles(language) for paragraph in article)
        for name, page in (
            ("an article", "\n\n".join(articles(language)[1])),
            ("400,000 characters", "\n\n".join([everything] * (LONG_PAGE // len(everything) + 1))[:LONG_PAGE]),
        ):
            made.append((f"{language}, {name}", *_measure_check(text, page), *NO_BAR))
    columns = ("page", "first claim, ms", "x splitting it into terms", "each further claim, ms", "", "")
    return Table(f"CPU, {CLAIMS} claims", columns, made)


def _measure_check(text: str, page: str) -> tuple[str, str, str]:
    sources = sources_of(page)
    began = time.process_time()
    check_citations("Nothing of it is said here. [1]", sources)
    first = time.process_time() - began
    began = time.process_time()
    sum(1 for _ in terms(page))
    bare = time.process_time() - began
    began = time.process_time()
    count = len(check_citations(text, sources))
    each = (time.process_time() - began) / max(1, count)
    return f"{first * 1e3:.0f}", f"{first / max(bare, 1e-9):.1f}", f"{each * 1e3:.1f}"


def in_half(row: PublicClaim, half: str) -> bool:
    """Rules are tuned on one half of the public claims and checked on the other."""
    digest = hashlib.sha1(f"{row.set}{row.claim}{row.evidence}".encode(), usedforsecurity=False).hexdigest()
    return half == "both" or "ab"[int(digest, 16) % 2] == half


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="both halves of the own set")
    parser.add_argument("--claims", type=Path, default=DEFAULT_CLAIMS, metavar="DIR", help="a folder with claims.jsonl")
    parser.add_argument("--half", choices=("a", "b", "both"), default="both", help="of the public claims")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every claim with its verdict there")
    parser.add_argument("--quick", action="store_true", help="every tenth claim, which is too few for the bars")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a bar is missed")
    arguments = parser.parse_args()
    every = 10 if arguments.quick else 1
    rows = [row for row in labelled() if arguments.all or row.checking][::every]
    results = judge_rows(rows)
    found = [{**one.row._asdict(), "verdict": one.verdict} for one in results]
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()} {platform.machine()}")
    print(f"{len(rows)} claims of the own set, {'both halves' if arguments.all else 'the checking half'}\n")
    tables = [verdicts(results), kinds(results)]
    if (arguments.claims / "claims.jsonl").is_file():
        public = [row for row in judge_public(arguments.claims, every) if in_half(row, arguments.half)]
        found += [row._asdict() for row in public]
        tables += [public_verdicts(public), public_spread(public), long_pages(public)]
    else:
        print(f"No public claims in {arguments.claims}: left out.\n")
    tables += [report_cost(rows), costs(rows)]
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    conclude(tables, strict=arguments.strict)


if __name__ == "__main__":
    main()
