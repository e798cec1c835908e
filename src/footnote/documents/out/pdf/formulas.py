"""Formulas, from LaTeX to the typesetter's own notation."""

import re
from collections.abc import Callable, Sequence
from functools import cache

from footnote.documents.markdown.latex import Form, rewrite_commands, simplify_latex

MATHS_MACROS = """
#let boxed(..parts) = {
  box(stroke: 0.5pt, inset: 4pt, baseline: 4pt, math.equation(alt: "a box", parts.pos().join([, ])))
}
#let maths(source) = eval(source, mode: "math", scope: (boxed: boxed, hide: hide))
"""
"""What sets formulas."""

_MAX_LATEX_CHARS = 4000
_CASES = re.compile(r"\\begin\{cases\}.*?\\end\{cases\}", re.DOTALL)
_ARRAY = re.compile(r"\\(begin|end)\{array\}(?:\s*\{[^{}]*\})?")
_OPEN, _CLOSE = r"\operatorname{{opened%s}} ", r" \operatorname{{closedgroup}} "
_FORMS = {
    "boxed": Form(1, _OPEN % "boxed" + "{0}" + _CLOSE),
    "fbox": Form(1, _OPEN % "boxed" + r"\text{{{0}}}" + _CLOSE),
    "phantom": Form(1, _OPEN % "hide" + "{0}" + _CLOSE),
    "hphantom": Form(1, _OPEN % "hide" + "{0}" + _CLOSE),
    # The converter takes only the first letter for what stands above or below.
    "overset": Form(2, _OPEN % "limits" + "{1}" + _CLOSE + "^{{{0}}}"),
    "underset": Form(2, _OPEN % "limits" + "{1}" + _CLOSE + "_{{{0}}}"),
}
_OPENED = re.compile(r'op\("opened(boxed|hide|limits)"\)')
_CLOSED = 'op("closedgroup")'
_NUMBER_SIGN = 'op("numbersign")'
_HARMLESS = re.compile(r"delim: #none(?=[,)])|limits: #true(?=\))")


def convert_formulas(latex: Sequence[str]) -> dict[str, str]:
    """Those that can be converted, by their LaTeX. The rest are shown as they were written."""
    convert = _converter()
    found: dict[str, str] = {}
    for formula in latex:
        converted = _convert(convert, formula) if convert and len(formula) <= _MAX_LATEX_CHARS else None
        if converted is not None:
            found[formula] = converted
    return found


def _convert(convert: Callable[[str], str], formula: str) -> str | None:
    try:
        converted = convert(_prepare(formula))
    except Exception:  # noqa: BLE001 - whatever it stumbles over, the formula is shown as LaTeX
        return None
    # This sign alone leads from a formula into code.
    if "#" in _HARMLESS.sub("", converted) or not converted.strip():
        return None
    converted = _OPENED.sub(r"\1(", converted).replace(_CLOSED, ")")
    return converted.replace(_NUMBER_SIGN, r'"\u{23}"')


def _prepare(formula: str) -> str:
    """In words that the converter knows. Those it does not know are operators until it has done."""
    latex = _ARRAY.sub(r"\\\1{matrix}", simplify_latex(formula))
    latex = re.sub(r"(?<!\\)\\#", r"\\operatorname{numbersign} ", latex)
    return _CASES.sub(_space_cases, rewrite_commands(latex, _FORMS, {}))


def _space_cases(cases: re.Match[str]) -> str:
    """LaTeX has a space between a case and when it holds; the typesetter has none."""
    return re.sub(r"(?<!\\)&", r"& \\quad ", cases.group())


@cache
def _converter() -> Callable[[str], str] | None:
    """It is not there on every machine."""
    try:
        from tex2typst import tex2typst  # noqa: PLC0415 - it may be missing  # pyright: ignore[reportMissingTypeStubs] - it has none
    except ImportError:
        return None
    return lambda latex: str(tex2typst(latex))
