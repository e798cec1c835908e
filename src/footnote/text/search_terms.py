"""The terms of the two full-text indexes: that of sessions and files, and that of the library.

Sessions are found while a query is being typed: every term counts, and the last word may be a prefix. Case, width,
diacritics and traditional characters are ignored. In scripts without spaces every two neighbouring characters are a
term and so is the last character of a run, so that every character begins a term and can be searched for alone.

The library answers questions: stop words are left out, and a second form of each word is indexed beside it.
"""

import asyncio
import re
import unicodedata
from codecs import getincrementaldecoder
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, repeat

from msgspec import Struct

from footnote.text.stems import base_form
from footnote.text.stop_words import is_index_stop_word
from footnote.text.terms import SIMPLIFIED, Term, has_unspaced, strip_diacritics, terms

MAX_QUERY_WORDS = 20
"""Limit for the words of a query: each of them is a search of its own."""
_MAX_TERM_LENGTH = 64
"""Longer terms are cut: they are not words but data."""
_THREAD_MIN_CHARACTERS = 10_000
"""Splitting a text of this length into terms takes some milliseconds."""
_CHUNK_CHARACTERS = 100_000
MAX_FILE_CHARACTERS = 200_000
"""Limit for the indexed part of a file, which is indexed again with each version."""
_TO_SIMPLIFIED = str.maketrans(SIMPLIFIED)
_PARTS = re.compile(r"[^\W_]+")
_FULL_WIDTH = {narrow: unicodedata.normalize("NFKC", chr(narrow)) for narrow in range(0xFF66, 0xFFA0)}
"""Half-width Japanese letters to full-width ones, one to one, so that offsets stay the same."""
_HALF_WIDTH = re.compile(r"[\uff66-\uff9f]")


class QueryWord(Struct, frozen=True):
    """A part of a query without spaces. Its `terms` follow each other in a text; the last one may match only the
    beginning of a term if `is_prefix`."""

    terms: tuple[str, ...]
    is_prefix: bool


def terms_of(text: str) -> str:
    """The terms of a text in order, separated by spaces, as the index stores them."""
    return " ".join(term.text for term in _terms(text))


async def file_terms(content: bytes | str) -> str:
    """The terms of the beginning of a file. Empty if it is not a text."""
    return await index_terms(content[:MAX_FILE_CHARACTERS] if isinstance(content, str) else file_text(content))


def file_text(content: bytes) -> str:
    """The beginning of a file, as far as it is indexed. Empty if it is not a text."""
    beginning = content[: 4 * MAX_FILE_CHARACTERS]
    try:
        # The last character of a long file may be cut.
        text = getincrementaldecoder("utf-8")().decode(beginning, final=len(beginning) == len(content))
    except UnicodeDecodeError:
        return ""
    return "" if "\0" in text else text[:MAX_FILE_CHARACTERS]


async def index_terms(text: str) -> str:
    """`terms_of`, in a thread if the text is long enough to block the event loop."""
    return terms_of(text) if len(text) < _THREAD_MIN_CHARACTERS else await asyncio.to_thread(_terms_of_long, text)


def _terms_of_long(text: str) -> str:
    """In chunks: a regular expression that finds nothing in megabytes holds the interpreter's lock for long."""
    return " ".join(filter(None, map(terms_of, _chunks(text))))


def _chunks(text: str) -> Iterator[str]:
    """The text in chunks, cut between words if it has spaces."""
    start = 0
    while start < len(text):
        end = start + _CHUNK_CHARACTERS
        space = text.rfind(" ", start, end) if end < len(text) else -1
        end = space if space > start else end
        yield text[start:end]
        start = end


def parse_query_words(query: str) -> tuple[QueryWord, ...]:
    """The words of a query, without punctuation. The last one is a prefix: it may not be typed to its end yet."""
    typed = [word for piece in query.split() if (word := _parse_word(piece)) is not None]
    words = tuple(dict.fromkeys([*typed[: MAX_QUERY_WORDS - 1], *typed[-1:]]))
    return (*words[:-1], QueryWord(words[-1].terms, is_prefix=True)) if words else ()


