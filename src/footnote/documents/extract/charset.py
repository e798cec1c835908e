"""In which encoding a document is written. Declarations are often missing, and often wrong."""

import codecs
import re
import unicodedata

from cchardet import detect

from footnote.documents.wide_encodings import decode_wide, detect_wide_encoding

_UTF_8_BOM = b"\xef\xbb\xbf"

_WIDER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "hz": "gb18030",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "utf-16": "utf_16_le",
}
"""Browsers read these as a larger encoding that holds the first, and pages rely on it."""

_ALIASES = {
    "x-sjis": "cp932",
    "shift-jis": "cp932",
    "windows-31j": "cp932",
    "x-euc-jp": "euc_jp",
    "x-gbk": "gb18030",
    "x-x-big5": "big5hkscs",
    "big5-hkscs": "big5hkscs",
    "ks_c_5601-1987": "cp949",
    "ks_c_5601-1989": "cp949",
    "windows-949": "cp949",
    "uhc": "cp949",
    "windows-874": "cp874",
    "dos-874": "cp874",
    "unicode": "utf_16_le",
    "x-mac-roman": "mac_roman",
    "macintosh": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic",
    "iso-8859-8-i": "iso8859_8",
    "visual": "iso8859_8",
    "koi": "koi8_r",
    "koi8": "koi8_r",
    "koi8-ru": "koi8_u",
    **{f"x-cp125{number}": f"cp125{number}" for number in range(9)},
}

_SINGLE = {f"cp125{number}" for number in range(9)} | {f"iso8859-{number}" for number in (*range(2, 17),)}
_DOUBLE = frozenset(("gb18030", "big5hkscs", "cp932", "euc_jp", "cp949", "johab", "iso2022_jp", "euc_jis_2004"))
_KNOWN = frozenset(_SINGLE | _DOUBLE | {"utf-8", "utf-16-le", "utf-16-be", "koi8-r", "koi8-u", "cp866", "cp874"}) | {
    "mac-roman",
    "mac-cyrillic",
}
"""What a page may ask for. Python knows more, among them some that are no encodings of text."""

_WESTERN = "cp1252"
_GUESSES = frozenset(_KNOWN - {"iso8859-10", "iso8859-13", "iso8859-14", "iso8859-16", "iso8859-3", "iso8859-4"})
"""The detector also names encodings in which hardly a page was ever written, mostly for short texts."""

_HTTP = re.compile(r"charset\s*+=\s*+(?:[\"']\s*+)?([^\s\"';,]++)", re.IGNORECASE)
_META = re.compile(rb"<meta\b[^>]{0,500}?charset\s*+=\s*+(?:[\"']\s*+)?([a-zA-Z0-9_:.\-]++)", re.IGNORECASE)
_XML = re.compile(rb"\s*<\?xml\b[^>]{0,200}?encoding\s*=\s*[\"']([a-zA-Z0-9_:.\-]+)")
_MARKUP = re.compile(rb"<[^<>]*>")
_HIGH = bytes(range(0x80, 0x100))
_LETTERS = _HIGH + b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DECLARED_WITHIN = 4096
_SAMPLE = 100_000
_MIN_EVIDENCE = 4
"""As many characters that make sense as UTF-8 do not come about by chance."""


def decode(body: bytes, content_type: str) -> str:
    if body.startswith(_UTF_8_BOM):
        return body[len(_UTF_8_BOM) :].decode("utf-8", "replace")
    if wide := detect_wide_encoding(body, content_type):
        return decode_wide(body, wide)
    name = _encoding(body, content_type)
    text = body.decode(name, "replace")
    # Vietnamese has its tones as characters of their own there, and nowhere else.
    return unicodedata.normalize("NFC", text) if name == "cp1258" else text


