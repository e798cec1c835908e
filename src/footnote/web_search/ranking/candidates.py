"""The sentences of pages that may answer a question, and how likely each is to do so.

Sections are prefiltered by the words of the question alone, which is fast even for long pages. Only the sections with
most of these words are read sentence by sentence. A word that no page contains may be misspelled; it is replaced by
similar words of the pages.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from footnote.protocol.sources import Snapshot
from footnote.text.question import AnalyzedQuestion, analyze_question, key_of
from footnote.text.terms import COMBINING_MARKS, has_unspaced, normalize
from footnote.web_search.ranking.scoring import Matcher, ScoredSentence, rarity, score_sentences
from footnote.web_search.ranking.sections import PageSection, RankedPage, SectionPlace, split_sections, split_sentences

MAX_CLOSE_SECTIONS = 32
"""The number of sections that are read sentence by sentence."""


class Candidates(Struct, frozen=True):
    """`close_sections` were read sentence by sentence, in the order of the pages; the section of a sentence is an index
    into them. `scores` belong to `sentences`; both are empty if no page has a word of the question."""

    query: AnalyzedQuestion
    matcher: Matcher
    pages: tuple[RankedPage, ...]
    section_scores: dict[SectionPlace, float]
    close_sections: tuple[SectionPlace, ...]
    sentences: tuple[ScoredSentence, ...]
    scores: tuple[float, ...]


def find_candidates(snapshots: Mapping[int, Snapshot], query: str, prompt: str) -> Candidates:
    question = analyze_question(query, prompt)
    pages = tuple(
        RankedPage(number, snapshot.text, *_split_page(snapshot.text, keep_diacritics=question.keep_diacritics))
        for number, snapshot in snapshots.items()
    )
    filtered = _prefilter(pages, question)
    if filtered.missing_words and (corrected := correct_spelling(question, pages, filtered.missing_words)):
        question, filtered = corrected, _prefilter(pages, corrected)
    matcher = Matcher(question)
    close_sections = _close_sections(filtered.scores)
    sentences: list[ScoredSentence] = []
    heading_words: list[int] = []
    for index, place in enumerate(close_sections):
        page = pages[place.page]
        section = page.sections[place.section]
        heading_words.append(matcher.match_words("\n".join(section.path)))
        spans = (span for block in section.blocks for span in split_sentences(page.text, block))
        sentences += [ScoredSentence(place.page, index, matcher.match(page, span)) for span in spans]
    scores = score_sentences(sentences, heading_words, question)
    return Candidates(question, matcher, pages, filtered.scores, close_sections, tuple(sentences), tuple(scores))


@lru_cache(maxsize=10)  # the pages of one search are ranked twice: for quotations and for passages
def _split_page(text: str, *, keep_diacritics: bool) -> tuple[str, tuple[PageSection, ...]]:
    return normalize(text, keep_diacritics=keep_diacritics), tuple(split_sections(text))


def _close_sections(scores: dict[SectionPlace, float]) -> tuple[SectionPlace, ...]:
    best = sorted((place for place in scores if scores[place]), key=lambda place: -scores[place])
    return tuple(sorted(best[:MAX_CLOSE_SECTIONS]))


# Prefilter -----------------------------------------------------------------------------------------------------------

_ARABIC = re.compile(r"[\u0620-\u06d3]")
_FORM = re.compile(r"[^\W_]{1,12}+(?![^\W_])")
_MIN_STEM = 4
"""The prefix of a shorter key begins too many words, so that a match must be a form of the same word."""


class _Prefiltered(Struct, frozen=True):
    """The score of every section, and the words of the question that no page contains."""

    scores: dict[SectionPlace, float]
    missing_words: tuple[str, ...]


def _prefilter(pages: Sequence[RankedPage], query: AnalyzedQuestion) -> _Prefiltered:
    scores = {SectionPlace(at, section): 0.0 for at, page in enumerate(pages) for section in range(len(page.sections))}
    starts = [[section.start for section in page.sections] for page in pages]
    missing: list[str] = []
    for needle in _needles(query):
        places = [
            SectionPlace(at, section)
            for at, page in enumerate(pages)
            for section in _sections_with(page, starts[at], needle)
        ]
        if not places and needle.word:
            missing.append(needle.word)
        for place in places:
            scores[place] += rarity(len(places))
    return _Prefiltered(scores, tuple(missing))


class _Needle(Struct, frozen=True):
    """A string to search for. `word` is the key of a word of the question, empty for a pair of characters. `exact`: the
    match must be a form of that word, not only begin like it."""

    word: str
    text: str
    at_word_start: bool
    exact: bool


def _needles(query: AnalyzedQuestion) -> Iterator[_Needle]:
    for key in query.word_bits:
        # In Arabic, `and`, `in` and `the` are written without a space before the next word.
        at_word_start = not has_unspaced(key) and not _ARABIC.match(key)
        text = key[:-1] if len(key) > _MIN_STEM and key[-1] == "y" else key
        yield _Needle(key, text, at_word_start, exact=at_word_start and len(key) < _MIN_STEM)
    for first, second in query.pairs:
        if len(first) == len(second) == 1 and has_unspaced(first + second):
            yield _Needle("", first + second, at_word_start=False, exact=False)


def _sections_with(page: RankedPage, starts: list[int], needle: _Needle) -> Iterator[int]:
    """The indexes of the sections that contain a needle, each once."""
    plain, text = page.normalized, needle.text
    at = plain.find(text)
    while at >= 0:
        end = at + len(text)
        index = bisect_right(starts, at) - 1
        if (
            (needle.at_word_start and at and plain[at - 1].isalnum())
            or (needle.exact and plain[end : end + 1].isalnum() and not _is_form_of(plain, at, needle.word))
            or index < 0
            or at >= page.sections[index].end
        ):
            at = plain.find(text, at + 1)
        else:
            yield index
            at = plain.find(text, page.sections[index].end)


def _is_form_of(plain: str, at: int, key: str) -> bool:
    """Whether the word at an offset has this key: `votes` has `vot`, `laws` has `law`."""
    found = _FORM.match(plain, at)
    return found is not None and key_of(found.group()) == key


# Spelling ------------------------------------------------------------------------------------------------------------

MIN_LETTERS = 5
"""A shorter word differs from too many other words by one letter."""
MIN_LETTERS_FOR_TWO_ERRORS = 9
"""From this length on, two wrong letters are allowed."""
MAX_SPELLINGS = 4_000
"""The limit for different words of the pages that are compared with one word of the question."""

_LETTERS = re.compile(rf"(?:[^\W\d_]|[{COMBINING_MARKS}])++")
"""Letters with their combining marks, which are vowels in Hindi and Arabic."""


def correct_spelling(
    query: AnalyzedQuestion, pages: Sequence[RankedPage], missing: Iterable[str]
) -> AnalyzedQuestion | None:
    """The question with similar words of the pages in place of its `missing` words; None if there are no such words."""
    spellings: dict[str, int] = {}
    for key in missing:
        if len(key) >= MIN_LETTERS and _LETTERS.fullmatch(key):
            spellings |= dict.fromkeys(_spellings(key, pages), query.word_bits[key])
    return replace(query, word_bits={**spellings, **query.word_bits}) if spellings else None


def _spellings(key: str, pages: Sequence[RankedPage]) -> Iterable[str]:
    """The keys of words of the pages that differ from a key in few letters. The first letter is hardly ever mistyped:
    only words that begin with it are compared."""
    errors = 2 if len(key) >= MIN_LETTERS_FOR_TWO_ERRORS else 1
    lengths = f"{len(key) - errors - 1},{len(key) + errors + 2}"
    similar = re.compile(
        rf"(?<![\w{COMBINING_MARKS}]){key[0]}[\w{COMBINING_MARKS}]{{{lengths}}}(?![\w{COMBINING_MARKS}])"
    )
    words: set[str] = set()
    for page in pages:
        words.update(similar.findall(page.normalized))
        if len(words) > MAX_SPELLINGS:
            break
    keys = {key_of(word) for word in words}
    return [
        other for other in keys if abs(len(other) - len(key)) <= errors and _edit_distance(key, other, errors) <= errors
    ]


def _edit_distance(one: str, other: str, max_distance: int) -> int:
    """The number of letters that are wrong, missing, superfluous or swapped with their neighbour, exact up to
    `max_distance`."""
    before_last: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        current = [row]
        for column, other_letter in enumerate(other, 1):
            cost = min(last[column] + 1, current[-1] + 1, last[column - 1] + (letter != other_letter))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == other_letter:
                cost = min(cost, before_last[column - 2] + 1)
            current.append(cost)
        if min(current) > max_distance:
            return max_distance + 1
        before_last, last = last, current
    return last[-1]
