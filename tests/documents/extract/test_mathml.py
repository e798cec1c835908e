"""Formulas of pages, as TeX or in one line."""

import pytest

from footnote.documents.extract import extract

ROOTS = (
    "<mi>x</mi><mo>=</mo><mfrac><mrow><mo>−</mo><mi>b</mi><mo>±</mo><msqrt><msup><mi>b</mi><mn>2</mn></msup>"
    "<mo>−</mo><mn>4</mn><mi>a</mi><mi>c</mi></msqrt></mrow><mrow><mn>2</mn><mi>a</mi></mrow></mfrac>"
)
ANNOTATED = (
    "<span class=katex><span class=katex-mathml><math><semantics><mrow><mi>a</mi></mrow>"
    '<annotation encoding="application/x-tex">a^2+b^2=c^2</annotation></semantics></math></span>'
    "<span class=katex-html aria-hidden=true>a2+b2=c2</span></span>"
)


def text_of(formula: str) -> str:
    source = f"<p>It is known that {formula} holds, for all numbers that are greater than zero.</p>" * 3
    return extract(source.encode(), "text/html; charset=utf-8", "https://page.test/").text.split(" holds")[0]


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ('<math alttext="E=mc^2"><mi>E</mi></math>', "$E=mc^2$"),
        (ANNOTATED, "$a^2+b^2=c^2$"),
        (f"<math>{ROOTS}</math>", "$x = (− b ± √(b^2 − 4ac))/(2a)$"),
        ("<math><msubsup><mo>∑</mo><mn>1</mn><mi>n</mi></msubsup><msub><mi>x</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub></math>",
         "$∑_1^nx_{ij}$"),
        ('<math><mi>a</mi><mspace width="1em"/><mo>+</mo><mn>12</mn></math>', "$a + 12$"),
        ("<math><mfenced><mi>a</mi><mi>b</mi></mfenced><mphantom><mi>z</mi></mphantom></math>", "$(a, b)$"),
        (r'<img class="mwe-math-fallback-image" src=/x alt="{\displaystyle E=mc^{2}}">', "$E=mc^{2}$"),
        ('<img class="latex" src=/x alt="E=mc^2">', "$E=mc^2$"),
        ('<img class="photo" src=/x alt="A bridge">', ""),
        ("<math></math>", ""),
    ],
)  # fmt: skip
def test_a_formula_is_kept_as_text(formula: str, expected: str) -> None:
    assert text_of(formula) == " ".join(f"It is known that {expected}".split())


def test_a_formula_that_is_not_closed_does_not_swallow_the_page() -> None:
    assert "\n\nNext paragraph" in extract(
        b"<p>First is <math><mi>x</mi><p>Next paragraph, which has more to say.</p>", "text/html", "https://page.test/"
    ).text  # fmt: skip


def test_a_hidden_formula_is_not_read() -> None:
    assert text_of("<span hidden><math alttext='secret'><mi>s</mi></math></span>") == "It is known that"


def test_a_formula_that_is_nested_without_end_costs_little() -> None:
    text = text_of("<math>" + "<mrow>" * 20_000 + "<mi>x</mi>" + "</mrow>" * 20_000 + "</math>")
    assert len(text) < 5_000
