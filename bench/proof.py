"""What is marked in a report beside its footnotes, and what it costs to judge a long one.

    .venv/bin/python bench/proof.py          some seconds
    .venv/bin/python bench/proof.py --all    the tuning half of the labelled reports too

Precision of `uncited`: the share of the marked statements that state a fact without a source. Recall: the share of
these that are marked. The labelled reports are described in tests/fixtures/reports/README.md.
"""

import argparse
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from report import FAIL, NO_BAR, PASS, Table, conclude

from footnote.evidence.proof import count_verdicts, judge_text
from footnote.evidence.sources import Sources
from footnote.protocol.sources import Snapshot, Source

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from fixtures.citations.labelled import articles
from fixtures.reports.reports import LANGUAGES, LabelledReport, reports

PRECISION = 0.90
SECONDS = 4.0
STATEMENTS, PAGES = 400, 60
PAGE_LENGTH = 12_000
CITED_OF_TEN = 6


def sources_of(pages: Sequence[str]) -> Sources:
    sources = Sources()
    for number, page in enumerate(pages, 1):
        url = f"https://example.org/{number}"
        sources.add(
            Source(url=url, title="", snippet="", domain="example.org", status="read"), Snapshot(url=url, text=page)
        )
    return sources


def count_marks(report: LabelledReport) -> Counter[str]:
    citations = judge_text(report.text, sources_of(report.pages), uncited=True, given=report.given)
    counts: Counter[str] = Counter()
    for statement in report.statements:
        own = [one for one in citations if statement.start <= one.start < statement.end]
        uncited = [one for one in own if one.verdict == "uncited"]
        counts["statements"] += 1
        counts["marked"] += bool(uncited)
        counts["uncited"] += statement.label == "uncited"
        counts["right"] += bool(uncited) and statement.label == "uncited"
        counts["supported"] += statement.source is not None
        counts["suggested"] += bool(uncited) and statement.source == uncited[0].suggestion is not None
        counts["alarms"] += bool(own) and statement.label in ("none", "given")
    return counts


def marks(chosen: Sequence[LabelledReport]) -> Table:
    rows: list[tuple[str, ...]] = []
    for language in LANGUAGES:
        counts = sum((count_marks(one) for one in chosen if one.language == language), Counter[str]())
        precision = counts["right"] / max(1, counts["marked"])
        rows.append(
            (
                f"{language} uncited",
                str(counts["uncited"]),
                f"{precision:.3f}",
                f"{counts['right'] / max(1, counts['uncited']):.3f}",
                f"{counts['suggested']} of {counts['supported']}",
                f"precision ≥ {PRECISION}",
                PASS if precision >= PRECISION else FAIL,
            )
        )
        alarms = counts["alarms"]
        rows.append((f"{language} headings, opinions, …", "", "", "", f"{alarms} marks", "0", FAIL if alarms else PASS))
    columns = ("statements", "labels", "precision", "recall", "source named", "bar", "")
    return Table("Statements without a footnote", columns, rows)


def shortened(sentence: str) -> str:
    """A sentence without one of its words, so that it is on no page word for word."""
    middle = len(sentence) // 2
    return (sentence[:middle].rpartition(" ")[0] or sentence[: middle - 1]) + sentence[middle:]


def long_report(language: str, statements: int) -> tuple[str, list[str]]:
    """A report of sentences from the pages, most of them with a footnote, every fourth one of another page than its
    own; and its pages."""
    paragraphs = [paragraph for article in articles(language) for paragraph in article]
    length = max(1, PAGE_LENGTH // max(1, sum(map(len, paragraphs)) // len(paragraphs)))
    pages = ["\n\n".join(paragraphs[at % len(paragraphs) :][:length]) for at in range(0, PAGES * 3, 3)]
    stop = "。" if language == "zh" else ". "
    lines: list[str] = []
    for at in range(statements):
        page = at % PAGES
        sentences = [one.strip() for one in pages[page].replace("\n", stop).split(stop) if len(one) > 20]
        sentence = sentences[at // PAGES * 7 % len(sentences)]
        cited = page + 1 if at % 4 else (page + 7) % PAGES + 1
        sentence = shortened(sentence)
        note = f" [{cited}]" if at % 10 < CITED_OF_TEN else ""
        lines.append(f"- {sentence}{note}{stop.strip()}")
    return "\n".join(lines), pages


def costs(statements: int) -> Table:
    rows: list[tuple[str, ...]] = []
    for language in LANGUAGES:
        text, pages = long_report(language, statements)
        sources = sources_of(pages)
        began = time.process_time()
        counts = count_verdicts(judge_text(text, sources, uncited=True))
        spent = time.process_time() - began
        size = f"{len(pages)} of {sum(map(len, pages)) // len(pages):,} characters"
        bar = (f"≤ {SECONDS:.0f} s", PASS if spent <= SECONDS else FAIL) if statements == STATEMENTS else NO_BAR
        rows.append(
            (language, str(counts.statements), f"{counts.supported} / {counts.uncited}", size, f"{spent:.2f}", *bar)
        )
    columns = ("report", "statements", "supported / uncited", "pages", "CPU, s", "bar", "")
    return Table("A long report, its pages indexed for it", columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="both halves of the labelled reports")
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the long report, which is too little for the bar"
    )
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a bar is missed")
    arguments = parser.parse_args()
    chosen = [one for one in reports() if arguments.all or one.is_for_checking]
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()} {platform.machine()}")
    print(f"{len(chosen)} labelled reports, {'both halves' if arguments.all else 'the checking half'}\n")
    conclude([marks(chosen), costs(STATEMENTS // 10 if arguments.quick else STATEMENTS)], strict=arguments.strict)


if __name__ == "__main__":
    main()
