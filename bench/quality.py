"""Answers without a key: how often the answer to an XQuAD question stands in the three quotations that are given.

    .venv/bin/python bench/quality.py              all questions, some minutes
    .venv/bin/python bench/quality.py --every 10   a sample

Through the whole product: a provider finds five pages of the small web, one of them with the answer; the crawler reads
them; the reader answers. Beside it BM25 over single sentences of the same pages, three of them, however long.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import bm25
from report import Table, conclude

from footnote.app import App
from footnote.protocol.events import BlockStart, ToolResultBlock
from web import Web
from web.providers import Hit, SearchServer
from web.site import Article, Question, articles

ROOM = {"en": 600, "vi": 600, "zh": 250}
AT_LEAST = 0.9
SEED = 1


class Case(NamedTuple):
    question: Question
    pages: list[Article]


def cases(language: str, every: int) -> list[Case]:
    chance = random.Random(SEED)
    found: list[Case] = []
    for article in articles(language):
        others = [one for one in articles(language) if one is not article]
        for question in article.questions:
            pages = [article, *chance.sample(others, 4)]
            chance.shuffle(pages)
            found.append(Case(question, pages))
    return found[::every]


async def passages(app: App, question: str) -> list[str]:
    """What the answer quotes, in order."""
    artifact: dict[str, Any] = {}
    async for event in (await app.ask(question)).events():
        if isinstance(event, BlockStart) and isinstance(event.content_block, ToolResultBlock):
            artifact = event.content_block.artifact or {}
    return [passage["text"] for passage in artifact["passages"][:3]]


async def share(language: str, every: int) -> tuple[float, float, int]:
    """Of the product, of the reference, and the number of questions."""
    listed: list[Hit] = []
    right = reference = 0
    asked = cases(language, every)
    async with Web() as web, SearchServer("searxng", lambda _: listed) as search:
        with tempfile.TemporaryDirectory() as home:
            environ = {
                "FOOTNOTE_HOME": home,
                "FOOTNOTE_MODELS_DEFAULT": "footnote/reader",
                "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": json.dumps([web.host]),
                "FOOTNOTE_TOOLS_WEB_SEARCH_DEFAULT_PROVIDER": "searxng",
                "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_SEARXNG_BASE_URL": search.url,
                "FOOTNOTE_TOOLS_WEB_SEARCH_CACHE_TTL_MINUTES": "0",
            }
            async with App.open(environ=environ) as app:
                for question, pages in asked:
                    listed[:] = [Hit(page.title, web.url(page.path), "") for page in pages]
                    quoted = await passages(app, question.text)
                    assert sum(map(len, quoted)) <= ROOM[language], quoted
                    texts = ["\n".join(page.paragraphs) for page in pages]
                    right += _holds(quoted, question)
                    reference += _holds(bm25.best(texts, question.text), question)
    return right / len(asked), reference / len(asked), len(asked)


def _holds(texts: list[str], question: Question) -> bool:
    return any(answer in text for answer in question.answers for text in texts)


async def measure(every: int) -> Table:
    rows: list[tuple[str, ...]] = []
    for language, room in ROOM.items():
        ours, reference, count = await share(language, every)
        bar = f"≥ {AT_LEAST}", "pass" if ours >= AT_LEAST else "FAIL"
        rows.append((language, str(count), f"{ours:.3f}", f"{reference:.3f}", f"{room} characters", *bar))
    columns = ("language", "questions", "Footnote", "BM25 over sentences", "room", "bar", "")
    return Table("Keyless: the answer stands in the first three quotations", columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth question")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a bar is missed")
    arguments = parser.parse_args()
    table = asyncio.run(measure(arguments.every))
    conclude([table], strict=arguments.strict)


if __name__ == "__main__":
    main()
