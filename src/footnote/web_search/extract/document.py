"""What a document says, once it is taken apart, and how that fails."""

from msgspec import Struct

from footnote.protocol.receipts import PageFailure
from footnote.protocol.sources import Link

MAX_CHARACTERS = 400_000
"""A long book. What is kept of a document, searched in it and shown of it stays bounded."""


class Extracted(Struct, frozen=True, kw_only=True):
    """What a document says. `cut`: there was more than may be kept."""

    text: str
    title: str = ""
    author: str | None = None
    published: str | None = None
    language: str | None = None
    site_name: str | None = None
    canonical_url: str | None = None
    media_type: str = "text/html"
    links: tuple[Link, ...] = ()
    pages: tuple[int, ...] = ()
    cut: bool = False


class Unreadable(Exception):
    """There is no text to be had of a document; `reason` says why, in words."""

    def __init__(self, failure: PageFailure, reason: str) -> None:
        super().__init__(reason)
        self.failure: PageFailure = failure
        self.reason = reason
