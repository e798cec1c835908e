"""The character encoding of a document. Declarations are often missing, and often wrong.

UTF-16 and UTF-32 are detected by a byte order mark, by zero bytes, or by typical characters.
"""

import codecs
import re
import unicodedata

from cchardet import detect

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
"""Browsers decode these as a superset of the declared encoding, and pages rely on it."""

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
"""The encodings that a page may declare. Python knows more, some of which do not encode text."""

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
"""So many valid characters of UTF-8 are no coincidence."""


def decode(body: bytes, content_type: str) -> str:
    if body.startswith(_UTF_8_BOM):
        return body[len(_UTF_8_BOM) :].decode("utf-8", "replace")
    if wide := detect_wide_encoding(body, content_type):
        return decode_wide(body, wide)
    name = _encoding(body, content_type)
    text = body.decode(name, "replace")
    # In this encoding alone, Vietnamese tones are separate combining characters.
    return unicodedata.normalize("NFC", text) if name == "cp1258" else text


def _encoding(body: bytes, content_type: str) -> str:
    if body.isascii():
        return "iso2022_jp" if b"\x1b$" in body else "utf-8"
    declared = _declared_encodings(body, content_type)
    if _is_plausible_utf_8(body, declared):
        return "utf-8"
    fitting = [name for name in declared if name != _WESTERN and _decodes_cleanly(body, name)]
    # Without a declaration, text with a few broken characters may still be UTF-8.
    if not declared and _decodes_cleanly(body, "utf-8"):
        fitting.append("utf-8")
    return fitting[0] if fitting else _choose_encoding(body, declared)


def _choose_encoding(body: bytes, declared: list[str]) -> str:
    """Servers declare Latin-1 by default, and it decodes anything: it is believed only if the text looks Western."""
    sample = _MARKUP.sub(b" ", body[:_SAMPLE])
    if declared == [_WESTERN] and not _is_mostly_high(sample):
        return _WESTERN
    return _detect_encoding(sample) or next((name for name in declared if name != "utf-8"), _WESTERN)


def _declared_encodings(body: bytes, content_type: str) -> list[str]:
    """Declared by the server, then by the document. UTF-16 has been detected before."""
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


def _is_plausible_utf_8(body: bytes, declared: list[str]) -> bool:
    text = _decode_utf_8(body)
    if text is None or not declared or declared[0] not in _DOUBLE:
        return text is not None
    return sum(not character.isascii() for character in text[:_SAMPLE]) >= _MIN_EVIDENCE


def _decodes_cleanly(body: bytes, name: str) -> bool:
    """Apart from a few broken characters, which are common in pages with several authors."""
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
    """The detector takes short texts for Chinese or Greek, which would not contain so many kana."""
    try:
        text = sample.decode("euc_jp")
    except UnicodeDecodeError:
        return False
    kana = sum("\u3041" <= character <= "\u30fe" for character in text)
    return kana >= 3 and kana * 5 > sum(not character.isascii() for character in text)


def _is_korean(sample: bytes) -> bool:
    """The detector takes rows of a Korean table for Chinese. Chinese decoded as Korean is half Chinese characters;
    Japanese does not decode as long as rare syllables are excluded."""
    text = sample.decode("euc_kr", "replace").removesuffix("\ufffd")
    foreign = sum(character.isalpha() and not character.isascii() for character in text)
    syllables = sum("\uac00" <= character <= "\ud7a3" for character in text)
    return syllables >= _MIN_EVIDENCE and syllables * 20 >= foreign * 19 and "\ufffd" not in text


def _is_mostly_high(sample: bytes) -> bool:
    """Western text has few letters beyond ASCII, text in other scripts hardly any within it."""
    high = len(sample) - len(sample.translate(None, _HIGH))
    letters = len(sample) - len(sample.translate(None, _LETTERS))
    return high * 5 > letters


# UTF-16 and UTF-32 ---------------------------------------------------------------------------------------


_BOMS = (
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_WIDE_SAMPLE = 4096
_DECLARED = re.compile(
    r"charset\s*+=\s*+(?:[\"']\s*+)?(?:utf-?16(?P<order>[lb]e)?|unicode|ucs-?2|iso-10646-ucs-2)\b", re.IGNORECASE
)
_CHINESE_OR_JAPANESE = re.compile("[\u4e00-\u9fff\u3000-\u30ff\uff01-\uffee\u2010-\u2026\uac00-\ud7a3\\s!-~]")
_SIGN = re.compile("[\u3001\u3002\u3008-\u3011\u3041-\u30fe\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]")
"""Punctuation and kana. No double-byte encoding has their first byte at that place."""
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1f]")
"""One byte of the letters of many scripts; hardly found in UTF-8."""
_MIN_CHARACTERS = 8
"""Fewer characters may fit by chance."""
_NO_TEXT = frozenset(("Cn", "Co", "Cs"))
"""Unassigned, private use, surrogate."""


def detect_wide_encoding(body: bytes, content_type: str) -> str | None:
    """The name of the UTF-16 or UTF-32 encoding; None: it is another one."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return name
    sample = body[:_WIDE_SAMPLE]
    return _by_zeros(sample) or (_by_characters(sample, content_type) if _decode_utf_8(sample) is None else None)


def decode_wide(body: bytes, encoding: str) -> str:
    """The text without its byte order mark."""
    return body.decode(encoding, "replace").removeprefix("\ufeff")


def to_utf_8(beginning: bytes, content_type: str) -> bytes:
    """The beginning of a text, converted to UTF-8. Characters that no text has become zeros, so that binary data behind
    a byte order mark is not taken for text."""
    encoding = detect_wide_encoding(beginning, content_type)
    if encoding is None:
        return beginning.removeprefix(_UTF_8_BOM)
    text = decode_wide(beginning, encoding)
    return "".join("\0" if _is_odd(character) else character for character in text).encode()


def _by_zeros(sample: bytes) -> str | None:
    """One byte of each character of markup, and of each space, is zero."""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if not max(even, odd) or max(even, odd) * 25 < len(sample) or min(even, odd) * 10 > max(even, odd):
        return None
    if max(even, odd) * 4 < len(sample) and not _CONTROL.search(sample) and _decode_utf_8(sample) is not None:
        return None  # a stray zero in a short text
    return "utf-16-be" if even > odd else "utf-16-le"


def _by_characters(sample: bytes, content_type: str) -> str | None:
    """For Chinese and Japanese, which hardly have spaces. A declared UTF-16 is believed if the result is text."""
    declared = _DECLARED.search(content_type)
    order = declared["order"] if declared else None
    for name in [f"utf-16-{order.lower()}"] if order else ["utf-16-le", "utf-16-be"]:
        text = decode_wide(sample, name)
        if declared and sum(map(_is_odd, text)) * 50 <= len(text):
            return name
        if not declared and _is_chinese_or_japanese(text):
            return name
    return None


def _is_chinese_or_japanese(text: str) -> bool:
    if len(text) < _MIN_CHARACTERS:
        return False
    fitting, signs = len(_CHINESE_OR_JAPANESE.findall(text)), len(_SIGN.findall(text))
    return fitting * 50 >= len(text) * 49 and signs * 40 >= len(text)


def _decode_utf_8(body: bytes) -> str | None:
    """None: the bytes are no UTF-8. A truncated body may end inside a character."""
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(body, final=False)
    except UnicodeDecodeError:
        return None


def _is_odd(character: str) -> bool:
    return character == "\ufffd" or unicodedata.category(character) in _NO_TEXT
