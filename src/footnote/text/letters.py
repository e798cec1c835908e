"""A text letter by letter as it is compared, so that an offset in the one is an offset in the other."""

import re
import unicodedata
from collections.abc import Iterable

from footnote.text.traditional import SIMPLIFIED

_WIDE = (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))


def _diacritic_map(letters: Iterable[str]) -> dict[str, str]:
    forms = {letter: unicodedata.normalize("NFD", letter) for letter in letters}
    return {
        letter: form[0] for letter, form in forms.items() if len(form) > 1 and all(map(unicodedata.combining, form[1:]))
    }


_NARROW = {chr(wide): chr(wide - 0xFEE0).lower() for wide in _WIDE}
_DIGITS = {chr(zero + digit): str(digit) for zero in (0x660, 0x6F0, 0x966) for digit in range(10)}
_VARIANTS = dict(zip("أإآٱىةکیё", "اااايهكيе", strict=True))
"""Letters that are written in more than one way, in Arabic and Russian."""
_PLAIN = _diacritic_map(map(chr, (*range(0xDF, 0x250), *range(0x1E00, 0x1F00)))) | {"đ": "d"}
VARIANTS = str.maketrans(_VARIANTS)
_FOLDED = _NARROW | SIMPLIFIED | _DIGITS | _VARIANTS
_FOLDED_UNMARKED = _FOLDED | _PLAIN
# Most pages have none of these letters, and to see that is several times cheaper than to replace them.
_FOLDING = re.compile(f"[{''.join(_FOLDED)}]")
_FOLDING_UNMARKED = re.compile(f"[{''.join(_FOLDED_UNMARKED)}]")
_TABLE = str.maketrans(_FOLDED)
_TABLE_UNMARKED = str.maketrans(_FOLDED_UNMARKED)


def normalize(text: str, *, keep_diacritics: bool) -> str:
    """Without upper case, full width and traditional characters; without diacritics too, unless `marked`."""
    lowered = text.lower()
    if len(lowered) != len(text):
        # A few capital letters have no small one of a single character: they stay.
        lowered = "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
    if lowered.isascii():
        return lowered
    if keep_diacritics:
        return lowered.translate(_TABLE) if _FOLDING.search(lowered) else lowered
    return lowered.translate(_TABLE_UNMARKED) if _FOLDING_UNMARKED.search(lowered) else lowered
