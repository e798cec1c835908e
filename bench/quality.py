"""Answers without a key: how often one of the three quotations contains the answer to an XQuAD question.

    .venv/bin/python bench/quality.py              all questions, some minutes
    .venv/bin/python bench/quality.py --every 10   a sample
    .venv/bin/python bench/quality.py --data DIR   also th, ru, ar and hi, from XQuAD's files in DIR

The whole product is used: a provider returns five pages of the small web, one of them with the answer; the crawler
reads them; the reader answers. The reference is BM25 over single sentences of the same pages, the best three of any
length; in the other languages BM25 over character trigrams, with the same character limit.
"""

import argparse
import asyncio
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import bm25
from report import Table, conclude
from xquad import article_page, missing_files, read_articles, reader_settings

from footnote.app import App
from footnote.protocol.events import BlockStart, ToolResultBlock
from web import Web
from web.providers import Hit, SearchServer
from web.site import Article, Question, articles

ROOM = {"en": 600, "vi": 600, "zh": 250}
OTHERS = {"th": 250, "ru": 600, "ar": 600, "hi": 600}
MIN_SHARE = 0.9
SEED = 1


class Case(NamedTuple):
    question: Question
    pages: list[Article]


class Shares(NamedTuple):
    """Of the product and of the reference, and the number of questions."""

    ours: float
    reference: float
    count: int


def articles_in(folder: Path, language: str) -> tuple[Article, ...]:
    """The same pages as those of the small web."""
    return tuple(
        Article(
            language,
            one.name,
            one.paragraphs,
            tuple(Question(question.text, (question.answer,), one.path) for question in one.questions),
        )
        for one in read_articles(folder, language)
    )


def cases(every_article: Sequence[Article], every: int) -> list[Case]:
    rng = random.Random(SEED)
    found: list[Case] = []
    for article in every_article:
        others = [one for one in every_article if one is not article]
        for question in article.questions:
            pages = [article, *rng.sample(others, 4)]
            rng.shuffle(pages)
            found.append(Case(question, pages))
    return found[::every]


async def passages(app: App, question: str) -> list[str]:
    """The quotations of the answer, in order."""
    artifact: dict[str, Any] = {}
    async for event in (await app.ask(question)).events():
        if isinstance(event, BlockStart) and isinstance(event.content_block, ToolResultBlock):
            artifact = event.content_block.artifact or {}
    return [passage["text"] for passage in artifact["passages"][:3]]


async def share(language: str, every: int, folder: Path | None) -> Shares:
    listed: list[Hit] = []
    right = reference = 0
    found = articles(language) if folder is None else articles_in(folder, language)
    room = ROOM[language] if folder is None else OTHERS[language]
    questions = cases(found, every)
    async with (
        Web(None if folder is None else {one.path: article_page(one) for one in found}) as web,
        SearchServer("searxng", lambda _: listed) as search,
    ):
        with tempfile.TemporaryDirectory() as home:
            async with App.open(environ=reader_settings(home, web.host, search.url)) as app:
                for question, pages in questions:
                    listed[:] = [Hit(page.title, web.url(page.path), "") for page in pages]
                    quoted = await passages(app, question.text)
                    assert sum(map(len, quoted)) <= room, quoted
                    texts = ["\n".join(page.paragraphs) for page in pages]
                    right += _holds(quoted, question)
                    best = (
                        bm25.best(texts, question.text)
                        if folder is None
                        else bm25.best_by_trigrams(texts, question.text, room)
                    )
                    reference += _holds(best, question)
    return Shares(right / len(questions), reference / len(questions), len(questions))


def _holds(texts: list[str], question: Question) -> bool:
    return any(answer in text for answer in question.answers for text in texts)


async def measure_others(folder: Path, languages: Sequence[str], every: int) -> Table:
    rows: list[tuple[str, ...]] = []
    for language in languages:
        found = await share(language, every, folder)
        bar = "≥ the reference", "pass" if found.ours >= found.reference else "FAIL"
        room = f"{OTHERS[language]} characters"
        rows.append((language, str(found.count), f"{found.ours:.3f}", f"{found.reference:.3f}", room, *bar))
    columns = ("language", "questions", "Footnote", "BM25 over character trigrams", "room", "bar", "")
    return Table("Keyless, other scripts: the answer stands in the first three quotations", columns, rows)


async def measure(every: int) -> Table:
    rows: list[tuple[str, ...]] = []
    for language, room in ROOM.items():
        ours, reference, count = await share(language, every, None)
        bar = f"≥ {MIN_SHARE}", "pass" if ours >= MIN_SHARE else "FAIL"
        rows.append((language, str(count), f"{ours:.3f}", f"{reference:.3f}", f"{room} characters", *bar))
    columns = ("language", "questions", "Footnote", "BM25 over sentences", "room", "bar", "")
    return Table("Keyless: the answer stands in the first three quotations", columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth question")
    parser.add_argument("--data", type=Path, metavar="DIR", help="a folder with XQuAD's th, ru, ar and hi")
    parser.add_argument("--quick", action="store_true", help="every 20th question")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a bar is missed")
    arguments = parser.parse_args()
    every = 20 if arguments.quick else arguments.every
    tables = [asyncio.run(measure(every))]
    if arguments.data is None:
        print("th, ru, ar and hi are left out: --data DIR names a folder with their files of XQuAD.")
    else:
        print("\n".join(missing_files(arguments.data, OTHERS)))
        languages = [language for language in OTHERS if not missing_files(arguments.data, [language])]
        tables += [asyncio.run(measure_others(arguments.data, languages, every))]
    conclude(tables, strict=arguments.strict)


if __name__ == "__main__":
    main()
