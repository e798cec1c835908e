"""What a text of somebody else cites, and where: its links become footnotes of ours."""

import time

import pytest

from footnote.evidence.footnoted import read_citations


def _footnoted(text: str) -> tuple[str, list[str]]:
    """The text with footnotes, and the addresses in the order of their numbers."""
    cited = read_citations(text)
    addresses = [*cited.citing, *cited.listed]
    return cited.with_footnotes({url: number for number, url in enumerate(addresses, 1)}).strip(), addresses


def _addresses(text: str) -> list[str]:
    return _footnoted(text)[1]


AUTHORS = (
    "\n\n## References\n\nSmith, J. (2020). Towers. https://a.example/\n\n"
    "Nguyễn, T., & Lee, K. (2019). Old towers. https://b.example/"
)
AUTHORS_IN_LINES = "\n\nReferences\n\nSmith, J. (2020). A. https://a.example/\nLee, K. (2021). B. https://b.example/"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is [330 m tall](https://a.example/) and red. It is old.", "It is 330 m tall and red. [1] It is old."),
        ("It is old ([BBC](https://a.example/), [AP](https://b.example/)).", "It is old [1][2]."),
        ("It is old (source: https://a.example/).", "It is old [1]."),
        ("It is old. See https://a.example/.", "It is old. [1]"),
        ("It is old, see https://a.example/.", "It is old [1]."),
        ("It is old [1](https://a.example/).", "It is old [1]."),
        ("It is old.\nhttps://a.example/x", "It is old.\n[1]"),
        ("It is old.\n\n<https://a.example/x>", "It is old.\n\n[1]"),
        ("It is old.[^n]\n\n[^n]: A, https://a.example/. B, https://b.example/.", "It is old.[1][2]"),
        ("It is old [2, 3].\n\n## Sources\n\n2. https://a.example/\n3. https://b.example/", "It is old [1][2]."),
        ("It is old [1-2].\n\nReferences:\n[1] https://a.example/\n[2] https://b.example/", "It is old [1][2]."),
        ("It is old <sup>[1]</sup>.\n\n## 参考文献\n\n[1] https://a.example/", "It is old [1]."),
        ("[1] https://a.example/ says it is old [1].", r"\[1\] [1] says it is old \[1\]."),
        ("It is old [the law][law].\n\n[law]: https://a.example/law", "It is old the law. [1]"),
        ("It is <a href='https://a.example/?a=1&amp;b=2'>old</a>.", "It is old. [1]"),
        ("| A | [9](https://a.example/) | [old](https://b.example/) |", "| A | [1] | old[2] |"),
        ("[It is old.](https://a.example/)", "It is old.[1]"),
        ("它很旧（来源：https://a.example/）。它很红。", "它很旧 [1]。它很红。"),
        ("它很旧，详见https://a.example/页面。", "它很旧 [1]。"),
        ("Nó rất cũ (nguồn: [BBC](https://a.example/)).", "Nó rất cũ [1]."),
        ("It is old.¹,²\n\nSources\n\n¹ https://a.example/\n² https://b.example/", "It is old.[1][2]"),
        ("It covers 30 m².¹\n\nReferences\n\n1. https://a.example/\n2. https://b.example/", "It covers 30 m².[1]"),
        ("It is old (arXiv:2301.01234v2).", "It is old [1]."),
        (f"It is old (Smith, 2020; Nguyễn & Lee, 2019, p. 3).{AUTHORS}", "It is old [1][2]."),
        (
            f"Smith et al. (2020) say that it is old. It is red.{AUTHORS}",
            "Smith et al. say that it is old. [1] It is red.",
        ),
        (f"It is old (Smith, 2020).{AUTHORS_IN_LINES}", "It is old [1]."),
        (
            f"It is old (Smith, 2021), as in (2020) or (Jones, 2020).{AUTHORS}",
            "It is old (Smith, 2021), as in (2020) or (Jones, 2020).",
        ),
        ("It is old [7] 【3†source】.", r"It is old \[7\] ."),
        ("`[a](https://a.example/)` and ![b](https://b.example/i.png)", None),
        ("- [A page](https://a.example/)\n- [Another](https://b.example/)", None),
        ("## [A page](https://a.example/)", None),
        ("See [this](#there), [that](/docs/x) and [mail](mailto:a@b.example).", None),
    ],
)
def test_each_link_is_a_footnote_of_its_sentence(text: str, expected: str | None) -> None:
    found, _ = _footnoted(text)
    assert found.split("\n\n## ")[0] == (text if expected is None else expected)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("(see https://a.example/x).", "https://a.example/x"),
        ("“https://a.example/x”,", "https://a.example/x"),
        ("**https://a.example/x**", "https://a.example/x"),
        ("https://a.example/wiki/A_(b)), c", "https://a.example/wiki/A_(b)"),
        ("https://a.example/x?y=[1]&z=2;", "https://a.example/x?y=[1]&z=2"),
        ("请看https://a.example/x，谢谢", "https://a.example/x"),
        ("请看https://a.example/x的报道", "https://a.example/x"),
        ("https://zh.example/wiki/北京。", "https://zh.example/wiki/北京"),
        ("www.example.com/x.", "https://www.example.com/x"),
        ("doi:10.1234/abc.5", "https://doi.org/10.1234/abc.5"),
        ("DOI 10.1234/abc(5)6.", "https://doi.org/10.1234/abc(5)6"),
        ("(10.1234/abc)", "https://doi.org/10.1234/abc"),
        ("https://doi.org/10.1234/abc", "https://doi.org/10.1234/abc"),
        ("[x](<https://a.example/a b> 'title')", "https://a.example/a b"),
        ('[x](https://a.example/a_(b) "title")', "https://a.example/a_(b)"),
        ("[![i](https://i.example/i.png)](https://a.example/)", "https://a.example/"),
    ],
)
def test_an_address_ends_where_its_sentence_goes_on(text: str, address: str) -> None:
    assert _addresses(f"It is old, {text}") == [address]


