"""The language of a text: one detector for short texts, one for whole pages."""

import re
from functools import lru_cache
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


_detect_page_language = lru_cache(maxsize=256)(detect_language)
_SCRIPTS = {
    "latin": re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]"),
    "han": _HAN,
    "kana": re.compile("[\u3040-\u30ff]"),
    "hangul": re.compile("[\uac00-\ud7af]"),
    "cyrillic": re.compile("[\u0400-\u04ff]"),
    "arabic": re.compile("[\u0620-\u06ff]"),
    "devanagari": re.compile("[\u0900-\u097f]"),
    "thai": re.compile("[\u0e00-\u0e7f]"),
    "greek": re.compile("[\u0370-\u03ff]"),
    "hebrew": re.compile("[\u0590-\u05ff]"),
}
_MIN_SCRIPT_SHARE = 0.7
_MIN_LETTERS = 12
_MIN_PAGE_LETTERS = 400
_FOREIGN = re.compile(
    r"\b(?:le|la|les|des|du|une|est|dans|pour|der|die|das|und|ist|von|mit|den|ein|eine|el|los|las|del|que|por|para|"
    r"una|con|il|di|che|della|sono|o|os|um|uma|não|em|het|een|van|yang|dan|di|untuk|ve|bir)\b",
    re.IGNORECASE,
)


def are_other_languages(text: str, page: str) -> bool:
    """Whether a text is certainly in another language than a page. `page`: the beginning of its text.

    Names alone tell nothing: a short text must have words that its language has and that of the page has not.
    """
    letters = len(_LETTER.findall(text))
    script, page_script = _script(text), _script(page)
    if script and page_script and script != page_script:
        return letters >= _MIN_LETTERS or script != "latin"
    language, page_language = detect_language(text), _detect_page_language(page)
    if language == page_language or {script, page_script} != {"latin"}:
        return False
    if "vi" in (language, page_language):
        return language == "vi" or letters >= _MIN_LETTERS
    if page_language == "other":
        return language == "en" and len(_LETTER.findall(page)) >= _MIN_PAGE_LETTERS and _is_foreign(page)
    return _is_foreign(text)


@lru_cache(maxsize=256)
def _is_foreign(text: str) -> bool:
    """Whether a text in Latin letters has more small words of other languages than of English."""
    return len(_FOREIGN.findall(text)) > max(1, len(_ENGLISH.findall(text)))


@lru_cache(maxsize=256)
def _script(text: str) -> str | None:
    """The script of most letters of a text."""
    letters = len(_LETTER.findall(text))
    counts = {name: len(pattern.findall(text)) for name, pattern in _SCRIPTS.items()}
    name = max(counts, key=counts.__getitem__)
    return name if letters and counts[name] >= _MIN_SCRIPT_SHARE * letters else None
