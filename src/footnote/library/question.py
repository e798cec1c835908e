"""What a question asks for."""

from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

from footnote.language.guess import locale_of
from footnote.language.terms import Term, is_unspaced
from footnote.library.forms import base_form, telling_terms


class Wish(Struct, frozen=True):
    """One thing that a passage should have: any of these terms; if there are pairs, one of them side by side.

    `share` is how much it counts among wishes of equally rare terms.
    """

    terms: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...] = ()
    share: float = 1.0


class Question(Struct, frozen=True):
    wishes: tuple[Wish, ...]

    @property
    def terms(self) -> list[str]:
        """Everything to look for, each once."""
        return list(dict.fromkeys(term for wish in self.wishes for term in wish.terms))


def understand(text: str) -> Question:
    telling = list(telling_terms(text))
    unspaced = [term for term in telling if is_unspaced(term.text)]
    spaced = [term for term in telling if not is_unspaced(term.text)]
    wishes = _of_syllables(spaced, text) if locale_of(text) == "vi" else _of_words(spaced)
    return Question((*wishes, *_of_characters(unspaced)))


def _of_words(words: list[Term]) -> Iterator[Wish]:
    for word in dict.fromkeys(word.text for word in words):
        yield Wish(tuple(dict.fromkeys((word, base_form(word)))))


def _of_syllables(syllables: list[Term], text: str) -> Iterator[Wish]:
    """A Vietnamese word is mostly two syllables, each of which is common: to find them together is most of a wish."""
    pairs: dict[str, list[tuple[str, str]]] = {syllable.text: [] for syllable in syllables}
    for first, second in pairwise(syllables):
        if text[first.end : second.start].isspace():
            pairs[first.text].append((first.text, second.text))
            pairs[second.text].append((first.text, second.text))
    for syllable, words in pairs.items():
        if words:
            yield Wish((syllable,), share=0.3)
            yield Wish((syllable,), tuple(words), share=0.7)
        else:
            yield Wish((syllable,))


def _of_characters(pairs: list[Term]) -> Iterator[Wish]:
    """In Chinese, pairs of characters also lie across two words. A character is there if one of its pairs is."""
    having: dict[int, list[str]] = {}
    for pair in pairs:
        for offset in range(pair.start, pair.end):
            having.setdefault(offset, []).append(pair.text)
    for found in having.values():
        yield Wish(tuple(found), share=0.5)
