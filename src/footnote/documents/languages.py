"""The language of a document: detected by its script, its direction, and the words that we add in it."""

import re
import unicodedata
from collections.abc import Mapping

from footnote.text.terms import SIMPLIFIED

_SAMPLE = 20_000
"""Characters that suffice to detect a language."""

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
# A character of these scripts carries about as much as a short word.
_DENSE = ("kana", "han", "ko")
_DENSITY = 3
_VIETNAMESE_SHARE = 0.06
_KANA_SHARE = 0.1
_SIMPLE = frozenset(SIMPLIFIED.values())
_CJK = re.compile(f"[{_WRITING['kana']}{_WRITING['han']}\u3000-\u303f\uff00-\uffef]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")


def detect_language(text: str) -> str:
    """The main language of a text by its script, as a BCP 47 tag; English if the script does not tell."""
    if text.isascii():
        return "en"
    sample = text if len(text) <= _SAMPLE else text[: _SAMPLE // 2] + text[len(text) // 2 :][: _SAMPLE // 2]
    counts = {name: len(letters.findall(sample)) for name, letters in _LETTERS.items()}
    counts |= {name: counts[name] * _DENSITY for name in _DENSE}
    han, kana = counts.pop("han"), counts.pop("kana")
    counts["zh"] = han + kana
    script = max(counts, key=lambda name: counts[name])
    if script == "latin":
        return "vi" if len(_VIETNAMESE.findall(sample)) > _VIETNAMESE_SHARE * counts["latin"] else "en"
    if script == "zh":
        return "ja" if kana > _KANA_SHARE * (han + kana) else chinese_variant(sample)
    return script


def script_language(text: str) -> str:
    """The language of a short text if it needs another font or direction than Latin text: `ar`, `he`, `ja`, `ko`, `zh`;
    otherwise empty."""
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
    """Whether a character belongs to Chinese or Japanese, which have no spaces between words; also punctuation."""
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
    """`language` is a BCP 47 tag."""
    return language.partition("-")[0] in ("ar", "he", "fa", "ur", "yi", "ps", "dv", "ckb", "sd", "ug")


# Words that a converter adds to a document, in its language -----------------------------------------------------------

_CONTENTS = {
    "ar": "المحتويات",
    "de": "Inhalt",
    "el": "Περιεχόμενα",
    "en": "Contents",
    "es": "Índice",
    "fr": "Sommaire",
    "he": "תוכן העניינים",
    "hi": "विषय-सूची",
    "ja": "目次",
    "ko": "차례",
    "ru": "Содержание",
    "th": "สารบัญ",
    "vi": "Mục lục",
    "zh": "目录",
    "zh-Hant": "目錄",
}
_OMITTED_ROWS = {
    "en": "{} more rows are not shown.",
    "ja": "ほかに {} 行は省略しました。",
    "ko": "{}개 행은 생략되었습니다.",
    "vi": "Còn {} hàng không được in ở đây.",
    "zh": "另有 {} 行未显示。",
    "zh-Hant": "另有 {} 列未顯示。",
}
_CALLOUTS = ("note", "tip", "important", "warning", "caution")
_CALLOUT_TITLES = {
    "ar": "ملاحظة|نصيحة|مهم|تحذير|تنبيه",
    "de": "Hinweis|Tipp|Wichtig|Warnung|Vorsicht",
    "en": "Note|Tip|Important|Warning|Caution",
    "es": "Nota|Consejo|Importante|Advertencia|Precaución",
    "fr": "Remarque|Conseil|Important|Avertissement|Attention",
    "ja": "注記|ヒント|重要|警告|注意",
    "ko": "참고|팁|중요|경고|주의",
    "ru": "Примечание|Совет|Важно|Предупреждение|Осторожно",
    "vi": "Ghi chú|Mẹo|Quan trọng|Cảnh báo|Thận trọng",
    "zh": "注|提示|重要|警告|小心",
    "zh-Hant": "註|提示|重要|警告|小心",
}


def callout_title(language: str, callout: str) -> str:
    """The title of a note, a tip or a warning."""
    return _localized(_CALLOUT_TITLES, language).split("|")[_CALLOUTS.index(callout)]


def contents_title(language: str) -> str:
    return _localized(_CONTENTS, language)


def omitted_rows_note(language: str, rows: int) -> str:
    """The sentence below a table of which rows are left out."""
    return _localized(_OMITTED_ROWS, language).format(f"{rows:,}")


def _localized(words: Mapping[str, str], language: str) -> str:
    return words.get(language) or words.get(language.partition("-")[0]) or words["en"]
