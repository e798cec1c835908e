"""Which tags and fonts Word wants for a language. Fonts are named, never embedded: Word has one for each script."""

from msgspec import Struct

from footnote.documents.scripts import is_right_to_left_language

_EAST_ASIAN = {
    "ja": ("ja-JP", "Yu Gothic"),
    "ko": ("ko-KR", "Malgun Gothic"),
    "zh-Hant": ("zh-TW", "Microsoft JhengHei"),
}
_CHINESE = "zh-CN", "Microsoft YaHei"
_COMPLEX = {
    "ar": ("ar-SA", "Arial"),
    "fa": ("fa-IR", "Arial"),
    "ur": ("ur-PK", "Arial"),
    "he": ("he-IL", "Arial"),
    "th": ("th-TH", "Leelawadee UI"),
    "lo": ("lo-LA", "Leelawadee UI"),
    "km": ("km-KH", "Leelawadee UI"),
    "my": ("my-MM", "Myanmar Text"),
    "hi": ("hi-IN", "Nirmala UI"),
    "bn": ("bn-IN", "Nirmala UI"),
    "ta": ("ta-IN", "Nirmala UI"),
}
_ARABIC = "ar-SA", "Arial"
_REGIONS = {
    "en": "en-US", "vi": "vi-VN", "de": "de-DE", "fr": "fr-FR", "es": "es-ES", "it": "it-IT", "pt": "pt-PT",
    "ru": "ru-RU", "el": "el-GR", "pl": "pl-PL", "nl": "nl-NL", "tr": "tr-TR", "uk": "uk-UA", "am": "am-ET",
    "ka": "ka-GE", "hy": "hy-AM", "id": "id-ID",
}  # fmt: skip
LATIN_FONT = "Calibri"


class Speech(Struct, frozen=True):
    """Tags and fonts of the three kinds of letters that Word tells apart."""

    latin: str
    east_asian: str
    complex: str
    east_asian_font: str
    complex_font: str
    from_the_right: bool


def speech(language: str) -> Speech:
    """`language` is a BCP 47 tag."""
    base = language.partition("-")[0].lower()
    east_asian, east_asian_font = _EAST_ASIAN.get(language) or _EAST_ASIAN.get(base) or _CHINESE
    complex_, complex_font = _COMPLEX.get(base) or _ARABIC
    latin = _REGIONS.get(base, "en-US") if language.isalpha() else language
    return Speech(
        latin="en-US" if base in ("zh", "ja", "ko") or base in _COMPLEX else latin,
        east_asian=east_asian,
        complex=complex_,
        east_asian_font=east_asian_font,
        complex_font=complex_font,
        from_the_right=is_right_to_left_language(language),
    )
