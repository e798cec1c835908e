"""A web of ever new pages, and a search engine that returns five of them for each question, in a process of its own so
that its CPU time is not counted. Prints their addresses."""

import asyncio
import json
import random
import sys
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from web import PageReply, Web
from web.providers import Hit, SearchServer

PAGES = 5
WORDS = 3000
_SYLLABLES = ("ka", "ro", "min", "tel", "su", "va", "nor", "phi", "dan", "ler", "quo", "est", "um", "bra", "chi", "on")


def words(seed: int, number: int) -> list[str]:
    """Text of an artificial language with frequent and unique words."""
    rng = random.Random(seed)
    known = ["".join(rng.choices(_SYLLABLES, k=rng.randint(1, 4))) for _ in range(number // 4)]
    return [known[int(len(known) * rng.random() ** 3)] for _ in range(number)]


def page(number: int) -> bytes:
    text = words(number, WORDS)
    paragraphs = [" ".join(text[at : at + 60]).capitalize() + "." for at in range(0, WORDS, 60)]
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return f"<!doctype html><html><title>Page {number}</title><body><article>{body}</article></body></html>".encode()


async def main() -> None:
    numbers = count(1)
    async with Web() as web:

        def hits(_: str) -> list[Hit]:
            found: list[Hit] = []
            for _at in range(PAGES):
                number = next(numbers)
                path = f"/page-{number}"
                web.put(path, PageReply(headers={"Content-Type": "text/html; charset=utf-8"}, body=page(number)))
                found.append(Hit(f"Page {number}", web.url(path), " ".join(words(number, 20))))
            return found

        async with SearchServer("searxng", hits) as search:
            print(
                json.dumps({"host": web.host, "search": search.url, "text": len(" ".join(words(1, WORDS)))}), flush=True
            )
            await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