@pytest.mark.parametrize("text", ["version 10.1234", "1.10.1234/5", "ftp://a.example/", "http://", "a@www.example.com"])
def test_what_looks_like_an_address_is_none(text: str) -> None:
    assert _addresses(f"It is {text}") == []


def test_a_reference_without_an_address_is_named_by_its_title() -> None:
    cited = read_citations("It is old [1].\n\n## References\n\n1. Smith, *The Tower*, 2001.\n2. Nobody cites it.\n")
    assert cited.citing == ("urn:reference:1",)
    assert cited.titles["urn:reference:1"] == "Smith, The Tower, 2001."
    assert (cited.heading, cited.listed) == ("## References", ())


def test_of_a_reference_the_first_address_counts_and_not_its_archived_copy() -> None:
    text = "It is old [1].\n\n## References\n\n1. [Title](https://a.example/). [Archived](https://archive.example/a)."
    assert _addresses(text) == ["https://a.example/"]


def test_two_links_to_one_page_are_one_footnote_of_a_sentence() -> None:
    assert _footnoted("The [tower](https://a.example/) is [old](https://a.example/).")[0] == "The tower is old. [1]"


HOSTILE = (
    *("[", "]", "[](", "[a](", "![", "[[", "`", "``` ", "[1]", "[^1]: ", "<a ", "<a href=", "(", "https://", "www."),
    *("10.1234/", "[1] https://a.example/ ", "\n[1] https://a.example/x", "\n\n## Sources\n", "[x][y]", "[x", "| "),
    *("[a](https://a.example/)", "\n[x]: https://a.example/", "\n> ", "，见", "see ", "*", "<sup>1</sup>"),
    *("https://a.example/字", "([a](https://a.example/), ", "It is [old](https://a.example/). "),
)


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_hostile_text_is_read_in_linear_time(unit: str) -> None:
    def seconds(length: int) -> float:
        began = time.thread_time()
        _footnoted((unit * length)[:length])
        return time.thread_time() - began

    seconds(1_000)
    assert seconds(300_000) < 40 * max(seconds(30_000), 0.02)
