"""Formulas: from LaTeX through MathML to OMML, the mathematics of Word."""

import html
import re
from collections.abc import Sequence
from typing import Any

from footnote.documents.markdown.latex import simplify_latex
from footnote.documents.out.docx.markup import escape_attribute, escape_text

try:
    from latex2mathml.converter import convert_to_element
except ImportError:
    # Formulas are then shown as their source.
    convert_to_element = None

_MAX_LATEX_CHARS = 5000
_ENVIRONMENT = re.compile(r"\\(begin|end)\{aligned\}")
_WORDS_OF = re.compile(r"\\text\s*\{[^{}]*\}")
_AMPERSAND = re.compile(r"(?<!\\)\\&")
_UNKNOWN_COMMAND = re.compile(r"\\[A-Za-z]+|&")
_ALIGNED = "rl" * 10
_NARY_SIGNS = frozenset("∑∏∐⋂\u22c3⋀\u22c1⨁⨂⨀∫∬∭∮∯∰")
_INTEGRALS = frozenset("∫∬∭∮∯∰")
_LIMITS = frozenset(("lim", "max", "min", "sup", "inf", "limsup", "liminf", "argmax", "argmin", "det", "gcd", "Pr"))
_OPERAND_ENDS = frozenset("=<>≤≥≈≠≡\u223c→⇒⇔↦,;+-\u2212±∈⊂⊆")
_ACCENTS = {
    "^": "\u0302", "~": "\u0303", "\u02dc": "\u0303", "¯": "\u0305", "→": "\u20d7", "˙": "\u0307", "¨": "\u0308",
    "ˇ": "\u030c", "˘": "\u0306", "\u00b4": "\u0301", "`": "\u0300", "⃛": "\u20db", "←": "\u20d6", "↔": "\u20e1",
}  # fmt: skip
_BARS = frozenset("―‾_¯")
_BRACES = frozenset("⏞⏟⎴⎵⏜⏝")
_OPENING, _CLOSING = frozenset("([{|‖⌊⌈⟨"), frozenset(")]}|‖⌋⌉⟩")
_JUSTIFIED = {"left": "left", "right": "right"}
_SPACES = {"2em": "\u2003\u2003", "1em": "\u2003"}


class _UnsupportedFormula(Exception):
    """The formula has no equivalent in OMML."""


def latex_to_omml(latex: str, *, display: bool = False) -> str | None:
    """None: the formula cannot be converted."""
    if convert_to_element is None or len(latex) > _MAX_LATEX_CHARS:
        return None
    prepared = _ENVIRONMENT.sub(_array, simplify_latex(latex)).replace(r"\operatorname*", r"\operatorname")
    prepared = _AMPERSAND.sub(r"\\text{&}", _WORDS_OF.sub(lambda words: words.group().replace(r"\&", "&"), prepared))
    try:
        inside = _sequence(list(convert_to_element(prepared)))
    except (_UnsupportedFormula, RecursionError):
        return None
    except Exception:  # noqa: BLE001 - it has an error for each mistake in a formula, and some are plain IndexErrors
        return None
    if not inside:
        return None
    math = f"<m:oMath>{inside}</m:oMath>"
    return f"<m:oMathPara>{math}</m:oMathPara>" if display else math


def _array(found: re.Match[str]) -> str:
    return f"\\begin{{array}}{{{_ALIGNED}}}" if found[1] == "begin" else r"\end{array}"


def _text(element: Any) -> str:
    text = html.unescape(element.text or "")
    if element.tag in ("mi", "mo", "mn") and _UNKNOWN_COMMAND.match(text):
        raise _UnsupportedFormula
    return text


def _sequence(elements: Sequence[Any]) -> str:
    """Elements side by side. A sum gets its operand, and a bracket its content."""
    pieces: list[str] = []
    at = 0
    while at < len(elements):
        element = elements[at]
        end = _bracket_end(elements, at)
        if end:
            pieces.append(_delimited(elements[at:end]))
            at = end
        elif (sign := _nary_sign(element)) is not None:
            end = at + 1
            while end < len(elements) and _operator_text(elements[end]) not in _OPERAND_ENDS:
                end += 1
            operand = _sequence(elements[at + 1 : end])
            # Word shows a placeholder for a sum without an operand.
            pieces.append(_nary(element, sign, operand) if operand else _element(element))
            at = end
        else:
            pieces.append(_element(element))
            at += 1
    return "".join(pieces)


def _operator_text(element: Any) -> str:
    return _text(element) if element.tag == "mo" else ""


