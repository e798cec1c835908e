"""Extraction on a checkout of scrapinghub/article-extraction-benchmark, by that project's own metric."""

import gzip
import importlib.util
import json
from pathlib import Path
from typing import Any, NamedTuple

from footnote.documents.extract import UnreadableDocument, extract


class Benchmark(NamedTuple):
    pages: list[str]
    wanted: list[str]
    metric: Any
    """Its `evaluate.py`."""

    @classmethod
    def at(cls, folder: Path) -> "Benchmark":
        truth = json.loads((folder / "ground-truth.json").read_text())
        pages = [gzip.decompress((folder / "html" / f"{key}.html.gz").read_bytes()).decode() for key in truth]
        spec = importlib.util.spec_from_file_location("evaluate", folder / "evaluate.py")
        assert spec is not None
        assert spec.loader is not None
        metric = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(metric)
        return cls(pages, [page.get("articleBody", "") for page in truth.values()], metric)

    def score(self, found: list[str]) -> dict[str, float]:
        """`f1`, `precision` and `recall`."""
        pairs = zip(self.wanted, found, strict=True)
        counts = [self.metric.string_shingle_matching(true=true, pred=text) for true, text in pairs]
        return self.metric.metrics_from_tp_fp_fns(counts)


def text_of(body: bytes) -> str:
    try:
        return extract(body, "text/html; charset=utf-8", "https://page.example/").text
    except UnreadableDocument:
        return ""
