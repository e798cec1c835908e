"""The few words of ours that stand in a document, in its language."""

from collections.abc import Mapping

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
    """What a note, a tip or a warning begins with."""
    return _localized(_CALLOUT_TITLES, language).split("|")[_CALLOUTS.index(callout)]


def contents_title(language: str) -> str:
    return _localized(_CONTENTS, language)


def omitted_rows_note(language: str, rows: int) -> str:
    """Says that a table is longer than it is shown."""
    return _localized(_OMITTED_ROWS, language).format(f"{rows:,}")


def _localized(words: Mapping[str, str], language: str) -> str:
    return words.get(language) or words.get(language.partition("-")[0]) or words["en"]