def _bracket_end(elements: Sequence[Any], start: int) -> int:
    """The index after the bracket that begins at `start` and stretches with its content; 0: there is none."""
    first = elements[start]
    if first.tag != "mo":
        return 0
    if first.get("form") == "prefix":
        return len(elements)
    is_around_table = start + 2 < len(elements) and elements[start + 1].tag == "mtable"
    if is_around_table and _text(first) in _OPENING and _operator_text(elements[start + 2]) in _CLOSING:
        return start + 3
    return 0


def _delimited(elements: Sequence[Any]) -> str:
    last = elements[-1]
    has_end = len(elements) > 1 and last.tag == "mo" and (last.get("form") == "postfix" or _text(last) in _CLOSING)
    content = _sequence(elements[1:-1] if has_end else elements[1:])
    opening, closing = _text(elements[0]), _text(last) if has_end else ""
    return (
        f'<m:d><m:dPr><m:begChr m:val="{escape_attribute(opening)}"/>'
        f'<m:endChr m:val="{escape_attribute(closing)}"/></m:dPr>'
        f"<m:e>{content}</m:e></m:d>"
    )


def _nary_sign(element: Any) -> str | None:
    """The sign of a sum or an integral with its limits; None: it is another element."""
    operator = element[0] if element.tag in ("msub", "msup", "msubsup", "munder", "mover", "munderover") else element
    while operator.tag in ("mstyle", "mrow") and len(operator) == 1:
        operator = operator[0]
    sign = _text(operator) if operator.tag == "mo" else ""
    return sign if sign in _NARY_SIGNS else None


def _nary(element: Any, sign: str, content: str) -> str:
    limits = list(element)[1:] if element.tag != "mo" else []
    below = _element(limits[0]) if limits and element.tag not in ("msup", "mover") else ""
    above = _element(limits[-1]) if limits and element.tag not in ("msub", "munder") else ""
    place = "subSup" if sign in _INTEGRALS and not element.tag.startswith("mu") else "undOvr"
    return (
        f'<m:nary><m:naryPr><m:chr m:val="{sign}"/><m:limLoc m:val="{place}"/>'
        f'<m:subHide m:val="{int(not below)}"/><m:supHide m:val="{int(not above)}"/></m:naryPr>'
        f"<m:sub>{below}</m:sub><m:sup>{above}</m:sup><m:e>{content}</m:e></m:nary>"
    )


def _element(element: Any) -> str:
    writer = _WRITERS.get(element.tag)
    if writer is None:
        raise _UnsupportedFormula
    return writer(element)


def _run(text: str, kind: str = "") -> str:
    if not text:
        return ""
    properties = f"<m:rPr>{kind}</m:rPr>" if kind else ""
    font = '<w:rPr><w:rFonts w:ascii="Cambria Math" w:hAnsi="Cambria Math"/></w:rPr>'
    return f'<m:r>{properties}{font}<m:t xml:space="preserve">{escape_text(text)}</m:t></m:r>'


_UPRIGHT = '<m:sty m:val="p"/>'
_NORMAL_TEXT = "<m:nor/>"


def _letter(element: Any) -> str:
    text = _text(element)
    return _run(text, _UPRIGHT if len(text) > 1 or element.get("mathvariant") == "normal" else "")


def _number(element: Any) -> str:
    return _run(_text(element), _UPRIGHT)


def _plain_text(element: Any) -> str:
    return _run(_text(element), _NORMAL_TEXT)


def _operator(element: Any) -> str:
    text = _text(element)
    return _run(text, _UPRIGHT if text.isalpha() else "")


def _space(element: Any) -> str:
    if element.get("linebreak") == "newline":
        raise _UnsupportedFormula
    width = element.get("width", "")
    return "" if width.startswith(("-", "0em")) or not width else _run(_SPACES.get(width, "\u2009"))


def _parts(element: Any, count: int) -> list[str]:
    children = list(element)
    spare = len(children) - count
    if spare == 2 and children[1].tag == "mtable":
        # A matrix with an exponent comes as three elements, though it is one.
        return [_sequence(children[:3]), *map(_element, children[3:])]
    if spare:
        raise _UnsupportedFormula
    return [_element(child) for child in children]


def _fraction(element: Any) -> str:
    above, below = _parts(element, 2)
    bare = '<m:fPr><m:type m:val="noBar"/></m:fPr>' if element.get("linethickness") in ("0", "0em", "0pt") else ""
    return f"<m:f>{bare}<m:num>{above}</m:num><m:den>{below}</m:den></m:f>"


def _subscript(element: Any) -> str:
    if _is_limit(element[0]):
        return _limit(element, "limLow")
    base, below = _parts(element, 2)
    return f"<m:sSub><m:e>{base}</m:e><m:sub>{below}</m:sub></m:sSub>"


