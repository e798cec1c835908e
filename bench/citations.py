"""The accuracy and the cost of verdicts on footnotes.

    .venv/bin/python bench/citations.py          about half a minute
    .venv/bin/python bench/citations.py --all    the tuning half of the labelled set too

Precision of a verdict: the share of the claims with it that deserve it. Recall: the share of the claims that deserve it
that get it. The labelled set and its kinds are described in tests/fixtures/citations/README.md.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from report import FAIL, NO_BAR, PASS, Table, conclude

from footnote.evidence.sources import Sources
from footnote.evidence.verdict import check_citations
from footnote.protocol.sources import Snapshot, Source
from footnote.text.terms import terms

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from fixtures.citations.labelled import LANGUAGES, VERDICTS, LabelledClaim, articles, labelled

SUPPORTED_PRECISION = 0.95
UNSUPPORTED_RECALL = 0.90
LONG_PAGE = 400_000
CLAIMS = 60


class JudgedClaim(NamedTuple):
    row: LabelledClaim
    verdict: str


def sources_of(page: str) -> Sources:
    sources = Sources()
    url = "https://example.org/"
    source = Source(url=url, title="", snippet="", domain="example.org", status="read")
    sources.add(source, Snapshot(url=url, text=page))
    return sources


def judge_rows(rows: Iterable[LabelledClaim]) -> list[JudgedClaim]:
    pages: dict[str, Sources] = {}
    return [
        JudgedClaim(row, check_citations(row.footnoted, pages.setdefault(row.page, sources_of(row.page)))[0].verdict)
        for row in rows
    ]


def verdicts(results: Sequence[JudgedClaim]) -> Table:
    rows: list[tuple[str, ...]] = []
    for language in LANGUAGES:
        own = [one for one in results if one.row.language == language]
        for verdict in VERDICTS:
            right = sum(one.verdict == verdict == one.row.label for one in own)
            precision = right / max(1, sum(one.verdict == verdict for one in own))
            labels = sum(one.row.label == verdict for one in own)
            recall = right / max(1, labels)
            bar = _bar(verdict, precision, recall)
            rows.append((f"{language} {verdict}", str(labels), f"{precision:.3f}", f"{recall:.3f}", *bar))
    return Table("Verdicts", ("verdict", "claims", "precision", "recall", "bar", ""), rows)


def _bar(verdict: str, precision: float, recall: float) -> tuple[str, str]:
    if verdict == "supported":
        return f"precision ≥ {SUPPORTED_PRECISION}", PASS if precision >= SUPPORTED_PRECISION else FAIL
    if verdict == "unsupported":
        return f"recall ≥ {UNSUPPORTED_RECALL}", PASS if recall >= UNSUPPORTED_RECALL else FAIL
    return NO_BAR


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
    return Table("Supported / partial / unsupported, in percent", ("kind, label", *LANGUAGES, "", ""), rows)


def _shares(found: Counter[str]) -> str:
    total = max(1, sum(found.values()))
    return " / ".join(f"{100 * found[verdict] / total:.0f}" for verdict in VERDICTS)


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


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="both halves of the labelled set")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every claim with its verdict there")
    parser.add_argument("--quick", action="store_true", help="every tenth claim, which is too few for the bars")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a bar is missed")
    arguments = parser.parse_args()
    rows = [row for row in labelled() if arguments.all or row.checking][:: 10 if arguments.quick else 1]
    results = judge_rows(rows)
    if arguments.json:
        found = [{**one.row._asdict(), "verdict": one.verdict} for one in results]
        arguments.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()} {platform.machine()}")
    print(f"{len(rows)} labelled claims, {'both halves' if arguments.all else 'the checking half'}\n")
    tables = [verdicts(results), kinds(results), costs(rows)]
    conclude(tables, strict=arguments.strict)


if __name__ == "__main__":
    main()
