"""Arabic text that is copied from a PDF as it was written.

The font draws most letters as a body and its dots, and Typst maps each of these glyphs to the letter: copied words, the
search and screen readers get letters twice. The font also has each letter as one glyph, in the presentation forms that
letters take at the beginning, in the middle and at the end of words. So words are set in presentation forms, and the
mapping to text in the PDF is changed back to the letters themselves.
"""

import re
import unicodedata
import zlib
from collections.abc import Iterable, Iterator
from functools import cache

WHOLE_MACRO = "#let whole(letters) = text(features: (ccmp: 0), letters)"
"""The Typst function that sets presentation forms, without decomposing them."""

_LETTERS = "\u0620-\u065f\u066e-\u06d3\u06d5\u06ea-\u06ef\u06fa-\u06ff"
_WORD = f"[{_LETTERS}][{_LETTERS}\u200c\u200d]*"
_WORDS = re.compile(_WORD)
_MAX_HEADING_WORDS = 200
"""Typst does not apply the show rule word by word to longer headings."""
_JOINERS = ("\u0640", "\u200d")
"""They have a single form, and letters join them on both sides."""
_FORMS = (*range(0xFB50, 0xFC00), *range(0xFE70, 0xFEFD))

_STREAM = re.compile(rb"(?<!\d)(\d++) 0 obj\s*(<<(?:(?!endobj).){0,600}?>>)\s*stream\r?\n", re.DOTALL)
_MAPPED = re.compile(rb"(<[0-9A-F]{4}> )<(F[BE][0-9A-F]{2})>")
_TRAILER = re.compile(rb"trailer\s*+<<(.*)>>\s*+startxref\s++(\d++)\s++%%EOF\s*+\Z", re.DOTALL)


def has_arabic(text: str) -> bool:
    return _WORDS.search(text) is not None


def shape_text(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, each with whether its words are in presentation forms."""
    at = plain_start = 0
    shaped: list[str] = []
    for word in _WORDS.finditer(text):
        form = _shape_word(word.group())
        if form is not None:
            shaped += (text[at : word.start()], form)
        else:
            if shaped:
                yield "".join(shaped) + text[at : word.start()], True
            elif text[plain_start : word.start()]:
                yield text[plain_start : word.start()], False
            yield word.group(), False
            shaped = []
            plain_start = word.end()
        at = word.end()
    if shaped or text[at:]:
        yield "".join((*shaped, text[at:])), bool(shaped)


def heading_rules(texts: Iterable[str]) -> str:
    """Typst rules that show the words of headings in presentation forms. The headings themselves keep their letters,
    since bookmarks are made of them."""
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
    """Maps presentation forms back to their letters, in an incremental update appended to the file."""
    # Only the last trailer counts; searching for the first one that fits would read the rest again for each of them.
    trailer = _TRAILER.match(pdf, max(pdf.rfind(b"trailer"), 0))
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
    """A word in presentation forms; None if one of its letters has none."""
    forms = _forms()
    letters = [letter for letter in word if not unicodedata.combining(letter)]
    if any(letter not in forms and letter not in (*_JOINERS, "\u200c") for letter in letters):
        return None
    shaped: list[str] = []
    at = -1
    for letter in word:
        if unicodedata.combining(letter):
            shaped.append(letter)
            continue
        at += 1
        after = at > 0 and _can_join(letters[at - 1], "initial") and _can_join(letter, "final")
        before = at + 1 < len(letters) and _can_join(letter, "initial") and _can_join(letters[at + 1], "final")
        place = ("medial" if after else "initial") if before else ("final" if after else "isolated")
        shaped.append(forms.get(letter, {}).get(place, letter))
    return "".join(shaped)


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
