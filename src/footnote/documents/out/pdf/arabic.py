"""Arabic that can be copied from a page as it was written.

The font draws most letters as a body and its dots, and the typesetter then says of each part that it is the letter:
whoever copies a word, searches for it or listens to it gets letters twice. It also has each letter whole, though, in
the forms that letters take at the beginning, in the middle and at the end of words. So the words are set in these, and
what the file says of them is put back to the letters themselves.
"""

import re
import unicodedata
import zlib
from collections.abc import Iterable, Iterator
from functools import cache

WHOLE_MACRO = "#let whole(letters) = text(features: (ccmp: 0), letters)"
"""What sets letters that are whole already."""

_LETTERS = "\u0620-\u065f\u066e-\u06d3\u06d5\u06ea-\u06ef\u06fa-\u06ff"
_WORD = f"[{_LETTERS}][{_LETTERS}\u200c\u200d]*"
_WORDS = re.compile(_WORD)
_MAX_HEADING_WORDS = 200
"""Of a heading: the typesetter does not go through longer ones word by word."""
_JOINERS = ("\u0640", "\u200d")
"""They have one form only, and letters join with them on both sides."""
_FORMS = (*range(0xFB50, 0xFC00), *range(0xFE70, 0xFEFD))

_STREAM = re.compile(rb"(?<!\d)(\d++) 0 obj\s*(<<(?:(?!endobj).){0,600}?>>)\s*stream\r?\n", re.DOTALL)
_MAPPED = re.compile(rb"(<[0-9A-F]{4}> )<(F[BE][0-9A-F]{2})>")
_TRAILER = re.compile(rb"trailer\s*<<(.*)>>\s*startxref\s+(\d+)\s+%%EOF\s*$", re.DOTALL)


def has_arabic(text: str) -> bool:
    return _WORDS.search(text) is not None


def shape_text(text: str) -> Iterator[tuple[str, bool]]:
    """A text in pieces, and of each whether its words are in whole letters now."""
    at = begun = 0
    said: list[str] = []
    for word in _WORDS.finditer(text):
        form = _shape_word(word.group())
        if form is not None:
            said += (text[at : word.start()], form)
        else:
            if said:
                yield "".join(said) + text[at : word.start()], True
            elif text[begun : word.start()]:
                yield text[begun : word.start()], False
            yield word.group(), False
            said = []
            begun = word.end()
        at = word.end()
    if said or text[at:]:
        yield "".join((*said, text[at:])), bool(said)


def heading_rules(texts: Iterable[str]) -> str:
    """The part of the source that sets the words of headings in whole letters. They themselves stay as they are, as
    the bookmarks are made of them."""
    words: dict[str, str] = {}
    for text in texts:
        found = _WORDS.findall(text)
        if len(found) > _MAX_HEADING_WORDS:
            return ""
        words |= {word: form for word in found if (form := _shape_word(word))}
    if not words:
        return ""
    known = "".join(f'"{word}": "{form}", ' for word, form in words.items())
    return (
        f"#let shapes = ({known})\n"
        "#let reshaped(it) = {\n"
        f'  show regex("{_WORD}"): word => {{\n'
        "    let form = shapes.at(word.text, default: none)\n"
        "    if form == none { word } else { whole(form) }\n"
        "  }\n  it\n}\n"
        "#show heading: reshaped\n#show outline.entry: reshaped\n#show title: reshaped"
    )


def restore_letters(pdf: bytes) -> bytes:
    """The same file, with the letters themselves for their forms. What it says anew is appended, as PDF has it."""
    trailer = _TRAILER.search(pdf)
    changed = [piece for found in _STREAM.finditer(pdf) if (piece := _rewrite_cmap(pdf, found))]
    if trailer is None or not changed:
        return pdf
    out = bytearray(pdf if pdf.endswith(b"\n") else pdf + b"\n")
    table = bytearray(b"xref\n")
    for number, piece in changed:
        table += b"%d 1\n%010d 00000 n \n" % (number, len(out))
        out += piece
    start = len(out)
    out += table + b"trailer\n<<%s/Prev %s>>\nstartxref\n%d\n%%%%EOF\n" % (trailer[1], trailer[2], start)
    return bytes(out)


def _rewrite_cmap(pdf: bytes, found: re.Match[bytes]) -> tuple[int, bytes] | None:
    if b"FlateDecode" not in found[2] or b"/CMap" not in found[2]:
        return None
    content = zlib.decompressobj().decompress(pdf[found.end() :])
    plain = _MAPPED.sub(_rewrite_entry, content)
    if plain == content:
        return None
    packed = zlib.compress(plain, 9)
    about = re.sub(rb"/Length \d+", b"/Length %d" % len(packed), found[2], count=1)
    return int(found[1]), b"%s 0 obj\n%s\nstream\n%s\nendstream\nendobj\n" % (found[1], about, packed)


def _rewrite_entry(found: re.Match[bytes]) -> bytes:
    letters = unicodedata.normalize("NFKC", chr(int(found[2], 16)))
    return found[1] + b"<" + letters.encode("utf-16-be").hex().upper().encode() + b">"


def _shape_word(word: str) -> str | None:
    """A word in the forms of its letters; None if one of them has none."""
    forms = _forms()
    letters = [letter for letter in word if not unicodedata.combining(letter)]
    if any(letter not in forms and letter not in (*_JOINERS, "\u200c") for letter in letters):
        return None
    said: list[str] = []
    at = -1
    for letter in word:
        if unicodedata.combining(letter):
            said.append(letter)
            continue
        at += 1
        after = at > 0 and _can_join(letters[at - 1], "initial") and _can_join(letter, "final")
        before = at + 1 < len(letters) and _can_join(letter, "initial") and _can_join(letters[at + 1], "final")
        place = ("medial" if after else "initial") if before else ("final" if after else "isolated")
        said.append(forms.get(letter, {}).get(place, letter))
    return "".join(said)


def _can_join(letter: str, form: str) -> bool:
    return letter in _JOINERS or form in _forms().get(letter, ())


@cache
def _forms() -> dict[str, dict[str, str]]:
    forms: dict[str, dict[str, str]] = {}
    for number in _FORMS:
        kind, _, base = unicodedata.decomposition(chr(number)).partition(" ")
        if " " not in base and kind in ("<initial>", "<medial>", "<final>", "<isolated>"):
            forms.setdefault(chr(int(base, 16)), {}).setdefault(kind[1:-1], chr(number))
    return forms
