"""English words without their endings, by rule."""

_ENDINGS = (
    ("ies", "y"),
    ("ied", "y"),
    ("ments", "ment"),
    ("ing", ""),
    ("edly", ""),
    ("ed", ""),
    ("es", ""),
    ("ly", ""),
    ("s", ""),
)
_SHORTEST = 3


def stem(word: str) -> str:
    """What the regular forms of a folded word have in common; it need not be a word itself: `making` gives `mak`.

    Words of other languages, in other letters or too short to have an ending, stay as they are.
    """
    word = word.removesuffix("'s").removesuffix("’s")
    if len(word) <= _SHORTEST or not word.isascii() or not word.isalpha():
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            if ending == "s" and word[-2] in "sui":
                break
            word = word.removesuffix(ending) + instead
            break
    if len(word) > _SHORTEST and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > _SHORTEST + 1 else word
