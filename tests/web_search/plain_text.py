"""The simplest extractor and the simplest store, for tests of what is around them."""

import re

from footnote.documents.extract import ExtractedPage, UnreadableDocument
from footnote.protocol.pages import CachedPage


class FakeExtractor:
    """Leaves the tags out. `calls` are what it was given: content type and URL."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    async def extract(
        self, body: bytes, content_type: str, url: str, *, seconds: float, owner: str = ""
    ) -> ExtractedPage:
        self.calls.append((content_type, url))
        text = re.sub(r"<[^>]*>", " ", body.decode("utf-8", "replace"))
        if not text.strip():
            raise UnreadableDocument("empty", "there is no text on it")
        return ExtractedPage(text=" ".join(text.split()), title="A title", media_type=content_type.partition(";")[0])


class FakePageStore:
    """Pages in a dictionary, by the URL that was asked for."""

    def __init__(self, *pages: CachedPage) -> None:
        self.pages = {page.url: page for page in pages}

    async def cached_page(self, url: str) -> CachedPage | None:
        return self.pages.get(url)

    async def store_page(self, page: CachedPage) -> None:
        self.pages[page.url] = page
