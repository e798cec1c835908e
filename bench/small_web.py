"""The small web of the tests and a search provider in a process of their own, so that their CPU time is not counted."""

import asyncio
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from web import Web
from web.providers import Hit, SearchServer


async def main() -> None:
    """A query is a JSON list of the paths to return."""
    async with Web() as web:

        def hits(query: str) -> list[Hit]:
            return [Hit(path.rpartition("/")[2], web.url(path), "") for path in json.loads(query)]

        async with SearchServer("searxng", hits) as search:
            print(json.dumps({"host": web.host, "search": search.url}), flush=True)
            await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
