"""Texts of which every character takes two bytes or more: told by their mark, by their zeros, or by their signs."""

import codecs
import re
import unicodedata

_BOMS = (
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_UTF_8_BOM = b"\xef\xbb\xbf"
_SAMPLE = 4096
_DECLARED = re.compile(
    r"charset\s*+=\s*+(?:[\"']\s*+)?(?:utf-?16(?P<order>[lb]e)?|unicode|ucs-?2|iso-10646-ucs-2)\b", re.IGNORECASE
)
_CHINESE_OR_JAPANESE = re.compile("[\u4e00-\u9fff\u3000-\u30ff\uff01-\uffee\u2010-\u2026\uac00-\ud7a3\\s!-~]")
_SIGN = re.compile("[\u3001\u3002\u3008-\u3011\u3041-\u30fe\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]")
"""Punctuation and kana. No encoding of two bytes a character has the first byte of theirs in that place."""
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1f]")
"""Halves of the letters of many scripts; a text in UTF-8 has hardly any."""
_MIN_CHARACTERS = 8
"""Fewer characters make sense by chance."""
_NO_TEXT = frozenset(("Cn", "Co", "Cs"))
"""What has no meaning, has only a private one, or is half a character."""


def detect_wide_encoding(body: bytes, content_type: str) -> str | None:
    """UTF-16 or UTF-32, if it is one of these."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return name
    sample = body[:_SAMPLE]
    return _by_zeros(sample) or (None if _is_utf_8(sample) else _by_characters(sample, content_type))


def decode_wide(body: bytes, encoding: str) -> str:
    """The text, without its mark."""
    return body.decode(encoding, "replace").removeprefix("\ufeff")


def to_utf_8(beginning: bytes, content_type: str) -> bytes:
    """The beginning of a text as it would be in UTF-8. Where a wide one has what no text has, a zero stands for it: a
    mark alone makes no text."""
    encoding = detect_wide_encoding(beginning, content_type)
    if encoding is None:
        return beginning.removeprefix(_UTF_8_BOM)
    text = decode_wide(beginning, encoding)
    return "".join("\0" if _is_odd(character) else character for character in text).encode()


def _by_zeros(sample: bytes) -> str | None:
    """One half of each letter of markup, and of each space, is zero."""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if not max(even, odd) or max(even, odd) * 25 < len(sample) or min(even, odd) * 10 > max(even, odd):
        return None
    if max(even, odd) * 4 < len(sample) and not _CONTROL.search(sample) and _is_utf_8(sample):
        return None  # a zero or two in a short text
    return "utf-16-be" if even > odd else "utf-16-le"


def _by_characters(sample: bytes, content_type: str) -> str | None:
    """Chinese and Japanese have hardly a space. A server that says UTF-16 is believed where that makes a text."""
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


def _is_utf_8(sample: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=False)
    except UnicodeDecodeError:
        return False
    return True


def _is_odd(character: str) -> bool:
    return character == "\ufffd" or unicodedata.category(character) in _NO_TEXT
