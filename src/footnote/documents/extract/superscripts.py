"""Raised text as plain text: reference marks and exponents.

A raised figure becomes its Unicode superscript ("2027³", "10³", "m²"). Marks and exponents need not be told apart for
that, nothing is lost, and the number before stays a number. Ordinals (1st) and whole raised words stay plain letters,
as readers type them.
"""

from itertools import groupby

SUPERSCRIPT_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_FIGURES = dict(zip("0123456789", SUPERSCRIPT_DIGITS, strict=True))
_LETTERS = dict(zip("abcdfghijklmnprstuvwxyz", "ᵃᵇᶜᵈᶠᵍʰⁱʲᵏˡᵐⁿᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True))
"""Without e and o, which are raised in ordinals (XXe, No)."""
_SIGNS = {"+": "⁺", "-": "⁻", "−": "⁻", "–": "⁻"}


def superscript(run: str, before: str) -> str:
    """Raised characters. `before` is the text that they stand behind."""
    words = [[*group] for is_letter, group in groupby(run, str.isalpha) if is_letter]
    if any(len(word) > 1 or word[0] not in _LETTERS for word in words) or (words and before[-1:].isdigit()):
        return run
    sign = _SIGNS.get(run[:1]) if run[1:2].isdigit() else None
    signed = sign + run[1:] if sign else run
    return "".join(_FIGURES.get(letter) or _LETTERS.get(letter, letter) for letter in signed)
