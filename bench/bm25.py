"""BM25 over single sentences, as a textbook has it: the reference for ranking."""

import math
import re
from collections import Counter

_WORD = re.compile(r"[\u3400-\u9fff]|\w+")
_SENTENCE = re.compile("[^.!?\u3002\uff01\uff1f\n]+[.!?\u3002\uff01\uff1f]?")


def words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def best(texts: list[str], question: str, count: int = 3) -> list[str]:
    """The sentences that fit best."""
    sentences = [found.strip() for text in texts for found in _SENTENCE.findall(text) if found.strip()]
    bags = [Counter(words(sentence)) for sentence in sentences]
    average = sum(map(Counter.total, bags)) / max(1, len(bags))
    frequencies = Counter(word for bag in bags for word in bag)
    wanted = set(words(question))

    def score(bag: Counter[str]) -> float:
        norm = 1.2 * (0.25 + 0.75 * bag.total() / average)
        return sum(
            math.log(1 + (len(bags) - frequencies[word] + 0.5) / (frequencies[word] + 0.5))
            * bag[word] * 2.2 / (bag[word] + norm)
            for word in wanted & bag.keys()
        )  # fmt: skip

    ranked = sorted(range(len(bags)), key=lambda at: -score(bags[at]))
    return [sentences[at] for at in ranked[:count]]
