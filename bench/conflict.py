"""Contradicting pages: how often an answer without a key shows both sides, and reports the disagreement.

    .venv/bin/python bench/conflict.py              all pairs, some minutes
    .venv/bin/python bench/conflict.py --every 10   a sample
    .venv/bin/python bench/conflict.py --data DIR   XQuAD files of your own: en.json, vi.json, zh.json

A pair is an article of XQuAD and a copy in which one sentence that answers a question has another number, or is
negated. A provider returns both and three other pages; the crawler reads them; the reader answers. Both sides are shown
if a quotation of each page has that page's version of the sentence; the bar is for both shown and reported.
"""

import argparse
import asyncio
import random
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from report import Table, conclude
from xquad import FIXTURES, XquadArticle, XquadQuestion, article_page, missing_files, read_articles, reader_settings

from footnote.app import App
from footnote.models.reader.messages import MESSAGES
from footnote.protocol.events import BlockDelta, BlockStart, TextGrowth, ToolResultBlock
from footnote.text.sentences import sentences
from web import Web
from web.providers import Hit, SearchServer

LANGUAGES = ("en", "vi", "zh")
MIN_SHOWN_SHARE = 0.9
OTHERS = 3
SEED = 1

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_DENIABLE = {
    "en": re.compile(r"\b(?:was|were|is|are|could|would|will|should|can|must)\b(?! (?:not|no|never)\b)"),
    "vi": re.compile(r"(?<!không )(?<!chưa )\b(?=(?:được|bị|có|phải|thuộc|xảy ra|bao gồm|chiếm|tạo ra|sử dụng)\b)"),
    "zh": re.compile(r"(?=(?:被|在|由|能|会|可以|属于|包括|成为|建立|发现))(?<![不没未是存所])"),
}
_DENIALS = {"en": (" not", " never"), "vi": ("không ", "chưa "), "zh": ("没有", "并未", "不")}
_AROUND = 12
"""Characters on both sides of a negation that identify a version of the sentence."""


class Pair(NamedTuple):
    """`true` and `false`: texts that identify the two versions of the sentence in a quotation."""

    kind: str
    question: str
    article: XquadArticle
    changed: XquadArticle
    true: str
    false: str


def pairs(articles: list[XquadArticle], language: str) -> Iterator[Pair]:
    """The same ones in every run."""
    rng = random.Random(SEED)
    for article in articles:
        for question in article.questions:
            yield from _with_another_number(article, question, rng)
            yield from _denied(article, question, language, rng)


def _with_another_number(article: XquadArticle, question: XquadQuestion, rng: random.Random) -> Iterator[Pair]:
    found = _NUMBER.search(question.answer)
    if found is None:
        return
    digits = [at for at in range(found.start(), found.end()) if question.answer[at].isdigit()]
    at = rng.choice(digits[1:] or digits)
    digit = rng.choice([one for one in "123456789" if one != question.answer[at]])
    other = question.answer[:at] + digit + question.answer[at + 1 :]
    changed = article.replace_text(question.paragraph, question.start, question.answer, other)
    yield Pair("number", question.text, article, changed, question.answer, other)


def _denied(article: XquadArticle, question: XquadQuestion, language: str, rng: random.Random) -> Iterator[Pair]:
    text = article.paragraphs[question.paragraph]
    span = next(span for span in sentences(text) if span.start <= question.start < span.end)
    found = _DENIABLE[language].search(text, span.start, span.end)
    if found is None:
        return
    at = found.end() if language == "en" else found.start()
    denial = rng.choice(_DENIALS[language])
    before, after = text[max(span.start, at - _AROUND) : at], text[at : min(span.end, at + _AROUND)]
    changed = article.replace_text(question.paragraph, at, "", denial)
    yield Pair("denial", question.text, article, changed, before + after, before + denial + after)


class PairResult(NamedTuple):
    true: bool
    false: bool
    told: bool


async def search_pair(app: App, pair: Pair, urls: tuple[str, str], language: str) -> PairResult:
    artifact: dict[str, Any] = {}
    answer = ""
    async for event in (await app.ask(pair.question)).events():
        if isinstance(event, BlockStart) and isinstance(event.content_block, ToolResultBlock):
            artifact = event.content_block.artifact or {}
        elif isinstance(event, BlockDelta) and isinstance(event.delta, TextGrowth):
            answer += event.delta.text
    numbers = {source["url"]: source["number"] for source in artifact["sources"]}
    quoted = {url: [one["text"] for one in artifact["passages"][:3] if one["number"] == numbers[url]] for url in urls}
    true, false = (
        any(side in text for text in quoted[url]) for url, side in zip(urls, (pair.true, pair.false), strict=True)
    )
    return PairResult(true, false, MESSAGES[language].disagree.partition("{")[0] in answer)


async def measure_language(language: str, data: Path, every: int) -> Iterator[tuple[str, ...]]:
    articles = read_articles(data, language)
    chosen = list(pairs(articles, language))[::every]
    rng = random.Random(SEED)
    listed: list[Hit] = []
    results: dict[str, list[PairResult]] = {}
    async with Web({}) as web, SearchServer("searxng", lambda _: listed) as search:
        for article in articles:
            web.put(article.path, article_page(article))
        with tempfile.TemporaryDirectory() as home:
            async with App.open(environ=reader_settings(home, web.host, search.url)) as app:
                for at, pair in enumerate(chosen):
                    other = web.put(f"/copy/{at}", article_page(pair.changed))
                    urls = (web.url(pair.article.path), other)
                    rest = rng.sample([one for one in articles if one is not pair.article], OTHERS)
                    listed[:] = [Hit("", url, "") for url in (*urls, *(web.url(one.path) for one in rest))]
                    rng.shuffle(listed)
                    results.setdefault(pair.kind, []).append(await search_pair(app, pair, urls, language))
    return (_row(language, kind, found) for kind, found in sorted(results.items()))


def _row(language: str, kind: str, found: list[PairResult]) -> tuple[str, ...]:
    def share(count: int) -> str:
        return f"{count / len(found):.3f}"

    both = sum(one.true and one.false for one in found)
    told = sum(one.true and one.false and one.told for one in found)
    only_false = sum(one.false and not one.true for one in found)
    bar = f"≥ {MIN_SHOWN_SHARE}", "pass" if told >= MIN_SHOWN_SHARE * len(found) else "FAIL"
    return language, kind, str(len(found)), share(both), share(told), share(only_false), *bar


async def measure(languages: list[str], data: Path, every: int) -> Table:
    rows = [row for language in languages for row in await measure_language(language, data, every)]
    columns = ("language", "differs in", "pairs", "both shown", "and told", "only the false one", "bar", "")
    return Table("Conflict: two pages contradict each other, without a key", columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=FIXTURES, metavar="DIR", help="a folder with XQuAD's files")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth pair")
    parser.add_argument("--quick", action="store_true", help="every 20th pair")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a bar is missed")
    arguments = parser.parse_args()
    for line in missing_files(arguments.data, LANGUAGES):
        print(line)
    languages = [language for language in LANGUAGES if not missing_files(arguments.data, [language])]
    table = asyncio.run(measure(languages, arguments.data, 20 if arguments.quick else arguments.every))
    conclude([table], strict=arguments.strict)


if __name__ == "__main__":
    main()
