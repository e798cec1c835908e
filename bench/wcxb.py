"""Extraction on a checkout of Murrough-Foley/web-content-extraction-benchmark, by that project's own metric."""

import gzip
import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from report import Table

from footnote.documents.extract import UnreadableDocument, extract

SPLIT = "test"
"""The rules were tuned on the development split."""
MIN_F1, MIN_LISTING_F1 = 0.880, 0.750


class Page(NamedTuple):
    kind: str
    url: str
    source: str
    wanted: str


class Benchmark(NamedTuple):
    pages: list[Page]
    metric: Any
    """Its `evaluate.py`."""

    @classmethod
    def at(cls, folder: Path) -> "Benchmark":
        spec = importlib.util.spec_from_file_location("wcxb_evaluate", folder / "evaluate.py")
        assert spec is not None
        assert spec.loader is not None
        metric = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(metric)
        pages: list[Page] = []
        for path in sorted((folder / SPLIT / "ground-truth").glob("*.json")):
            truth = json.loads(path.read_text())
            wanted = truth["ground_truth"].get("main_content") or ""
            if wanted.strip():
                source = gzip.decompress((folder / SPLIT / "html" / f"{path.stem}.html.gz").read_bytes())
                url = truth.get("url") or "https://page.example/"
                pages.append(Page(metric.get_page_type(truth), url, source.decode("utf-8", "replace"), wanted))
        return cls(pages, metric)

    def scores(self, texts: Sequence[str]) -> dict[str, float]:
        """The mean F1 of each kind of page, and of `all`."""
        found: dict[str, list[float]] = {"all": []}
        for page, text in zip(self.pages, texts, strict=True):
            _, _, f1 = self.metric.word_f1(text, page.wanted)
            found.setdefault(page.kind, []).append(f1)
            found["all"].append(f1)
        return {kind: sum(scores) / len(scores) for kind, scores in found.items()}


def text_of(page: Page) -> str:
    try:
        return extract(page.source.encode(), "text/html; charset=utf-8", page.url).text
    except UnreadableDocument:
        return ""


def table(benchmark: Benchmark, theirs: Sequence[str] | None, peer: str) -> Table:
    """F1 by kind of page, beside that of the peer's texts of the same run, if the peer could be run."""
    ours = benchmark.scores([*map(text_of, benchmark.pages)])
    other = benchmark.scores(theirs) if theirs is not None else {}
    bars = {"all": MIN_F1, "listing": MIN_LISTING_F1}
    rows: list[tuple[str, ...]] = []
    for kind in sorted(ours, key=lambda kind: (kind == "all", kind)):
        count = sum(1 for page in benchmark.pages if kind in ("all", page.kind))
        bar = bars.get(kind)
        verdict = "" if bar is None else "pass" if ours[kind] >= bar else "FAIL"
        scores = (f"{ours[kind]:.3f}", f"{other[kind]:.3f}" if other else "-")
        rows.append((kind, str(count), *scores, "" if bar is None else f"≥ {bar:.3f}", verdict))
    columns = ("F1 of words", "pages", "Footnote", peer, "bar", "")
    return Table(f"Web content extraction benchmark (WCXB), {SPLIT} split, {len(benchmark.pages)} pages", columns, rows)