def _is_limit(base: Any) -> bool:
    return base.tag == "mo" and _text(base).replace("\u2009", "").replace(" ", "") in _LIMITS


def _superscript(element: Any) -> str:
    base, above = _parts(element, 2)
    return f"<m:sSup><m:e>{base}</m:e><m:sup>{above}</m:sup></m:sSup>"


def _sub_superscript(element: Any) -> str:
    base, below, above = _parts(element, 3)
    return f"<m:sSubSup><m:e>{base}</m:e><m:sub>{below}</m:sub><m:sup>{above}</m:sup></m:sSubSup>"


def _limit(element: Any, name: str) -> str:
    base, limit = _parts(element, 2)
    return f"<m:{name}><m:e>{base}</m:e><m:lim>{limit}</m:lim></m:{name}>"


def _over(element: Any) -> str:
    sign = _operator_text(element[1]) if len(element) == 2 else ""
    if sign in _BARS and (sign != "¯" or element[1].get("stretchy") != "true"):
        return f'<m:bar><m:barPr><m:pos m:val="top"/></m:barPr><m:e>{_element(element[0])}</m:e></m:bar>'
    if sign in _ACCENTS:
        accent = _ACCENTS[sign]
        return f'<m:acc><m:accPr><m:chr m:val="{accent}"/></m:accPr><m:e>{_element(element[0])}</m:e></m:acc>'
    if sign in _BRACES:
        return _group_character(element, sign, "top", "bot")
    return _limit(element, "limUpp")


def _under(element: Any) -> str:
    sign = _operator_text(element[1]) if len(element) == 2 else ""
    if sign in _BARS:
        return f'<m:bar><m:barPr><m:pos m:val="bot"/></m:barPr><m:e>{_element(element[0])}</m:e></m:bar>'
    if sign in _BRACES:
        return _group_character(element, sign, "bot", "top")
    return _limit(element, "limLow")


def _group_character(element: Any, sign: str, place: str, joined: str) -> str:
    return (
        f'<m:groupChr><m:groupChrPr><m:chr m:val="{sign}"/><m:pos m:val="{place}"/><m:vertJc m:val="{joined}"/>'
        f"</m:groupChrPr><m:e>{_element(element[0])}</m:e></m:groupChr>"
    )


def _under_over(element: Any) -> str:
    base, below, above = _parts(element, 3)
    low = f"<m:limLow><m:e>{base}</m:e><m:lim>{below}</m:lim></m:limLow>"
    return f"<m:limUpp><m:e>{low}</m:e><m:lim>{above}</m:lim></m:limUpp>"


def _root(element: Any) -> str:
    if element.tag == "mroot":
        base, degree = _parts(element, 2)
        return f"<m:rad><m:deg>{degree}</m:deg><m:e>{base}</m:e></m:rad>"
    inside = _sequence(list(element))
    return f'<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/><m:e>{inside}</m:e></m:rad>'


def _table(element: Any) -> str:
    rows = [list(row) for row in element]
    columns = max((len(row) for row in rows), default=0)
    if not columns:
        raise _UnsupportedFormula
    kinds = [_JUSTIFIED.get(cell.get("columnalign", ""), "center") for cell in max(rows, key=len)]
    described = "".join(f'<m:mc><m:mcPr><m:count m:val="1"/><m:mcJc m:val="{kind}"/></m:mcPr></m:mc>' for kind in kinds)
    drawn = "".join(
        "<m:mr>"
        + "".join(f"<m:e>{_sequence(list(cell))}</m:e>" for cell in row)
        + "<m:e/>" * (columns - len(row))
        + "</m:mr>"
        for row in rows
    )
    return f'<m:m><m:mPr><m:plcHide m:val="1"/><m:mcs>{described}</m:mcs></m:mPr>{drawn}</m:m>'


def _group(element: Any) -> str:
    return _sequence(list(element))


def _box(element: Any) -> str:
    return f"<m:borderBox><m:e>{_sequence(list(element))}</m:e></m:borderBox>"


def _phantom(element: Any) -> str:
    return f'<m:phant><m:phantPr><m:show m:val="0"/></m:phantPr><m:e>{_sequence(list(element))}</m:e></m:phant>'


_WRITERS = {
    "mi": _letter,
    "mn": _number,
    "mo": _operator,
    "mtext": _plain_text,
    "mspace": _space,
    "mrow": _group,
    "mstyle": _group,
    "mpadded": _group,
    "mfrac": _fraction,
    "msub": _subscript,
    "msup": _superscript,
    "msubsup": _sub_superscript,
    "mover": _over,
    "munder": _under,
    "munderover": _under_over,
    "msqrt": _root,
    "mroot": _root,
    "mtable": _table,
    "menclose": _box,
    "mphantom": _phantom,
}
