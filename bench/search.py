"""The cost and the quality of a search, compared with the bare libraries in the same run, on loopback.

    .venv/bin/python bench/search.py                   CPU of fetching, extracting, ranking, the whole; the deadline
    .venv/bin/python bench/search.py --aeb DIR         also extraction on scrapinghub/article-extraction-benchmark
    .venv/bin/python bench/search.py --wcxb DIR        also on Murrough-Foley/web-content-extraction-benchmark

Keyless answers on XQuAD and the verdicts of citations have scripts of their own: quality.py and citations.py.
"""

import argparse
import asyncio
import gc
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aeb
import aiohttp
import bm25
import venvs
import wcxb
from report import Table, conclude

from footnote.app import App
from footnote.documents.extract import ExtractedPage
from footnote.net.client import Net
from footnote.protocol.sources import Snapshot
from footnote.web_search import ranking as rank
from footnote.web_search.crawl.crawler import Crawler
from footnote.web_search.pipeline import SearchAnswer

ARTICLES = "/en/Oxygen", "/en/Normans", "/en/Huguenot", "/en/Pharmacy", "/en/Imperialism"
QUESTION = "Who coined the name oxygen in 1777?"
MAX_EXTRACTION_RATIO, MIN_F1 = 0.6, 0.965
MAX_LATE_MS = 100


class NullExtractor:
    """Extracts nothing, so that only fetching is measured."""

    async def extract(
        self, body: bytes, content_type: str, url: str, *, seconds: float, owner: str = ""
    ) -> ExtractedPage:
        del content_type, url, seconds, owner
        return ExtractedPage(text=body.decode())


