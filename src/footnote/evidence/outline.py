"""The outline of a text: its words with a meaning, and what stands between them.

Statements and passages are compared by their outlines (`alignment`): words must be the same, qualifiers and relations
between them must agree, and punctuation says what may be left out.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from footnote.evidence.lexicon import FUNCTION_WORDS
from footnote.evidence.qualifiers import POSTFIXED_BOUNDS, Kind, Mark, find_marks
from footnote.evidence.synonyms import SAME_FORMS, SAME_PHRASES, SAME_WORDS
from footnote.evidence.tokens import Token, TokenizedText
from footnote.evidence.values import Value, contains_value
from footnote.text.sentences import sentences
from footnote.text.terms import fold

_MEANINGFUL = frozenset(
    [
        "first",
        "new",
        "same",
        "another",
        "other",
        "earlier",
        "later",
        "đầu",
        "cuối",
        "mới",
        "thứ",
        "前",
        "后",
        "内",
        "外",
        "上",
        "下",
    ]
)
"""Words that are function words for a search, and change what a statement says."""
_AUXILIARIES = frozenset(
    [
        "is",
        "isn't",
        "are",
        "aren't",
        "was",
        "wasn't",
        "were",
        "weren't",
        "be",
        "been",
        "do",
        "don't",
        "does",
        "doesn't",
        "did",
        "didn't",
        "has",
        "hasn't",
        "have",
        "haven't",
        "had",
        "hadn't",
        "i",
    ]
)
_COORDINATORS = frozenset(
    ["and", "but", "or", "&", "và", "nhưng", "hoặc", "和", "与", "及", "并", "并且", "以及", "或"]
)
_BREAKS = frozenset(',;:—–()（），；：、|"“”')
_SPACING = " \u00a0-’'·"
_SUPERLATIVE_ENDING = "est"
_NOT_SUPERLATIVES = frozenset(
    [
        "forest",
        "interest",
        "request",
        "harvest",
        "protest",
        "invest",
        "suggest",
        "contest",
        "honest",
        "arrest",
        "budapest",
        "everest",
        "priest",
        "modest",
        "digest",
        "conquest",
        "bucharest",
        "manifest",
        "tempest",
        "inquest",
    ]
)
_ENGLISH_SUPERLATIVES = frozenset(["first", "last", "best", "worst", "second", "third", "fourth", "fifth", "sole"])
_VIETNAMESE_SUPERLATIVES = frozenset(("nhất", "đầu"))
_CHINESE_SUPERLATIVES = frozenset("最首唯")
_STRICT_MARKS: frozenset[Kind] = frozenset(("negation", "all", "only", "most"))
_RELATIONS: frozenset[Kind] = frozenset(("from", "to", "before", "after", "over", "under", "until", "since"))
_AGENT_PREPOSITIONS = frozenset(("by", "bởi", "由"))
_MAX_PHRASE_WORDS = 4
_MIN_BRITISH = 5
"""A longer stem on `is` is one of a verb."""
_MAX_RELATION_WORDS = 3
_MAX_DISTANCE_OF_BOUND = 6


class WordGap(NamedTuple):
    """What stands before a word. `function_words` have no meaning by themselves; `marks` are the qualifiers.

    `is_break`: punctuation, or the end of a sentence. `joins`: a coordinator, such as `and`. `is_adjacent`: nothing but
    spaces.
    """

    marks: tuple[Mark, ...]
    function_words: tuple[str, ...]
    is_break: bool
    joins: bool
    ends_sentence: bool
    is_adjacent: bool

    @property
    def separates(self) -> bool:
        """Whether it separates the items of a list."""
        return (self.is_break or self.joins) and not self.ends_sentence


class Outline:
    """`gaps` has one more than `words`: the last is what stands after the last word."""

    def __init__(self, text: TokenizedText) -> None:
        self.text = text
        self.language = text.language
        self._ends = [span.end for span in sentences(text.text)]
        self._tokens = list(_with_phrases(text))
        whole = [one.token for one in self._tokens if one.token.value or one.is_phrase]
        self._marks = [
            mark
            for mark in find_marks(text.text)
            if not any(token.start < mark.end and mark.start < token.end for token in whole)
        ]
        self.words: list[Token] = []
        self.keys: list[str] = []
        self.gaps: list[WordGap] = []
        self._build()

    def _build(self) -> None:
        hidden = bytearray(len(self.text.text) + 1)
        numbers = [token.start for token in self.text.tokens if token.value]
        for mark in self._marks:
            is_before_number = any(0 < start - mark.end < _MAX_DISTANCE_OF_BOUND for start in numbers)
            if is_before_number if mark.bound else not self._is_verb(mark):
                hidden[mark.start : mark.end] = b"\1" * (mark.end - mark.start)
        function_words: list[str] = []
        last = 0
        for token, key, _ in self._tokens:
            folded = fold(self.text.text[token.start : token.end])
            has_meaning = (token.is_content and folded not in _AUXILIARIES) or folded in _MEANINGFUL
            if token.value is None and (hidden[token.start] or not has_meaning):
                function_words.append(folded)
                continue
            self.gaps.append(self._gap(last, token, function_words))
            self.words.append(token)
            self.keys.append(key)
            function_words = []
            last = token.end
        self.gaps.append(self._gap(last, None, function_words))
        for at in range(1, len(self.words)):
            if self.words[at].value and self.words[at - 1].value and _has_mark(self.gaps[at - 1], "from"):
                # "From 2004 until 2009" is from 2004 to 2009.
                marks = tuple(
                    mark._replace(kind="to") if mark.kind == "until" else mark for mark in self.gaps[at].marks
                )
                self.gaps[at] = self.gaps[at]._replace(marks=marks)

    def _is_verb(self, mark: Mark) -> bool:
        """Whether a negation is a word by itself: `failed`."""
        return (
            mark.kind == "negation"
            and mark.end - mark.start > 3
            and any(token.start == mark.start and token.is_content for token in self.text.tokens)
        )

    def _gap(self, start: int, following: Token | None, function_words: Sequence[str]) -> WordGap:
        end = len(self.text.text) if following is None else following.start
        between = self.text.text[start:end]
        ends_sentence = (
            following is not None and bool(self.words) and any(start <= at <= end for at in self._ends)
        ) and bool(between.strip())
        return WordGap(
            tuple(self._marks_between(start, end, following)),
            tuple(function_words),
            ends_sentence or not _BREAKS.isdisjoint(between),
            "、" in between or not _COORDINATORS.isdisjoint(function_words),
            ends_sentence,
            following is not None and bool(self.words) and not between.strip(_SPACING),
        )

    def _marks_between(self, start: int, end: int, following: Token | None) -> Iterator[Mark]:
        reach = following.end if following else end
        marks = [mark for mark in self._marks if start <= mark.start <= end and mark.end <= reach]
        bounds = [mark for mark in marks if mark.bound and self._limits_number(mark, start, following)]
        for mark in marks:
            if mark.bound:
                if mark in bounds:
                    yield mark
            elif not any(mark.start < bound.end and bound.start < mark.end for bound in bounds):
                yield mark

    def _limits_number(self, mark: Mark, start: int, following: Token | None) -> bool:
        if self.text.text[mark.start : mark.end].casefold() in POSTFIXED_BOUNDS:
            return bool(self.words and self.words[-1].value) and mark.start - start <= 1
        if following is None or following.value is None:
            return False
        return following.start - mark.end < _MAX_DISTANCE_OF_BOUND

    @cached_property
    def positions(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for at, key in enumerate(self.keys):
            found.setdefault(key, []).append(at)
        return found

    @cached_property
    def _plain_positions(self) -> dict[str, list[int]]:
        """Names without their accents: `Măgheruș` is `Magherus`."""
        found: dict[str, list[int]] = {}
        for at, word in enumerate(self.words):
            if word.is_capitalized:
                found.setdefault(_without_accents(self.keys[at]), []).append(at)
        return found

    @cached_property
    def value_positions(self) -> list[int]:
        return [at for at, word in enumerate(self.words) if word.value]

    @cached_property
    def sentence_of(self) -> list[int]:
        """The number of each word's sentence."""
        found: list[int] = []
        number = 0
        for gap in self.gaps[:-1]:
            number += gap.ends_sentence
            found.append(number)
        return found

    def sentence_start(self, at: int) -> int:
        """The first word of the sentence of a word."""
        while at and not self.gaps[at].ends_sentence:
            at -= 1
        return at

    def places_of(self, word: Token, key: str) -> list[int]:
        """The places of a word of another text. Numbers are equal in any notation, names with any accents."""
        if word.value is None:
            places = self.positions.get(key, [])
            if not places and word.is_capitalized and self.language != "vi":
                return self._plain_positions.get(_without_accents(key), [])
            return places
        return [at for at in self.value_positions if _is_same_value(word.value, self.words[at].value)]

    def shown(self, at: int) -> str:
        """A word as it is written."""
        return self.text.text[self.words[at].start : self.words[at].end]

    def is_function_word(self, at: int) -> bool:
        """Whether only its capital letter makes a word look like a name."""
        folded = fold(self.shown(at))
        return folded in FUNCTION_WORDS["vi" if self.language == "vi" else "en"] and folded not in _MEANINGFUL

    def bound_at(self, at: int) -> Kind | None:
        """The bound of a number: `at_least` of "at least 20"."""
        gaps = (self.gaps[at], self.gaps[at + 1])
        return next((mark.kind for gap in gaps for mark in gap.marks if mark.bound), None)

    def relation_before(self, at: int) -> Kind | None:
        """The relation that stands before the phrase of a word: `from` of "from New York"."""
        for place in range(at, max(-1, at - _MAX_RELATION_WORDS), -1):
            gap = self.gaps[place]
            for mark in reversed(gap.marks):
                if mark.kind in _RELATIONS:
                    return mark.kind
            if not gap.is_adjacent:
                return None
        return None

    @cached_property
    def passive_verbs(self) -> frozenset[int]:
        """The words that `by` follows, a date between them aside: the words after it are who acts."""
        found: set[int] = set()
        for at, gap in enumerate(self.gaps[1:-1], 1):
            if gap.function_words and gap.function_words[0] in _AGENT_PREPOSITIONS and not self.words[at].value:
                verb = at - 1
                while verb and self.words[verb].value:
                    verb -= 1
                found.add(verb)
        return frozenset(found)

    @cached_property
    def strict_from(self) -> int | None:
        """The first word from which on nothing can be left out without saying more: a superlative, a denial, `all`."""
        for at, gap in enumerate(self.gaps[:-1]):
            if any(mark.kind in _STRICT_MARKS for mark in gap.marks) or self._is_superlative(at):
                return at
        return None

    def _is_superlative(self, at: int) -> bool:
        shown = self.shown(at).casefold()
        before, after = self.gaps[at].function_words, self.gaps[at + 1].function_words
        if self.language == "vi":
            return shown in _VIETNAMESE_SUPERLATIVES or not _VIETNAMESE_SUPERLATIVES.isdisjoint(after)
        if self.language == "zh":
            return shown in _CHINESE_SUPERLATIVES or not _CHINESE_SUPERLATIVES.isdisjoint(before)
        is_superlative = (
            len(shown) > len(_SUPERLATIVE_ENDING) + 2
            and shown.endswith(_SUPERLATIVE_ENDING)
            and shown not in _NOT_SUPERLATIVES
        )
        return is_superlative or shown in _ENGLISH_SUPERLATIVES

    def reordered(self, blocks: Sequence[range]) -> "Outline":
        """The same text with its words in another order: a passive as an active clause."""
        other = object.__new__(Outline)
        other.text, other.language = self.text, self.language
        order = [at for block in blocks for at in block]
        other.words = [self.words[at] for at in order]
        other.keys = [self.keys[at] for at in order]
        starts = {block.start for block in blocks}
        other.gaps = [
            self.gaps[at]._replace(function_words=(), is_adjacent=False, joins=False) if at in starts else self.gaps[at]
            for at in order
        ]
        other.gaps.append(self.gaps[-1])
        return other


