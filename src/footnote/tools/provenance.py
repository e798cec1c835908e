"""The addresses that a model may read.

A page can talk a model into requesting an address that contains what the model knows: the owner of the address then has
it. An address that is in the user's words, among the results of a search, or behind a link of a page that was read
contains no such data. All others are made by the model, and are limited.
"""

import asyncio
import re
import unicodedata
from collections.abc import Iterable, Iterator
from urllib.parse import unquote, urlsplit

from footnote.evidence.links import NON_URL_CHARACTERS, strip_punctuation
from footnote.evidence.sources import Sources, normalize_url
from footnote.protocol.errors import ToolFailed
from footnote.protocol.files import split_attachments
from footnote.protocol.messages import Message, UserMessage
from footnote.protocol.sources import Snapshot
from footnote.workspace.files import Workspace

MAX_QUERY = 100
MAX_PATH = 200
MAX_HOST = 100
"""Limits for the characters of an address that the model made. Those of real pages are shorter; data needs long
ones."""
MAX_PER_TURN = 20
"""Limit for the addresses that the model made: many short ones contain as much data as a long one."""

_URL_PATTERN = re.compile(
    rf"(?:https?://|www\.)[^{NON_URL_CHARACTERS}]++"
    rf"|(?<![\w@./-])(?:[a-z0-9-]{{1,63}}\.){{1,8}}[a-z]{{2,24}}(?::\d{{1,5}})?(?:/[^{NON_URL_CHARACTERS}]*+)?",
    re.IGNORECASE,
)


class Addresses:
    """The addresses of one run, from what is stored of its session: a restart or another replica changes nothing."""

    def __init__(self, messages: Iterable[Message], sources: Sources, workspace: Workspace | None) -> None:
        """`messages` are those of the session. `workspace` has the session's files, whether tools may use them or
        not."""
        self._user_messages = tuple(message for message in messages if isinstance(message, UserMessage))
        self._sources = sources
        self._workspace = workspace
        self._known: dict[str, str] | None = None
        self._linked: dict[str, str] = {}
        self._read_snapshot_ids: set[str] = set()
        self._lock = asyncio.Lock()
        """Held while the addresses of pages are collected: a concurrent call of the same round would find only some of
        them."""
        self._unknown_count = 0

    async def resolve_allowed(self, url: str) -> str:
        """The address to read: of several spellings, the known one. `ToolFailed`: it may not be read."""
        async with self._lock:
            known = await asyncio.to_thread(self._find_known, url)
        if known is not None:
            return known
        if reason := await self._refusal_reason(url):
            raise ToolFailed(
                f"Not read: {url[:200]} is an address that the user did not write, no search returned and no page that "
                f"was read links to, and {reason}. Look for the page with web_search and read one of its results, or "
                "ask the user for the address."
            )
        self._unknown_count += 1
        return url

    async def _refusal_reason(self, url: str) -> str | None:
        """Why an address that the model made is not read; None: it is."""
        try:
            parts = urlsplit(url)
        except ValueError as error:
            raise ToolFailed(f"Not read: {url[:200]} is not the address of a page: {error}.") from error
        if len(parts.query) > MAX_QUERY or len(parts.path) > MAX_PATH or len(parts.netloc) > MAX_HOST:
            return "it is so long that it may carry data out"
        if self._workspace is not None and await self._workspace.list():
            return "this session holds files, which must not leave it inside an address"
        if self._unknown_count >= MAX_PER_TURN:
            return f"{MAX_PER_TURN} such addresses were read in this turn already"
        return None

    def _find_known(self, url: str) -> str | None:
        key = _normalize(url)
        if self._known is None:
            self._known = {
                _normalize(address): address
                for message in self._user_messages
                for address in _extract_urls(split_attachments(message.text)[0])
            }
        if key in self._known:
            return self._known[key]
        for number in self._sources.numbers:
            source = self._sources.source(number)
            if source is not None and _normalize(source.url) == key:
                return source.url
            for page in self._sources.pages(number):
                self._collect_urls(page.snapshot)
        return self._linked.get(key)

    def _collect_urls(self, snapshot: Snapshot) -> None:
        """Collects the addresses of a page, once: those of its links and those in its text."""
        if snapshot.id not in self._read_snapshot_ids:
            self._read_snapshot_ids.add(snapshot.id)
            addresses = (*(link.url for link in snapshot.links), *_extract_urls(snapshot.text))
            self._linked |= {_normalize(address): address for address in addresses}


def _extract_urls(text: str) -> Iterator[str]:
    """The addresses in a text, each also without the punctuation of the sentence around it."""
    for found in _URL_PATTERN.finditer(text):
        written = found.group()
        address = written if "://" in written else f"https://{written}"
        yield address
        yield strip_punctuation(address)


def _normalize(url: str) -> str:
    """The same for all spellings of an address, which differ in http or https, the case of the host, a slash at the
    end, the part after `#`, tracking parameters, escaped letters. The known spelling is read, so that nothing can be
    added to it."""
    normal = normalize_url(url)
    plain = unicodedata.normalize("NFC", unquote(normal.partition("://")[2] or normal))
    return plain.removesuffix("/")
