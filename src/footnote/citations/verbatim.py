"""A claim that stands on the page word for word: nothing is left to judge, and the quotation is exactly that."""

import re

from footnote.citations.align import rows
from footnote.citations.polarity import denials
from footnote.citations.quoting import trimmed
from footnote.protocol.sources import Quote

SHORTEST = 12
"""Fewer letters than this stand on many pages by chance."""

_AROUND = 300
_SENTENCE_END = re.compile(r"[.!?。！？\n]")
_CELL = re.compile(r"[|\t]")
_ASIDE = re.compile(r"\([^()]*\)|（[^（）]*）|\[[^\[\]]*\]")
_PART = re.compile(r"[,;]\s")
"""Not the comma of Chinese, which stands between `there is no evidence` and what there is none for."""
_GOES_ON = re.compile(r"(?:that|whether|rằng)\b", re.IGNORECASE)
_BEGINS_ANEW = re.compile(r"(?:and|but|or|và|nhưng|hoặc)\b", re.IGNORECASE)
_ALTERNATIVE = re.compile(r"\b(?:or|nor|hoặc|hay)\b(?!\s+(?:if|when|because|nếu|khi|vì)\b)", re.IGNORECASE)


def verbatim(claim: str, text: str) -> Quote | None:
    """Where the claim stands in a text, in whole words. White space is one, however much of it there is."""
    words = claim.split()
    if sum(map(len, words)) < SHORTEST:
        return None
    for found in rows(words, text):
        before = _SENTENCE_END.split(text[max(0, found.start - _AROUND) : found.start])[-1]
        rest = _SENTENCE_END.split(text[found.start : found.end + _AROUND])[0]
        if not _is_denied(before, rest):
            return trimmed(text, found)
    return None


def _is_denied(before: str, rest: str) -> bool:
    """Whether a sentence denies its `rest` by what stands before: "it is not true that the earth is flat".

    What is closed says nothing of what follows it: a cell of a table, an aside in brackets, a part before a comma
    ("it never rained, the harvest was good"), unless the sentence goes on with it ("he did not, however, win"; "do not
    smoke, drink or drive").
    """
    before = _CELL.split(before)[-1]
    while (without := _ASIDE.sub(" ", before)) != before:
        before = without
    *earlier, own = _PART.split(before)
    if denials(own, strict=True):
        return True
    following = (own + rest).lstrip()
    if _GOES_ON.match(following) or _ALTERNATIVE.search(rest):
        return any(denials(part, strict=True) for part in earlier)
    return not _BEGINS_ANEW.match(following) and any(map(_ends_denying, earlier))


def _ends_denying(part: str) -> bool:
    return any(word.end == len(part.rstrip()) for word in denials(part, strict=True))