def _without_accents(word: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKD", word) if not unicodedata.combining(letter))


def _has_mark(gap: WordGap, kind: Kind) -> bool:
    return any(mark.kind == kind for mark in gap.marks)


class _KeyedToken(NamedTuple):
    """A token with the key by which it is compared. `is_phrase`: it stands for several tokens of its text."""

    token: Token
    key: str
    is_phrase: bool = False


def _with_phrases(text: TokenizedText) -> Iterator[_KeyedToken]:
    """The tokens of a text with their keys; of different words and phrases for the same thing, one key."""
    tokens = text.tokens
    at = 0
    while at < len(tokens):
        for length in range(min(_MAX_PHRASE_WORDS, len(tokens) - at), 1, -1):
            phrase = SAME_PHRASES.get(" ".join(token.key for token in tokens[at : at + length]))
            if phrase is not None:
                first, last = tokens[at], tokens[at + length - 1]
                token = Token(phrase, first.start, last.end, is_content=True, is_capitalized=first.is_capitalized)
                yield _KeyedToken(token, phrase, is_phrase=True)
                at += length
                break
        else:
            token = tokens[at]
            if token.key == "us" and token.is_capitalized:
                token = Token("usa", token.start, token.end, is_content=True, is_capitalized=True)
            yield _KeyedToken(token, _same_key(token, text))
            at += 1


def _same_key(token: Token, text: TokenizedText) -> str:
    if token.value or not token.is_content:
        return token.key
    form = SAME_FORMS.get(fold(text.text[token.start : token.end]))
    key = form or SAME_PHRASES.get(token.key) or SAME_WORDS.get(token.key, token.key)
    # British and American spelling: `organised`, `organized`.
    return f"{key[:-1]}z" if key.endswith("is") and len(key) > _MIN_BRITISH else key


def _is_same_value(claimed: Value, stated: Value | None) -> bool:
    if stated is None or not contains_value((stated,), claimed):
        return False
    units = {fact.unit for reading in claimed.readings for fact in reading}
    other_units = {fact.unit for reading in stated.readings for fact in reading}
    return units == other_units or "%" not in units ^ other_units


@lru_cache(maxsize=2_000)
def outline(text: TokenizedText) -> Outline:
    """Cached, because the statements of a report are compared with the same few passages again and again."""
    return Outline(text)
