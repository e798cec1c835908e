"""Simplifies LaTeX to the commands that both writers understand."""

import re
from collections.abc import Mapping

from msgspec import Struct

ENVIRONMENTS = frozenset(
    f"{name}{star}"
    for name in ("align", "alignat", "eqnarray", "equation", "flalign", "gather", "multline")
    for star in ("", "*")
)
"""Environments that are formulas without dollar signs around them."""

_ALIASES = {
    "bm": r"\boldsymbol",
    "pmb": r"\boldsymbol",
    "coloneqq": "≔",
    "aleph": "ℵ",
    "square": "□",
    "Box": "□",
    "blacksquare": "■",
    "qed": "□",
    "checkmark": "✓",
    "impliedby": r"\Longleftarrow",
    "textbf": r"\text",
    "textit": r"\text",
    "textrm": r"\text",
    "textsf": r"\text",
    "texttt": r"\text",
    "mbox": r"\text",
    "hline": "",
    "limits": "",
    "nolimits": "",
    "nonumber": "",
    "notag": "",
    "middle": "",
    "negthinspace": "",
    "!": "",
} | dict.fromkeys(
    ("big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr", "biggl", "biggr", "Biggl", "Biggr"), ""
)
"""Commands that are replaced by equivalents."""


class Form(Struct, frozen=True):
    """The replacement of a command with `count` arguments; `optional_template` is for one with an argument in brackets
    before them."""

    argument_count: int
    template: str
    optional_template: str = ""


_FORMS: Mapping[str, Form] = {
    "xrightarrow": Form(
        1, r"\overset{{{0}}}{{\longrightarrow}}", r"\underset{{{0}}}{{\overset{{{1}}}{{\longrightarrow}}}}"
    ),
    "xleftarrow": Form(
        1, r"\overset{{{0}}}{{\longleftarrow}}", r"\underset{{{0}}}{{\overset{{{1}}}{{\longleftarrow}}}}"
    ),
    "stackrel": Form(2, r"\overset{{{0}}}{{{1}}}"),
    "cfrac": Form(2, r"\dfrac{{{0}}}{{{1}}}", r"\dfrac{{{1}}}{{{2}}}"),
    "color": Form(1, ""),
    "textcolor": Form(2, "{{{1}}}"),
    "colorbox": Form(2, "{{{1}}}"),
    "hspace": Form(1, r"\quad "),
    "label": Form(1, ""),
    "tag": Form(1, r"\qquad ({0})"),
}
_WORD = re.compile(r"\\([A-Za-z]+)\*?|\\.", re.DOTALL)
_ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{([A-Za-z]+)\*?\}(?:\{[^{}]*\})?")
_ALIGNED_ENVIRONMENTS = frozenset(
    ("align", "alignat", "eqnarray", "flalign", "gather", "gathered", "multline", "multlined", "split")
)
_ARGMAX = re.compile(r"\\arg\s*\\(max|min)(?![A-Za-z])")
_MATHOP = re.compile(r"\\mathop\s*\{\s*\\(?:mathrm|text|rm|operatorname)\s*\{((?:[A-Za-z ]|\\[,; ])*)\}\s*\}")
_OPERATOR = re.compile(r"\\operatorname(\*?)\s*\{([^{}]*)\}")
_TEXT_IN_TEXT = re.compile(r"(\\text\s*\{[^{}]*)\\text\s*\{([^{}]*)\}")
_GAP = re.compile(r"\\[,;:! ]|~")
_MAX_NESTING = 40


def simplify_latex(latex: str) -> str:
    """An equivalent formula with fewer commands. Unknown ones are unchanged."""
    latex = _ENVIRONMENT.sub(_environment, latex)
    latex = _ARGMAX.sub(r"\\operatorname*{arg \1}", _MATHOP.sub(r"\\operatorname*{\1}", latex))
    latex = _OPERATOR.sub(lambda found: rf"\operatorname{found[1]}{{{_GAP.sub(' ', found[2])}}}", latex)
    for left, right, bar in ((r"\lvert", r"\rvert", "|"), (r"\lVert", r"\rVert", r"\|")):
        paired = latex.count(left) == latex.count(right)
        latex = latex.replace(left, rf"\left{bar} " if paired else f"{bar} ")
        latex = latex.replace(right, rf"\right{bar} " if paired else f"{bar} ")
    latex = rewrite_commands(latex, _FORMS, _ALIASES)
    while (joined := _TEXT_IN_TEXT.sub(r"\1\2", latex)) != latex:
        latex = joined
    return latex.strip()


def _environment(found: re.Match[str]) -> str:
    edge, name = found[1], found[2]
    argument = found.group().rpartition("}{")[2] if found.group().count("{") > 1 else ""
    if name == "equation":
        return ""
    if name in _ALIGNED_ENVIRONMENTS:
        # The argument of `alignat` is the number of columns; after the others it is part of the formula.
        return rf"\{edge}{{aligned}}" + (f"{{{argument}" if argument and name != "alignat" else "")
    if name == "smallmatrix":
        return rf"\{edge}{{matrix}}"
    return found.group()


def rewrite_commands(latex: str, forms: Mapping[str, Form], aliases: Mapping[str, str], depth: int = 0) -> str:
    """Replaces commands by their templates. A command that is nested too deep or lacks an argument is unchanged."""
    pieces: list[str] = []
    at = 0
    for found in _WORD.finditer(latex):
        name = found[1] or found.group()[1:]
        if found.start() < at:
            continue
        if name in aliases:
            # The space after a command ends its name.
            pieces += (latex[at : found.start()], aliases[name] or " ")
            at = found.end()
        elif (form := forms.get(name)) and depth < _MAX_NESTING:
            end, bracketed = _optional_argument(latex, found.end()) if form.optional_template else (found.end(), ())
            arguments, end = _arguments(latex, end, form.argument_count)
            if arguments is None:
                continue
            inner = [rewrite_commands(argument, forms, aliases, depth + 1) for argument in (*bracketed, *arguments)]
            pieces += (
                latex[at : found.start()],
                (form.optional_template if bracketed else form.template).format(*inner),
            )
            at = end
    return "".join((*pieces, latex[at:]))


def _optional_argument(latex: str, at: int) -> tuple[int, tuple[str, ...]]:
    """The optional argument in square brackets, and the index after it."""
    close = latex.find("]", at)
    return (at, ()) if latex[at : at + 1] != "[" or close < 0 else (close + 1, (latex[at + 1 : close],))


def _arguments(latex: str, at: int, count: int) -> tuple[list[str] | None, int]:
    """`count` arguments and the index after them; None if some are missing."""
    found: list[str] = []
    while len(found) < count:
        while latex[at : at + 1].isspace():
            at += 1
        if latex[at : at + 1] != "{":
            word = _WORD.match(latex, at)
            end = word.end() if word else at + 1
            if not latex[at:end] or latex[at] == "}":
                return None, at
            found.append(latex[at:end])
        else:
            end = _closing(latex, at)
            if end is None:
                return None, at
            found.append(latex[at + 1 : end - 1])
        at = end
    return found, at


def _closing(latex: str, at: int) -> int | None:
    """The index after the group that begins there."""
    depth = 0
    while at < len(latex):
        letter = latex[at]
        depth += (letter == "{") - (letter == "}")
        at += 2 if letter == "\\" else 1
        if not depth:
            return at
    return None
