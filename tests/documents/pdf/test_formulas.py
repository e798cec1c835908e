"""Common LaTeX, set by the typesetter."""

import pytest

from documents.pdf.parsed_pdf import ParsedPdf, convert_to_pdf


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        (r"\boxed{x = (1, 2)}", "𝑥 = (1, 2)"),
        (r"\boxed{\boxed{x}}", "𝑥"),
        (r"\operatorname*{arg\,max}_{\theta} L", "arg max 𝜃 𝐿"),
        (r"\mathop{\mathrm{arg\,min}}_x", "arg min 𝑥"),
        (r"A \xrightarrow{f} B", "𝐴 ⟶ 𝑓 𝐵"),
        (r"A \xleftarrow[b]{f} B", "𝐴 ⟵ 𝑓 𝑏 𝐵"),
        (r"a \stackrel{abc}{=} b", "𝑎 = 𝑎𝑏𝑐 𝑏"),
        (r"\underset{x \in X}{\max}", "max 𝑥∈𝑋"),
        (r"\cfrac{1}{2+\cfrac{1}{3}}", "1 2 + 1 3"),
        (r"\lvert x \rvert + \lVert y \rVert", "|𝑥| + ‖𝑦‖"),
        (r"\big( x \big) \Big[ y \Big] \bigg\{ z \bigg\}", "(𝑥)[𝑦]{𝑧}"),
        (r"\left( a \middle| b \right)", "(𝑎 | 𝑏)"),
        (r"{\color{red} x} + \textcolor{#ff0000}{y}", "𝑥 + 𝑦"),
        (r"\phantom{xx} a \hspace{1cm} b", "𝑎 𝑏"),
        (r"\bm{\beta} \nonumber", "𝜷"),
        (r"\# S", "# 𝑆"),
        (r"a \& b \! c", "𝑎&𝑏𝑐"),
        (r"\begin{array}{c|c} a & b \\ \hline c & d \end{array}", "𝑎 𝑐 𝑏 𝑑"),
        (r"\left\{\begin{array}{ll} a & b \\ c & d \end{array}\right.", "{ 𝑎𝑐 𝑏𝑑"),
        (r"\begin{gathered} a = b \\ c \end{gathered}", "𝑎 = 𝑏 𝑐"),
        (r"\begin{split} a &= b \\ &= c \end{split}", "𝑎 = 𝑏 = 𝑐"),
        (r"\begin{equation*} x = 1 \tag{3} \label{eq} \end{equation*}", "𝑥 = 1 (3)"),
        (r"\begin{align} a &= b \\ c &= d \end{align}", "𝑎 = 𝑏 𝑐 = 𝑑"),
        (r"\hbar \ell \Re \Im \aleph \square \blacksquare \checkmark", "ℏℓℜℑℵ□■✓"),
        (r"\sum\limits_{i} \text{in \textbf{bold} words}", "∑ 𝑖 in bold words"),
    ],
)
def test_a_formula_is_set_and_not_shown_as_latex(latex, shown):
    result = convert_to_pdf(f"$$\n{latex}\n$$")
    assert (ParsedPdf(result.content).text(), result.notes) == (shown, ())
    assert b"pdfuaid:part" in result.content


@pytest.mark.parametrize("latex", [r"\xrightarrow", r"\boxed{", r"\tag{"])
def test_one_that_lacks_something_stands_as_latex(latex):
    assert len(convert_to_pdf(f"${latex}$ and $a$").notes) == 1
