"""The language of a text: one detector for short texts, one for whole pages."""

import re
from typing import Literal, TypeAlias

from footnote.protocol.tools import Locale
from footnote.text.terms import HAN

Language: TypeAlias = Literal["zh", "vi", "en", "other"]

_BASIC_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_HAN = re.compile(f"[{HAN}]")
_VIETNAMESE = re.compile("[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]", re.IGNORECASE)
"""Letters that only Vietnamese has."""
_ENGLISH = re.compile(
    r"\b(?:the|of|and|in|to|was|is|for|with|by|on|that|as|are|were|from|at|an?|it|has|its)\b", re.IGNORECASE
)
_LETTER = re.compile(r"[^\W\d_]")


def detect_locale(text: str) -> Locale:
    """The language of a message or query, by the presence of a letter: Chinese by its characters, Vietnamese by letters
    that no other language has, otherwise English."""
    if _BASIC_HAN.search(text):
        return "zh"
    return "vi" if _VIETNAMESE.search(text) else "en"


def detect_language(text: str) -> Language:
    """The language of a page or claim, by the share of its letters: an English page may name a Vietnamese town."""
    letters = len(_LETTER.findall(text))
    if not letters:
        return "other"
    if len(_HAN.findall(text)) > 0.3 * letters:
        return "zh"
    if len(_VIETNAMESE.findall(text)) > 0.08 * letters:
        return "vi"
    return "en" if len(_ENGLISH.findall(text)) > 0.018 * letters else "other"