def _encoding(body: bytes, content_type: str) -> str:
    if body.isascii():
        return "iso2022_jp" if b"\x1b$" in body else "utf-8"
    told = _declared_encodings(body, content_type)
    if _is_utf_8(body, told):
        return "utf-8"
    fitting = [name for name in told if name != _WESTERN and _decodes_cleanly(body, name)]
    # Broken here and there, and told by nobody, it may still be nothing else.
    if not told and _decodes_cleanly(body, "utf-8"):
        fitting.append("utf-8")
    return fitting[0] if fitting else _choose_encoding(body, told)


def _choose_encoding(body: bytes, declared: list[str]) -> str:
    """Servers say Latin-1 unasked, and it fits everything: it is believed of text that looks like it."""
    sample = _MARKUP.sub(b" ", body[:_SAMPLE])
    if declared == [_WESTERN] and not _is_mostly_high(sample):
        return _WESTERN
    return _detect_encoding(sample) or next((name for name in declared if name != "utf-8"), _WESTERN)


def _declared_encodings(body: bytes, content_type: str) -> list[str]:
    """What the server says, then what the document says. UTF-16 would have shown."""
    beginning = body[:_DECLARED_WITHIN]
    labels = [found[1] for found in (_HTTP.search(content_type),) if found]
    labels += [found[1].decode("ascii") for found in (_XML.match(beginning), _META.search(beginning)) if found]
    return [name for name in dict.fromkeys(map(_encoding_name, labels)) if name and not name.startswith("utf-16")]


def _encoding_name(label: str) -> str | None:
    label = label.strip().lower()
    label = _ALIASES.get(label, label)
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return None
    name = codecs.lookup(_WIDER[name]).name if name in _WIDER else name
    return name if name in _KNOWN else None


def _is_utf_8(body: bytes, declared: list[str]) -> bool:
    try:
        # A body that was cut ends anywhere.
        text = codecs.getincrementaldecoder("utf-8")().decode(body, final=False)
    except UnicodeDecodeError:
        return False
    if not declared or declared[0] not in _DOUBLE:
        return True
    return sum(not character.isascii() for character in text[:_SAMPLE]) >= _MIN_EVIDENCE


def _decodes_cleanly(body: bytes, name: str) -> bool:
    """Apart from a few broken characters, which pages of many hands have."""
    text = body.decode(name, "replace").removesuffix("\ufffd")
    foreign = len(text) - len(text.encode("ascii", "ignore"))
    return text.count("\ufffd") * 20 <= foreign


def _detect_encoding(sample: bytes) -> str | None:
    label = detect(sample)["encoding"]
    name = _encoding_name(label) if label else None
    if name != "cp932" and _is_euc_jp(sample):
        return "euc_jp"
    if name != "cp949" and _is_korean(sample):
        return "cp949"
    return name if name in _GUESSES and name != "utf-8" else None


def _is_euc_jp(sample: bytes) -> bool:
    """Short texts are taken for Chinese or Greek, which would not have that many kana."""
    try:
        text = sample.decode("euc_jp")
    except UnicodeDecodeError:
        return False
    kana = sum("\u3041" <= character <= "\u30fe" for character in text)
    return kana >= 3 and kana * 5 > sum(not character.isascii() for character in text)


def _is_korean(sample: bytes) -> bool:
    """Rows of a table are taken for Chinese. Read as Korean, Chinese is half Chinese characters; Japanese is nothing,
    as long as syllables that hardly occur are left out."""
    text = sample.decode("euc_kr", "replace").removesuffix("\ufffd")
    foreign = sum(character.isalpha() and not character.isascii() for character in text)
    syllables = sum("\uac00" <= character <= "\ud7a3" for character in text)
    return syllables >= _MIN_EVIDENCE and syllables * 20 >= foreign * 19 and "\ufffd" not in text


def _is_mostly_high(sample: bytes) -> bool:
    """Western text has a few letters beyond ASCII, other text hardly any within."""
    high = len(sample) - len(sample.translate(None, _HIGH))
    letters = len(sample) - len(sample.translate(None, _LETTERS))
    return high * 5 > letters
