"""What sessions are found by: words as they are compared, in a line for the index, and the words of a query.

Case, width, diacritics and traditional characters do not count. Where words are not parted by spaces, every two
neighbouring characters are a term, and the last one of a row is one by itself, so that every character begins a term
and a single one can be looked for.
"""

import asyncio
import re
import unicodedata
from codecs import getincrementaldecoder
from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, repeat

from msgspec import Struct

from footnote.text.terms import Term, has_unspaced, strip_diacritics, terms
from footnote.text.traditional import SIMPLIFIED

MAX_QUERY_WORDS = 20
"""Words of a query that are looked for: each is a search of its own."""
_MAX_TERM_LENGTH = 64
"""Characters of a term; what is longer is not a word but data."""
_THREAD_MIN_CHARACTERS = 10_000
"""Characters that take some milliseconds to be parted into terms."""
_CHUNK_CHARACTERS = 100_000
MAX_FILE_CHARACTERS = 200_000
"""Characters of a file that are in the index: it is written anew with each version."""
_TO_SIMPLIFIED = str.maketrans(SIMPLIFIED)
_PARTS = re.compile(r"[^\W_]+")
_FULL_WIDTH = {narrow: unicodedata.normalize("NFKC", chr(narrow)) for narrow in range(0xFF66, 0xFFA0)}
"""The narrow letters of Japanese. One for one, so that offsets stay what they are."""

_NARROW = re.compile(r"[\uff66-\uff9f]")


class QueryWord(Struct, frozen=True):
    """Something that was typed without a space in it. `terms` follow each other; the last one of them may be no more
    than the beginning of a term if `open`."""

    terms: tuple[str, ...]
    is_prefix: bool


def terms_of(text: str) -> str:
    """The terms of a text in a line, in order, as the index takes them."""
    return " ".join(term.text for term in _terms(text))


async def file_terms(content: bytes | str) -> str:
    """What a file is found by, as far as it is a text: the terms of its beginning. Empty where it is none."""
    return await index_terms(content[:MAX_FILE_CHARACTERS] if isinstance(content, str) else file_text(content))


def file_text(content: bytes) -> str:
    """The beginning of a file that is found by its words. Empty where it is no text."""
    beginning = content[: 4 * MAX_FILE_CHARACTERS]
    try:
        # The last character of a long file may be cut.
        text = getincrementaldecoder("utf-8")().decode(beginning, final=len(beginning) == len(content))
    except UnicodeDecodeError:
        return ""
    return "" if "\0" in text else text[:MAX_FILE_CHARACTERS]


async def index_terms(text: str) -> str:
    """`terms_of`, in a thread where the text is long enough to hold up the event loop."""
    return terms_of(text) if len(text) < _THREAD_MIN_CHARACTERS else await asyncio.to_thread(_terms_of_long, text)


def _terms_of_long(text: str) -> str:
    """Piece by piece: a regular expression that finds nothing in megabytes holds the interpreter's lock for long."""
    return " ".join(filter(None, map(terms_of, _chunks(text))))


def _chunks(text: str) -> Iterator[str]:
    """Cut between words, where there is a space at all."""
    start = 0
    while start < len(text):
        end = start + _CHUNK_CHARACTERS
        space = text.rfind(" ", start, end) if end < len(text) else -1
        end = space if space > start else end
        yield text[start:end]
        start = end


def parse_query_words(query: str) -> tuple[QueryWord, ...]:
    """The words of a query. The last one may not be typed to its end yet. Signs are no words."""
    typed = [word for piece in query.split() if (word := _parse_word(piece)) is not None]
    words = tuple(dict.fromkeys([*typed[: MAX_QUERY_WORDS - 1], *typed[-1:]]))
    return (*words[:-1], QueryWord(words[-1].terms, is_prefix=True)) if words else ()


def first_match(text: str, words: Sequence[QueryWord]) -> tuple[int, int] | None:
    """Where the first of the words stands that is in the text, by its offsets."""
    longest = max((len(word.terms) for word in words), default=1)
    ahead: deque[Term] = deque()
    for term in chain(_terms(text), repeat(None, longest)):
        if term is not None:
            ahead.append(term)
            if len(ahead) < longest:
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
        # In a text the row of characters may go on here.
        return QueryWord(tuple(found[:-1]), is_prefix=False)
    return QueryWord(tuple(found), is_prefix=len(found[-1]) == 1 and has_unspaced(found[-1]))


def _matches_at(word: QueryWord, there: Sequence[Term]) -> bool:
    """Whether the terms that follow begin with the word."""
    if len(there) < len(word.terms):
        return False
    *first, last = word.terms
    if any(term.text != wanted for term, wanted in zip(there, first, strict=False)):
        return False
    found = there[len(first)].text
    return found == last or (word.is_prefix and found.startswith(last))


def _terms(text: str) -> Iterator[Term]:
    """With nothing in them but letters and digits: `state-of-the-art` is four that follow each other."""
    row: Term | None = None
    for term in terms(text.translate(_FULL_WIDTH) if _NARROW.search(text) else text):
        if row is not None and term.start != row.start + 1:
            yield from _last_character(row)
            row = None
        unspaced, parts = _parts(term.text[: 4 * _MAX_TERM_LENGTH])
        for part in parts:
            yield Term(part, term.start, term.end)
        if unspaced and term.end - term.start > 1:
            row = term
    if row is not None:
        yield from _last_character(row)


@lru_cache(maxsize=50_000)  # a text repeats its words
def _parts(word: str) -> tuple[bool, tuple[str, ...]]:
    """What a word is compared by, and whether it is of a script without spaces."""
    if has_unspaced(word):
        return True, (word.translate(_TO_SIMPLIFIED),)
    return False, tuple(part[:_MAX_TERM_LENGTH] for part in _PARTS.findall(strip_diacritics(word)))


def _last_character(row: Term) -> Iterator[Term]:
    yield Term(row.text[-1].translate(_TO_SIMPLIFIED), row.end - 1, row.end)
