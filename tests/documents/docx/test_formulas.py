"""LaTeX as Word's own mathematics."""

from xml.etree import ElementTree as ET

import pytest

from documents.docx.parsed_docx import m, open_docx, text_of
from footnote.documents.out.docx.formulas import latex_to_omml
from footnote.documents.out.docx.markup import NAMESPACES

WELL_KNOWN = (
    r"E = mc^2",
    r"\bar{x} = \frac{1}{n} \sum_{i=1}^{n} x_i",
    r"\int_0^\infty e^{-x^2} \, dx = \frac{\sqrt{\pi}}{2}",
    r"\begin{aligned} a &= b + c \\ &= d \end{aligned}",
    r"\begin{align*} a &= b \\ c &= d \end{align*}",
    r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}^{-1}",
    r"f(x) = \begin{cases} x & x \ge 0 \\ -x & \text{otherwise} \end{cases}",
    r"\lim_{x \to 0} \frac{\sin x}{x} = 1",
    r"\hat{\boldsymbol{\beta}} = \operatorname*{argmax}_\beta L(\beta)",
    r"\underbrace{a + b}_{n} \overline{ab} \vec{v} \sqrt[3]{x} \binom{n}{k} \oint",
    r"\boxed{x} \xrightarrow[b]{f} \stackrel{a}{=} \cfrac{1}{2} \lvert x \rvert \bigg\{ z \bigg\} \Bigl\| y \Bigr\|",
    r"\arg\max_x f \mathop{\mathrm{arg\,min}}_y a \nonumber \label{x} \textcolor{red}{y} \sum\limits_i",
    r"\begin{equation} x \tag{1} \end{equation}",
    r"PR = \frac{E_{thực}}{E_{lý thuyết}} \approx 0.78",
)


@pytest.mark.parametrize("latex", WELL_KNOWN)
def test_a_formula_is_written_without_its_source(latex: str) -> None:
    omml = latex_to_omml(latex)
    assert omml is not None
    math = ET.fromstring(f"<x {NAMESPACES}>{omml}</x>")
    assert "\\" not in text_of(math)
    assert "&" not in text_of(math)


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"\operatorname*{arg\,max}_x f", "argmaxxf"),
        (r"\arg\max_x f", "argmaxxf"),
        (r"a \& b", "a&b"),
        (r"\text{a \& b}", "a\xa0&\xa0b"),
        (r"\bigg\{ z \bigg\}", "{z}"),
    ],
)
def test_a_formula_says_what_its_source_says(latex: str, expected: str) -> None:
    math = ET.fromstring(f"<x {NAMESPACES}>{latex_to_omml(latex)}</x>")
    assert text_of(math).replace("\u2009", "") == expected


def kinds(latex: str) -> list[str]:
    omml = latex_to_omml(latex)
    assert omml is not None
    return [part.tag.removeprefix(m) for part in ET.fromstring(f"<x {NAMESPACES}>{omml}</x>")[0]]


def test_a_sum_holds_what_it_sums_up_to_the_next_relation() -> None:
    assert kinds(r"\sum_{i=1}^n x_i y = 2") == ["nary", "r", "r"]


def test_a_sum_of_nothing_has_no_box_to_be_filled_in() -> None:
    assert kinds(r"\sum_{i=1}^n = 2") == ["sSubSup", "r", "r"]


def test_brackets_grow_with_what_they_hold() -> None:
    assert kinds(r"\left( \frac{1}{2} \right]") == ["d"]
    assert kinds(r"\begin{bmatrix} 1 \\ 2 \end{bmatrix}") == ["d"]
    assert kinds(r"\begin{bmatrix} 1 \\ 2 \end{bmatrix}^T") == ["sSup"]


@pytest.mark.parametrize(
    "latex",
    [r"\nosuchmacro{x}", "{", r"\frac{1}", "a & b", "{" * 3000, "x" * 6000, r"a \\ b", "", r"\input{/etc/passwd}"],
)
def test_what_cannot_be_written_is_not_guessed(latex: str) -> None:
    assert latex_to_omml(latex) is None


def test_a_formula_that_cannot_be_written_stands_as_its_source_and_is_told() -> None:
    file = open_docx("Here $\\nosuchmacro{<x>}$ and\n\n$$\n\\nosuchmacro{y}\n$$\n")
    assert file.paragraphs() == [("", "Here \\nosuchmacro{<x>} and"), ("SourceCode", "\\nosuchmacro{y}")]
    assert file.made.notes == (
        "The formula \\nosuchmacro{<x>} could not be set: its source is shown.",
        "The formula \\nosuchmacro{y} could not be set: its source is shown.",
    )


def test_formulas_in_a_line_and_on_their_own_are_told_apart() -> None:
    file = open_docx("Here $a$ and\n\n$$\nb\n$$\n")
    assert (len(file.all(f"{m}oMath")), len(file.all(f"{m}oMathPara"))) == (2, 1)
