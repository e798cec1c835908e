"""Whether an answer contains the right one, and which of its words are the model's own.

The one matcher of `bench/answers.py`. Texts are compared as sequences of words, so that `5` is not found in `15`.
Letter case, punctuation, the articles of English, markdown, footnote markers, the width of characters and the format
of numbers make no difference; diacritics do.
"""

import re
import unicodedata
from collections.abc import Iterable

from footnote.agent.guided_prompts import PROMPTS
from footnote.evidence.numerals import CHARACTERS, ONES, SYLLABLES, TENS

__all__ = ["contains_answer", "split_quotations", "words_of"]

_ARTICLES = frozenset(("a", "an", "the"))
_PERCENT = re.compile(r"\bper ?cent\b|\bphần trăm\b", re.IGNORECASE)
_CHINESE_PERCENT = re.compile(r"百分之(\d+(?:\.\d+)?)")
_MARKER = re.compile(r"\[\d+(?:\.\d+)?\](?!\()|【\d+(?:\.\d+)?】")
_ESCAPE = re.compile(r"\\([^\w\s])")
_SPACED_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:[\u00a0\u2009\u202f]\d{3})+(?!\d)")
_UNSPACED = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Scripts without spaces between words, each character of which is compared as a word."""
_MARKS = "".join(chr(code) for code in range(0x300, 0x2000) if unicodedata.category(chr(code)).startswith("M"))
"""Vowel signs and the like, which are parts of words and no word characters to `re`."""
_TOKEN = re.compile(
    rf"(?P<number>\d+(?:[.,]\d+)*)|%|[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W\d_])(?:(?![{_UNSPACED}])(?:[^\W\d_]|[{_MARKS}]))*"
)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")

_NUMBER_WORDS = {
    word: str(number)
    for table in (ONES, TENS, SYLLABLES, CHARACTERS, {"mười": 10, "十": 10})
    for word, number in table.items()
    # These have other meanings too: an article, a pronoun, a year, fourth.
    if word not in {"one", "một", "mốt", "năm", "lăm", "tư", "一"}
}

_ADDED_LINES = tuple(line for prompts in PROMPTS.values() for line in (prompts.unconfirmed, prompts.no_sources))
"""What the product writes under an answer that nothing supports, above the quotations if it has any."""


def contains_answer(text: str, answers: Iterable[str]) -> bool:
    """Whether `text` has one of the right answers in it, word for word."""
    words = words_of(text)
    return any(_contains(words, variant) for answer in answers for variant in _variants(words_of(answer)))


def words_of(text: str) -> tuple[str, ...]:
    """The words that are compared."""
    text = _ESCAPE.sub(r"\1", _MARKER.sub(" ", text))
    text = _SPACED_THOUSANDS.sub(lambda match: re.sub(r"\D", "", match[0]), text)
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    text = _CHINESE_PERCENT.sub(r"\1%", _PERCENT.sub("%", text)).casefold()
    words: list[str] = []
    for match in _TOKEN.finditer(text):
        number = match["number"]
        words += [match[0]] if number is None else _numbers(number)
    return tuple(word for word in words if word not in _ARTICLES)


def _numbers(text: str) -> list[str]:
    """`1,234.50`, `1.234,50` and `1234.5` are the same number; `20.11.2026` are three."""
    groups = re.split(r"[.,]", text)
    separators = re.findall(r"[.,]", text)
    decimals = ""
    is_mixed = len(set(separators)) == 2 and separators[-1] not in separators[:-1]
    if is_mixed or (len(separators) == 1 and not _is_thousands(groups)):
        decimals = groups.pop()
    if len(groups) > 1 and not _is_thousands(groups):
        return [str(int(part)) for part in re.findall(r"\d+", text)]
    whole, fraction = str(int("".join(groups))), _ascii_digits(decimals).rstrip("0")
    return [f"{whole}.{fraction}" if fraction else whole]


def _is_thousands(groups: list[str]) -> bool:
    first, *others = groups
    return len(first) <= 3 and int(first) > 0 and all(len(group) == 3 for group in others)


def _ascii_digits(text: str) -> str:
    return "".join(str(unicodedata.digit(sign)) for sign in text)


def _variants(words: tuple[str, ...]) -> set[tuple[str, ...]]:
    """A right answer that is one number is also right as a word, and the other way round."""
    if len(words) != 1:
        return {words}
    [word] = words
    spelled = {(other,) for other, number in _NUMBER_WORDS.items() if number == word}
    return {words, *spelled, *({(_NUMBER_WORDS[word],)} if word in _NUMBER_WORDS else ())}


def _contains(words: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    size = len(wanted)
    return size > 0 and any(words[at : at + size] == wanted for at in range(len(words) - size + 1))


def split_quotations(answer: str) -> tuple[str, str]:
    """The model's own words, and the quotations that the product let follow them, without the line between them."""
    starts = [(answer.rfind(line), len(line)) for line in _ADDED_LINES if line in answer]
    if not starts:
        return answer.strip(), ""
    start, length = max(starts)
    return answer[:start].strip(), answer[start + length :].strip()
