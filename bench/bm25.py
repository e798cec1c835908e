"""BM25 over single sentences as in a textbook: the reference for ranking."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator

_WORD = re.compile(r"[\u3400-\u9fff]|\w+")
_SENTENCE = re.compile("[^.!?\u3002\uff01\uff1f\n]+[.!?\u3002\uff01\uff1f]?")

_ANY_SENTENCE = re.compile("[^.!?\u3002\uff01\uff1f\u0964\u061f\n]+[.!?\u3002\uff01\uff1f\u0964\u061f]?")


def words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def best_by_trigrams(texts: list[str], question: str, room: int, count: int = 3) -> list[str]:
    """The best sentences that fit into the character limit; a longer one is cut."""
    pieces = [piece for text in texts for sentence in _ANY_SENTENCE.findall(text) for piece in _cut(sentence, room)]
    found: list[str] = []
    for piece in _ranked(pieces, question, trigrams):
        if len(found) < count and sum(map(len, found)) + len(piece) <= room:
            found.append(piece)
    return found


def trigrams(text: str) -> list[str]:
    plain = " ".join(text.lower().split())
    return [plain[at : at + 3] for at in range(len(plain) - 2)]


def _cut(sentence: str, room: int) -> Iterator[str]:
    """Cuts between words, where there are spaces."""
    rest, longest = sentence.strip(), round(0.8 * room)
    while len(rest) > longest:
        at = rest.rfind(" ", 1, longest)
        at = at if at > 0 else longest
        yield rest[:at]
        rest = rest[at:].strip()
    if rest:
        yield rest


def best(texts: list[str], question: str, count: int = 3) -> list[str]:
    """The best sentences."""
    sentences = [found.strip() for text in texts for found in _SENTENCE.findall(text) if found.strip()]
    return _ranked(sentences, question, words)[:count]


def _ranked(sentences: list[str], question: str, parts: Callable[[str], list[str]]) -> list[str]:
    bags = [Counter(parts(sentence)) for sentence in sentences]
    average = sum(map(Counter.total, bags)) / max(1, len(bags))
    frequencies = Counter(word for bag in bags for word in bag)
    wanted = set(parts(question))

    def score(bag: Counter[str]) -> float:
        norm = 1.2 * (0.25 + 0.75 * bag.total() / average)
        return sum(
            math.log(1 + (len(bags) - frequencies[word] + 0.5) / (frequencies[word] + 0.5))
            * bag[word] * 2.2 / (bag[word] + norm)
            for word in wanted & bag.keys()
        )  # fmt: skip

    ranked = sorted(range(len(bags)), key=lambda at: -score(bags[at]))
    return [sentences[at] for at in ranked]
