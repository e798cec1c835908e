"""Which letters a text is written in: its language as far as they tell it, and its direction."""

import re
import unicodedata

from footnote.text.traditional import SIMPLIFIED

_SAMPLE = 20_000
"""Letters that are enough to tell a language."""

_WRITING = {
    "kana": r"\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f",
    "han": r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    "ko": r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7af",
    "ar": r"\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufeff",
    "he": r"\u0590-\u05ff",
    "th": r"\u0e00-\u0e7f",
    "hi": r"\u0900-\u097f",
    "ru": r"\u0400-\u052f",
    "el": r"\u0370-\u03ff\u1f00-\u1fff",
    "bn": r"\u0980-\u09ff",
    "ta": r"\u0b80-\u0bff",
    "km": r"\u1780-\u17ff",
    "lo": r"\u0e80-\u0eff",
    "my": r"\u1000-\u109f",
    "ka": r"\u10a0-\u10ff",
    "hy": r"\u0530-\u058f",
    "am": r"\u1200-\u137f",
    "latin": r"A-Za-z\u00c0-\u024f\u1e00-\u1eff",
}
_LETTERS = {name: re.compile(f"[{letters}]") for name, letters in _WRITING.items()}
_VIETNAMESE = re.compile("[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]", re.IGNORECASE)
# A character of these says as much as a word of letters does.
_DENSE = ("kana", "han", "ko")
_DENSITY = 3
_VIETNAMESE_SHARE = 0.06
_KANA_SHARE = 0.1
_SIMPLE = frozenset(SIMPLIFIED.values())
_CJK = re.compile(f"[{_WRITING['kana']}{_WRITING['han']}\u3000-\u303f\uff00-\uffef]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")


def detect_language(text: str) -> str:
    """The language of most of a text as a BCP 47 tag; English if its letters tell nothing."""
    if text.isascii():
        return "en"
    sample = text if len(text) <= _SAMPLE else text[: _SAMPLE // 2] + text[len(text) // 2 :][: _SAMPLE // 2]
    counts = {name: len(letters.findall(sample)) for name, letters in _LETTERS.items()}
    counts |= {name: counts[name] * _DENSITY for name in _DENSE}
    han, kana = counts.pop("han"), counts.pop("kana")
    counts["zh"] = han + kana
    most = max(counts, key=lambda name: counts[name])
    if most == "latin":
        return "vi" if len(_VIETNAMESE.findall(sample)) > _VIETNAMESE_SHARE * counts["latin"] else "en"
    if most == "zh":
        return "ja" if kana > _KANA_SHARE * (han + kana) else chinese_variant(sample)
    return most


def script_language(text: str) -> str:
    """The language of a short text by its first telling letters, among those not written from left to right or with
    other fonts: `ar`, `he`, `ja`, `ko`, `zh`; otherwise empty."""
    for name, language in (("kana", "ja"), ("ko", "ko"), ("han", "zh"), ("he", "he"), ("ar", "ar")):
        if _LETTERS[name].search(text):
            return language
    return ""


def chinese_variant(text: str) -> str:
    """Whether Chinese is written in traditional characters or in simplified ones."""
    traditional = sum(1 for letter in text if letter in SIMPLIFIED)
    simplified = sum(1 for letter in text if letter in _SIMPLE)
    return "zh-Hant" if traditional > simplified else "zh-Hans"


def is_cjk(letter: str) -> bool:
    """Of Chinese and Japanese, which have no spaces between words. Their punctuation is meant too."""
    return _CJK.match(letter) is not None


def is_right_to_left(text: str) -> bool:
    """By the first letter that has a direction."""
    if not _RIGHT_TO_LEFT.search(text):
        return False
    for letter in text:
        direction = unicodedata.bidirectional(letter)
        if direction == "L":
            return False
        if direction in ("R", "AL"):
            return True
    return False


def is_right_to_left_language(language: str) -> bool:
    """Of a BCP 47 tag."""
    return language.partition("-")[0] in ("ar", "he", "fa", "ur", "yi", "ps", "dv", "ckb", "sd", "ug")
