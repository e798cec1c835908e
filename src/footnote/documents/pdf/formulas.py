"""Formulas, from LaTeX to the typesetter's own notation."""

import re
from collections.abc import Callable, Sequence
from functools import cache

_LONGEST = 4000
_CASES = re.compile(r"\\begin\{cases\}.*?\\end\{cases\}", re.DOTALL)
_NUMBERED = re.compile(r"\\(?:label|tag)\s*\{[^{}]*\}|\\(?:nonumber|notag)\b")


def formulas_of(latex: Sequence[str]) -> dict[str, str]:
    """Those that can be converted, by their LaTeX. The rest are shown as they were written."""
    convert = _converter()
    found: dict[str, str] = {}
    for formula in latex:
        converted = _converted(convert, formula) if convert and len(formula) <= _LONGEST else None
        if converted is not None:
            found[formula] = converted
    return found


def _converted(convert: Callable[[str], str], formula: str) -> str | None:
    try:
        converted = convert(_CASES.sub(_spaced, _NUMBERED.sub("", formula)))
    except Exception:  # noqa: BLE001 - whatever it stumbles over, the formula is shown as LaTeX
        return None
    # This sign alone leads from a formula into code.
    return None if "#" in converted or not converted.strip() else converted


def _spaced(cases: re.Match[str]) -> str:
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