@contextmanager
def small_web() -> Generator[dict[str, str], None, None]:
    server = subprocess.Popen(
        [sys.executable, "small_web.py"], cwd=venvs.BENCH, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        yield json.loads(server.stdout.readline())
    finally:
        server.stdin.close()
        server.wait()
        server.stdout.close()


async def cpu_of(work: Callable[[], Awaitable[Any]]) -> float:
    gc.collect()
    start = time.process_time()
    await work()
    return time.process_time() - start


async def measure_pairs(
    ours: Callable[[], Awaitable[Any]], theirs: Callable[[], Awaitable[Any]], reps: int
) -> dict[str, float]:
    """Medians of both in milliseconds, and of the ratios of neighbours."""
    await ours()
    await theirs()
    pairs = [(await cpu_of(ours), await cpu_of(theirs)) for _ in range(reps)]
    return {
        "ours": statistics.median(mine for mine, _ in pairs) * 1e3,
        "theirs": statistics.median(other for _, other in pairs) * 1e3,
        "ratio": statistics.median(mine / other for mine, other in pairs),
    }


async def fetching(host: str, reps: int) -> dict[str, float]:
    urls = [f"http://{host}{path}" for path in ARTICLES]
    rounds = 10
    async with Net() as net, aiohttp.ClientSession() as session:
        crawler = Crawler(net, NullExtractor())

        async def ours() -> None:
            for _ in range(rounds):
                async for page in crawler.read_pages(urls, timeout_seconds=10, private_hosts=[host]):
                    assert page.snapshot is not None, page.report

        async def one(url: str) -> None:
            async with session.get(url) as response:
                await response.text()

        async def theirs() -> None:
            for _ in range(rounds):
                await asyncio.gather(*map(one, urls))

        found = await measure_pairs(ours, theirs, reps)
    return {**found, "ours": found["ours"] / rounds / len(urls), "theirs": found["theirs"] / rounds / len(urls)}


async def bodies(host: str) -> list[str]:
    async with aiohttp.ClientSession() as session:
        return [await (await session.get(f"http://{host}{path}")).text() for path in ARTICLES]


def trafilatura_on(pages: list[str], reps: int) -> dict[str, Any]:
    place = venvs.peer("trafilatura")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(pages, file)
        file.flush()
        command = [str(place.python), "peers/trafilatura_texts.py", file.name, str(reps)]
        done = subprocess.run(command, cwd=venvs.BENCH, capture_output=True, text=True, check=False)
    if done.returncode:
        raise venvs.Unavailable(venvs.cause(done.stderr, "it failed"))
    return json.loads(done.stdout.splitlines()[-1])


def trafilatura_or_none(pages: list[str], reps: int) -> dict[str, Any] | None:
    try:
        return trafilatura_on(pages, reps)
    except venvs.Unavailable as reason:
        print(f"trafilatura is left out, and what is compared with it: {reason}")
        return None


def extracting(pages: list[str], reps: int) -> tuple[float, list[str]]:
    """Milliseconds of CPU per page, and the texts."""
    encoded = [page.encode() for page in pages]
    start = time.process_time()
    for _ in range(reps):
        texts = [aeb.text_of(body) for body in encoded]
    return (time.process_time() - start) / reps / len(pages) * 1e3, texts


async def ranking(texts: list[str], reps: int) -> dict[str, float]:
    snapshots = {number: Snapshot(url=f"http://x/{number}", text=text) for number, text in enumerate(texts, 1)}

    async def ours() -> None:
        for _ in range(10):
            rank.select_quotes(snapshots, QUESTION, QUESTION)
            rank.rank_passages(snapshots, QUESTION, QUESTION, max_tokens=6_000)

    async def theirs() -> None:
        for _ in range(10):
            bm25.best(texts, QUESTION)

    found = await measure_pairs(ours, theirs, reps)
    return {**found, "ours": found["ours"] / 10 / len(texts), "theirs": found["theirs"] / 10 / len(texts)}


@asynccontextmanager
async def open_app(web: dict[str, str], seconds: float = 15) -> AsyncGenerator[App, None]:
    with tempfile.TemporaryDirectory() as home:
        environ = {
            "FOOTNOTE_HOME": home,
            "FOOTNOTE_MODELS_DEFAULT": "footnote/reader",
            "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": json.dumps([web["host"]]),
            "FOOTNOTE_TOOLS_WEB_SEARCH_DEFAULT_PROVIDER": "searxng",
            "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_SEARXNG_BASE_URL": web["search"],
            "FOOTNOTE_TOOLS_WEB_SEARCH_CACHE_TTL_MINUTES": "0",
            "FOOTNOTE_TOOLS_WEB_SEARCH_TIMEOUT_SECONDS": str(seconds),
        }
        async with App.open(environ=environ) as app:
            yield app


async def answer(app: App, paths: list[str]) -> SearchAnswer:
    steps = [step async for step in app.search(json.dumps(paths), prompt=QUESTION)]
    assert isinstance(steps[-1], SearchAnswer)
    return steps[-1]


async def measure_search(web: dict[str, str], searches: int) -> float:
    """Milliseconds of CPU for a search of five uncached pages, including the process that extracts them."""

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + used.ru_utime + used.ru_stime

    async def run(first: int, count: int) -> float:
        start = spent()
        async with open_app(web) as app:
            for number in range(first, first + count):
                found = await answer(app, [f"{path}?n={number}" for path in ARTICLES])
                assert all(source.status == "read" for source in found.artifact.sources)
        return spent() - start

    # Start and stop are subtracted, so that a search in a running process remains.
    short = await run(0, 2)
    return (await run(2, searches + 2) - short) / searches * 1e3


async def deadline_overrun(web: dict[str, str], seconds: float) -> float:
    """Milliseconds beyond the deadline, with one of five pages hanging."""
    async with open_app(web, seconds) as app:
        await answer(app, list(ARTICLES[:1]))
        start = time.monotonic()
        found = await answer(app, ["/hung", *(f"{path}?late" for path in ARTICLES[1:])])
        took = time.monotonic() - start
    assert [source.status for source in found.artifact.sources].count("read") == 4
    return (took - seconds) * 1e3


def _row(name: str, ours: float, reference: str, theirs: float) -> tuple[str, ...]:
    return name, f"{ours:.2f}", reference, f"{theirs:.2f}", f"{ours / theirs:.2f}", ""


async def measure(*, reps: int) -> list[Table]:
    with small_web() as web:
        fetched = await fetching(web["host"], reps)
        pages = await bodies(web["host"])
        extracted, texts = extracting(pages, reps * 4)
        peer = trafilatura_or_none(pages, reps * 4)
        ranked = await ranking(texts, reps)
        pipeline = await measure_search(web, 10 * reps)
        late = statistics.median([await deadline_overrun(web, 1.0) for _ in range(3)])
    rows = [
        _row("fetch a page", fetched["ours"], "aiohttp", fetched["theirs"]),
        _row("rank a page", ranked["ours"], "BM25 over sentences", ranked["theirs"]),
    ]
    if peer is not None:
        bare = 5 * (fetched["theirs"] + peer["page_ms"] + ranked["theirs"])
        rows.insert(1, _row("extract a page", extracted, f"trafilatura {peer['version']}", peer["page_ms"]))
        rows.append(_row("a search of five pages", pipeline, "the three, five times", bare))
    columns = ("CPU, ms", "Footnote", "reference", "its ms", "x", "")
    deadline = (
        "one of five pages hangs", f"{late:.0f}", f"≤ {MAX_LATE_MS}", "pass" if late <= MAX_LATE_MS else "FAIL"
    )  # fmt: skip
    return [
        Table("What a search costs", columns, rows),
        Table("The deadline", ("wall time", "ms after the deadline", "bar", ""), [deadline]),
    ]


def on_benchmark(folder: Path, reps: int) -> Table:
    benchmark = aeb.Benchmark.at(folder)
    ours_ms, ours = extracting(benchmark.pages, reps)
    peer = trafilatura_or_none(benchmark.pages, reps)
    subjects = [("Footnote", ours_ms, ours)]
    if peer is not None:
        subjects.append((f"trafilatura {peer['version']}", peer["page_ms"], peer["texts"]))
    rows: list[tuple[str, ...]] = []
    for name, ms, texts in subjects:
        found = benchmark.score(texts)
        times = ms / peer["page_ms"] if peer is not None else None
        scores = (f"{found[figure]:.3f}" for figure in ("f1", "precision", "recall"))
        bar = _bar(found["f1"], times) if name == "Footnote" else ("", "")
        rows.append((name, *scores, f"{ms:.1f}", "-" if times is None else f"{times:.2f}", *bar))
    columns = ("extraction", "F1", "precision", "recall", "CPU, ms a page", "x trafilatura", "bar", "")
    return Table(f"article-extraction-benchmark, {len(benchmark.pages)} pages", columns, rows)


def _bar(f1: float, times: float | None) -> tuple[str, str]:
    if f1 < MIN_F1 or (times is not None and times > MAX_EXTRACTION_RATIO):
        verdict = "FAIL"
    else:
        verdict = "pass" if times is not None else "not measured: trafilatura is missing"
    return f"F1 ≥ {MIN_F1} at ≤ {MAX_EXTRACTION_RATIO} x", verdict


def on_all_kinds_of_pages(folder: Path) -> Table:
    benchmark = wcxb.Benchmark.at(folder)
    peer = trafilatura_or_none([page.source for page in benchmark.pages], 1)
    return wcxb.table(benchmark, peer and peer["texts"], f"trafilatura {peer['version']}" if peer else "trafilatura")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument(
        "--aeb", type=Path, metavar="DIR", help="a checkout of scrapinghub/article-extraction-benchmark"
    )
    parser.add_argument(
        "--wcxb", type=Path, metavar="DIR", help="a checkout of Murrough-Foley/web-content-extraction-benchmark"
    )
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a bar is missed")
    arguments = parser.parse_args()
    for option, folder in (("--aeb", arguments.aeb), ("--wcxb", arguments.wcxb)):
        if folder and not (folder / "evaluate.py").is_file():
            parser.error(f"{option}: {folder} is no checkout of that benchmark: there is no evaluate.py in it")
    made = asyncio.run(measure(reps=2 if arguments.quick else 7))
    if arguments.aeb:
        made.append(on_benchmark(arguments.aeb, 1 if arguments.quick else 3))
    if arguments.wcxb:
        made.append(on_all_kinds_of_pages(arguments.wcxb))
    conclude(made, strict=arguments.strict)


if __name__ == "__main__":
    main()