def first_match(text: str, words: Sequence[QueryWord]) -> tuple[int, int] | None:
    """The offsets of the first place in the text where one of the words matches."""
    max_terms = max((len(word.terms) for word in words), default=1)
    ahead: deque[Term] = deque()
    for term in chain(_terms(text), repeat(None, max_terms)):
        if term is not None:
            ahead.append(term)
            if len(ahead) < max_terms:
                continue
        for word in words:
            if _matches_at(word, ahead):
                return ahead[0].start, ahead[len(word.terms) - 1].end
        if ahead:
            ahead.popleft()
    return None


def _parse_word(piece: str) -> QueryWord | None:
    found = [term.text for term in _terms(piece)]
    if not found:
        return None
    if len(found) > 1 and len(found[-1]) == 1 and has_unspaced(found[-1]) and found[-2].endswith(found[-1]):
        # In a text, the run of characters may continue here.
        return QueryWord(tuple(found[:-1]), is_prefix=False)
    return QueryWord(tuple(found), is_prefix=len(found[-1]) == 1 and has_unspaced(found[-1]))


def _matches_at(word: QueryWord, following: Sequence[Term]) -> bool:
    """Whether the following terms begin with the word."""
    if len(following) < len(word.terms):
        return False
    *first, last = word.terms
    if any(term.text != expected for term, expected in zip(following, first, strict=False)):
        return False
    found = following[len(first)].text
    return found == last or (word.is_prefix and found.startswith(last))


def _terms(text: str) -> Iterator[Term]:
    """Terms of letters and digits only: `state-of-the-art` is four terms that follow each other."""
    pair: Term | None = None  # the last one of a run in a script without spaces
    for term in terms(text.translate(_FULL_WIDTH) if _HALF_WIDTH.search(text) else text):
        if pair is not None and term.start != pair.start + 1:
            yield from _last_character(pair)
            pair = None
        unspaced, parts = _parts(term.text[: 4 * _MAX_TERM_LENGTH])
        for part in parts:
            yield Term(part, term.start, term.end)
        if unspaced and term.end - term.start > 1:
            pair = term
    if pair is not None:
        yield from _last_character(pair)


@lru_cache(maxsize=50_000)  # a text repeats its words
def _parts(word: str) -> tuple[bool, tuple[str, ...]]:
    """Whether a word is in a script without spaces, and the terms that it consists of."""
    if has_unspaced(word):
        return True, (word.translate(_TO_SIMPLIFIED),)
    return False, tuple(part[:_MAX_TERM_LENGTH] for part in _PARTS.findall(strip_diacritics(word)))


def _last_character(pair: Term) -> Iterator[Term]:
    yield Term(pair.text[-1].translate(_TO_SIMPLIFIED), pair.end - 1, pair.end)


# The index of the library --------------------------------------------------------------------------------------------

_INDEX_SEPARATORS = re.compile(r"[\x00-&(-+;-@\[-`{-\x7f]+")
"""Characters at which the index would split a term: all of ASCII but letters, digits and `',-./:`. Folding can
produce them: ⑴, ½."""


def content_terms(text: str) -> Iterator[Term]:
    """The terms of a text in order, without stop words."""
    for term in terms(text):
        if is_index_stop_word(term.text):
            continue
        word = _INDEX_SEPARATORS.sub("", term.text)[:_MAX_TERM_LENGTH]
        if word:
            yield term if word == term.text else Term(word, term.start, term.end)


def alternate_forms(words: Iterable[str]) -> list[str]:
    """The other form of each word that has one: without diacritics, so that `dien bien phu` is found, or its English
    base form."""
    return [form for word in words if (form := _alternate_form(word)) != word]


@lru_cache(maxsize=10_000)  # a text repeats its words
def _alternate_form(word: str) -> str:
    return base_form(word) if word.isascii() else strip_diacritics(word)
