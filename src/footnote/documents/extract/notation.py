"""Mathematical notation and superscripts as plain text."""

import re
from collections.abc import Sequence
from itertools import groupby

from footnote.documents.extract.tokens import Attributes

_SPACE = re.compile(r"\s+")
_DISPLAY = re.compile(r"^\{\s*+\\(?:display|text)style\s++(.*)\}$", re.DOTALL)
_TEX_PICTURE = re.compile(r"(?:^|[\s_-])(?:math|tex|latex|equation|formula)(?:$|[\s_-])", re.IGNORECASE)
_IGNORED_TAGS = frozenset(("annotation", "annotation-xml", "mphantom", "mspace", "maligngroup", "malignmark"))
_SPACED = frozenset("=+−<>≤≥≠≈≡→⇒∈×±")
_BETWEEN = {"mtable": "; ", "mtr": ", ", "mlabeledtr": ", "}
_MAX_PARTS = 5_000
_MAX_DEPTH = 60
_MAX_TEX_CHARS = 4_000


class _FormulaPart:
    """An element of MathML."""

    __slots__ = ("attributes", "kids", "tag")

    def __init__(self, tag: str, attributes: Attributes) -> None:
        self.tag = tag
        self.attributes = attributes
        self.kids: list[_FormulaPart | str] = []


class Formula:
    """Collects a `math` element from its tags and texts. Its text is the TeX that comes with it, or else the MathML on
    one line."""

    def __init__(self, attributes: Attributes) -> None:
        self._root = _FormulaPart("math", attributes)
        self._open = [self._root]
        self._tex = ""
        self._remaining = _MAX_PARTS

    def start(self, tag: str, attributes: Attributes, *, closed: bool) -> None:
        self._remaining -= 1
        if self._remaining < 0 or len(self._open) >= _MAX_DEPTH:
            return
        part = _FormulaPart(tag, attributes)
        self._open[-1].kids.append(part)
        if not closed:
            self._open.append(part)

    def end(self, tag: str) -> None:
        for at in range(len(self._open) - 1, 0, -1):
            if self._open[at].tag == tag:
                del self._open[at:]
                return

    def text(self, text: str) -> None:
        part = self._open[-1]
        if part.tag == "annotation" and "tex" in part.attributes.get("encoding", "").lower():
            self._tex += text
        elif self._remaining >= 0 and text.strip():
            part.kids.append(_SPACE.sub(" ", text.strip()))

    def to_text(self) -> str:
        return as_tex(self._tex or self._root.attributes.get("alttext", "") or _children_text(self._root.kids))


def as_tex(source: str) -> str:
    """TeX between dollar signs for use in a line of text; empty if there is no formula."""
    source = _SPACE.sub(" ", source).strip()
    if (within := _DISPLAY.match(source)) is not None:
        source = within[1].strip()
    return f"${source}$" if source and "$" not in source and len(source) <= _MAX_TEX_CHARS else source[:_MAX_TEX_CHARS]


def image_formula(attributes: Attributes) -> str:
    """The formula that an image shows: some sites render formulas as images, with the TeX as the alternative text."""
    alt = attributes.get("alt", "")
    is_formula = alt.startswith("{\\displaystyle") or _TEX_PICTURE.search(attributes.get("class", ""))
    return as_tex(alt) if alt and is_formula else ""


def _children_text(kids: "Sequence[_FormulaPart | str]") -> str:
    return "".join(kid if isinstance(kid, str) else _element_text(kid) for kid in kids)


def _element_text(part: _FormulaPart) -> str:
    if part.tag in _IGNORED_TAGS:
        return ""
    kids = [kid for kid in part.kids if isinstance(kid, str) or kid.tag not in _IGNORED_TAGS]
    texts = [kid if isinstance(kid, str) else _element_text(kid) for kid in kids]
    match part.tag, texts:
        case (("msup" | "mover"), [base, above]):
            line = f"{base}^{_group(above)}"
        case (("msub" | "munder"), [base, below]):
            line = f"{base}_{_group(below)}"
        case (("msubsup" | "munderover"), [base, below, above]):
            line = f"{base}_{_group(below)}^{_group(above)}"
        case "mfrac", [above, below]:
            line = f"{_parenthesize(above)}/{_parenthesize(below)}"
        case "mroot", [base, degree]:
            line = f"√[{degree}]{_parenthesize(base)}"
        case "msqrt", _:
            line = f"√{_parenthesize(''.join(texts))}"
        case "mfenced", _:
            line = f"{part.attributes.get('open', '(')}{', '.join(texts)}{part.attributes.get('close', ')')}"
        case "mo", [sign] if sign in _SPACED:
            line = f" {sign} "
        case tag, _:
            line = _BETWEEN.get(tag, "").join(texts)
    return f" {line} " if part.tag in ("mtext", "ms") else line


def _group(text: str) -> str:
    return text if len(text) == 1 else f"{{{text}}}"


def _parenthesize(text: str) -> str:
    text = text.strip()
    return text if len(text) == 1 or text.isdecimal() else f"({text})"


# Superscripts: reference marks and exponents --------------------------------------------------------------------------
#
# A raised digit becomes its Unicode superscript ("2027³", "10³", "m²"): marks and exponents need not be distinguished,
# nothing is lost, and the number before it stays a number. Ordinals (1st) and raised words stay plain letters, as users
# type them.

SUPERSCRIPT_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_FIGURES = dict(zip("0123456789", SUPERSCRIPT_DIGITS, strict=True))
_LETTERS = dict(zip("abcdfghijklmnprstuvwxyz", "ᵃᵇᶜᵈᶠᵍʰⁱʲᵏˡᵐⁿᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True))
"""Without e and o, which are raised in ordinals (XXe, No)."""
_SIGNS = {"+": "⁺", "-": "⁻", "−": "⁻", "–": "⁻"}


def superscript(run: str, before: str) -> str:
    """`run` are the raised characters, `before` is the text in front of them."""
    words = [[*group] for is_letter, group in groupby(run, str.isalpha) if is_letter]
    if any(len(word) > 1 or word[0] not in _LETTERS for word in words) or (words and before[-1:].isdigit()):
        return run
    sign = _SIGNS.get(run[:1]) if run[1:2].isdigit() else None
    signed = sign + run[1:] if sign else run
    return "".join(_FIGURES.get(letter) or _LETTERS.get(letter, letter) for letter in signed)
